#include "views/words.h"

#include <algorithm>

namespace views {
namespace {

constexpr std::size_t kMostKept = 4096;
constexpr char kAsItIs = '\x1e';  // before the key of a message that was asked for in English

bool isPlace(std::string_view words, std::size_t at) {
  const auto isLetter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return at + 2 < words.size() && words[at] == '{' && isLetter(words[at + 1]) && words[at + 2] == '}';
}

/// Numbers and formulas are not translated.
bool hasWords(std::string_view text) {
  int letters = 0;
  for (const char c : text) {
    letters = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ? letters + 1 : 0;
    if (letters == 2) return true;
  }
  return false;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
char at(std::string_view text, std::size_t place) { return place < text.size() ? text[place] : '\0'; }

std::size_t afterDigits(std::string_view text, std::size_t from) {
  while (isDigit(at(text, from))) ++from;
  return from;
}

/// The end of a quotation that begins here: of what a reader or a file has written, nothing is changed.
/// `from` itself if none does.
std::size_t afterQuotation(std::string_view text, std::size_t from) {
  constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"\"", "\""}, {"“", "”"}, {"„", "“"}, {"»", "«"}};
  for (const auto& [open, close] : kMarks) {
    if (!text.substr(from).starts_with(open)) continue;
    const std::size_t end = text.find(close, from + open.size());
    return end == std::string_view::npos ? from : end + close.size();
  }
  return from;
}

/// Where an English number such as "1,234.5" ends, and its decimal point, which is its end if it has none. In
/// versions and names, such as "1.2.3" and "layer.0.npz", there is no number.
struct Numeral {
  std::size_t point, end;
  bool isNumber;
};
Numeral numeralAt(std::string_view text, std::size_t from) {
  std::size_t point = afterDigits(text, from);
  while (point - from <= 15 && at(text, point) == ',' && afterDigits(text, point + 1) == point + 4)
    point += 4;
  const bool isGrouped = text.substr(from, point - from).find(',') != std::string_view::npos;
  if (isGrouped && text.find(',', from) > from + 3)
    point = afterDigits(text, from);  // "2048,512" is two numbers
  const bool hasDecimals = at(text, point) == '.' && isDigit(at(text, point + 1));
  const std::size_t end = hasDecimals ? afterDigits(text, point + 1) : point;
  const char before = from > 0 ? text[from - 1] : ' ', next = at(text, end), later = at(text, end + 1);
  const bool isPower = (next == 'e' || next == 'E') && !isLetter(later);
  const bool isName = isLetter(before) || before == '.' || (isLetter(next) && !isPower) ||
                      (next == '.' && (isDigit(later) || isLetter(later)));
  return {point, end, !isName};
}

/// Does another number follow, after a comma?
bool isListed(std::string_view rest) {
  if (!rest.starts_with(',')) return false;
  rest.remove_prefix(std::min(rest.find_first_not_of(", ("), rest.size()));
  for (const std::string_view sign : {"-", "−", "…"}) {
    if (rest.starts_with(sign)) return true;
  }
  return isDigit(at(rest, 0));
}

/// A text, and the spaces at its ends, which are not looked up.
struct Ends {
  explicit Ends(std::string_view text)
      : first(std::min(text.find_first_not_of(' '), text.size())),
        inner(text.substr(first, text.find_last_not_of(' ') + 1 - first)),
        last(text.size() - first - inner.size()) {}
  std::string around(std::string_view found) const {
    return std::string(first, ' ').append(found).append(last, ' ');
  }
  std::size_t first;
  std::string_view inner;
  std::size_t last;
};

}  // namespace

Words::Words(std::string_view table) : table_(table) {
  std::string_view rest = table_;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t middle = line.find('\x1f');
    if (middle == std::string_view::npos) continue;
    const std::string_view english = line.substr(0, middle), words = line.substr(middle + 1);
    if (english.empty()) plurals_.add(words);
    else if (english == "1,234.5" && words.size() == english.size()) group_ = words[1], decimal_ = words[5];
    else add(english, words);
  }
}

void Words::add(std::string_view english, std::string_view words) {
  std::string id, places;
  for (std::size_t at = 0; at < english.size(); ++at) {
    if (isPlace(english, at)) id += "{}", places += english[at + 1], at += 2;
    else id += english[at];
  }
  messages_.try_emplace(std::move(id), Translation{words, std::move(places)});
}

std::string_view Words::of(base::MessageView english) {
  const bool isPlain = !english.hasArguments();
  if (isPlain && (paused > 0 || !hasWords(english.bytes()))) return english.bytes();
  std::string key(english.bytes());
  if (paused > 0) key.insert(0, 1, kAsItIs);
  for (const auto* map : {&kept_, &older_}) {
    if (const auto at = map->find(key); at != map->end()) return at->second;
  }
  if (kept_.size() >= kMostKept) older_ = std::move(kept_), kept_.clear();
  std::string out = paused > 0 ? english.english() : ofMessage(english);
  kept_.try_emplace(out, out);  // because text is first measured and later drawn
  return kept_.insert_or_assign(std::move(key), std::move(out)).first->second;
}

std::string Words::ofMessage(base::MessageView message) {
  const std::string id = message.id();
  std::vector<Part> parts, arguments;
  for (base::MessageView rest = message; !rest.empty();) {
    parts.push_back(rest.next());
    if (parts.back().kind != Part::Kind::fixed) arguments.push_back(parts.back());
  }
  const Ends ends(id);
  if (const auto at = messages_.find(std::string(ends.inner)); at != messages_.end())
    return ends.around(filled(at->second, arguments));
  if (missed && hasWords(id)) missed->insert(message.english());
  std::string out;
  for (const Part& part : parts) out += ofArgument(part, parts.size() == 1 && !arguments.empty());
  return out;
}

std::string Words::ofArgument(const Part& part, bool isTranslated) {
  const bool isMessage = part.kind == Part::Kind::message;
  if (isMessage && base::MessageView(part.bytes).hasArguments()) return std::string(of(part.bytes));
  return (isMessage || isTranslated) && hasWords(part.bytes) ? std::string(of(part.bytes))
                                                             : inNotation(part.bytes);
}

std::string Words::filled(const Translation& translation, const std::vector<Part>& arguments) {
  std::string out;
  for (std::string_view words = formFor(translation, arguments); !words.empty();) {
    std::size_t at = 0;
    while (at < words.size() && !isPlace(words, at)) ++at;
    out += inNotation(words.substr(0, at));
    if (at == words.size()) break;
    const std::size_t place = translation.places.find(words[at + 1]);
    if (place < arguments.size())
      out += ofArgument(arguments[place], words[at + 1] >= 'A' && words[at + 1] <= 'Z');
    words.remove_prefix(at + 3);
  }
  return out;
}

std::string_view Words::formFor(const Translation& translation, const std::vector<Part>& arguments) const {
  std::string_view words = translation.words;
  const std::size_t number = translation.places.find_first_of("123456789");
  std::size_t form = number < arguments.size() ? plurals_.formOf(arguments[number].bytes) : 0;
  for (std::size_t end; (end = words.find('\x1e')) != std::string_view::npos; --form) {
    if (form == 0) return words.substr(0, end);
    words.remove_prefix(end + 1);
  }
  return words;
}

std::string Words::asWritten(std::string_view english) const {
  std::string out;
  while (!english.empty()) {
    const std::size_t end = std::min(english.find('\n'), english.size());
    const auto at = messages_.find(std::string(english.substr(0, end)));
    out += at == messages_.end() ? english.substr(0, end) : at->second.words;
    if (end < english.size()) out += '\n';
    english.remove_prefix(std::min(end + 1, english.size()));
  }
  return out;
}

std::string_view Words::number(std::string_view digits, std::string& own) const {
  if (paused > 0 || decimal_ == '.' || hasWords(digits)) return digits;
  return own = inNotation(digits);
}

std::string Words::inNotation(std::string_view text) const {
  std::string out(text);
  if (decimal_ == '.') return out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t unquoted = afterQuotation(text, i);
    if (unquoted > i || !isDigit(text[i])) {
      i = std::max(unquoted, i + 1);
      continue;
    }
    const Numeral number = numeralAt(text, i);
    if (!number.isNumber) {
      while (isDigit(at(text, i)) || isLetter(at(text, i)) || at(text, i) == '.') ++i;
      continue;
    }
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(i),
                 out.begin() + static_cast<std::ptrdiff_t>(number.point), ',', group_);
    if (number.point < number.end) {
      out[number.point] = decimal_;
      if (isListed(text.substr(number.end))) out[number.end] = ';';  // because the comma is the decimal sign
    }
    i = number.end;
  }
  return out;
}

void Words::keep(const std::string& said) {
  if (paused == 0) kept_.try_emplace(said, said);
}

}  // namespace views
