#include "files/layout/session_store.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
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
static_assert(SessionStore::kPart % kBlock == 0);
/// Shorter parts are handed over with the board.
constexpr std::size_t kLeastPart = 1 << 18;

/// View options are not part of the history.
document::Settings withoutView(const State& state) {
  document::Settings plain = state;
  document::copyView(plain, document::Settings{});
  return plain;
}

void spend(std::size_t& slice, std::size_t bytes) { slice -= std::min(slice, bytes); }

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

/// What has to be known of a text to find what changed since then: a short one itself; of others what
/// precedes the numbers, and hashes of the blocks of these.
struct SessionStore::Outline {
  std::size_t size = 0, head = 0;  ///< `head`: bytes before the numbers
  std::string text;                ///< all, or the head
  std::vector<std::uint64_t> blocks;

  bool isShort() const { return size <= kShort; }
  std::string_view heading() const { return std::string_view(text).substr(0, head); }
  void add(std::string_view numbers) {
    for (; !numbers.empty(); numbers.remove_prefix(std::min(kBlock, numbers.size()))) {
      base::Hash hash;
      hash.add(numbers.data(), std::min(kBlock, numbers.size()));
      blocks.push_back(hash.value());
    }
  }
  /// The bytes that are the same at both ends; of long texts up to a block less at each.
  std::pair<std::size_t, std::size_t> sameEnds(const Outline& other) const;
};

std::pair<std::size_t, std::size_t> SessionStore::Outline::sameEnds(const Outline& other) const {
  const std::size_t most = std::min(size, other.size);
  if (isShort() && other.isShort()) {
    const std::size_t front = sameAtFront(text, other.text);
    return {front, sameAtBack(text, other.text, most - front)};
  }
  const std::size_t numbers = size - head, others = other.size - other.head;
  const std::size_t count = numbers == others ? blocks.size() : std::min(numbers, others) / kBlock;
  const auto end = blocks.begin() + static_cast<std::ptrdiff_t>(count);
  const auto firstWrong = std::mismatch(blocks.begin(), end, other.blocks.begin()).first;
  std::size_t front = sameAtFront(heading(), other.heading());
  if (heading() == other.heading())
    front += std::min(kBlock * static_cast<std::size_t>(firstWrong - blocks.begin()), most - front);
  if (numbers != others) return {front, 0};
  const auto lastWrong = std::mismatch(blocks.rbegin(), blocks.rend(), other.blocks.rbegin()).first;
  const std::size_t wrong = kBlock * static_cast<std::size_t>(blocks.rend() - lastWrong);
  return {front, std::min(numbers - std::min(wrong, numbers), most - front)};
}

/// A state that is read some bytes at a time.
class SessionStore::Reading {
 public:
  /// `takesBytes`: not only the outline is wanted.
  Reading(const State& state, bool takesBytes)
      : packing_(state, withoutView(state)),
        part_(new char[std::min(kPart, packing_.size())]),
        takesBytes_(takesBytes) {
    outline.size = packing_.size(), outline.head = packing_.head().size();
    outline.text.resize(outline.isShort() ? outline.size : outline.head);
    packing_.read(0, outline.text.size(), outline.text.data());
    if (takesBytes) bytes.append(outline.text);
    outline.add(std::string_view(outline.text).substr(outline.head));
    at_ = outline.text.size();
  }
  bool isWhole() const { return at_ == packing_.size(); }
  void goOn(std::size_t& slice) {
    const std::string_view part = read(at_, packing_.size());
    outline.add(part);
    at_ += part.size();
    spend(slice, part.size());
    if (takesBytes_) bytes.append(std::string(part));
  }
  std::string taken(std::size_t from, std::size_t end) { return std::string(read(from, end)); }

  Outline outline;
  SharedBytes bytes;

 private:
  /// At most kPart bytes, valid until the next call. They have a place of their own, because to fill a string
  /// with zeros first takes longer in the page than to read into it.
  std::string_view read(std::size_t from, std::size_t end) {
    const std::size_t count = std::min(kPart, end - from);
    packing_.read(from, count, part_.get());
    return {part_.get(), count};
  }

  Packing packing_;
  std::unique_ptr<char[]> part_;
  std::size_t at_ = 0;
  bool takesBytes_;
};

/// Bringing the steps up to date.
struct SessionStore::Job {
  std::uint64_t revision = 0;          ///< of the document
  std::vector<std::uint64_t> numbers;  ///< of its steps, without those that are omitted
  std::size_t present = 0;             ///< how many of them precede the present
  std::size_t same = 0;                ///< how many were known
  /// The history from its end back to what is known; none where one step follows what is known.
  std::unique_ptr<Document> copy;
  std::unique_ptr<Reading> reading,
      later;                ///< of a state, and of the one after it; none: nothing is to be done
  std::size_t at = 0;       ///< how many steps precede the state that is read
  bool begins = false;      ///< as Step::begins, of the step between the two
  bool isOfStart = false;   ///< last of all the initial state is read
  std::vector<Step> found;  ///< from last to first
  std::unique_ptr<Outline> before, last;  ///< the states before and after the last of all steps
  std::unique_ptr<Change> change;         ///< of the one step that follows
};

SessionStore::SessionStore() = default;
SessionStore::~SessionStore() = default;

std::string SessionStore::Change::heading() const {
  return base::joined({head, " ", tail, " ", between.size(), "\n"});
}

SharedBytes SessionStore::Change::appliedTo(const SharedBytes& text) const {
  SharedBytes made = text.slice(0, head);
  made.append(between);
  made.append(text.slice(text.size() - tail, tail));
  return made;
}

SessionStore::Change SessionStore::changeBetween(const SharedBytes& from, const SharedBytes& to) {
  const std::size_t most = std::min(from.size(), to.size());
  std::size_t head = 0, tail = 0;
  if (std::max(from.size(), to.size()) <= kShort && from.isHere() && to.isHere()) {
    const std::string before = from.flat(), after = to.flat();
    head = sameAtFront(before, after), tail = sameAtBack(before, after, most - head);
  } else {
    head = from.sharedAtFront(to), tail = std::min(from.sharedAtBack(to), most - head);
  }
  return {head, tail, to.slice(head, to.size() - head - tail).compact()};
}

void SessionStore::forgetFirst() {
  Step& step = steps_.front();
  const SharedBytes start = step.begins ? SharedBytes() : start_.appliedTo(base_);
  base_ = step.change.appliedTo(base_);
  if (base_.size() <= kShort && base_.isHere()) base_ = SharedBytes(base_.flat());
  start_ = step.begins ? Change{base_.size(), 0, {}} : changeBetween(base_, start);
  least_ = step.number + 1;
  steps_.pop_front();
}

void SessionStore::begin(const Document& document) {
  job_ = std::make_unique<Job>();
  Job& job = *job_;
  job.revision = document.revision();
  std::vector<std::uint64_t>& numbers = job.numbers = document.stepNumbers();
  const auto leftOut = [&] {
    return static_cast<std::size_t>(std::lower_bound(numbers.begin(), numbers.end(), least_) -
                                    numbers.begin());
  };
  if (leftOut() > document.stepsBack()) least_ = 0, steps_.clear();  // undo went back beyond the stored steps
  job.present = document.stepsBack() - leftOut();
  numbers.erase(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(leftOut()));
  const auto first = std::find_if(steps_.begin(), steps_.end(), [&](const Step& step) {
    return !numbers.empty() && step.number == numbers.front();
  });
  for (auto gone = first == steps_.end() ? 0 : first - steps_.begin(); gone > 0; --gone) forgetFirst();
  std::size_t& same = job.same;
  while (same < std::min(numbers.size(), steps_.size()) && steps_[same].number == numbers[same]) ++same;
  // While a number is dragged, the last step becomes another one again and again.
  if (same + 1 == steps_.size() && numbers.size() <= steps_.size()) last_ = std::move(before_);
  else if (same < steps_.size() || same == 0) last_ = nullptr, before_ = nullptr;
  steps_.erase(steps_.begin() + static_cast<std::ptrdiff_t>(same), steps_.end());

  job.at = numbers.size();
  if (same + 1 == numbers.size() && !document.canRedo() && last_) {
    job.reading = std::make_unique<Reading>(document.state(), false);
  } else if (same < numbers.size() || same == 0) {
    // Goes to the end of the history and back on a copy, recording the new steps from last to first.
    job.copy = std::make_unique<Document>(document);
    while (job.copy->redo()) {}
    job.reading = std::make_unique<Reading>(job.copy->state(), true);
  }
}

/// One step follows what is known.
void SessionStore::addStep(const Document& document, std::size_t& slice) {
  Job& job = *job_;
  Outline& now = job.reading->outline;
  if (!job.change) {
    const auto [head, tail] = last_->sameEnds(now);
    job.change = std::make_unique<Change>(Change{head, tail, {}});
  }
  Change& change = *job.change;
  const std::size_t end = now.size - change.tail, from = change.head + change.between.size();
  if (from < end) {
    change.between.append(job.reading->taken(from, end));
    return spend(slice, kPart);
  }
  steps_.push_back({job.numbers.back(), document.lastBegan(), std::move(change), now.size});
  before_ = std::exchange(last_, std::make_unique<Outline>(std::move(now)));
  job.reading = nullptr;
}

/// A state of the copy was read.
void SessionStore::goBack(std::size_t& slice) {
  Job& job = *job_;
  if (job.isOfStart) {
    const auto [head, tail] = job.later->outline.sameEnds(job.reading->outline);
    start_ = {head, tail, job.reading->bytes.slice(head, job.reading->bytes.size() - head - tail).compact()};
    job.reading = nullptr;
  } else {
    if (job.later) {
      const auto [head, tail] = job.reading->outline.sameEnds(job.later->outline);
      const SharedBytes& after = job.later->bytes;
      job.found.push_back({job.numbers[job.at],
                           job.begins,
                           {head, tail, after.slice(head, after.size() - head - tail).compact()},
                           after.size()});
      if (job.found.size() == 1) job.before = std::make_unique<Outline>(job.reading->outline);
    } else {
      job.last = std::make_unique<Outline>(job.reading->outline);
    }
    job.later = std::move(job.reading);
    if (job.at > job.same) {
      job.begins = job.copy->lastBegan();
      job.copy->goBack();
      --job.at;
      job.reading = std::make_unique<Reading>(job.copy->state(), true);
    } else if (job.same == 0) {
      base_ = job.later->bytes;
      job.isOfStart = true;
      job.reading = std::make_unique<Reading>(job.copy->start(), true);
    }
    spend(slice, job.later->bytes.size());
  }
  if (job.reading) return;
  steps_.insert(steps_.end(), std::make_move_iterator(job.found.rbegin()),
                std::make_move_iterator(job.found.rend()));
  last_ = std::move(job.last), before_ = std::move(job.before);
  job.copy = nullptr, job.later = nullptr;
}

bool SessionStore::follow(const Document& document, std::size_t& slice) {
  if (job_ && job_->revision != document.revision()) job_ = nullptr;
  if (!job_) begin(document);
  while (job_->reading) {
    if (slice == 0) return false;
    if (!job_->reading->isWhole()) job_->reading->goOn(slice);
    else if (job_->copy) goBack(slice);
    else addStep(document, slice);
  }
  return true;
}

SessionStore::Fitting SessionStore::fit(std::size_t most) {
  std::size_t& at = job_->present;
  std::size_t size = base_.size(), unfolded = 0;
  for (const Step& step : steps_) size += step.change.size() + 8, unfolded += step.size;
  const auto isTooMuch = [&] { return size > most || unfolded > kMostUnfolded; };
  // The oldest steps are dropped first, then those that undo has reversed, the last one first.
  for (; isTooMuch() && at > 0; --at) {
    size -= steps_.front().change.size() + 8 + base_.size(), unfolded -= steps_.front().size;
    forgetFirst();
    size += base_.size();
  }
  for (; isTooMuch() && !steps_.empty(); last_ = nullptr, before_ = nullptr)
    size -= steps_.back().change.size() + 8, unfolded -= steps_.back().size, steps_.pop_back();
  return {at, size};
}

template <class Own, class Shared>
void SessionStore::give(const Document& document, std::size_t at, const Own& own,
                        const Shared& shared) const {
  own(kSessionMagic);
  for (const document::Option& option : document::options())
    if (!option.undoable && option.stored != document::Stored::never)
      own(base::joined({option.name, " ", document::toJson(get(document.state(), option.id)), "\n"}));
  own(base::joined({"\n", document::jsonQuoted(document.state().unknownFields), "\n", at, " ", steps_.size(),
                    " ", base_.size(), "\n"}));
  shared(base_);
  const auto add = [&](const Change& change) { own(change.heading()), shared(change.between); };
  add(start_);
  for (const Step& step : steps_) own(step.begins ? "1\n" : "0\n"), add(step.change);
}

std::string SessionStore::write(const Document& document, std::size_t most, std::string_view head) {
  std::size_t all = SIZE_MAX;
  follow(document, all);
  const Fitting fitting = fit(most);
  std::string out;
  out.reserve(head.size() + fitting.size + (1 << 13));
  out += head;
  const auto own = [&out](std::string_view bytes) { out += bytes; };
  give(document, fitting.at, own, [&own](const SharedBytes& bytes) {
    for (const SharedBytes::Run& run : bytes.runs()) own(run.bytes());
  });
  job_ = nullptr;
  return out;
}

bool SessionStore::handOverParts(const Keeper& keeper, std::size_t slice) {
  const auto handOver = [&](const SharedBytes& bytes) {
    for (const SharedBytes::Run& run : bytes.runs()) {
      SharedBytes::Part& part = *run.part;
      if (part.number > 0 || part.size < kLeastPart) continue;
      if (slice == 0) return false;
      keeper({part.bytes, ++lastPart_, 0, part.size});
      part.leaveTo(lastPart_);
      spend(slice, part.size);
    }
    return true;
  };
  return handOver(base_) && handOver(start_.between) &&
         std::all_of(steps_.begin(), steps_.end(),
                     [&](const Step& step) { return handOver(step.change.between); });
}

bool SessionStore::keep(const Document& document, std::size_t most, const Keeper& keeper, std::size_t slice) {
  if (!follow(document, slice)) return false;
  const Fitting fitting = fit(most);
  if (fitting.size > kShort && !handOverParts(keeper, slice)) return false;
  std::string gathered;
  const auto flush = [&] {
    if (!gathered.empty()) keeper({gathered, 0, 0, gathered.size()});
    gathered.clear();
  };
  const auto own = [&](std::string_view bytes) {
    if (gathered.size() + bytes.size() > kPart) flush();
    gathered += bytes;
  };
  give(document, fitting.at, own, [&](const SharedBytes& bytes) {
    for (const SharedBytes::Run& run : bytes.runs()) {
      if (run.part->number == 0) own(run.bytes());
      else flush(), keeper({{}, run.part->number, run.from, run.count});
    }
  });
  flush();
  job_ = nullptr;
  return true;
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
    if (!state) return state;
    if (auto ok = document::check(*state); !ok) return Result<State>(ok.error());
    state->unknownFields = std::get<std::string>(*unknown);
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
