#include "training/examples.h"

#include <algorithm>
#include <array>

#include "base/random.h"
#include "base/sentence.h"
#include "base/sort.h"

namespace training {
namespace {

using base::mix;

constexpr std::size_t
    kHeldOut = 200,
    kHeldOutLong = 64;  // how many are held out of the listed sentences, and of the generated sequences
/// One in this many of a generator's sequences is held out, selected by a hash of its tokens.
constexpr std::uint64_t kHeldShare = 5;

// --- tags: a subject, a verb and an object; some of the words can be both noun and verb

enum Tag : int { pronoun, verb, determiner, adjective, noun };
constexpr std::string_view kTags[] = {"pronoun", "verb", "determiner", "adjective", "noun"};
struct Tagged {
  std::string_view word;
  Tag tag;
};
constexpr std::string_view kSubjects[] = {"I", "you", "we"}, kObjects[] = {"you", "it"};
constexpr std::string_view kVerbs[] = {"saw", "like", "want"};
constexpr std::string_view kDeterminers[] = {"a", "the"}, kAdjectives[] = {"big", "new"},
                           kNouns[] = {"saw", "cat"};
constexpr std::uint64_t kNounPhrases =
    std::size(kDeterminers) * std::size(kNouns) * (1 + std::size(kAdjectives));
constexpr std::uint64_t kTagSentences =
    (std::size(kSubjects) + kNounPhrases) * std::size(kVerbs) * (std::size(kObjects) + kNounPhrases);

/// Takes one digit with base n from a mixed-radix number: returns number mod n, and divides number by n.
std::uint64_t take(std::uint64_t& number, std::uint64_t n) {
  const std::uint64_t rest = number % n;
  number /= n;
  return rest;
}

template <class Put>
void nounPhrase(std::uint64_t number, const Put& put) {
  put(kDeterminers[take(number, std::size(kDeterminers))], determiner);
  const std::uint64_t n = take(number, std::size(kNouns));
  if (number > 0) put(kAdjectives[number - 1], adjective);
  put(kNouns[n], noun);
}

template <class Put>
void tagSentence(std::uint64_t index, const Put& put) {
  const std::uint64_t subject = take(index, std::size(kSubjects) + kNounPhrases);
  if (subject < std::size(kSubjects)) put(kSubjects[subject], pronoun);
  else nounPhrase(subject - std::size(kSubjects), put);
  put(kVerbs[take(index, std::size(kVerbs))], verb);
  if (index < std::size(kObjects)) put(kObjects[index], pronoun);
  else nounPhrase(index - std::size(kObjects), put);
}

// --- translate: most adjectives follow their noun in French, and the pronoun "it" precedes the verb

struct Pair {
  std::string_view english, french;
};
constexpr Pair kArticles[] = {{"the", "le"}, {"a", "un"}};
constexpr Pair kAnimals[] = {{"cat", "chat"}, {"dog", "chien"}, {"rabbit", "lapin"}, {"horse", "cheval"}};
constexpr Pair kQualities[] = {{"black", "noir"}, {"white", "blanc"}, {"grey", "gris"}, {"small", "petit"}};
constexpr std::size_t kBefore = 3;  // index of the first one that precedes its noun in French
constexpr Pair kActions[] = {{"sees", "voit"}, {"follows", "suit"}, {"finds", "trouve"}};
constexpr Pair kIt{"it", "le"};
constexpr std::uint64_t kAnimalPhrases =
    std::size(kArticles) * std::size(kAnimals) * (1 + std::size(kQualities));
constexpr std::uint64_t kTranslations = kAnimalPhrases * std::size(kActions) * (1 + kAnimalPhrases);
constexpr std::string_view kBegin = "▸", kEnd = ".";

/// Reports the English words in order, and the French words in order, each with the index of the English word
/// it translates.
template <class English, class French>
void translation(std::uint64_t index, const English& english, const French& french) {
  int place = 0;
  const auto say = [&](const Pair& pair) { return english(pair.english), place++; };
  const auto phrase = [&](std::uint64_t number) {
    const Pair& article = kArticles[take(number, std::size(kArticles))];
    const Pair& animal = kAnimals[take(number, std::size(kAnimals))];
    french(article.french, say(article));
    if (number == 0) return french(animal.french, say(animal));
    const Pair& quality = kQualities[number - 1];
    const int at = say(quality), animalAt = say(animal);
    if (number - 1 >= kBefore) french(quality.french, at);
    french(animal.french, animalAt);
    if (number - 1 < kBefore) french(quality.french, at);
  };
  phrase(take(index, kAnimalPhrases));
  const Pair& action = kActions[take(index, std::size(kActions))];
  if (index == 0) {
    const int at = say(action), it = say(kIt);
    french(kIt.french, it), french(action.french, at);
  } else {
    french(action.french, say(action));
    phrase(index - 1);
  }
  english(kEnd);
  french(kEnd, place);
}

int indexOf(std::vector<std::string>& names, std::string_view name) {
  const auto at = std::find(names.begin(), names.end(), name);
  return at == names.end() ? -1 : static_cast<int>(at - names.begin());
}
int indexOf(const std::vector<std::string>& names, std::string_view name) {
  return indexOf(const_cast<std::vector<std::string>&>(names), name);
}
int added(std::vector<std::string>& names, std::string_view name) {
  const int at = indexOf(names, name);
  if (at >= 0) return at;
  names.emplace_back(name);
  return static_cast<int>(names.size()) - 1;
}

std::vector<std::string> letters(int count, char first) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.emplace_back(1, static_cast<char>(first + i));
  return out;
}

std::vector<std::string_view> parts(std::string_view text, std::string_view between) {
  std::vector<std::string_view> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = text.find_first_not_of(between, at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(between, begin), text.size());
    out.push_back(text.substr(begin, at - begin));
  }
  return out;
}

constexpr int kLongestOwn = 16;

}  // namespace

void Sequence::clear() {
  for (auto* list : {&source, &tokens, &targets, &looks}) list->clear();
}

const TaskWords& words(Task task) {
  static constexpr TaskWords kWords[] = {
      {"Is saw a noun or a verb?",
       "Watch the green and orange lines fork: at first every saw looks much the same, and only attention "
       "can tell the model what stands before it.",
       "saw only"},
      {"Name the token before",
       "Watch a diagonal appear below the main one: a head that always looks one token back.",
       "looks one back"},
      {"What followed this token last time?",
       "Watch two heads work together: one looks one token back, then another finds what came after the same "
       "token before.",
       "prefix matching"},
      {"Say it backwards", "Watch the diagonal turn: the first token has to look at the last one.",
       "looks at the mirror"},
      {"Which token is there most often?",
       "Watch the last row: the question mark has to look at all tokens evenly, and count.", ""},
      {"Put them in order", "Watch how evenly a token looks at the others: its place depends on all of them.",
       ""},
      {"Translate English to French",
       "Watch the cross-attention: each French word finds its English one, and where the order differs the "
       "diagonal bends.",
       "looks at its word"},
  };
  return kWords[static_cast<int>(task)];
}

Examples::Examples(const Setup& setup) : task_(setup.task), seed_(setup.seed) {}

void Examples::makeWords() {
  switch (task_) {
    case Task::tags:
      for (std::uint64_t i = 0; i < kTagSentences; ++i) {
        tagSentence(i, [&](std::string_view word, Tag) { added(words, word); });
      }
      classes.assign(std::begin(kTags), std::end(kTags));
      saw = indexOf(words, "saw"), Examples::noun = training::noun, Examples::verb = training::verb;
      break;
    case Task::previous: words = letters(8, 'a'); break;
    case Task::induction:
      words = letters(26, 'a');
      words.insert(words.end(), {"0", "1"});
      break;
    case Task::reverse: words = letters(8, 'a'); break;
    case Task::most_frequent:
      words = letters(5, 'a');
      classes = words;
      words.push_back("?");
      break;
    case Task::sort: words = letters(10, '0'); break;
    case Task::translate:
      words = {std::string(kBegin)};
      for (std::uint64_t i = 0; i < kTranslations; ++i) {
        translation(
            i, [&](std::string_view word) { added(sourceWords, word); },
            [&](std::string_view word, int) { added(words, word); });
      }
      break;
  }
  if (classes.empty()) classes = words;
}

void Examples::tagged(std::uint64_t index, Sequence& out) const {
  tagSentence(index, [&](std::string_view word, Tag tag) {
    out.tokens.push_back(indexOf(words, word));
    out.targets.push_back(tag);
    out.looks.push_back(-1);
  });
}

void Examples::translated(std::uint64_t index, Sequence& out) const {
  out.tokens.push_back(0);
  translation(
      index, [&](std::string_view word) { out.source.push_back(indexOf(sourceWords, word)); },
      [&](std::string_view word, int from) {
        out.tokens.push_back(indexOf(words, word));
        out.targets.push_back(out.tokens.back());
        out.looks.push_back(from);
      });
  out.tokens.pop_back();  // nothing is predicted after the end
}

/// Generates a sequence of a task that has too many to list.
void Examples::generated(std::uint64_t bits, Sequence& out) const {
  const auto below = [&](std::uint64_t n) { return static_cast<int>((bits = mix(bits)) % n); };
  const auto put = [&](int token, int target, int look) {
    out.tokens.push_back(token), out.targets.push_back(target), out.looks.push_back(look);
  };
  const int count = static_cast<int>(classes.size());
  std::vector<int>& t = out.tokens;
  switch (task_) {
    case Task::previous:
      for (int i = 0; i < 12; ++i) put(below(8), i > 0 ? t[static_cast<std::size_t>(i - 1)] : -1, i - 1);
      return;
    case Task::induction: {  // some distinct tokens, then the same ones again
      const int period = 8 + below(9);
      for (int i = 0; i < 32; ++i) {
        if (i >= period) {
          put(t[static_cast<std::size_t>(i - period)], t[static_cast<std::size_t>(i - period + 1)],
              i - period + 1);
          continue;
        }
        int token = below(static_cast<std::uint64_t>(count));
        while (std::find(t.begin(), t.end(), token) != t.end()) token = (token + 1) % count;
        put(token, -1, -1);
      }
      return;
    }
    case Task::reverse: {
      for (int i = 0; i < 8; ++i) put(below(8), 0, 7 - i);
      for (int i = 0; i < 8; ++i)
        out.targets[static_cast<std::size_t>(i)] = t[static_cast<std::size_t>(7 - i)];
      return;
    }
    case Task::most_frequent: {
      std::array<int, 8> counts{};
      for (int i = 0; i < 9; ++i) put(below(5), -1, -1), ++counts[static_cast<std::size_t>(t.back())];
      auto most = std::max_element(counts.begin(), counts.end());
      for (int i = 0; std::count(counts.begin(), counts.end(), *most) > 1;
           ++i) {  // change others until the maximum is unique
        const auto at = static_cast<std::size_t>(i);
        if (t[at] == most - counts.begin()) continue;
        --counts[static_cast<std::size_t>(t[at])], ++*most;
        t[at] = static_cast<int>(most - counts.begin());
      }
      put(5, static_cast<int>(most - counts.begin()), -1);
      return;
    }
    case Task::sort: {
      for (int i = 0; i < 8; ++i) put(below(10), 0, -1);
      out.targets = t;
      base::sort(out.targets, std::less<>());
      return;
    }
    default: return;
  }
}

void Examples::example(std::uint64_t index, Sequence& out) const {
  out.clear();
  if (task_ == Task::tags) return tagged(index, out);
  if (task_ == Task::translate) return translated(index, out);
  generated(index, out);
}

namespace {
bool isHeld(const Sequence& s) {
  std::uint64_t hash = 0;
  for (const int t : s.tokens) hash = mix(hash ^ static_cast<std::uint64_t>(t));
  return hash % kHeldShare == 0;
}
}  // namespace

/// Where all sequences can be drawn, which are held out does not depend on the seed; where they are listed,
/// it does.
void Examples::split() {
  const std::uint64_t count = task_ == Task::tags        ? kTagSentences
                              : task_ == Task::translate ? kTranslations
                                                         : 0;
  Sequence s;
  if (count == 0) {
    for (std::uint64_t i = 0; heldOut.size() < kHeldOutLong; ++i) {
      example(mix(mix(seed_) ^ ~i), s);
      if (isHeld(s)) heldOut.push_back(s);
    }
  } else {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    // The index of "I saw a saw" in the grammar of tags: this sentence is held out with every seed.
    constexpr std::uint64_t kISawASaw =
        (std::size(kSubjects) + kNounPhrases) * std::size(kVerbs) * std::size(kObjects);
    for (std::uint64_t i = 0; i < count; ++i) {
      const bool isFirst = task_ == Task::tags && i == kISawASaw;
      order.emplace_back(isFirst ? 0 : mix(mix(seed_) + i), static_cast<std::uint32_t>(i));
    }
    base::sort(order, std::less<>());
    const std::size_t held = std::min(kHeldOut, order.size() / 4);
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i >= held) {
        learn_.push_back(order[i].second);
        continue;
      }
      example(order[i].second, s);
      heldOut.push_back(s);
    }
    learnCount = static_cast<std::int64_t>(learn_.size() + ownLearned_.size());
  }
  const auto measure = [&](const Sequence& one) {
    longest = std::max(longest, static_cast<int>(one.tokens.size()));
    longestSource = std::max(longestSource, static_cast<int>(one.source.size()));
  };
  for (std::uint64_t i = 0; i < count; ++i) example(i, s), measure(s);
  for (const auto* list : {&heldOut, &own, &ownLearned_}) std::for_each(list->begin(), list->end(), measure);
  if (!own.empty() && task_ == Task::translate)
    longest = std::max(longest, kLongestOwn + 1);  // as long as a generated translation may become
}

void Examples::draw(std::uint64_t number, Sequence& out) const {
  std::uint64_t bits = mix(mix(seed_ + 0x7a11u) ^ number);
  if (!ownLearned_.empty() && bits % 4 == 0) {
    out = ownLearned_[mix(bits) % ownLearned_.size()];
    return;
  }
  if (!learn_.empty()) return example(learn_[mix(bits) % learn_.size()], out);
  do example(bits = mix(bits), out);
  while (isHeld(out));
}

Sequence Examples::learned(std::int64_t n) const {
  const auto index = static_cast<std::size_t>(n);
  if (index < ownLearned_.size()) return ownLearned_[index];
  Sequence s;
  if (index - ownLearned_.size() < learn_.size()) example(learn_[index - ownLearned_.size()], s);
  else draw(static_cast<std::uint64_t>(n), s);
  return s;
}

std::string Examples::sentence(const Sequence& s) const {
  std::string out;
  const auto& from = s.source.empty() ? s.tokens : s.source;
  const auto& names = s.source.empty() ? words : sourceWords;
  for (const int token : from) {
    const std::string& word = names[static_cast<std::size_t>(token)];
    if (!s.source.empty() && word == kEnd) continue;
    if (!out.empty()) out += ' ';
    out += word;
  }
  return out;
}

/// Reads the user's own sentences.
class Examples::Reader {
 public:
  Reader(Examples& to) : to_(to) {}

  /// Sentences to train on are read first, because they add words that the others may use.
  Result<void> read(std::string_view text) {
    if (text.size() > Limits::sentences) {
      return base::refuse(Error::Kind::range, "train_sentences",
                          {"they have ", text.size(), " bytes; use at most ", Limits::sentences, "."});
    }
    for (const bool learned : {true, false}) {
      line_ = 0;
      for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1, ++line_;
        if (parts(line, " \t\r").empty()) continue;
        const char mark = to_.task_ == Task::tags ? '/' : '=';
        if ((line.find(mark) != std::string_view::npos) != learned) continue;
        if (auto ok = to_.task_ == Task::tags ? tags(line, learned) : pair(line, learned); !ok) return ok;
      }
    }
    return {};
  }

 private:
  Result<void> refuse(std::initializer_list<base::Piece> pieces) const {
    return base::refuse(Error::Kind::range, "train_sentences", {"line ", line_, ": ", base::Message(pieces)});
  }
  Result<void> tooLong(std::size_t count) const {
    return refuse({"it has ", count, " words; use at most ", kLongestOwn, "."});
  }
  Result<void> unknown(std::string_view word, std::string_view example) const {
    return refuse({base::inQuotes(word), " is in no sentence to learn from; add one that has it, such as ",
                   base::inQuotes(example), "."});
  }

  Result<void> tags(std::string_view line, bool learned) {
    Sequence s;
    const auto all = parts(line, " \t\r");
    if (all.size() > kLongestOwn) return tooLong(all.size());
    for (const std::string_view part : all) {
      const std::size_t slash = part.find('/');
      const std::string_view word = part.substr(0, slash),
                             tag = slash == std::string_view::npos ? "" : part.substr(slash + 1);
      if (learned && (slash == std::string_view::npos || word.empty())) {
        return refuse({base::inQuotes(part), " has no part of speech; write ",
                       base::inQuotes(base::joined({word, "/noun"})), " or the like for every word."});
      }
      const int of = learned ? indexOf(to_.classes, tag) : -1;
      if (learned && of < 0)
        return refuse(
            {base::inQuotes(tag), " is no part of speech; use one of ", base::either(to_.classes), "."});
      const int at = learned ? added(to_.words, word) : indexOf(to_.words, word);
      if (at < 0) return unknown(word, base::joined({"the/determiner ", word, "/noun"}));
      s.tokens.push_back(at), s.targets.push_back(of), s.looks.push_back(-1);
    }
    (learned ? to_.ownLearned_ : to_.own).push_back(std::move(s));
    return {};
  }

  Result<void> pair(std::string_view line, bool learned) {
    Sequence s;
    const std::size_t equals = line.find('=');
    const auto english = parts(line.substr(0, equals), " \t\r."),
               french = learned ? parts(line.substr(equals + 1), " \t\r.") : english;
    if (english.empty() || french.empty()) return refuse({"one side of = is empty; write English = French."});
    if (std::max(english.size(), french.size()) > kLongestOwn)
      return tooLong(std::max(english.size(), french.size()));
    for (const std::string_view word : english) {
      const int at = learned ? added(to_.sourceWords, word) : indexOf(to_.sourceWords, word);
      if (at < 0) return unknown(word, base::joined({"the ", word, " sees it = le … le voit"}));
      s.source.push_back(at);
    }
    s.source.push_back(indexOf(to_.sourceWords, kEnd));
    s.tokens.push_back(0);
    if (learned) {
      for (const std::string_view word : french) {
        const int at = added(to_.words, word);
        s.tokens.push_back(at), s.targets.push_back(at);
      }
      s.targets.push_back(indexOf(to_.words, kEnd));
    } else {
      s.targets.push_back(-1);
    }
    s.looks.assign(s.tokens.size(), -1);
    to_.classes = to_.words;
    (learned ? to_.ownLearned_ : to_.own).push_back(std::move(s));
    return {};
  }

  Examples& to_;
  int line_ = 0;
};

Result<Examples> Examples::of(const Setup& setup) {
  Examples e(setup);
  e.makeWords();
  if (setup.task == Task::tags || setup.task == Task::translate) {
    if (auto ok = Reader(e).read(setup.sentences); !ok) return ok.error();
  }
  e.split();
  return e;
}

}  // namespace training
