// Tensors files and `attn run` without the program around them; also run as WebAssembly and under the
// sanitizers.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "files/formats/format.h"
#include "files/run/attention_file.h"
#include "files/run/work.h"
#include "layer.h"

namespace {

using files::OutputId;
using files::RunRequest;

std::string refusalOf(std::string text, const RunRequest& request = {}) {
  const auto results = files::run(std::move(text), request);
  return results ? "" : results.error().message();
}

std::string written(const std::vector<files::NamedArray>& tensors) {
  std::string out;
  files::StoredFile file;
  for (const files::NamedArray& one : tensors)
    file.tensors.push_back(files::storedOf(one.name, one.shape, one.values));
  files::writeJson(file, [&](std::string_view piece) { return out += piece, true; });
  return out;
}

constexpr const char* kLayer = R"({"q": [[1, 0]], "k": [[1, 0], [0, 1]], "v": [[1], [3]]})";

}  // namespace

TEST_CASE("a layer of two keys") {
  RunRequest request;
  request.outputs = {OutputId::output, OutputId::weights};
  const auto results = files::run(kLayer, request);
  REQUIRE(results);
  const double weight = 1 / (1 + std::exp(-1 / std::sqrt(2.0)));
  REQUIRE(results->size() == 2);
  CHECK((*results)[0].shape == std::vector<std::int64_t>{1, 1});
  CHECK((*results)[0].values[0] == doctest::Approx(weight + 3 * (1 - weight)).epsilon(1e-6));
  CHECK((*results)[1].values[0] == doctest::Approx(weight).epsilon(1e-6));
}

TEST_CASE("a file that ends anywhere is refused, and never read as something else") {
  const std::string whole =
      R"({"q": {"shape": [1, 2], "dtype": "float16", "data": [1.5, -2e-3]}, "k": [[1, 0], [0, 1]],)"
      R"( "v": [[1], [3]], "mask": [true, false], "key_lengths": [2], "options": {"causal": false}, "x": 1})";
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const auto file = files::readTensorsFile(std::string_view(whole).substr(0, length));
    INFO(length);
    REQUIRE_FALSE(file);
    CHECK_FALSE(file.error().message().empty());
  }
}

TEST_CASE("any byte changed gives a result or a sentence") {
  const std::string whole =
      R"({"q":{"shape":[1,2],"data":[1,2]},"k":[[1,0]],"v":[[3]],"mask":["-inf"],"options":{"scale":0.5}})";
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'0', '9', '-', '"', '[', ']', '{', '}', ',', ':', 'e', 't', ' ', '\0', '\xff'}) {
      std::string text = whole;
      text[at] = byte;
      const auto results = files::run(text, {});
      if (results) CHECK(std::isfinite((*results)[0].values.empty() ? 0.0f : (*results)[0].values[0]));
      else CHECK(results.error().message().size() > 10);
    }
  }
}

TEST_CASE("a claim of size allocates nothing") {
  CHECK(refusalOf(R"({"q": {"shape": [1000000000, 1000000000], "data": [1]}, "k": [[1]], "v": [[1]]})")
            .find("1000000000000000000") != std::string::npos);
  CHECK(refusalOf(R"({"q": {"shape": [2000000000, 2000000000, 2000000000], "data": []}})")
            .find("more than any memory") != std::string::npos);
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
  CHECK((*files::run(file, request))[0].values[0] == 6);
  request.settings.push_back(*files::settingFrom("scale=5"));
  CHECK((*files::run(file, request))[0].values[0] == 10);
  request.settings.push_back(*files::settingFrom("scale=false"));
  CHECK((*files::run(file, request))[0].values[0] == 2);
}

TEST_CASE("settings") {
  CHECK_FALSE(files::settingFrom("causal"));
  CHECK_FALSE(files::settingFrom("=1"));
  CHECK(files::settingFrom("a=true")->boolean);
  CHECK(files::settingFrom("a=-1.5")->number == -1.5);
  CHECK(files::settingFrom("a=packed")->text == "packed");
  CHECK(files::settingFrom("a=\"packed\"")->text == "packed");
  CHECK(files::settingFrom("a=b=c")->text == "b=c");
  CHECK(files::settingFrom("a=")->text.empty());
}

TEST_CASE("written numbers read back to the same bits") {
  std::vector<float> values{0.0f,           -0.0f,       0.1f, -1.5f, 1e-45f, 1.17549435e-38f,
                            3.40282347e38f, 16777217.0f, 1e20f};
  for (std::uint32_t bits = 1; bits < 0x7f800000u; bits += 1'234'567u)
    values.push_back(std::bit_cast<float>(bits));
  const auto size = static_cast<std::int64_t>(values.size());
  const std::string text = written({{"k", {size, 1}, values}});
  const auto file = files::readTensorsFile(R"({"q": [[1]], "v": [[1]], )" + text.substr(1));
  REQUIRE(file);
  REQUIRE(file->k->values.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    CHECK(std::bit_cast<std::uint32_t>(file->k->values[i]) == std::bit_cast<std::uint32_t>(values[i]));
  CHECK(written({{"masked", {2}, {-INFINITY, INFINITY}}}) ==
        "{\"masked\": {\"shape\": [2], \"data\": [\"-inf\", \"inf\"]}}\n");
  CHECK(written({}) == "{}\n");
}

TEST_CASE("float16: every finite one is kept, and what is between goes to the nearer, ties to even") {
  const auto half = [](double value) {
    const auto file = files::readTensorsFile("{\"q\": {\"shape\": [1], \"dtype\": \"float16\", \"data\": [" +
                                             std::to_string(value) + "]}, \"k\": [[1]], \"v\": [[1]]}");
    return file ? file->q->values[0] : NAN;
  };
  for (int bits = 0; bits < 0x7c00; bits += 7) {
    const int exponent = bits >> 10, mantissa = bits & 1023;
    const float value = exponent == 0 ? std::ldexp(static_cast<float>(mantissa), -24)
                                      : std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25);
    if (value > 1e-2f) CHECK(half(value) == value);  // std::to_string gives six decimals
  }
  CHECK(half(2049) == 2048);
  CHECK(half(2051) == 2052);
  CHECK(half(65519) == 65504);
  CHECK(std::isnan(half(65520)));
}

namespace {

/// Adds a tensor of a batch in the form that files have.
void addHeads(std::vector<files::NamedArray>& file, const char* name, const attention::Tensor& tensor,
              int batch) {
  file.push_back({name,
                  {batch, tensor.heads() / batch, tensor.rows(), tensor.cols()},
                  {tensor.values().begin(), tensor.values().end()}});
}

/// One item of a tensor that holds the heads of all items of the batch.
attention::Tensor batchOf(const attention::Tensor& tensor, int batch, int count) {
  attention::Tensor out(tensor.heads() / count, tensor.rows(), tensor.cols());
  std::copy_n(tensor.head(batch * out.heads()), out.size(), out.data());
  return out;
}

/// `count` rows, starting at `first`.
attention::Tensor rowsOf(const attention::Tensor& tensor, int first, int count) {
  attention::Tensor out(tensor.heads(), count, tensor.cols());
  for (int h = 0; h < out.heads(); ++h) std::copy_n(tensor.row(h, first), count * tensor.cols(), out.head(h));
  return out;
}

/// Compares files::run with the reference, for a batch of 2 with past keys, key lengths and a mask per head.
void checkFile(const std::string& options, const attention::Spec& wanted, attention::Score score,
               test::Random& random) {
  CAPTURE(options);
  constexpr int kBatch = 2, kPast = 2;
  test::Layer all = test::withScore(test::direct(test::shape(4, 2, 3, 7, 4, 3), random), score, random);
  attention::Tensor q(8, 3, 4), k(4, 7, 4), v(4, 7, 3), mask(8, 3, 7);
  for (attention::Tensor* t : {&q, &k, &v, &mask}) test::fill(*t, random);
  std::vector<files::NamedArray> file;
  addHeads(file, "q", q, kBatch), addHeads(file, "mask", mask, kBatch);
  addHeads(file, "past_k", rowsOf(k, 0, kPast), kBatch), addHeads(file, "k", rowsOf(k, kPast, 5), kBatch);
  addHeads(file, "past_v", rowsOf(v, 0, kPast), kBatch), addHeads(file, "v", rowsOf(v, kPast, 5), kBatch);
  const auto values = [](const attention::Tensor& t) {
    return std::vector<float>(t.values().begin(), t.values().end());
  };
  if (!all.wA.empty()) file.push_back({"w_a", {4, 4, 4}, values(all.wA)});
  if (!all.uA.empty()) file.push_back({"u_a", {4, 4, 4}, values(all.uA)});
  if (!all.vA.empty()) file.push_back({"v_a", {4, 4}, values(all.vA)});
  std::string text = written(file);
  text.erase(text.find_last_of('}'));
  text += ", \"key_lengths\": [7, 6], \"options\": " + options + "}";
  RunRequest request;
  request.outputs = {OutputId::output, OutputId::weights, OutputId::softcapped};
  const auto results = files::run(text, request);
  REQUIRE_MESSAGE(results, (results ? "" : results.error().message()));
  for (int b = 0; b < kBatch; ++b) {
    test::Layer layer = all;
    layer.spec = wanted;
    layer.q = batchOf(q, b, kBatch), layer.k = batchOf(k, b, kBatch), layer.v = batchOf(v, b, kBatch);
    layer.bias = batchOf(mask, b, kBatch), layer.spec.keyLength = b == 0 ? 7 : 6;
    REQUIRE(validate(layer.spec, layer.inputs()));
    const attention::ReferenceTrace exact = reference(layer.spec, layer.inputs());
    const attention::ReferenceTensor* tensors[] = {&exact.headOutput, &exact.weights,
                                                   &attention::cappedOf(exact)};
    for (std::size_t t = 0; t < 3; ++t) {
      const std::size_t size = tensors[t]->values.size();
      REQUIRE((*results)[t].values.size() == kBatch * size);
      for (std::size_t i = 0; i < size; ++i) {
        CHECK(std::abs(double{(*results)[t].values[static_cast<std::size_t>(b) * size + i]} -
                       tensors[t]->values[i]) < 1e-5);
      }
    }
  }
}

}  // namespace

TEST_CASE(
    "scores, normalisers, positions and patterns of a file, in batches with a past, lengths and a mask") {
  using attention::Score;
  test::Random random(1);
  attention::Spec spec = test::shape(4, 2, 3, 7, 4, 3);
  spec.causalOffset = 2;
  spec.score = Score::general, spec.softcap = 2.0f;
  checkFile(R"({"score": "general", "softcap": 2})", spec, spec.score, random);
  spec.score = Score::additive, spec.position = attention::Position::alibi, spec.causal = true;
  checkFile(R"({"score": "additive", "softcap": 2, "position": "alibi", "causal": true})", spec, spec.score,
            random);
  spec.score = Score::cosine, spec.position = attention::Position::rotary, spec.softcap = 0.0f;
  spec.normalizer = attention::Normalizer::sparsemax;
  checkFile(R"({"score": "cosine", "position": "rotary", "causal": true, "normalizer": "sparsemax"})", spec,
            spec.score, random);
  spec.score = Score::scaled, spec.position = attention::Position::none, spec.prefix = 5, spec.scale = -0.3f;
  checkFile(R"({"prefix": 5, "causal": true, "normalizer": "sparsemax", "scale": -0.3})", spec, spec.score,
            random);
  spec.prefix = 0, spec.pattern = {1, 1, 2, 0, 1, 1, 5}, spec.normalizer = attention::Normalizer::softmax;
  checkFile(
      R"({"pattern_local": 1, "pattern_stride": 2, "pattern_global": 1, "pattern_random": 1, "pattern_seed": 5,)"
      R"( "causal": true, "scale": -0.3})",
      spec, spec.score, random);
  spec.maskAfterSoftmax = true;
  checkFile(
      R"({"pattern_local": 1, "pattern_stride": 2, "pattern_global": 1, "pattern_random": 1, "pattern_seed": 5,)"
      R"( "causal": true, "scale": -0.3, "mask_after_softmax": true})",
      spec, spec.score, random);
}

TEST_CASE("packed files of any score give packed outputs") {
  RunRequest request;
  request.outputs = {OutputId::output, OutputId::weights};
  const std::string q = R"("q": [[1, 0, 0, 2], [0, 1, 1, 1]], "k": [[1, 0, 2, 1], [0, 1, 0, 1]], )";
  const std::string values = R"("v": [[1, 2], [3, 4]], "options": {"layout": "packed", "heads": 2, )";
  const auto results =
      files::run("{" + q + values + R"("score": "cosine", "normalizer": "hardmax"}})", request);
  REQUIRE(results);
  CHECK((*results)[0].shape == std::vector<std::int64_t>{2, 2});
  CHECK((*results)[0].values == std::vector<float>{1, 4, 3, 2});
  CHECK((*results)[1].shape == std::vector<std::int64_t>{2, 2, 2});
}

TEST_CASE("outputs have names of their own, the block and the segments among them") {
  std::vector<std::string> names;
  for (const OutputId id : files::outputIds()) names.emplace_back(attention::name(id));
  CHECK(names.front() == "output");
  CHECK(names.back() == "class_probabilities");
  for (const char* name :
       {"present_v", "block:attention", "block:norm_2", "gamma_1", "segment_query", "token_weights"})
    CHECK(std::count(names.begin(), names.end(), name) == 1);
  CHECK(std::count(names.begin(), names.end(), "spread:table") == 0);
}

TEST_CASE("the block of q, k and v: x is q, for every entry of a batch; memory for it is counted") {
  const auto outputNamed = [](std::string_view name) {
    for (const OutputId id : files::outputIds())
      if (attention::name(id) == name) return id;
    return OutputId::output;
  };
  RunRequest request;
  request.outputs = {outputNamed("block:residual_1"), outputNamed("token_weights"), outputNamed("gamma_2")};
  const std::string file =
      R"({"q": [[[[1, 2]]], [[[3, 4]]]], "k": [[[[1, 1]]], [[[1, 1]]]], "v": [[[[10, 20]]], [[[30, 40]]]],)"
      R"( "gamma_2": [5, 6]})";
  const auto results = files::run(file, request);
  REQUIRE(results);
  CHECK((*results)[0].shape == std::vector<std::int64_t>{2, 1, 2});
  CHECK((*results)[0].values == std::vector<float>{11, 22, 33, 44});
  CHECK((*results)[1].shape == std::vector<std::int64_t>{2, 1, 1});
  CHECK((*results)[1].values == std::vector<float>{1, 1});
  CHECK((*results)[2].shape == std::vector<std::int64_t>{1, 2});
  CHECK((*results)[2].values == std::vector<float>{5, 6});
  request.freeMemory = [] { return std::int64_t{40}; };
  CHECK(refusalOf(file, request).find(" take ") != std::string::npos);
}

TEST_CASE("work: a call in parts gives the same numbers, bit for bit, and its parts cost what it does") {
  namespace kernels = attention::kernels;
  test::Random random(71);
  // Long rows and many queries; and many heads. With more threads the parts are larger: there must be
  // something for each of them to do.
  for (const auto& [heads, kvHeads, queries, keys, dim, threads, parts] :
       {std::tuple(1, 1, 1300, 4000, 512, 1, 2),
        {1, 1, 4100, 1000, 512, 1, 3},
        {2, 1, 1300, 2200, 512, 1, 2},
        {2, 2, 1300, 2200, 512, 64, 1},
        {12, 6, 700, 1000, 512, 1, 3},
        {2, 1, 5, 9, 4, 1, 1}}) {
    CAPTURE(queries);
    CAPTURE(threads);
    const auto numbers = [&](std::ptrdiff_t count) {
      std::vector<float> all(static_cast<std::size_t>(count));
      for (float& x : all) x = random.normal();
      return all;
    };
    const std::ptrdiff_t rows = queries, width = keys, columns = dim;
    const std::vector<float> q = numbers(heads * rows * columns), k = numbers(kvHeads * width * columns),
                             v = numbers(kvHeads * width * columns), bias = numbers(rows * width);
    std::vector<std::uint8_t> blocked(static_cast<std::size_t>(heads * rows));
    for (std::uint8_t& one : blocked) one = random.chance(0.3);
    kernels::Forward f;
    f.heads = heads, f.kvHeads = kvHeads, f.queryCount = queries, f.keyCount = keys,
    f.headDim = f.valueDim = dim;
    f.q = {q.data(), rows * columns, columns}, f.k = {k.data(), width * columns, columns},
    f.v = {v.data(), width * columns, columns};
    f.scale = 0.05f, f.keyLength = keys - 3;
    if (keys > queries) f.causal = true, f.causalOffset = keys - queries, f.windowLeft = keys - 7;
    f.bias = {bias.data(), 0, width};
    f.blocked = blocked.data(), f.blockedHeadStride = 1,
    f.blockedRowStride = 0;  // each head has a mask of its own, of all columns that fit
    if (heads * queries < keys + heads) f.blocked = nullptr;
    std::vector<float> output(q.size()), weights(static_cast<std::size_t>(heads * rows * width)),
        masked = weights;
    const auto pointAt = [&](std::vector<float>& o, std::vector<float>& w, std::vector<float>& m) {
      f.output = {o.data(), rows * columns, columns}, f.weights = {w.data(), rows * width, width},
      f.masked = {m.data(), rows * width, width};
    };
    pointAt(output, weights, masked);
    kernels::Workspace workspace(1);
    REQUIRE(kernels::forward(kernels::best(), f, workspace));
    std::vector<float> output2(output.size()), weights2(weights.size()), masked2 = weights2;
    pointAt(output2, weights2, masked2);
    double cost = 0;
    int count = 0;
    CHECK(files::layer::forParts(f, threads, [&](const kernels::Forward& part) {
      ++count, cost += files::layer::multiplyAdds(part);
      return kernels::forward(kernels::best(), part, workspace).has_value();
    }));
    CHECK(count == parts);
    CHECK(cost == files::layer::multiplyAdds(f));
    CHECK(output == output2);
    CHECK(weights == weights2);
    CHECK(masked == masked2);
  }
}

TEST_CASE(
    "work: its progress begins with nothing, never goes back, and ends with all of it, whatever computes the "
    "layer") {
  for (const char* options : {R"({"causal": true})", R"({"normalizer": "sparsemax"})",
                              R"({"score": "additive", "window_left": 2})"}) {
    CAPTURE(options);
    const std::string tensor = "[[[1, 0], [0, 1], [2, 2]], [[1, 1], [0, 3], [1, 2]]]";
    double before = -1, last = -1, whole = 0;
    RunRequest request;
    request.progress = [&](double done, double all) {
      CHECK(done >= last);
      if (last < 0) before = done;
      last = done, whole = all;
    };
    REQUIRE(files::run(
        "{\"q\": " + tensor + ", \"k\": " + tensor + ", \"v\": " + tensor + ", \"options\": " + options + "}",
        request));
    CHECK(before == 0);
    CHECK(whole > 0);
    CHECK(last == doctest::Approx(whole));
  }
}
