// Tensors files and `attn run`, without the program around them: also as WebAssembly and under the sanitizers.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <string>

#include "io/attention_file.h"

namespace {

using io::OutputId;
using io::RunRequest;

std::string refusalOf(std::string text, const RunRequest& request = {}) {
  const auto results = io::run(std::move(text), request);
  return results ? "" : results.error().message;
}

std::string written(const std::vector<io::NamedArray>& tensors) {
  std::string out;
  io::writeTensors(tensors, [&](std::string_view piece) { return out += piece, true; });
  return out;
}

constexpr const char* kLayer = R"({"q": [[1, 0]], "k": [[1, 0], [0, 1]], "v": [[1], [3]]})";

}  // namespace

TEST_CASE("a layer of two keys") {
  RunRequest request;
  request.outputs = {OutputId::output, OutputId::weights};
  const auto results = io::run(kLayer, request);
  REQUIRE(results);
  const double weight = 1 / (1 + std::exp(-1 / std::sqrt(2.0)));
  REQUIRE(results->size() == 2);
  CHECK((*results)[0].shape == std::vector<std::int64_t>{1, 1});
  CHECK((*results)[0].values[0] == doctest::Approx(weight + 3 * (1 - weight)).epsilon(1e-6));
  CHECK((*results)[1].values[0] == doctest::Approx(weight).epsilon(1e-6));
}

TEST_CASE("a file that ends anywhere is refused, and never read as something else") {
  const std::string whole = R"({"q": {"shape": [1, 2], "dtype": "float16", "data": [1.5, -2e-3]}, "k": [[1, 0], [0, 1]],)"
                            R"( "v": [[1], [3]], "mask": [true, false], "key_lengths": [2], "options": {"causal": false}, "x": 1})";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto file = io::readTensorsFile(std::string_view(whole).substr(0, length));
    INFO(length);
    REQUIRE_FALSE(file);
    CHECK_FALSE(file.error().message.empty());
  }
}

TEST_CASE("any byte changed gives a result or a sentence") {
  const std::string whole = R"({"q":{"shape":[1,2],"data":[1,2]},"k":[[1,0]],"v":[[3]],"mask":["-inf"],"options":{"scale":0.5}})";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'0', '9', '-', '"', '[', ']', '{', '}', ',', ':', 'e', 't', ' ', '\0', '\xff'}) {
      std::string text = whole;
      text[at] = byte;
      const auto results = io::run(text, {});
      if (results) CHECK(std::isfinite((*results)[0].values.empty() ? 0.0f : (*results)[0].values[0]));
      else CHECK(results.error().message.size() > 10);
    }
  }
}

TEST_CASE("a claim of size allocates nothing") {
  CHECK(refusalOf(R"({"q": {"shape": [1000000000, 1000000000], "data": [1]}, "k": [[1]], "v": [[1]]})").find("1000000000000000000") != std::string::npos);
  CHECK(refusalOf(R"({"q": {"shape": [2000000000, 2000000000, 2000000000], "data": []}})").find("more than any memory") != std::string::npos);
}

TEST_CASE("memory is compared before it is taken") {
  RunRequest request;
  request.outputs = {OutputId::weights};
  request.freeMemory = [] { return std::int64_t{7}; };
  CHECK(refusalOf(kLayer, request).starts_with("weights: "));
  request.freeMemory = [] { return std::int64_t{8}; };
  CHECK(refusalOf(kLayer, request).empty());
}

TEST_CASE("the file wins over defaults, settings over the file, the last setting over others") {
  RunRequest request;
  request.outputs = {OutputId::scores};
  const std::string file = R"({"q": [[1, 1]], "k": [[1, 1]], "v": [[1]], "options": {"scale": 3}})";
  CHECK((*io::run(file, request))[0].values[0] == 6);
  request.settings.push_back(*io::settingFrom("scale=5"));
  CHECK((*io::run(file, request))[0].values[0] == 10);
  request.settings.push_back(*io::settingFrom("scale=false"));
  CHECK((*io::run(file, request))[0].values[0] == 2);
}

TEST_CASE("settings") {
  CHECK_FALSE(io::settingFrom("causal"));
  CHECK_FALSE(io::settingFrom("=1"));
  CHECK(io::settingFrom("a=true")->boolean);
  CHECK(io::settingFrom("a=-1.5")->number == -1.5);
  CHECK(io::settingFrom("a=packed")->text == "packed");
  CHECK(io::settingFrom("a=\"packed\"")->text == "packed");
  CHECK(io::settingFrom("a=b=c")->text == "b=c");
  CHECK(io::settingFrom("a=")->text.empty());
}

TEST_CASE("written numbers read back to the same bits") {
  std::vector<float> values{0.0f, -0.0f, 0.1f, -1.5f, 1e-45f, 1.17549435e-38f, 3.40282347e38f, 16777217.0f, 1e20f};
  for (std::uint32_t bits = 1; bits < 0x7f800000u; bits += 1'234'567u) values.push_back(std::bit_cast<float>(bits));
  const auto size = static_cast<std::int64_t>(values.size());
  const std::string text = written({{"k", {size, 1}, values}});
  const auto file = io::readTensorsFile(R"({"q": [[1]], "v": [[1]], )" + text.substr(1));
  REQUIRE(file);
  REQUIRE(file->k->values.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::bit_cast<std::uint32_t>(file->k->values[i]) == std::bit_cast<std::uint32_t>(values[i]));
  CHECK(written({{"masked", {2}, {-INFINITY, INFINITY}}}) == "{\"masked\": {\"shape\": [2], \"data\": [\"-inf\", \"inf\"]}}\n");
  CHECK(written({}) == "{}\n");
}

TEST_CASE("float16: every finite one is kept, and what is between goes to the nearer, ties to even") {
  const auto half = [](double value) {
    const auto file = io::readTensorsFile("{\"q\": {\"shape\": [1], \"dtype\": \"float16\", \"data\": [" + std::to_string(value) +
                                          "]}, \"k\": [[1]], \"v\": [[1]]}");
    return file ? file->q->values[0] : NAN;
  };
  for (int bits = 0; bits < 0x7c00; bits += 7) {
    const int exponent = bits >> 10, mantissa = bits & 1023;
    const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24) : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
    if (value > 1e-2f) CHECK(half(value) == value);  // std::to_string has six decimals
  }
  CHECK(half(2049) == 2048);
  CHECK(half(2051) == 2052);
  CHECK(half(65519) == 65504);
  CHECK(std::isnan(half(65520)));
}
