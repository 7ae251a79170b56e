// What reading a file allocates, measured: the bound of files/formats/format.h, for every format, type and
// way of reading, and for files that lie.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "document/preset.h"
#include "document/text.h"
#include "files/formats/format.h"
#include "files/formats/inflate.h"
#include "files/formats/npy.h"
#include "files/formats/zip.h"
#include "files/layout/match.h"
#include "files/layout/opener.h"
#include "files/layout/read.h"
#include "files/layout/read_layer.h"
#include "files/layout/session_store.h"

// The sanitizers have an allocator of their own, which stays in place: there the files are only read.
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define AP_HAS_OWN_ALLOCATOR
#endif
#endif

namespace {

std::atomic<std::int64_t> live{0}, highest{0};

#ifndef AP_HAS_OWN_ALLOCATOR
/// Every block begins with its size.
constexpr std::size_t kHead = alignof(std::max_align_t);

void* counted(std::size_t size) noexcept {
  void* const block = std::malloc(size + kHead);
  if (!block) return nullptr;
  std::memcpy(block, &size, sizeof size);
  const std::int64_t now = live += static_cast<std::int64_t>(size);
  for (std::int64_t before = highest; before < now && !highest.compare_exchange_weak(before, now);) {}
  return static_cast<char*>(block) + kHead;
}

void uncounted(void* given) noexcept {
  if (!given) return;
  void* const block = static_cast<char*>(given) - kHead;
  std::size_t size = 0;
  std::memcpy(&size, block, sizeof size);
  live -= static_cast<std::int64_t>(size);
  std::free(block);
}
#endif

/// The most memory that was in use during a call, beyond what was in use before it.
template <class Call>
std::int64_t peakOf(Call call) {
  const std::int64_t before = live;
  highest = before;
  call();
  return highest - before;
}

}  // namespace

#ifndef AP_HAS_OWN_ALLOCATOR
void* operator new(std::size_t size) {
  if (void* const block = counted(size)) return block;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* block) noexcept { uncounted(block); }
void operator delete[](void* block) noexcept { uncounted(block); }
void operator delete(void* block, std::size_t) noexcept { uncounted(block); }
void operator delete[](void* block, std::size_t) noexcept { uncounted(block); }
void operator delete(void* block, const std::nothrow_t&) noexcept { uncounted(block); }
void operator delete[](void* block, const std::nothrow_t&) noexcept { uncounted(block); }
#endif

namespace {

using files::Format;
using files::Shape;
using files::Stored;
using files::StoredFile;
using files::Type;

constexpr Type kTypes[] = {Type::float64, Type::float32, Type::float16, Type::bfloat16,
                           Type::int8,    Type::uint8,   Type::int16,   Type::int64};
/// Rows of the tensors whose reading is measured. The sanitizers measure nothing: there each tensor of floats
/// is a little larger than the pieces in which files are read (64 KB).
#ifdef AP_HAS_OWN_ALLOCATOR
constexpr int kMany = 72;
#else
constexpr int kMany = 256;
#endif
constexpr Format kFormats[] = {Format::npz, Format::safetensors, Format::json,
                               Format::npy, Format::csv,         Format::tsv};

/// Small whole numbers, so that texts have as many as their size allows.
Stored tensorOf(std::string name, Shape shape, Type type) {
  Stored tensor;
  const auto count = static_cast<std::size_t>(files::checkedCount(shape).value_or(0)),
             size = static_cast<std::size_t>(files::bytesOf(type));
  const std::shared_ptr<char[]> memory = files::memoryFor(count * size);
  std::memset(memory.get(), 0, count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const int value = static_cast<int>(i % 7);
    const double wide = value;
    const float single = static_cast<float>(value);
    const std::uint16_t half = type == Type::float16 ? files::halfOf(wide) : files::brainOf(wide);
    char* const to = memory.get() + i * size;
    if (type == Type::float64) std::memcpy(to, &wide, size);
    else if (type == Type::float32) std::memcpy(to, &single, size);
    else if (type == Type::float16 || type == Type::bfloat16) std::memcpy(to, &half, size);
    else *to = static_cast<char>(value);
  }
  tensor.name = std::move(name), tensor.type = type, tensor.shape = std::move(shape),
  tensor.bytes = {memory.get(), count * size}, tensor.owned = memory;
  return tensor;
}

std::string written(const StoredFile& file, Format format) {
  std::string out;
  REQUIRE(files::writeFile(file, format, [&](std::string_view piece) { return out += piece, true; }));
  return out;
}

/// An archive whose entries are deflated, in blocks that deflate leaves as they are.
std::string deflatedNpz(const StoredFile& file) {
  std::string out, directory;
  const auto put = [](std::string& to, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i & 255);
  };
  for (const Stored& tensor : file.tensors) {
    const std::string name = tensor.name + ".npy";
    std::string content = files::npyHeader(files::npyDescr(tensor.type), tensor.shape), stream;
    content += tensor.bytes;
    for (std::size_t at = 0; at < content.size(); at += 65535) {
      const std::string_view block = std::string_view(content).substr(at, 65535);
      put(stream, at + block.size() == content.size(), 1), put(stream, block.size(), 2),
          put(stream, ~block.size() & 65535, 2);
      stream += block;
    }
    const std::uint64_t begin = out.size();
    std::string fields;
    put(fields, 20, 2), put(fields, 0, 2), put(fields, 8, 2), put(fields, 0, 4),
        put(fields, files::crc32(content), 4);
    put(fields, stream.size(), 4), put(fields, content.size(), 4), put(fields, name.size(), 2),
        put(fields, 0, 2);
    put(out, 0x04034b50, 4), out += fields + name + stream;
    put(directory, 0x02014b50, 4), put(directory, 20, 2), directory += fields;
    put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 4),
        put(directory, begin, 4), directory += name;
  }
  const std::uint64_t begin = out.size(), count = file.tensors.size();
  out += directory;
  put(out, 0x06054b50, 4), put(out, 0, 4), put(out, count, 2), put(out, count, 2),
      put(out, directory.size(), 4), put(out, begin, 4), put(out, 0, 2);
  return out;
}

/// The bound of files/formats/format.h.
void checkBound(std::string_view what, std::int64_t peak, std::size_t size, std::size_t values,
                std::size_t entries = 0) {
  CAPTURE(what);
  CAPTURE(size);
  CAPTURE(values);
  CHECK(peak <= static_cast<std::int64_t>(4 * size + 4 * values + files::kBytesOfEntry * entries +
                                          files::kBytesOfReader));
}

/// Reads a layer in every way that there is.
void checkWays(const std::string& what, const std::string& bytes, Format format, const std::string& name,
               std::size_t values) {
  const std::string path = name + std::string(files::name(format));
  const bool isOne = files::holdsOne(format) && name != "qkv";
  checkBound(what + ", as it is stored", peakOf([&] { CHECK(files::readStored(bytes, format, name)); }),
             bytes.size(), values);
  checkBound(
      what + ", by attn run", peakOf([&] {
        auto stored = files::readStored(bytes, format, name);
        REQUIRE(stored);
        CHECK((isOne ? files::tensorsOfOne(std::move(*stored)) : files::tensorsOf(std::move(*stored))));
      }),
      bytes.size(), values);
  if (format == Format::json)
    checkBound(what + ", by attn run", peakOf([&] { CHECK(files::readTensorsFile(bytes)); }), bytes.size(),
               values);
  std::size_t heading = 0;
  checkBound(what + ", as a state",
             peakOf([&] { CHECK(files::readLayer(bytes, format, name, {}, heading)); }), bytes.size(),
             values);
  checkBound(what + ", on the board", peakOf([&] { CHECK(files::Opener().open(bytes, path)); }), bytes.size(),
             values);
}

void checkRefused(std::string_view what, const std::string& bytes, Format format, std::size_t entries = 0) {
  bool isRefused = false;
  checkBound(what, peakOf([&] { isRefused = !files::readStored(bytes, format, "t"); }), bytes.size(), 0,
             entries);
  CHECK(isRefused);
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("reading: no format and type takes more memory than the bound, in whatever way it is read") {
  const Shape heads{4, kMany, 64}, rows{kMany, 256}, stacked{3, kMany, 256};
  for (const Format format : kFormats)
    for (const Type type : kTypes) {
      const std::string what = std::string(files::name(type)) + " in " + std::string(files::name(format));
      StoredFile file;
      if (!files::holdsOne(format)) {
        for (const char* name : {"q", "k", "v"}) file.tensors.push_back(tensorOf(name, heads, type));
        checkWays(what, written(file, format), format, "layer", 3 * 4 * kMany * 64);
        if (format == Format::npz && type != Type::bfloat16)
          checkWays(what + ", deflated", deflatedNpz(file), format, "layer", 3 * 4 * kMany * 64);
        continue;
      }
      for (const bool isStacked : {false, true}) {
        const std::string name = isStacked ? "qkv" : "t";
        file.tensors = {tensorOf(name, isStacked ? stacked : rows, type)};
        checkWays(what + " as " + name, written(file, format), format, name, 3 * kMany * 256);
      }
    }
}

TEST_CASE("reading: a state, lists, and what is pasted take no more memory than the bound") {
  const document::State current = *document::preset("i-saw-a-saw");
  StoredFile file;
  for (const char* name : {"q", "k", "v"}) file.tensors.push_back(tensorOf(name, {4, 256, 64}, Type::int8));
  const std::size_t count = 4 * 256 * 64;
  std::size_t heading = 0;
  const auto state = files::readLayer(written(file, Format::npz), Format::npz, "layer", {}, heading);
  REQUIRE(state);
  const std::string text = document::toText(*state);
  checkBound("a state", peakOf([&] { CHECK(files::readState(text, current)); }), text.size(), 3 * count,
             2 * 256);
  CHECK(peakOf([&] { CHECK(document::writeText(*state, [](std::string_view) { return true; })); }) <
        1 << 18);  // in pieces
  const std::string list = "[" + repeated("1,", static_cast<int>(count) - 1) + "1]";
  for (const char* const dtype : {"float32", "float64", "int8"}) {  // and before its type is known
    const std::string late = "{\"t\":{\"data\":" + list + ",\"dtype\":\"" + dtype + "\",\"shape\":[" +
                             std::to_string(count) + "]}}";
    checkBound(std::string("data before their type ") + dtype,
               peakOf([&] { CHECK(files::readStored(late, Format::json, "t")); }), late.size(), count);
  }
  const std::string rows = "{\"q\":[" + list + "," + list + "],\"k\":[" + list + "," + list + "],\"v\":[" +
                           list + "," + list + "]}";
  checkBound("lists", peakOf([&] { CHECK(files::readStored(rows, Format::json, "t")); }), rows.size(),
             6 * count);
  checkBound("lists by attn run", peakOf([&] { CHECK(files::readTensorsFile(rows)); }), rows.size(),
             6 * count);
  const std::string row = "[" + repeated("1 ", 255) + "1]",
                    printed = "tensor([[" + repeated(row + "\n", 255) + row + "], [" +
                              repeated(row + "\n", 255) + row + "]])";
  checkBound("a printed tensor", peakOf([&] { CHECK(files::Opener().paste(printed)); }), printed.size(),
             3 * 2 * 256 * 256);
}

TEST_CASE(
    "reading: a file that must be asked about takes no more memory than the bound, also while the question "
    "stands") {
  const Shape heads{4, kMany, 64};
  const std::size_t count = 3 * 4 * kMany * 64;
  for (const Format format : {Format::npz, Format::safetensors, Format::json})
    for (const Type type : kTypes) {
      StoredFile file;
      for (const char* name : {"a", "b", "c"}) file.tensors.push_back(tensorOf(name, heads, type));
      const std::string bytes = written(file, format), path = "layer" + std::string(files::name(format));
      files::Opener opener;
      const std::string what =
          std::string(files::name(type)) + " in " + std::string(files::name(format)) + ", asked about";
      checkBound(what, peakOf([&] {
                   auto opened = opener.open(bytes, path);
                   REQUIRE(opened);
                   REQUIRE(opened->kind == files::Opened::Kind::form);
                   for (const bool isFinal : {false, true}) {
                     opened = opener.choose(
                         document::toLines(document::Choices{{"q", 0}, {"k", 1}, {"v", 2}}, isFinal));
                     REQUIRE(opened);
                   }
                   CHECK(opened->kind == files::Opened::Kind::state);
                 }),
                 bytes.size(), count);
    }
}

TEST_CASE("reading: what a hostile file claims is not allocated") {
  StoredFile file;
  file.tensors.push_back(tensorOf("t", {1000}, Type::float32));
  std::string npy = written(file, Format::npy);
  npy.replace(npy.find("(1000,)"), 8, "(9999999999999,)").erase(npy.find("}") + 1, 9);
  checkRefused("a shape that lies", npy, Format::npy);
  checkRefused("a shape that lies, in JSON",
               "{\"q\":{\"shape\":[2000000000],\"data\":[" + repeated("1,", 1000) + "1]}}", Format::json);
  checkRefused("separators alone", repeated(",", 1'000'000), Format::csv);
  checkRefused("lines alone", repeated("\n", 1'000'000), Format::csv);
  checkRefused("commas in a text", "[\"" + repeated(",", 1'000'000) + "\", 1]", Format::json, 1);
  checkRefused("texts without an end", "[" + repeated("\"\",", 1'000'000) + "\"\"]", Format::json,
               files::kMostTexts);
  checkRefused("lists in lists", repeated("[", 1'000'000), Format::json);
  const std::string row = repeated("1,", 499'999) + "1\n";
  checkBound("one long row", peakOf([&] { CHECK(files::readStored(row, Format::csv, "t")); }), row.size(),
             500'000);
  // Texts of no characters take no bytes.
  const std::string nothing = files::npyHeader("|S0", {90'000});
  std::vector<files::ZipSource> sources;
  for (int i = 0; i < 100; ++i) sources.push_back({std::to_string(i) + ".npy", {nothing}});
  std::string archive;
  REQUIRE(files::writeZip(sources, [&](std::string_view piece) { return archive += piece, true; }));
  checkRefused("texts of nothing", archive, Format::npz, 100 + 2 * files::kMostTexts);
  const std::string nodes = "{\"version\":1,\"x\":[" + repeated("[],", 100'000) + "[]]}";
  checkBound("a state of nothing",
             peakOf([&] { CHECK_FALSE(files::readState(nodes, *document::preset("i-saw-a-saw"))); }),
             nodes.size(), 0, 100'000);
  std::string header = "{";
  for (int i = 0; i < 20'000; ++i)
    header += (i > 0 ? ",\"" : "\"") + std::to_string(i) +
              "\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}";
  header += "}";
  std::string many;
  for (int i = 0; i < 8; ++i) many += static_cast<char>(std::uint64_t{header.size()} >> 8 * i & 255);
  many += header;
  checkBound("many tensors of nothing",
             peakOf([&] { CHECK(files::readStored(many, Format::safetensors, "t")); }), many.size(), 0,
             20'000);
}

namespace {

/// Tensors of one number each, named by `nameOf`.
template <class Name>
StoredFile manyTensors(int count, Name nameOf) {
  static const float one = 1;
  StoredFile file;
  for (int i = 0; i < count; ++i) {
    Stored tensor;
    tensor.name = nameOf(i), tensor.shape = {1, 1},
    tensor.bytes = {reinterpret_cast<const char*>(&one), sizeof one};
    file.tensors.push_back(std::move(tensor));
  }
  return file;
}

/// Files of many small things, of which each way of reading has to find some.
std::string manyThings(const std::string& what, int count) {
  const auto number = [](int i) { return std::to_string(i); };
  StoredFile file;
  if (what == "tensors without a meaning") file = manyTensors(count, [&](int i) { return "t" + number(i); });
  if (what == "layers")
    file = manyTensors(count, [&](int i) { return "l" + number(i / 3) + "." + "qkv"[i % 3]; });
  if (what == "projections")
    file =
        manyTensors(count, [&](int i) { return "l" + number(i / 3) + "." + "qkv"[i % 3] + "_proj.weight"; });
  if (what == "weights") file = manyTensors(count, [&](int i) { return "l" + number(i) + ".weights"; });
  if (what == "notes") {
    file =
        manyTensors(count, [&](int i) { return i < 3 ? std::string("a.") + "qkv"[i] : "a.t" + number(i); });
    for (int i = 0; i < count; ++i) file.notes.emplace_back("n" + number(i), "1");
  }
  std::string out;
  REQUIRE(files::writeSafetensors(file, [&](std::string_view piece) { return out += piece, true; }));
  return out;
}

/// The least processor time of a few calls, in seconds.
template <class Call>
double secondsOf(int times, Call call) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < times; ++i) {
    const std::clock_t began = std::clock();
    call();
    least = std::min(least, static_cast<double>(std::clock() - began) / CLOCKS_PER_SEC);
  }
  return least;
}

}  // namespace

TEST_CASE(
    "reading: ten times as many tensors, layers and notes take about ten times as long, and not a hundred "
    "times") {
  constexpr int few = 3000;
  for (const char* const what : {"tensors without a meaning", "layers", "projections", "weights", "notes"}) {
    CAPTURE(what);
    const std::string small = manyThings(what, few), large = manyThings(what, 10 * few);
    const auto all = [](const std::string& bytes) {
      std::size_t heading = 0;
      files::Opener().open(bytes, "layer.safetensors");
      files::readLayer(bytes, Format::safetensors, "layer", {}, heading);
      const auto stored = files::readStored(bytes, Format::safetensors, "layer");
      REQUIRE(stored);
      for (const Format format : {Format::npz, Format::json}) {
        const std::string other = written(*stored, format);
        CHECK(files::readStored(other, format, "layer"));
      }
    };
    const double least = std::max(secondsOf(3, [&] { all(small); }), 1e-3),
                 most = secondsOf(2, [&] { all(large); });
#ifdef __EMSCRIPTEN__
    WARN(most < 30 * least);  // its clock counts the time of other programs too
#else
    CHECK(most < 30 * least);
#endif
  }
}

TEST_CASE(
    "reading: a file may have 100,000 tensors, in each format that names them, and one more is refused with "
    "a sentence") {
  const int most = static_cast<int>(files::kMostTensors);
  StoredFile file = manyTensors(most, [](int i) { return "t" + std::to_string(i); });
  for (const Format format : {Format::npz, Format::safetensors, Format::json}) {
    const std::string bytes = written(file, format);
    checkBound(std::string(files::name(format)), peakOf([&] {
                 const auto read = files::readStored(bytes, format, "t");
                 REQUIRE(read);
                 CHECK(read->tensors.size() == files::kMostTensors);
               }),
               bytes.size(), files::kMostTensors, files::kMostTensors);
  }
  file.tensors.push_back(file.tensors.front());
  file.tensors.back().name = "last";
  for (const auto& [format, sentence] :
       {std::pair(Format::npz, "the archive has 100001 entries; give at most 100000."),
        {Format::safetensors, "there are more than 100000 tensors; give fewer."},
        {Format::json, "there are more than 100000 tensors; give fewer."}}) {
    const auto read = files::readStored(written(file, format), format, "t");
    REQUIRE_FALSE(read);
    CHECK(read.error().sentence == sentence);
  }
  file.tensors.pop_back();
  file.tensors.back().name = "t5";
  for (const Format format : {Format::npz, Format::safetensors, Format::json}) {
    const auto read = files::readStored(written(file, format), format, "t");
    REQUIRE_FALSE(read);
    CHECK(read.error().message().find("t5") != std::string::npos);
    CHECK(read.error().sentence.english().find("twice; give it once.") != std::string::npos);
  }
}

TEST_CASE(
    "reading: a row of a million columns is read in the memory of its numbers, and refused by the board with "
    "the limit") {
  const std::string row = repeated("1,", 999'999) + "1\n";
  checkBound("the row", peakOf([&] {
               const auto opened = files::Opener().open(row, "row.csv");
               REQUIRE(opened);
               CHECK(opened->kind == files::Opened::Kind::form);
               CHECK_FALSE(opened->form.isReady);
               CHECK(opened->form.says == "d_k: 1000000 is too large; use 1 to 512.");
             }),
             row.size(), 4'000'000);  // q, k and v alike, and one of them once more while it is converted
}

TEST_CASE(
    "reading: lists and objects nested half a million deep are refused, in every way of reading, in little "
    "memory") {
  for (const std::string& begin : {std::string(), std::string("{\"q\":"), std::string("{\"weights\":"),
                                   std::string("{\"version\":1,\"x\":")})
    for (const char* const open : {"[", "{\"a\":"}) {
      const std::string deep = begin + repeated(open, 500'000);
      CAPTURE(deep.substr(0, 20));
      std::size_t heading = 0;
      checkBound("deep", peakOf([&] {
                   const auto file = files::readTensorsFile(deep);
                   CHECK((!file || file->isState));
                   CHECK_FALSE(files::readLayer(deep, Format::json, "t", {}, heading));
                   files::Opener opener;
                   const auto opened =
                       opener.open(deep, "deep.json");  // a text: that of a state, which has the sentence
                   CHECK((!opened || opened->kind == files::Opened::Kind::text));
                   CHECK_FALSE(opener.paste(deep));
                 }),
                 deep.size(), 0);
    }
}

#ifndef AP_HAS_OWN_ALLOCATOR
TEST_CASE(
    "reading: while a number of a large board is dragged, keeping the board takes no copy of its document") {
  document::Document d(*document::preset("i-saw-a-saw"));
  for (const auto& [option, value] :
       {std::pair(document::OptionId::tokens, 4000.0), {document::OptionId::d_k, 128.0}})
    CHECK(d.apply(document::SetOption{option, value}));
  const auto drag = [&d](float to) {
    CHECK(d.apply(document::SetCells{document::TensorId::k, 0, 2000, 1, 1, 1, {to}}, 7));
  };
  files::SessionStore store;
  (void)store.write(d, std::size_t{64} << 20);
  for (const float to : {1.0f, 2.0f, 3.0f}) {
    drag(to);
    std::size_t size = 0;
    const std::int64_t peak = peakOf([&] { size = store.write(d, std::size_t{64} << 20).size(); });
    CAPTURE(size);
    // The present numbers, to be compared with those before, and the bytes that are returned.
    CHECK(peak < static_cast<std::int64_t>(size * 9 / 4));
  }
}
#endif
