#include "document/json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/number.h"
#include "base/sentence.h"
#include "document/json_events.h"
#include "document/text.h"

namespace document {
namespace {

using base::Error;
using Kind = Json::Kind;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Builds the tree.
class Builder final : public JsonEvents {
 public:
  Builder(std::string_view text, std::span<const std::string_view> known, JsonText& out)
      : JsonEvents(text),
        result(out),
        known_(known) {}

  JsonText& result;
  bool null() override { return keep("null") && add({}); }
  bool boolean(bool value) override { return keep(value ? "true" : "false") && addBoolean(value); }
  bool number_integer(std::int64_t value) override {
    return keep(std::to_string(value)) && addNumber(static_cast<double>(value), static_cast<float>(value));
  }
  bool number_unsigned(std::uint64_t value) override {
    return keep(std::to_string(value)) && addNumber(static_cast<double>(value), static_cast<float>(value));
  }
  bool number_float(double value, const std::string& digits) override {
    return keep(digits) && addNumber(value, base::parseFloat(digits).value_or(0.0f));
  }
  bool string(std::string& value) override {
    if (!keep(jsonQuoted(value))) return false;
    if ((value == "-inf" || value == "inf") && isInBias())
      return addToArray(Kind::numbers, value == "inf" ? kInfinity : -kInfinity, {});
    Json node;
    node.kind = Kind::text;
    node.text = std::move(value);
    return add(std::move(node));
  }
  bool start_object(std::size_t) override { return open(Kind::object, "{"); }
  bool start_array(std::size_t) override { return open(Kind::list, "["); }
  bool end_object() override { return close("}"); }
  bool end_array() override { return close("]"); }
  bool key(std::string& name) override;

 private:
  struct Frame {
    Json node;
    std::string key;  ///< in an object, the key of the next value
  };

  bool fail(Error::Kind kind, std::initializer_list<base::Piece> sentence);
  bool add(Json node);
  bool addNumber(double value, float single);
  bool addBoolean(bool value);
  bool addToArray(Kind kind, float value, const Json& alone);
  bool spread(Json& node);
  bool open(Kind kind, std::string_view bracket);
  bool close(std::string_view bracket);
  bool keep(std::string_view token);
  bool isInBias() const;
  std::string path() const override;
  bool isRead() const override { return frames_.empty() && nodes_ > 0; }

  std::span<const std::string_view> known_;
  std::vector<Frame> frames_;
  std::size_t nodes_ = 0, arrayItems_ = 0;
  bool isUnknown_ = false;  ///< inside an unknown field of the root
};

// The position of the parser: "q.data[7]"; "" at the root.
std::string Builder::path() const {
  std::string out;
  for (const Frame& frame : frames_) {
    if (frame.node.kind == Kind::object) {
      if (!frame.key.empty()) out += (out.empty() ? "" : ".") + frame.key;
    } else {
      out += base::joined({"[", frame.node.items.size() + frame.node.numbers.size(), "]"});
    }
  }
  if (out.size() > 80 || std::any_of(out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }))
    return {};
  return out;
}

bool Builder::fail(Error::Kind kind, std::initializer_list<base::Piece> sentence) {
  const std::string where = path();
  return refuse(kind, where.empty() ? "text" : where, base::joined(sentence));
}

// Copies the text of unknown fields verbatim, so that nothing is lost by converting numbers.
bool Builder::keep(std::string_view token) {
  if (!isUnknown_ || result.unknownTooLong) return true;
  std::string& out = result.unknown;
  const bool first = out.empty() || out.back() == '{' || out.back() == '[' || out.back() == ':';
  if (!first && token != "}" && token != "]") out += ',';
  out += token;
  result.unknownTooLong = out.size() > kMaxUnknownBytes;
  return true;
}

bool Builder::key(std::string& name) {
  Frame& frame = frames_.back();
  const std::vector<std::string>& keys = frame.node.keys;
  if (keys.size() >= kMaxKeys)
    return fail(Error::Kind::memory, {"an object has more than ", kMaxKeys, " fields; give fewer."});
  if (std::find(keys.begin(), keys.end(), name) != keys.end())
    return fail(Error::Kind::syntax, {"the key ", base::inQuotes(name), " is given twice; give it once."});
  if (frames_.size() == 1) isUnknown_ = std::find(known_.begin(), known_.end(), name) == known_.end();
  keep(jsonQuoted(name));
  if (isUnknown_ && !result.unknownTooLong) result.unknown += ':';
  frame.key = std::move(name);
  return true;
}

bool Builder::add(Json node) {
  if (++nodes_ > kMaxNodes)
    return fail(Error::Kind::memory,
                {"there are more than ", kMaxNodes, " values; give long tensors as {\"shape\", \"data\"}."});
  if (frames_.empty()) {
    result.root = std::move(node);
    return true;
  }
  Frame& top = frames_.back();
  if (!spread(top.node)) return false;
  if (top.node.kind == Kind::object) top.node.keys.push_back(std::exchange(top.key, {}));
  top.node.items.push_back(std::move(node));
  return true;
}

// Converts a plain array that receives a value of another kind to a list.
bool Builder::spread(Json& node) {
  if (node.kind != Kind::numbers && node.kind != Kind::booleans) return true;
  nodes_ += node.numbers.size();
  if (nodes_ > kMaxNodes)
    return fail(Error::Kind::type, {"a list of numbers goes on with something else; give numbers only."});
  for (const float value : node.numbers) {
    Json item;
    item.kind = node.kind == Kind::numbers ? Kind::number : Kind::boolean;
    item.number = item.single = value;
    item.boolean = value != 0;
    node.items.push_back(std::move(item));
  }
  node.numbers.clear();
  node.kind = Kind::list;
  return true;
}

bool Builder::addToArray(Kind kind, float value, const Json& alone) {
  if (frames_.empty() || frames_.back().node.kind == Kind::object) return add(alone);
  Json& node = frames_.back().node;
  if (node.kind == Kind::list && node.items.empty()) node.kind = kind;
  if (node.kind != kind) return add(alone);
  if (++arrayItems_ > kMaxArrayItems)
    return fail(Error::Kind::memory,
                {"there are more than ", kMaxArrayItems, " numbers; give smaller tensors."});
  node.numbers.push_back(value);
  return true;
}

// Only in a bias do texts stand for the infinities, which JSON cannot express.
bool Builder::isInBias() const {
  return frames_.size() > 1 && frames_.back().node.kind != Kind::object &&
         std::any_of(frames_.begin(), frames_.end(), [](const Frame& frame) { return frame.key == "bias"; });
}

bool Builder::addNumber(double value, float single) {
  if (std::isinf(single) && isInBias())
    return fail(Error::Kind::range,
                {"the number is too large for 32 bits; use -3.4e38 to 3.4e38, or \"-inf\"."});
  Json node;
  node.kind = Kind::number;
  node.number = value, node.single = single;
  return addToArray(Kind::numbers, single, node);
}

bool Builder::addBoolean(bool value) {
  Json node;
  node.kind = Kind::boolean;
  node.boolean = value;
  return addToArray(Kind::booleans, value ? 1.0f : 0.0f, node);
}

bool Builder::open(Kind kind, std::string_view bracket) {
  if (frames_.size() >= static_cast<std::size_t>(kMaxDepth))
    return fail(Error::Kind::syntax,
                {"lists and objects are more than ", kMaxDepth, " deep; use fewer levels."});
  keep(bracket);
  frames_.emplace_back();
  frames_.back().node.kind = kind;
  return true;
}

bool Builder::close(std::string_view bracket) {
  if (frames_.size() == 1) isUnknown_ = false;
  keep(bracket);
  Json node = std::move(frames_.back().node);
  frames_.pop_back();
  return add(std::move(node));
}

bool isPartOfWord(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
         c == '+';
}

// The number or name in which the parser stopped.
std::string_view wordAt(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {};
  std::size_t begin = at, end = at;
  while (begin > 0 && isPartOfWord(text[begin - 1])) --begin;
  while (end < text.size() && isPartOfWord(text[end])) ++end;
  return text.substr(begin, std::max<std::size_t>(end - begin, 1));
}

// Some editors put one at the start of files saved as "Unicode".
bool hasByteOrderMark(std::string_view text) {
  return text.substr(0, 3) == "\xef\xbb\xbf" || text.substr(0, 2) == "\xff\xfe" ||
         text.substr(0, 2) == "\xfe\xff";
}

}  // namespace

base::Message JsonEvents::place(std::size_t position) const {
  const std::string_view before = text_.substr(0, position);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const std::string where = path();
  base::Message at{"line ", lines + 1, ", column ", position - start + 1};
  if (!where.empty()) at += {" (", where, ")"};
  return at;
}

bool JsonEvents::parse_error(std::size_t position, const std::string& token,
                             const nlohmann::detail::exception& why) {
  constexpr int tooLarge = 406;  // the parser's number for a number beyond the range of double
  const std::size_t at = position > 0 ? position - 1 : 0;
  const std::string_view word = wordAt(text_, at);
  const std::string where = path(), field = where.empty() ? std::string(whole_) : where;
  if (why.id == tooLarge)
    return refuse(
        Error::Kind::range, field,
        base::message({base::inQuotes(token), " is too large for 32 bits; use -3.4e38 to 3.4e38."}));
  for (const std::string_view notFinite : {"NaN", "nan", "Infinity", "-Infinity", "inf", "-inf"})
    if (word == notFinite) {
      isPython = true;  // which writes infinities and NaN as words that are not JSON
      return refuse(Error::Kind::range, field,
                    base::message({word, " cannot be used; give a finite number."}));
    }
  if (at >= text_.size())
    return refuse(Error::Kind::syntax, field,
                  base::message({"the text ends too early, at ", place(text_.size()),
                                 "; check that the file is complete."}));
  return refuse(Error::Kind::syntax, field,
                base::message({"at ", place(at), " ", base::inQuotes(word),
                               isRead() ? " comes after the end; remove it."
                                        : " does not belong there; give valid JSON in UTF-8."}));
}

base::Result<void> JsonEvents::parse(std::string_view field) {
  whole_ = field;
  if (hasByteOrderMark(text_))
    return base::refuse(Error::Kind::syntax, field,
                        {"it begins with a byte order mark; save it as UTF-8 without one."});
  if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return base::refuse(Error::Kind::syntax, field, {"it is empty; give a state or tensors in JSON."});
  if (!nlohmann::json::sax_parse(text_.begin(), text_.end(), static_cast<nlohmann::json::json_sax_t*>(this)))
    refuse(Error::Kind::syntax, field, "it is not JSON; check the file.");
  return std::move(ok);
}

const Json* Json::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::string_view Json::kindName() const {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "true or false";
    case Kind::number: return "a number";
    case Kind::text: return "a text";
    case Kind::object: return "an object";
    case Kind::list:
    case Kind::numbers:
    case Kind::booleans: return "a list";
  }
  return {};
}

std::string described(const Json& json) {
  if (json.kind == Json::Kind::text) return base::inQuotes(json.text);
  if (json.kind == Json::Kind::number) return base::shortest(json.number);
  if (json.kind == Json::Kind::boolean) return json.boolean ? "true" : "false";
  return std::string(json.kindName());
}

base::Result<void> parseJson(std::string_view text, std::span<const std::string_view> known, JsonText& out) {
  if (text.size() > kMaxTextBytes)
    return base::refuse(Error::Kind::memory, "text",
                        {text.size(), " bytes are too many; use at most ", kMaxTextBytes, "."});
  return Builder(text, known, out).parse("text");
}

std::string jsonQuoted(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\', out += c;
    else if (byte >= 0x20) out += c;
    else out += "\\u00", out += digits[byte >> 4], out += digits[byte & 15];
  }
  return out + '"';
}

}  // namespace document
