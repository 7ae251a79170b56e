#include "files/layout/tensors_file.h"

#include <algorithm>

#include "attention/layer/trace.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/option.h"
#include "files/formats/format.h"
#include "files/layout/match.h"

namespace files {
namespace {

using base::inQuotes;

constexpr const char* kFields =
    "a tensors file has q, k and v, or x, w_q, w_k, w_v and w_o (maybe with b_q, b_k, b_v and b_o), and "
    "maybe mask, past_k, past_v, key_lengths, w_a, u_a, v_a, sink, picture, "
    "what stands around the layer (gamma_1, token_query …), labels and options";

}  // namespace

Result<TensorsFile> readTensorsFile(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[')
    return base::refuse(Error::Kind::type, "file", {"a list is not an object; ", kFields, "."});
  Result<StoredFile> file = readJson(text, "file");
  if (!file) return file.error();
  if (!file->isState) return tensorsOf(std::move(*file));
  TensorsFile state;
  state.isState = true;
  return state;
}

std::vector<TensorField> tensorFields(TensorsFile& file) {
  std::vector<TensorField> fields{{"q", &file.q, false, true},
                                  {"k", &file.k, false, true},
                                  {"v", &file.v, false, true},
                                  {"mask", &file.mask, true},
                                  {"past_k", &file.pastK, false, true},
                                  {"past_v", &file.pastV, false, true},
                                  {"key_lengths", &file.keyLengths},
                                  {"w_a", &file.wA},
                                  {"u_a", &file.uA},
                                  {"v_a", &file.vA},
                                  {"sink", &file.sink},
                                  {"picture", &file.picture},
                                  {"d_output", &file.dOutput},
                                  {"d_weights", &file.dWeights},
                                  {"x", &file.x, false, true},
                                  {"x_kv", &file.xKv, false, true},
                                  {"w_q", &file.wQ},
                                  {"w_k", &file.wK},
                                  {"w_v", &file.wV},
                                  {"w_o", &file.wO},
                                  {"b_q", &file.bQ},
                                  {"b_k", &file.bK},
                                  {"b_v", &file.bV},
                                  {"b_o", &file.bO},
                                  {"x_v", &file.xV, false, true}};
  for (std::size_t i = 0; i < file.parameters.size(); ++i)
    fields.push_back({document::name(static_cast<document::ParameterId>(i)), &file.parameters[i]});
  return fields;
}

bool isResultName(std::string_view name) {
  return (attention::tensorNamed(name) && name != "bias") || name == "softcapped" || name == "present_k" ||
         name == "present_v";
}

void settleMode(TensorsFile& file) {
  const auto mode = std::find_if(file.options.begin(), file.options.end(),
                                 [](const Setting& setting) { return setting.name == "mode"; });
  if (mode == file.options.end()) return;
  if (mode->text == "x") file.q.reset(), file.k.reset(), file.v.reset();
  if (mode->text == "qkv")
    for (std::optional<Array>* one : {&file.x, &file.xKv, &file.wQ, &file.wK, &file.wV, &file.wO, &file.bQ,
                                      &file.bK, &file.bV, &file.bO, &file.xV})
      one->reset();
  file.options.erase(mode);
}

Result<void> checkFields(const TensorsFile& file, std::string_view unknown) {
  if (!unknown.empty())
    return base::refuse(Error::Kind::type, inQuotes(unknown), {"the field is unknown; ", kFields, "."});
  const auto missing = [](std::string_view name) {
    return Error{Error::Kind::type, std::string(name), base::message({"it is missing; ", kFields, "."}),
                 false, Error::Fault::missing};
  };
  const std::pair<std::string_view, bool> direct[] = {
      {"q", file.q.has_value()}, {"k", file.k.has_value()}, {"v", file.v.has_value()}};
  const std::pair<std::string_view, bool> projected[] = {
      {"x", file.x.has_value()},    {"x_kv", file.xKv.has_value()}, {"w_q", file.wQ.has_value()},
      {"w_k", file.wK.has_value()}, {"w_v", file.wV.has_value()},   {"w_o", file.wO.has_value()},
      {"b_q", file.bQ.has_value()}, {"b_k", file.bK.has_value()},   {"b_v", file.bV.has_value()},
      {"b_o", file.bO.has_value()}, {"x_v", file.xV.has_value()}};
  if (file.q || !file.x) {
    for (const auto& [name, isGiven] : direct)
      if (!isGiven) return missing(name);
    for (const auto& [name, isGiven] : projected)
      if (isGiven)
        return base::refuse(Error::Kind::range, name,
                            {"q is given too; give either q, k and v, or x and its weights."});
    return {};
  }
  for (const auto& [name, isGiven] : projected)
    if (!isGiven && name != "x_kv" && name != "x_v" && name != "w_o" && !name.starts_with("b_"))
      return missing(name);
  for (const auto& [name, isGiven] :
       {std::pair("past_k", file.pastK.has_value()), std::pair("past_v", file.pastV.has_value())})
    if (isGiven)
      return base::refuse(Error::Kind::range, name,
                          {"it goes with q, k and v, and there is no q; leave it out."});
  return {};
}

std::optional<Setting> settingFrom(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::nullopt;
  Setting setting;
  setting.name = text.substr(0, equals);
  setting.field = "--set " + setting.name;
  const std::string value(text.substr(equals + 1));
  document::JsonText json;
  const bool parsed(document::parseJson(value, {}, json));
  const document::Json& root = json.root;
  using JsonKind = document::Json::Kind;
  if (parsed && root.kind == JsonKind::boolean) {
    setting.boolean = root.boolean;
  } else if (parsed && root.kind == JsonKind::number) {
    setting.kind = Setting::Kind::number;
    setting.number = root.number;
  } else {
    setting.kind = Setting::Kind::text;
    setting.text = parsed && root.kind == JsonKind::text ? root.text : value;
  }
  return setting;
}

}  // namespace files
