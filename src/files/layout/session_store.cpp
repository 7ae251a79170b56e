#include "files/layout/session_store.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/text.h"
#include "files/layout/packed.h"

namespace files {
namespace {

using document::Document;
using document::State;

// To be changed with every change of the layout that older programs cannot read.
constexpr std::string_view kSessionMagic = "attention session 1\n";
/// Limit on all states together, because all are decompressed when the program starts.
constexpr std::size_t kMostUnfolded = std::size_t{128} << 20;
/// Longer texts are compared by the hashes of their blocks.
constexpr std::size_t kShort = 1 << 20, kBlock = 1 << 10;

/// View options are not part of the history.
std::string contentOf(const State& state) {
  document::Settings plain = state;
  document::copyView(plain, document::Settings{});
  return packed(state, plain);
}

/// The number of equal bytes at the beginning of both.
std::size_t sameAtFront(std::string_view a, std::string_view b) {
  std::size_t same = 0;
  const std::size_t most = std::min(a.size(), b.size());
  while (most - same >= kBlock && std::memcmp(a.data() + same, b.data() + same, kBlock) == 0) same += kBlock;
  while (same < most && a[same] == b[same]) ++same;
  return same;
}

std::size_t sameAtBack(std::string_view a, std::string_view b, std::size_t most) {
  std::size_t same = 0;
  while (most - same >= kBlock &&
         std::memcmp(a.data() + a.size() - same - kBlock, b.data() + b.size() - same - kBlock, kBlock) == 0)
    same += kBlock;
  while (same < most && a[a.size() - 1 - same] == b[b.size() - 1 - same]) ++same;
  return same;
}

std::size_t sameBlocks(const std::vector<std::uint64_t>& a, const std::vector<std::uint64_t>& b) {
  return static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

std::uint64_t hashOf(const char* block) {
  base::Hash hash;
  hash.add(block, kBlock);
  return hash.value();
}

/// Hands on what is added to it; what is short is gathered first.
class Gathered {
 public:
  explicit Gathered(const SessionStore::Sink& put) : put_(put) {}
  Gathered(const Gathered&) = delete;
  Gathered& operator=(const Gathered&) = delete;
  ~Gathered() { put_(short_); }

  void add(std::string_view bytes) {
    if (short_.size() + bytes.size() > kShort) put_(short_), short_.clear();
    if (bytes.size() > kShort) put_(bytes);
    else short_ += bytes;
  }

 private:
  const SessionStore::Sink& put_;
  std::string short_;
};

/// Reads the parts of what write() wrote.
class Pieces {
 public:
  explicit Pieces(std::string_view bytes) : rest_(bytes) {}

  std::string_view line() {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return found;
  }
  /// Reads integers separated by spaces.
  template <class... Number>
  bool numbers(Number&... wanted) {
    std::string_view words = line();
    const auto next = [&words](std::size_t& number) {
      const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
      if (error != std::errc()) return false;
      words.remove_prefix(static_cast<std::size_t>(end - words.data()));
      if (words.starts_with(' ')) words.remove_prefix(1);
      return true;
    };
    return (next(wanted) && ...) && words.empty();
  }
  bool take(std::size_t count, std::string_view& found) {
    if (rest_.size() < count) return false;
    found = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return true;
  }
  /// Reads a change, and applies it to `text`.
  bool change(std::string& text) {
    std::size_t head = 0, tail = 0, count = 0;
    std::string_view between;
    if (!numbers(head, tail, count) || !take(count, between) || head > text.size() ||
        tail > text.size() - head)
      return false;
    text.replace(head, text.size() - head - tail, between);
    return true;
  }
  bool isEmpty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace

std::string SessionStore::Change::heading() const {
  return base::joined({head, " ", tail, " ", between.size(), "\n"});
}

void SessionStore::Change::applyTo(std::string& text) && {
  if (head + between.size() + tail == text.size()) {
    std::copy(between.begin(), between.end(), text.begin() + static_cast<std::ptrdiff_t>(head));
    return;
  }
  std::string made = std::move(between);  // which mostly has room for all
  made.reserve(head + made.size() + tail);
  made.insert(0, text, 0, head).append(text, text.size() - tail);
  text = std::move(made);
}

SessionStore::Outline::Outline(const std::string& text) : size_(text.size()) {
  if (size_ <= kShort) text_ = text;
  for (std::size_t end = kBlock; end <= size_; end += kBlock) {
    front_.push_back(hashOf(text.data() + end - kBlock));
    back_.push_back(hashOf(text.data() + size_ - end));
  }
}

SessionStore::Change SessionStore::Outline::changeTo(const Outline& other, std::string text) const {
  const bool isShort = size_ <= kShort && other.size_ <= kShort;
  const std::size_t most = std::min(size_, other.size_),
                    head = isShort ? sameAtFront(text_, text) : kBlock * sameBlocks(front_, other.front_),
                    tail = isShort ? sameAtBack(text_, text, most - head)
                                   : std::min(kBlock * sameBlocks(back_, other.back_), most - head),
                    count = text.size() - head - tail;
  if (count < text.size() / 2) return {head, tail, text.substr(head, count)};
  text.resize(head + count);  // most of it: in the memory that it has
  text.erase(0, head);
  return {head, tail, std::move(text)};
}

SessionStore::Change SessionStore::Outline::changeTo(std::string text) const {
  const Outline other(text);
  return changeTo(other, std::move(text));
}

void SessionStore::forgetFirst() {
  Step& step = steps_.front();
  std::string start;
  if (!step.begins) std::move(start_).applyTo(start = base_);
  std::move(step.change).applyTo(base_);
  start_ = step.begins ? Change{base_.size(), 0, {}} : Outline(base_).changeTo(std::move(start));
  least_ = step.number + 1;
  steps_.pop_front();
}

std::size_t SessionStore::follow(const Document& document) {
  std::vector<std::uint64_t> numbers = document.stepNumbers();
  const auto leftOut = [&] {
    return static_cast<std::size_t>(std::lower_bound(numbers.begin(), numbers.end(), least_) -
                                    numbers.begin());
  };
  if (leftOut() > document.stepsBack()) least_ = 0, steps_.clear();  // undo went back beyond the stored steps
  const std::size_t at = document.stepsBack() - leftOut();
  numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(leftOut()));
  const auto first = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) {
    return !numbers.empty() && step.number == numbers.front();
  });
  for (auto gone = first == steps_.end() ? 0 : first - steps_.begin(); gone > 0; --gone) forgetFirst();
  std::size_t same = 0;
  while (same < std::min(numbers.size(), steps_.size()) && steps_[same].number == numbers[same]) ++same;
  // While a number is dragged, the last step becomes another one again and again.
  if (same + 1 == steps_.size() && numbers.size() <= steps_.size()) last_ = std::exchange(before_, {});
  else if (same < steps_.size() || same == 0) last_ = before_ = {};
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(same), steps_.end());

  const bool goesOn = same + 1 == numbers.size() && !document.canRedo() && !last_.empty();
  if (goesOn) {
    std::string now = contentOf(document.state());
    const std::size_t size = now.size();
    Outline outline(now);
    steps_.push_back({numbers.back(), document.lastBegan(), last_.changeTo(outline, std::move(now)), size});
    before_ = std::exchange(last_, std::move(outline));
  } else if (same < numbers.size() || same == 0) {
    // Goes to the end of the history and back on a copy, recording the new steps from last to first.
    const auto held = [](const State& state, Outline& outline) {
      std::string text = contentOf(state);
      outline = Outline(text);
      return text;
    };
    std::string now = document.canRedo() ? std::string() : held(document.state(), last_);
    Document copy = document;
    while (copy.redo()) {}
    if (document.canRedo()) now = held(copy.state(), last_);
    std::vector<Step> found;
    Outline after = last_, before;
    for (std::size_t i = numbers.size(); i > same; --i) {
      const bool begins = copy.lastBegan();
      copy.goBack();
      std::string earlier = held(copy.state(), before);
      const std::size_t size = now.size();
      std::string text = std::exchange(now, std::move(earlier));
      found.push_back({numbers[i - 1], begins, before.changeTo(after, std::move(text)), size});
      after = before;
      if (found.size() == 1) before_ = before;
    }
    if (same == 0) {
      start_ = Outline(now).changeTo(contentOf(copy.start()));
      base_ = std::move(now);
    }
    steps_.insert(steps_.end(), std::make_move_iterator(found.rbegin()),
                  std::make_move_iterator(found.rend()));
  }
  return at;
}

SessionStore::Fitting SessionStore::fit(const Document& document, std::size_t most) {
  std::size_t at = follow(document);
  std::size_t size = base_.size(), unfolded = 0;
  for (const Step& step : steps_) size += step.change.size() + 8, unfolded += step.size;
  const auto isTooMuch = [&] { return size > most || unfolded > kMostUnfolded; };
  // The oldest steps are dropped first, then those that undo has reversed, the last one first.
  for (; isTooMuch() && at > 0; --at) {
    size -= steps_.front().change.size() + 8 + base_.size(), unfolded -= steps_.front().size;
    forgetFirst();
    size += base_.size();
  }
  for (; isTooMuch() && !steps_.empty(); last_ = before_ = {})
    size -= steps_.back().change.size() + 8, unfolded -= steps_.back().size, steps_.pop_back();
  return {at, size};
}

void SessionStore::give(const Document& document, std::size_t at, const Sink& put) const {
  Gathered out(put);
  out.add(kSessionMagic);
  for (const document::Option& option : document::options())
    if (!option.undoable && option.stored != document::Stored::never)
      out.add(base::joined({option.name, " ", document::toJson(get(document.state(), option.id)), "\n"}));
  out.add(base::joined({"\n", document::jsonQuoted(document.state().unknownFields), "\n", at, " ",
                        steps_.size(), " ", base_.size(), "\n"}));
  const auto add = [&](const Change& change) { out.add(change.heading()), out.add(change.between); };
  out.add(base_);
  add(start_);
  for (const Step& step : steps_) out.add(step.begins ? "1\n" : "0\n"), add(step.change);
}

void SessionStore::write(const Document& document, std::size_t most, const Sink& put) {
  give(document, fit(document, most).at, put);
}

std::string SessionStore::write(const Document& document, std::size_t most, std::string_view head) {
  const Fitting fitting = fit(document, most);
  std::string out;
  out.reserve(head.size() + fitting.size + (1 << 13));
  out += head;
  give(document, fitting.at, [&out](std::string_view piece) { out += piece; });
  return out;
}

Result<void> restore(std::string_view bytes, Document& document) {
  const auto refused = [] {
    return base::refuse(base::Error::Kind::syntax, "session",
                        {"it was not kept whole, or by a program of another version."});
  };
  if (!bytes.starts_with(kSessionMagic)) return refused();
  Pieces pieces(bytes.substr(kSessionMagic.size()));
  State shown;
  for (std::string_view line = pieces.line(); !line.empty(); line = pieces.line())
    if (!readOption(line, shown)) return refused();
  const auto unknown = document::valueFromJson(pieces.line(), "session");
  std::size_t at = 0, count = 0, size = 0;
  std::string_view base;
  if (!unknown || !std::holds_alternative<std::string>(*unknown) || !pieces.numbers(at, count, size) ||
      !pieces.take(size, base) || at > count)
    return refused();
  Unpacker unpacker;
  const auto read = [&](std::string_view text) {
    auto state = unpacker.read(text, shown);
    if (state) state->unknownFields = std::get<std::string>(*unknown);
    return state;
  };
  std::string text(base), start = text;
  if (!pieces.change(start)) return refused();
  auto began = read(start), first = read(text);
  if (!began) return began.error();
  if (!first) return first.error();
  std::vector<Document::Moment> moments;
  moments.push_back({std::move(*first), false});
  std::size_t unfolded = 0;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t begins = 0;
    if (!pieces.numbers(begins) || begins > 1 || !pieces.change(text)) return refused();
    if ((unfolded += text.size()) > kMostUnfolded) return refused();
    auto state = read(text);
    if (!state) return state.error();
    moments.push_back({std::move(*state), begins == 1});
  }
  if (!pieces.isEmpty()) return refused();
  document.restore(std::move(*began), std::move(moments), at, shown);
  return {};
}

}  // namespace files
