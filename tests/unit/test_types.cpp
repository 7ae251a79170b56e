// The names that TypeScript knows (web/element.d.ts) are those that the program knows.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "app/names.h"
#include "document/preset.h"
#include "types.h"

namespace {

using Names = std::set<std::string_view>;

/// The literals of `export type NAME = 'one' | 'two' …;`, without those of comments.
Names unionOf(std::string_view name) {
  const std::string_view text = types::files[0].text;
  const std::string begin = "export type " + std::string(name) + " =";
  const std::size_t at = text.find(begin);
  REQUIRE_MESSAGE(at != std::string_view::npos, name);
  std::string_view rest = text.substr(at + begin.size());
  rest = rest.substr(0, rest.find(";\n"));
  Names names;
  while (!rest.empty()) {
    if (rest.starts_with("/*")) rest.remove_prefix(std::min(rest.find("*/"), rest.size()));
    if (rest.starts_with('\'')) {
      rest.remove_prefix(1);
      names.insert(rest.substr(0, rest.find('\'')));
      rest.remove_prefix(rest.find('\''));
    }
    rest.remove_prefix(1);
  }
  return names;
}

/// What is in the first and not in the second, for a readable report.
std::string without(const Names& all, const Names& others) {
  std::string missing;
  for (const std::string_view one : all)
    if (!others.contains(one)) missing += std::string(one) + " ";
  return missing;
}

void checkSame(std::string_view type, const Names& typed, const Names& known) {
  CAPTURE(type);
  CHECK(without(typed, known) == "");
  CHECK(without(known, typed) == "");
}

Names namesOf(attention::TensorRange range) {
  Names names;
  for (int i = 0; i < range.size(); ++i) names.insert(attention::name(range[i]));
  return names;
}

}  // namespace

TEST_CASE("TypeScript knows the names of all examples and parts") {
  Names presets;
  for (const document::Preset& one : document::presets()) presets.insert(one.name);
  checkSame("PresetName", unionOf("PresetName"), presets);
  checkSame("PartName", unionOf("PartName"), Names(app::shownParts().begin(), app::shownParts().end()));
}

TEST_CASE("TypeScript knows the names of all tensors") {
  checkSame("TensorName", unionOf("TensorName"), namesOf(attention::kLayerTensors));
  Names around = unionOf("StageName");
  around.merge(unionOf("ParameterName"));
  around.merge(unionOf("ExperimentName"));
  CHECK(around.erase("train:loss") == 1);  // of the run, beside train:weights:1 …
  checkSame("StageName, ParameterName, ExperimentName", around, namesOf(attention::kDerivedTensors));
}
