// The .safetensors format, as defined by Hugging Face: the length of a JSON header in 8 bytes, the header,
// the numbers.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/sentence.h"
#include "base/sort.h"
#include "document/json.h"
#include "document/json_events.h"
#include "files/formats/format.h"

namespace files {
namespace {

using base::inQuotes;
using base::shapeText;
using ErrorKind = Error::Kind;

constexpr std::size_t kMaxSafetensorsHeader = 100'000'000;  ///< the limit of the format itself
constexpr std::string_view kNotes = "__metadata__";

struct Dtype {
  std::string_view name;
  Type type;
};
constexpr std::array<Dtype, 13> kDtypes{{{"F64", Type::float64},
                                         {"F32", Type::float32},
                                         {"F16", Type::float16},
                                         {"BF16", Type::bfloat16},
                                         {"I8", Type::int8},
                                         {"I16", Type::int16},
                                         {"I32", Type::int32},
                                         {"I64", Type::int64},
                                         {"U8", Type::uint8},
                                         {"U16", Type::uint16},
                                         {"U32", Type::uint32},
                                         {"U64", Type::uint64},
                                         {"BOOL", Type::boolean}}};

std::uint64_t lengthOf(std::string_view bytes) {
  std::uint64_t length = 0;
  for (std::size_t i = 0; i < 8; ++i)
    length |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << 8 * i;
  return length;
}

/// {"name": {"dtype": "F32", "shape": […], "data_offsets": [begin, end]},
/// …}.
class SafetensorsHeader final : public document::JsonEvents {
 public:
  SafetensorsHeader(std::string_view text, std::string_view data) : JsonEvents(text), data_(data) {}

  StoredFile file;

  bool null() override { return wrong("null"); }
  bool boolean(bool value) override { return wrong(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) override { return wrong(std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) override {
    if (depth_ != 2 || !isList_ || isNotes_) return wrong(std::to_string(value));
    if (part_ == "shape") {
      if (shape_.size() == kMaxRank || value > std::uint64_t{1} << 60)
        return fail(
            ErrorKind::range,
            base::message({"the size ", value,
                           " of its shape is too large, or there are too many; expected at most 32."}));
      shape_.push_back(static_cast<std::int64_t>(value));
    } else {
      if (offsets_.size() == 2)
        return fail(ErrorKind::syntax,
                    "it has more than two data_offsets; expected the first byte and the one after the last.");
      offsets_.push_back(value);
    }
    return true;
  }
  bool number_float(double, const std::string& digits) override { return wrong(digits); }
  bool string(std::string& text) override {
    if (isNotes_ && depth_ == 2) return file.notes.emplace_back(std::move(part_), std::move(text)), true;
    if (depth_ != 2 || isList_ || part_ != "dtype") return wrong(inQuotes(text));
    return dtype_ = std::move(text), true;
  }
  bool key(std::string& text) override {
    if (depth_ == 1) {
      name_ = std::move(text);
      isNotes_ = name_ == kNotes;
      shape_.clear(), offsets_.clear(), dtype_.clear(), hasShape_ = false;
      return true;
    }
    part_ = std::move(text);
    if (isNotes_ || part_ == "dtype" || part_ == "shape" || part_ == "data_offsets") return true;
    return fail(ErrorKind::syntax, base::message({"its field ", inQuotes(part_),
                                                  " is unknown; expected dtype, shape and data_offsets."}));
  }
  bool start_object(std::size_t) override { return ++depth_ <= 2 && !isList_ ? true : wrong("an object"); }
  bool end_object() override { return --depth_ == 1 && !isNotes_ ? finish() : true; }
  bool start_array(std::size_t) override {
    if (depth_ != 2 || isList_ || isNotes_ || part_ == "dtype") return wrong("a list");
    if (part_ == "shape" && std::exchange(hasShape_, true))
      return fail(ErrorKind::syntax, "it has two shapes; give one.");
    return isList_ = true;
  }
  bool end_array() override { return isList_ = false, true; }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) override {
    return refuse(ErrorKind::syntax, "file",
                  base::message({"its header is no JSON, at byte ", at + 7, "; it is damaged."}));
  }

 private:
  bool fail(ErrorKind kind, const base::Message& sentence) {
    return refuse(kind, depth_ == 0 || name_.empty() ? "file" : fieldOf(name_), sentence);
  }
  bool wrong(const std::string& what) {
    return fail(ErrorKind::syntax,
                {"its header has ", what, " in a place where that means nothing; expected ",
                 std::string_view("{\"dtype\": \"F32\", "
                                  "\"shape\": [sizes], \"data_offsets\": [begin, end]}.")});
  }

  bool finish() {
    const auto* known = std::find_if(kDtypes.begin(), kDtypes.end(),
                                     [&](const Dtype& dtype) { return dtype.name == dtype_; });
    if (dtype_.empty() || !hasShape_ || offsets_.size() != 2)
      return fail(ErrorKind::syntax, "its dtype, shape or data_offsets are missing; expected all three.");
    if (known == kDtypes.end())
      return fail(ErrorKind::type,
                  base::message({"its type ", inQuotes(dtype_),
                                 " is not read; expected F64, F32, F16, BF16, BOOL or integers."}));
    const std::uint64_t size = offsets_[1] - offsets_[0];
    if (offsets_[0] > offsets_[1] || offsets_[1] > data_.size())
      return fail(ErrorKind::syntax,
                  base::message({"its data_offsets ",
                                 shapeText({static_cast<std::int64_t>(offsets_[0]),
                                            static_cast<std::int64_t>(offsets_[1])}),
                                 " do not lie within the ", data_.size(),
                                 " bytes of data; the file is cut off, or its header is corrupt."}));
    const std::optional<std::int64_t> count = checkedCount(shape_);
    const auto item = static_cast<std::uint64_t>(bytesOf(known->type));
    if (!count || static_cast<std::uint64_t>(*count) > std::uint64_t{1} << 59 ||
        static_cast<std::uint64_t>(*count) * item != size)
      return fail(ErrorKind::range,
                  base::message({"the shape ", shapeText(shape_), " of ", dtype_, " takes ",
                                 !count || *count > std::int64_t{1} << 59
                                     ? base::Message("more bytes than any memory holds")
                                     : base::message({static_cast<std::uint64_t>(*count) * item, " bytes"}),
                                 ", and its data_offsets have ", size, "; the header is corrupt."}));
    if (file.tensors.size() == kMostTensors)
      return fail(ErrorKind::memory,
                  base::message({"there are more than ", kMostTensors, " tensors; give fewer."}));
    Stored tensor;
    tensor.name = std::move(name_), tensor.type = known->type, tensor.shape = shape_,
    tensor.bytes = data_.substr(offsets_[0], size);
    file.tensors.push_back(std::move(tensor));
    return true;
  }

  std::string_view data_;
  int depth_ = 0;
  bool isList_ = false, isNotes_ = false, hasShape_ = false;
  std::string name_, part_, dtype_;
  Shape shape_;
  std::vector<std::uint64_t> offsets_;
};

/// Checks that the data of the tensors are adjacent and without gaps, and that names are unique.
Result<void> checkWhole(const StoredFile& file, std::string_view data) {
  std::vector<const Stored*> order;
  for (const Stored& tensor : file.tensors) order.push_back(&tensor);
  base::sort(order, [](const Stored* a, const Stored* b) {
    return a->bytes.data() != b->bytes.data() ? a->bytes.data() < b->bytes.data()
                                              : a->bytes.size() < b->bytes.size();
  });
  const char* end = data.data();
  for (const Stored* tensor : order) {
    const std::string at = std::to_string(tensor->bytes.data() - data.data()),
                      before = std::to_string(end - data.data());
    if (tensor->bytes.data() < end)
      return base::refuse(ErrorKind::syntax, fieldOf(tensor->name),
                          {"its data at ", at, " overlaps the previous tensor, which ends at ", before,
                           "; the header is corrupt."});
    if (tensor->bytes.data() > end)
      return base::refuse(
          ErrorKind::syntax, fieldOf(tensor->name),
          {"its data begins at ", at, ", and the previous tensor ends at ", before, "; expected no gap."});
    end = tensor->bytes.data() + tensor->bytes.size();
  }
  if (end != data.data() + data.size())
    return base::refuse(
        ErrorKind::syntax, "file",
        {"its tensors take ", end - data.data(), " bytes, found ", data.size(), "; the header is corrupt."});
  if (const std::string* const name = repeatedName(file))
    return base::refuse(ErrorKind::syntax, fieldOf(*name), {"the header has it twice; give it once."});
  return {};
}

/// The same file with its texts moved to the notes, lists as JSON: safetensors stores texts only in its
/// metadata.
StoredFile withNotes(const StoredFile& file) {
  StoredFile out;
  out.notes = file.notes;
  for (const Stored& tensor : file.tensors) {
    if (tensor.type != Type::text) {
      out.tensors.push_back(tensor);
      continue;
    }
    std::string text;
    for (const std::string& item : tensor.texts)
      text += (text.empty() ? "" : ", ") + document::jsonQuoted(item);
    out.notes.emplace_back(
        tensor.name, tensor.shape.empty() && !tensor.texts.empty() ? tensor.texts.front() : "[" + text + "]");
  }
  return out;
}

}  // namespace

/// Do the bytes start like such a file: with a length that fits and an object?
bool isSafetensors(std::string_view bytes) {
  return bytes.size() > 8 && bytes[8] == '{' && lengthOf(bytes) >= 2 &&
         lengthOf(bytes) <= kMaxSafetensorsHeader;
}

/// Reads a file without copying its numbers. Supports floats of 16 to 64 bits, bfloat16, integers and
/// booleans. An error, with a sentence that names the tensor, for invalid headers, tensors that overlap,
/// leave gaps or extend beyond the end, 8-bit floats, complex numbers, and more than 100,000 tensors.
Result<StoredFile> readSafetensors(std::string_view bytes, std::string_view) {
  if (bytes.size() < 8)
    return base::refuse(
        ErrorKind::syntax, "file",
        {"it has ", bytes.size(), " bytes, and its header's length alone takes 8; it is cut off."});
  const std::uint64_t length = lengthOf(bytes);
  if (length > kMaxSafetensorsHeader || length > bytes.size() - 8)
    return base::refuse(
        ErrorKind::syntax, "file",
        {"its header should take ", length, " bytes, found ", bytes.size() - 8,
         bytes[8 % bytes.size()] == '{' ? "; it is cut off." : "; it is not a .safetensors file."});
  const std::string_view text = bytes.substr(8, length);
  if (!text.starts_with('{'))
    return base::refuse(ErrorKind::syntax, "file",
                        {"its header does not begin with \"{\"; it is not a .safetensors file."});
  SafetensorsHeader header(text, bytes.substr(8 + length));
  if (auto ok = header.parse("file"); !ok) return ok;
  if (auto ok = checkWhole(header.file, bytes.substr(8 + length)); !ok) return ok;
  for (Stored& tensor : header.file.tensors) tensor.name = base::printable(tensor.name);
  return std::move(header.file);
}

/// Writes plain() tensors, aligned to their type, largest types first and then by name, as the safetensors
/// package does.
bool writeSafetensors(const StoredFile& given, const Put& put) {
  const StoredFile file = withNotes(given);
  std::vector<const Stored*> order;
  for (const Stored& tensor : file.tensors)
    if (tensor.type != Type::text) order.push_back(&tensor);
  base::sort(order, [](const Stored* a, const Stored* b) {
    return bytesOf(a->type) != bytesOf(b->type) ? bytesOf(a->type) > bytesOf(b->type) : a->name < b->name;
  });
  std::string header = "{";
  if (!file.notes.empty()) {
    header += document::jsonQuoted(kNotes) + ":{";
    for (const auto& [key, text] : file.notes)
      header +=
          (header.back() == '{' ? "" : ",") + document::jsonQuoted(key) + ":" + document::jsonQuoted(text);
    header += "}";
  }
  std::size_t at = 0;
  for (const Stored* tensor : order) {
    const auto* dtype = std::find_if(kDtypes.begin(), kDtypes.end(),
                                     [&](const Dtype& known) { return known.type == tensor->type; });
    header += (header.size() == 1 ? "" : ",") + document::jsonQuoted(tensor->name) + ":{\"dtype\":\"" +
              std::string(dtype->name) + "\",\"shape\":[";
    for (std::size_t i = 0; i < tensor->shape.size(); ++i)
      header += (i > 0 ? "," : "") + std::to_string(tensor->shape[i]);
    header +=
        "],\"data_offsets\":[" + std::to_string(at) + "," + std::to_string(at + tensor->bytes.size()) + "]}";
    at += tensor->bytes.size();
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string length;
  for (std::size_t i = 0; i < 8; ++i)
    length += static_cast<char>(std::uint64_t{header.size()} >> 8 * i & 255);
  if (!put(length) || !put(header)) return false;
  for (const Stored* tensor : order)
    if (!put(tensor->bytes)) return false;
  return true;
}

}  // namespace files
