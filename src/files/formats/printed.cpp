#include "files/formats/printed.h"

#include <algorithm>

#include "base/sentence.h"
#include "document/json.h"

namespace files {
namespace {

using ErrorKind = Error::Kind;

constexpr bool isDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Converts one text to JSON, from beginning to end.
class Printed {
 public:
  explicit Printed(std::string_view text) : text_(text) {}

  Result<std::string> convert() {
    blank();
    if (names()) return object();
    if (auto ok = value(0); !ok) return ok;
    blank();
    if (at_ < text_.size()) return wrong();
    return std::move(out_);
  }

 private:
  static constexpr int kDeepest = 40;

  void blank() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r'))
      ++at_;
  }
  bool next(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(std::string_view what) {
    if (!next(what)) return false;
    at_ += what.size();
    return true;
  }
  Result<void> wrong() const {
    const auto line =
        std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, text_.size())),
                   '\n') +
        1;
    if (at_ >= text_.size())
      return base::refuse(ErrorKind::syntax, "text",
                          {"it ends before its brackets are closed; copy all of it."});
    return base::refuse(ErrorKind::syntax, "text",
                        {base::inQuotes(text_.substr(at_, 16)), " in line ", line,
                         " is no number; expected a printed tensor or a list, such as [[1, 2], [3, 4]]."});
  }

  /// Does an assignment follow, such as "q = [[…]]"?
  bool names() const {
    std::size_t i = at_;
    while (i < text_.size() && (isLetter(text_[i]) || isDigit(text_[i]) || text_[i] == '.')) ++i;
    if (i == at_ || !isLetter(text_[at_])) return false;
    while (i < text_.size() && text_[i] == ' ') ++i;
    return i < text_.size() && (text_[i] == '=' || text_[i] == ':') && !text_.substr(i).starts_with("==");
  }
  Result<std::string> object() {
    out_ = "{";
    while (names()) {
      const std::size_t begin = at_;
      while (isLetter(text_[at_]) || isDigit(text_[at_]) || text_[at_] == '.') ++at_;
      out_ += (out_.size() > 1 ? ", " : "") + document::jsonQuoted(text_.substr(begin, at_ - begin)) + ": ";
      blank();
      ++at_;
      blank();
      if (auto ok = value(0); !ok) return ok;
      blank();
      if (take(",") || take(";")) blank();
    }
    if (at_ < text_.size()) return wrong();
    return std::move(out_ += "}");
  }

  Result<void> value(int depth) {
    blank();
    if (depth > kDeepest || at_ >= text_.size()) return wrong();
    if (next("...") || next("\xe2\x80\xa6"))
      return base::refuse(
          ErrorKind::syntax, "text",
          {"numbers were left out with \"...\" when it was printed; print all of them, after "
           "numpy.set_printoptions(threshold=10**9) or torch.set_printoptions(threshold=10**9)."});
    if (take("[") || take("(")) return list(depth, text_[at_ - 1] == '[' ? ']' : ')');
    if (take("{")) return dictionary(depth);
    if (next("'") || next("\"")) return quoted();
    if (isLetter(text_[at_])) return word(depth);
    return number();
  }

  Result<void> list(int depth, char end) {
    out_ += '[';
    for (bool isFirst = true;; isFirst = false) {
      blank();
      if (take({&end, 1})) break;
      if (!isFirst) {
        if (take(",")) blank();
        if (take({&end, 1})) break;
        out_ += ',';
      }
      if (auto ok = value(depth + 1); !ok) return ok;
    }
    out_ += ']';
    return {};
  }

  Result<void> dictionary(int depth) {
    out_ += '{';
    for (bool isFirst = true;; isFirst = false) {
      blank();
      if (take("}")) break;
      if (!isFirst) {
        if (!take(",")) return wrong();
        blank();
        if (take("}")) break;
        out_ += ',';
      }
      if (!next("'") && !next("\"")) return wrong();
      if (auto ok = quoted(); !ok) return ok;
      blank();
      if (!take(":")) return wrong();
      out_ += ':';
      if (auto ok = value(depth + 1); !ok) return ok;
    }
    out_ += '}';
    return {};
  }

  Result<void> quoted() {
    const char mark = text_[at_++];
    out_ += '"';
    for (std::size_t begin = at_;; ++at_) {
      if (at_ >= text_.size()) return wrong();
      const char c = text_[at_];
      if (c != mark && c != '\\') continue;
      addText(text_.substr(begin, at_ - begin));
      if (c == mark) break;
      if (++at_ >= text_.size()) return wrong();
      // JSON has the escapes of Python, but for \x0a, and knows no others.
      if (text_[at_] == 'x') out_ += "\\u00";
      else if (std::string_view("\"\\/bfnrtu").find(text_[at_]) != std::string_view::npos)
        out_ += '\\', out_ += text_[at_];
      else addText(text_.substr(at_, 1));
      begin = at_ + 1;
    }
    ++at_;
    out_ += '"';
    return {};
  }
  void addText(std::string_view words) {
    const std::string text = document::jsonQuoted(words);
    out_.append(text, 1, text.size() - 2);
  }

  /// Converts True, nan, tensor(…), np.array(…), np.float32(1.5).
  Result<void> word(int depth) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (isLetter(text_[at_]) || isDigit(text_[at_]) || text_[at_] == '.')) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (name == "True" || name == "true") return out_ += "true", Result<void>();
    if (name == "False" || name == "false") return out_ += "false", Result<void>();
    if (name == "nan" || name == "NaN") return out_ += "\"nan\"", Result<void>();
    if (name == "inf" || name == "Infinity") return out_ += "\"inf\"", Result<void>();
    blank();
    if (!take("(")) return at_ = begin, wrong();
    if (auto ok = value(depth + 1); !ok) return ok;
    // Further arguments, such as dtype=torch.float64, device='cuda:0', grad_fn=<SoftmaxBackward0>, do not
    // affect the numbers.
    int open = 1;
    for (; at_ < text_.size() && open > 0; ++at_) {
      if (text_[at_] == '(') ++open;
      if (text_[at_] == ')') --open;
    }
    return open == 0 ? Result<void>() : wrong();
  }

  Result<void> number() {
    if (take("-inf") || take("-Infinity")) return out_ += "\"-inf\"", Result<void>();
    std::string digits;
    if (take("-")) digits += '-';
    else if (take("+")) {}
    const std::size_t begin = at_;
    while (at_ < text_.size() && isDigit(text_[at_])) ++at_;
    std::string_view whole = text_.substr(begin, at_ - begin);
    while (whole.size() > 1 && whole[0] == '0') whole.remove_prefix(1);
    digits += whole.empty() ? "0" : whole;
    std::size_t count = whole.size();
    if (take(".")) {
      const std::size_t from = at_;
      while (at_ < text_.size() && isDigit(text_[at_])) ++at_;
      count += at_ - from;
      digits += '.';
      digits += at_ > from ? text_.substr(from, at_ - from) : "0";
    }
    if (count == 0) return at_ = begin, wrong();
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      digits += text_[at_++];
      if (next("-") || next("+")) digits += text_[at_++];
      const std::size_t from = at_;
      while (at_ < text_.size() && isDigit(text_[at_])) digits += text_[at_++];
      if (at_ == from) return wrong();
    }
    if (at_ < text_.size() && isLetter(text_[at_])) return at_ = begin, wrong();
    out_ += digits;
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

bool isPrinted(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  text.remove_prefix(first);
  if (text[0] == '[' || text[0] == '{') return true;
  const std::size_t end = text.find_first_of("=([");
  if (end == std::string_view::npos || end > 80) return false;
  if (text[0] == '(') return text.find_first_of("([") != std::string_view::npos && text.size() > 1;
  return isLetter(text[0]) &&
         std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end),
                     [](char c) { return isLetter(c) || isDigit(c) || c == '.' || c == ' '; });
}

Result<std::string> jsonOfPrinted(std::string_view text) { return Printed(text).convert(); }

}  // namespace files
