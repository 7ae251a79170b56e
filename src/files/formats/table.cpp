// Tables of numbers as text, .csv and .tsv, as written by spreadsheets, pandas and numpy.savetxt.
#include "files/formats/table.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <utility>

#include "base/sentence.h"
#include "files/formats/digits.h"
#include "files/formats/format.h"

namespace files {
namespace {

using base::inQuotes;
using base::trimmed;
using ErrorKind = Error::Kind;

bool isSame(std::string_view text, std::string_view word) {
  return text.size() == word.size() && std::equal(text.begin(), text.end(), word.begin(), [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b;
         });
}

constexpr std::string_view kMinus = "\u2212";  // used in figures and by word processors

/// The number in a cell; nothing if it is not one. Decimal commas are accepted only where commas do not
/// separate.
std::optional<double> numberOf(std::string_view cell, bool hasDecimalComma) {
  char copy[64];
  if (cell.size() < sizeof copy) {
    const bool hasMinus = cell.starts_with(kMinus);
    if (hasMinus) cell.remove_prefix(kMinus.size());
    if (hasMinus || (hasDecimalComma && cell.find(',') != std::string_view::npos)) {
      copy[0] = '-';
      char* const end =
          std::replace_copy(cell.begin(), cell.end(), copy + hasMinus, ',', hasDecimalComma ? '.' : ',');
      cell = {copy, static_cast<std::size_t>(end - copy)};
    }
  }
  std::string_view digits = cell;
  if (digits.starts_with('+') && digits.size() > 1 && digits[1] != '-') digits.remove_prefix(1);
  // strtod alone would also accept hexadecimal numbers and a payload in nan(…), and needs a terminator.
  char text[64];
  if (digits.empty() || digits.find_first_of("xX( \t") != std::string_view::npos) return std::nullopt;
  std::string rare;
  const char* begin = text;
  if (digits.size() < sizeof text) *std::copy(digits.begin(), digits.end(), text) = '\0';
  else begin = (rare = digits).c_str();
  char* end = nullptr;
  const double value = std::strtod(begin, &end);
  return end == begin + digits.size() && digits[0] != '+' ? std::optional(value) : std::nullopt;
}

/// A number as spreadsheets show it, and no token: "1,000.5", "50 %", "$3".
bool isFormatted(std::string_view cell) {
  return cell.find_first_of("0123456789") != std::string_view::npos &&
         cell.find_first_not_of("0123456789.,' +-%$\u20ac\u00a3\u2212\u00a0") == std::string_view::npos;
}

std::optional<bool> truthOf(std::string_view cell) {
  if (isSame(cell, "true")) return true;
  return isSame(cell, "false") ? std::optional(false) : std::nullopt;
}

/// Reads a table line by line.
class Reader {
 public:
  Reader(std::string_view text, char mark) : text_(text), mark_(mark) {
    std::string_view first, rest = text;
    while (!rest.empty() &&
           (trimmed(first).empty() || trimmed(first).front() == '#')) {  // the first line that is no comment
      first = rest.substr(0, rest.find_first_of("\r\n"));
      rest.remove_prefix(std::min(first.size() + 1, rest.size()));
    }
    if (mark == ',' && first.find(';') != std::string_view::npos) mark_ = ';';
    hasDecimalComma_ = mark_ != ',';
  }

  /// Words in the first column are labels. If the first of them is the only one that is no number, it is more
  /// likely a number with a mistake in it, and is refused as such.
  Result<void> read() {
    const auto marks = static_cast<std::size_t>(std::count_if(
        text_.begin(), text_.end(), [this](char c) { return c == mark_ || c == '\n' || c == '\r'; }));
    values_.reserve(1 + std::min(marks, text_.size() / 2));  // a number has a character before its mark
    for (std::string_view rest = text_; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + (rest.substr(end).starts_with("\r\n") ? 2 : 1), rest.size()));
      ++line_;
      if (trimmed(line).empty()) {
        if (auto ok = closeBlock(); !ok) return ok;
      } else if (trimmed(line).front() != '#') {
        if (auto ok = readLine(line); !ok) return ok;
      }
    }
    if (auto ok = closeBlock(); !ok) return ok;
    if (hasLabels_ && labels_.size() > 1 &&
        std::all_of(labels_.begin() + 1, labels_.end(),
                    [this](const std::string& label) { return !label.empty() && isNumber(label); }))
      return refuse(labels_.front(), firstRow_, 0);
    if (values_.empty())
      return base::refuse(ErrorKind::syntax, "file", {"it has no numbers; expected rows of numbers."});
    return {};
  }

  StoredFile file(std::string_view name) {
    StoredFile out;
    out.heading = headingRow_;
    Stored tensor;
    tensor.name = name;
    tensor.type = isTruth_ ? Type::boolean : Type::float64;
    tensor.shape = {static_cast<std::int64_t>(rows_), static_cast<std::int64_t>(columns_)};
    if (blocks_ > 1) tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(blocks_));
    const auto keep = std::make_shared<std::vector<double>>(std::move(values_));
    char* const bytes = reinterpret_cast<char*>(keep->data());
    for (std::size_t i = 0; isTruth_ && i < keep->size(); ++i)
      bytes[i] = (*keep)[i] != 0 ? 1 : 0;  // overwrites only values already read
    tensor.bytes = {bytes, keep->size() * (isTruth_ ? 1 : sizeof(double))};
    tensor.owned = std::shared_ptr<const char[]>(keep, bytes);
    out.tensors.push_back(std::move(tensor));
    if (!labels_.empty()) {
      Stored labels;
      labels.name = "labels", labels.type = Type::text, labels.texts = std::move(labels_);
      labels.shape = {static_cast<std::int64_t>(labels.texts.size())};
      out.tensors.push_back(std::move(labels));
    }
    return out;
  }

 private:
  /// Passes the cells of a line on, one by one, until `take` returns false: a list of them would take more
  /// memory than their numbers. False if a quotation mark is not closed on the line.
  template <class Take>
  bool split(std::string_view line, Take take) const {
    for (std::size_t at = 0; at <= line.size();) {
      std::size_t end = std::min(line.find(mark_, at), line.size());
      std::string_view cell = trimmed(line.substr(at, end - at));
      if (cell.starts_with('"')) {  // separators inside quotation marks do not separate
        std::size_t close = line.find('"', at) + 1;
        while ((close = line.find('"', close)) != std::string_view::npos && close + 1 < line.size() &&
               line[close + 1] == '"')
          close += 2;
        if (close == std::string_view::npos) return false;
        end = std::min(line.find(mark_, close), line.size());
        cell = trimmed(line.substr(at, end - at));
        cell.remove_prefix(1);
        if (cell.ends_with('"')) cell.remove_suffix(1);
      }
      if (!take(cell)) return true;
      at = end + 1;
    }
    return true;
  }

  bool isNumber(std::string_view cell) const {
    return cell.empty() || truthOf(cell) || numberOf(cell, hasDecimalComma_);
  }

  /// Learns from the first line what the columns are. False if it is a heading, which has words and not a
  /// single number: a number among words is more likely a row with a mistake in it, and is refused as such.
  bool begin(std::string_view line, std::size_t count) {
    std::string_view first, second;
    bool hasWords = false, hasNumbers = false;
    std::size_t i = 0;
    split(line, [&](std::string_view cell) {
      if (i == 0) first = cell;
      if (i == 1) second = cell;
      const bool isWord = !isNumber(cell) && !isFormatted(cell);
      if (i > 0 || count == 1) hasWords = hasWords || isWord;
      hasNumbers = hasNumbers || (!isWord && !cell.empty());
      return ++i, !(hasWords && hasNumbers);
    });
    if (hasWords && !hasNumbers && headingRow_ == 0) return headingRow_ = line_, false;
    hasLabels_ = count > 1 && !isNumber(first) && !isFormatted(first), firstRow_ = line_;
    columns_ = count - (hasLabels_ ? 1 : 0);
    isTruth_ = truthOf(hasLabels_ ? second : first).has_value();
    return isBegun_ = true;
  }

  Result<void> readLine(std::string_view line) {
    std::size_t count = 0, i = 0;
    if (!split(line, [&](std::string_view) { return ++count, true; }))
      return base::refuseAt(ErrorKind::syntax, base::message({"row ", line_}),
                            {"a quotation mark is not closed; close it in the same row, or leave it out."});
    if (!isBegun_ && !begin(line, count)) return {};
    const std::size_t first = hasLabels_ ? 1 : 0;
    if (count - first != columns_)
      return base::refuseAt(ErrorKind::range, base::message({"row ", line_}),
                            {"it has ", count - std::min(first, count), " numbers, those before it ",
                             columns_, "; give every row the same length."});
    Result<void> ok;
    split(line, [&](std::string_view cell) {
      if (i >= first) ok = readCell(cell, i);
      else if (blocks_ == 0) ok = takeLabel(cell);
      return ++i, static_cast<bool>(ok);
    });
    if (ok) ++blockRows_;
    return ok;
  }

  Result<void> takeLabel(std::string_view cell) {
    if (labels_.size() == kMostTexts)
      return base::refuseAt(ErrorKind::memory, base::message({"row ", line_}),
                            {"there are more than ", kMostTexts, " labels; give fewer."});
    return labels_.emplace_back(cell), Result<void>();
  }

  Result<void> readCell(std::string_view cell, std::size_t column) {
    const std::optional<bool> truth = truthOf(cell);
    const std::optional<double> number =
        truth ? std::optional<double>(*truth ? 1 : 0) : numberOf(cell, hasDecimalComma_);
    if (number && truth.has_value() == isTruth_) return values_.push_back(*number), Result<void>();
    return refuse(cell, line_, column);
  }

  Result<void> refuse(std::string_view cell, std::size_t row, std::size_t column) const {
    return base::refuseAt(
        ErrorKind::type, base::message({"row ", row, ", column ", column + 1}),
        {cell.empty()
             ? "the cell is empty; give a number."
             : base::message({inQuotes(cell), isTruth_ ? " is not true or false, as those before it."
                                                       : " is no number; give numbers such as -0.5."})});
  }

  Result<void> closeBlock() {
    if (blockRows_ == 0) return {};
    if (blocks_ > 0 && blockRows_ != rows_)
      return base::refuseAt(ErrorKind::range, base::message({"row ", line_}),
                            {"the block that ends here has ", blockRows_, " rows, those before it ", rows_,
                             "; give every block the same size."});
    rows_ = std::exchange(blockRows_, 0);
    ++blocks_;
    return {};
  }

  std::string_view text_;
  char mark_;
  bool hasDecimalComma_ = false, hasLabels_ = false, isBegun_ = false, isTruth_ = false;
  std::size_t line_ = 0, headingRow_ = 0, firstRow_ = 0, columns_ = 0, rows_ = 0, blocks_ = 0, blockRows_ = 0;
  std::vector<double> values_;
  std::vector<std::string> labels_;
};

/// Reads a table as one tensor called `name`, float64, or bool if every cell is true or false. Empty lines
/// between blocks of equal size give a third axis. Cells are separated by `mark`; if that is a comma but the
/// first line that is no comment has semicolons, these separate, and commas are decimal. A first row of words
/// without any number is a heading, which is skipped and named in StoredFile::heading; a first column of
/// words becomes the tensor "labels", unless its first cell alone is a word. Lines end with LF, CR or both;
/// those beginning with # are comments. An error, with a sentence that names row and column counted from 1 as
/// in spreadsheets, for ragged rows, empty cells, cells that are not numbers, and unclosed quotation marks.
Result<StoredFile> readTable(std::string_view text, char mark, std::string_view name) {
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return base::refuse(ErrorKind::syntax, "file", {"it is UTF-16; save it as UTF-8."});
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // spreadsheets write a byte order mark
  Reader reader(text, mark);
  if (auto ok = reader.read(); !ok) return ok;
  return reader.file(name);
}

/// Writes a plain() tensor that passes checkTable(), with the fewest digits that read back to the same value;
/// a single axis is written as a column. Stops when `put` returns false, and returns its result.
bool writeTable(const Stored& tensor, char mark, const Put& put) {
  constexpr std::size_t piece = 1 << 16;
  const std::size_t rank = tensor.shape.size();
  const std::size_t columns = rank < 2 ? 1 : static_cast<std::size_t>(tensor.shape[rank - 1]);
  const std::size_t rows = rank < 2 ? SIZE_MAX : static_cast<std::size_t>(tensor.shape[rank - 2]);
  const std::size_t count = tensor.bytes.size() / static_cast<std::size_t>(bytesOf(tensor.type));
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0 && i % columns == 0 && i / columns % rows == 0) out += '\n';
    out += textOf(tensor, i);
    out += (i + 1) % columns == 0 ? '\n' : mark;
    if (out.size() < piece) continue;
    if (!put(out)) return false;
    out.clear();
  }
  return put(out);
}

}  // namespace

bool isTsv(std::string_view bytes) {
  return bytes.substr(0, bytes.find('\n')).find('\t') != std::string_view::npos;
}
bool isCsv(std::string_view bytes) { return !isTsv(bytes); }

Result<StoredFile> readCsv(std::string_view text, std::string_view tensor) {
  return readTable(text, ',', tensor);
}
Result<StoredFile> readTsv(std::string_view text, std::string_view tensor) {
  return readTable(text, '\t', tensor);
}

bool writeCsv(const StoredFile& file, const Put& put) { return writeTable(onlyOf(file), ',', put); }
bool writeTsv(const StoredFile& file, const Put& put) { return writeTable(onlyOf(file), '\t', put); }

Result<void> checkTable(const Stored& tensor) {
  if (tensor.type == Type::text)
    return base::refuse(ErrorKind::type, tensor.name,
                        {"it holds texts, and a table of numbers cannot; leave it out."});
  if (tensor.shape.size() > 3)
    return base::refuse(ErrorKind::range, tensor.name,
                        {"its shape ", base::shapeText(tensor.shape),
                         " has more axes than a table; use .npz, or give at most three."});
  if (tensor.bytes.empty())
    return base::refuse(ErrorKind::range, tensor.name,
                        {"its shape ", base::shapeText(tensor.shape),
                         " has no values, and a table cannot say so; use .npz."});
  return {};
}

std::string textOf(const Stored& tensor, std::size_t index) {
  const Number value = valueAt(tensor, index);
  switch (value.kind) {
    case Number::Kind::boolean: return value.whole != 0 ? "true" : "false";
    case Number::Kind::whole: return std::to_string(value.whole);
    case Number::Kind::natural: return std::to_string(value.natural);
    case Number::Kind::real: break;
  }
  if (std::isnan(value.real)) return "nan";
  if (std::isinf(value.real)) return value.real < 0 ? "-inf" : "inf";
  return tensor.type == Type::float64 ? digitsOf(value.real) : digitsOf(static_cast<float>(value.real));
}

}  // namespace files
