#include "files/formats/npy.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "base/sentence.h"
#include "files/formats/format.h"

namespace files {
namespace {

using base::inQuotes;
using base::shapeText;
using ErrorKind = Error::Kind;

constexpr std::size_t kMaxNpyHeader = 1
                                      << 20;  ///< what it says of shape and type takes about a hundred bytes

struct Descr {
  std::string_view code;  ///< without the byte order
  Type type;
};
constexpr std::array<Descr, 14> kDescrs{{{"f8", Type::float64},
                                         {"f4", Type::float32},
                                         {"f2", Type::float16},
                                         {"V2", Type::bfloat16},
                                         {"i1", Type::int8},
                                         {"i2", Type::int16},
                                         {"i4", Type::int32},
                                         {"i8", Type::int64},
                                         {"u1", Type::uint8},
                                         {"u2", Type::uint16},
                                         {"u4", Type::uint32},
                                         {"u8", Type::uint64},
                                         {"b1", Type::boolean},
                                         {"?", Type::boolean}}};

/// The content of the header, a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
struct NpyHeader {
  std::string descr;
  bool isColumnMajor = false;
  Shape shape;
};

/// Parses the literal; accepts only what such a header may contain.
class Literal {
 public:
  explicit Literal(std::string_view text) : rest_(text) {}

  bool read(NpyHeader& header) {
    bool has[3] = {};
    if (!take('{')) return false;
    while (!take('}')) {
      std::string key;
      if (!readText(key) || !take(':')) return false;
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0 || std::exchange(has[which], true)) return false;
      if (which == 0   ? !readDescr(header.descr)
          : which == 1 ? !readBool(header.isColumnMajor)
                       : !readShape(header.shape))
        return false;
      if (!take(',') && !next('}')) return false;
    }
    blank();
    return rest_.empty() && has[0] && has[1] && has[2];
  }

 private:
  void blank() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size())); }
  bool next(char c) { return blank(), rest_.starts_with(c); }
  bool take(char c) {
    if (!next(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool readText(std::string& out) {
    const char quote = next('\'') ? '\'' : '"';
    if (!take(quote)) return false;
    const std::size_t end = rest_.find(quote);
    if (end == std::string_view::npos) return false;
    out = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }
  /// For a record, descr is a list of its fields; its beginning is enough for the error.
  bool readDescr(std::string& out) {
    if (!next('[')) return readText(out);
    int depth = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      if (rest_[i] == '[' || rest_[i] == '(') ++depth;
      if ((rest_[i] == ']' || rest_[i] == ')') && --depth == 0) {
        out = rest_.substr(0, i + 1);
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }
  bool readBool(bool& out) {
    blank();
    out = rest_.starts_with("True");
    if (!out && !rest_.starts_with("False")) return false;
    rest_.remove_prefix(out ? 4 : 5);
    return true;
  }
  bool readShape(Shape& out) {
    if (!take('(')) return false;
    while (!take(')')) {
      blank();
      std::int64_t size = 0;
      const auto [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), size);
      if (failed != std::errc() || size < 0 || out.size() == kMaxRank) return false;
      rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
      if (rest_.starts_with('L')) rest_.remove_prefix(1);  // Python 2 wrote a suffix L after long integers
      out.push_back(size);
      if (!take(',') && !next(')')) return false;
    }
    return true;
  }

  std::string_view rest_;
};

base::Message bytesText(std::size_t count) { return base::message({count, count == 1 ? " byte" : " bytes"}); }

Result<void> unknownType(std::string_view name, const std::string& descr) {
  const char kind = descr.empty() ? ' ' : descr[descr.find_first_of("<>|=") == 0 && descr.size() > 1 ? 1 : 0];
  const std::string_view what = kind == 'O'                  ? "Python objects"
                                : kind == '[' || kind == 'V' ? "records"
                                : kind == 'c'                ? "complex numbers"
                                : kind == 'M' || kind == 'm' ? "dates or times"
                                                             : "values of an unknown type";
  return base::refuse(
      Error::Kind::type, name,
      {"it holds ", what, " (dtype ", inQuotes(descr),
       kind == 'O' ? "), which are pickled and never read; expected numbers, save it as float32."
                   : "); expected numbers, save it as float32."});
}

void appendUtf8(std::string& out, std::uint32_t point) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) point = 0xfffd;
  if (point < 0x80) return put(point);
  if (point >= 0x10000) put(0xf0 | point >> 18), put(0x80 | (point >> 12 & 63));
  else if (point >= 0x800) put(0xe0 | point >> 12);
  else return put(0xc0 | point >> 6), put(0x80 | (point & 63));
  put(0x80 | (point >> 6 & 63));
  put(0x80 | (point & 63));
}

/// Reads fixed-width texts: UCS-4 or bytes, padded with zeros.
void readTexts(std::string_view bytes, std::size_t count, std::size_t width, bool isWide, bool isBigEndian,
               std::vector<std::string>& texts) {
  texts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view item = bytes.substr(i * width, width);
    std::string text;
    if (!isWide) text = item.substr(0, item.find_last_not_of('\0') + 1);
    for (std::size_t at = 0; isWide && at < item.size(); at += 4) {
      std::uint32_t point = 0;
      for (std::size_t b = 0; b < 4; ++b)
        point |= static_cast<std::uint32_t>(static_cast<unsigned char>(item[at + (isBigEndian ? 3 - b : b)]))
                 << 8 * b;
      if (point == 0) break;
      appendUtf8(text, point);
    }
    texts.push_back(std::move(text));
  }
}

}  // namespace

bool isNpy(std::string_view bytes) { return bytes.starts_with(kNpyMagic); }

Result<StoredFile> readNpy(std::string_view bytes, std::string_view name) {
  Result<Stored> tensor = readNpyArray(bytes, name);
  if (!tensor) return tensor.error();
  StoredFile file;
  file.tensors.push_back(std::move(*tensor));
  return file;
}

bool writeNpy(const StoredFile& file, const Put& put) {
  const Stored tensor = npyNumbers(onlyOf(file));
  return put(npyHeader(npyDescr(tensor.type), tensor.shape)) && put(tensor.bytes);
}

Result<Stored> readNpyArray(std::string_view bytes, std::string_view name) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[i]));
  };
  if (!bytes.starts_with(kNpyMagic) || bytes.size() < 10)
    return base::refuse(
        ErrorKind::syntax, name,
        {bytes.starts_with(kNpyMagic)
             ? base::message({"it ends in its header, after ", bytesText(bytes.size()), "; it is cut off."})
             : "it does not begin as an .npy file does; expected \"\\x93NUMPY\"."});
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    return base::refuse(ErrorKind::version, name,
                        {"its version of .npy is ", version, "; expected 1, 2 or 3."});
  const std::size_t begin = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1 && bytes.size() >= begin) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kMaxNpyHeader || bytes.size() < begin || bytes.size() - begin < length)
    return base::refuse(ErrorKind::syntax, name,
                        {"its header should take ", bytesText(length), ", and the file has ",
                         bytesText(bytes.size()), "; it is cut off or damaged."});
  NpyHeader header;
  const std::string_view text = bytes.substr(begin, length);
  if (!Literal(text).read(header))
    return base::refuse(ErrorKind::syntax, name,
                        {"its header ", inQuotes(text), " is not understood; expected ",
                         std::string_view("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.")});

  Stored tensor;
  tensor.name = name, tensor.shape = header.shape, tensor.isColumnMajor = header.isColumnMajor;
  std::string_view code = header.descr;
  const bool hasOrder = !code.empty() && std::string_view("<>|=").find(code[0]) != std::string_view::npos;
  tensor.isBigEndian = code.starts_with('>');
  if (hasOrder) code.remove_prefix(1);
  const auto* known =
      std::find_if(kDescrs.begin(), kDescrs.end(), [&](const Descr& descr) { return descr.code == code; });
  std::size_t width = 0;
  if (known != kDescrs.end()) {
    tensor.type = known->type;
    width = static_cast<std::size_t>(bytesOf(tensor.type));
  } else if (code.size() > 1 && (code[0] == 'U' || code[0] == 'S')) {
    const auto [end, failed] = std::from_chars(code.data() + 1, code.data() + code.size(), width);
    if (failed != std::errc() || end != code.data() + code.size() || width > kMaxNpyHeader)
      return unknownType(name, header.descr);
    tensor.type = Type::text;
    if (code[0] == 'U') width *= 4;
  } else {
    return unknownType(name, header.descr);
  }
  const std::optional<std::int64_t> count = checkedCount(tensor.shape);
  const std::string_view data = bytes.substr(begin + length);
  const std::size_t most = std::numeric_limits<std::size_t>::max() / 2;
  const std::size_t want = !count ? most
                           : width > 0 && static_cast<std::size_t>(*count) > most / width
                               ? most
                               : static_cast<std::size_t>(*count) * width;
  if (want != data.size())
    return base::refuse(
        data.size() < want ? ErrorKind::syntax : ErrorKind::range, name,
        {"the shape ", shapeText(tensor.shape), " of ",
         tensor.type == Type::text ? std::string_view("texts") : files::name(tensor.type), " takes ",
         want >= most ? base::Message("more bytes than any memory holds") : bytesText(want), ", found ",
         bytesText(data.size()),
         data.size() < want ? "; it is cut off, or its header is corrupt."
                            : "; its header is corrupt, or another array follows."});
  if (tensor.type != Type::text) {
    tensor.bytes = data;
    return tensor;
  }
  if (static_cast<std::size_t>(*count) > kMostTexts)
    return base::refuse(ErrorKind::memory, name,
                        {*count, " texts are too many; give at most ", kMostTexts, "."});
  readTexts(data, static_cast<std::size_t>(*count), width, code[0] == 'U', tensor.isBigEndian, tensor.texts);
  tensor.isBigEndian = false;
  return tensor;
}

Stored npyNumbers(const Stored& tensor) {
  Stored out = tensor;
  if (tensor.type != Type::bfloat16) return out;
  const std::size_t count = tensor.bytes.size() / 2;
  const std::shared_ptr<char[]> memory = memoryFor(count * 4);
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(memory.get() + 4 * i + 2, tensor.bytes.data() + 2 * i, 2);
    std::memset(memory.get() + 4 * i, 0, 2);
  }
  out.type = Type::float32, out.bytes = {memory.get(), count * 4}, out.owned = memory;
  return out;
}

std::string npyDescr(Type type) {
  const auto* known =
      std::find_if(kDescrs.begin(), kDescrs.end(), [&](const Descr& descr) { return descr.type == type; });
  return std::string(bytesOf(type) == 1 ? "|" : "<") + std::string(known->code);
}

std::string npyHeader(std::string_view descr, const Shape& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += std::to_string(size) + ", ";
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  else if (shape.size() == 1) sizes.pop_back();
  std::string text =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  if (!shape.empty())
    text.append(21 - std::to_string(shape[0]).size(),
                ' ');  // NumPy pads the header so that the first axis can grow in place
  const std::size_t used = kNpyMagic.size() + 4 + text.size() + 1;
  text.append((64 - used % 64) % 64, ' ');
  text += '\n';
  std::string out(kNpyMagic);
  out += '\1', out += '\0';
  out += static_cast<char>(text.size() & 255), out += static_cast<char>(text.size() >> 8);
  return out + text;
}

}  // namespace files
