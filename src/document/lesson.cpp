#include "document/lesson.h"

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "base/sentence.h"
#include "document/block.h"
#include "document/derived.h"
#include "document/preset.h"

namespace document {
namespace {

using base::joined;
using base::Piece;
using ErrorKind = Error::Kind;
using Kind = Json::Kind;
using Names = std::vector<std::string>;
using Pieces = std::initializer_list<Piece>;

bool isTensorName(std::string_view name) {
  return attention::tensorNamed(name) || derivedNamed(name) || name.starts_with("train:");
}

Names tensorNames() {
  Names all;
  for (const attention::TensorRange range : {attention::kLayerTensors, attention::kDerivedTensors})
    for (int i = 0; i < range.size(); ++i) all.emplace_back(attention::name(range[i]));
  return all;
}

Names optionNames() {
  Names all;
  for (const Option& o : options()) all.emplace_back(o.name);
  return all;
}

bool isIdentifier(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// Keeps the first error; anything after it is ignored.
class Refusing {
 public:
  std::optional<Error> error;

 protected:
  bool fail(std::string_view field, Pieces pieces, ErrorKind kind = ErrorKind::range) {
    if (!error) error = Error{kind, std::string(field), base::Message(pieces)};
    return false;
  }
  bool failUnknown(std::string_view field, std::string_view word, const Names& names) {
    return fail(field, {"there is no ", base::inQuotes(word), "; use one of ", names.size(), ", perhaps ",
                        base::orList(base::nearest(word, names, 3)), "."});
  }
};

// ---- texts

/// Parses markup up to given end characters, or to the end of the text.
class MarkupReader : Refusing {
 public:
  MarkupReader(std::string_view text, std::string_view field) : text_(text), field_(field) {}

  Result<Markup> read() {
    while (!error && !text_.empty()) readRun();
    flush();
    if (error) return *error;
    return std::move(out_);
  }

 private:
  void readRun();
  void flush() {
    if (!plain_.empty()) out_.push_back({Run::Kind::plain, std::exchange(plain_, {}), {}, {}, {}});
  }
  void add(Run run) {
    flush();
    out_.push_back(std::move(run));
  }
  /// The text between `open`, with which the remaining text begins, and `close`.
  bool inside(std::string_view open, std::string_view close, std::string_view& out) {
    const std::size_t end = text_.find(close, open.size());
    if (end == std::string_view::npos || end == open.size())
      return fail(field_, {base::inQuotes(open), " at ", base::inQuotes(text_.substr(0, 16)),
                           " is not closed by ", base::inQuotes(close), "; close it."});
    out = text_.substr(open.size(), end - open.size());
    text_.remove_prefix(end + close.size());
    return true;
  }
  bool readPlace(std::string_view inside);
  bool readComputed(std::string_view inside);
  bool readCells(std::string_view words, Cells& out);
  bool readTerm(std::string_view words, Term& out);

  std::string_view text_, field_;
  std::string plain_;
  Markup out_;
};

void MarkupReader::readRun() {
  std::string_view words;
  if (text_.starts_with("**")) {
    if (inside("**", "**", words)) add({Run::Kind::strong, std::string(words), {}, {}, {}});
  } else if (text_.starts_with("`")) {
    if (inside("`", "`", words)) add({Run::Kind::number, std::string(words), {}, {}, {}});
  } else if (text_.starts_with("[")) {
    if (inside("[", "]", words)) readPlace(words);
  } else if (text_.starts_with("{")) {
    if (inside("{", "}", words)) readComputed(words);
  } else if (text_.starts_with("\n")) {
    text_.remove_prefix(1);
    add({Run::Kind::paragraph, {}, {}, {}, {}});
  } else if (text_[0] == '\\' && text_.size() > 1) {
    plain_ += text_[1];
    text_.remove_prefix(2);
  } else if (text_[0] == '<' && text_.size() > 1 &&
             (std::isalpha(static_cast<unsigned char>(text_[1])) != 0 || text_[1] == '/' ||
              text_[1] == '!')) {
    fail(field_,
         {base::inQuotes(text_.substr(0, 20)),
          " looks like HTML, which is not shown; use **bold** and [q:0], or write \\< for the sign."});
  } else {
    plain_ += text_[0];
    text_.remove_prefix(1);
  }
}

/// Parses "q:3,2", "weights:0,3,1", "q:*,2", "k".
bool MarkupReader::readCells(std::string_view words, Cells& out) {
  const std::size_t colon = words.rfind(':');
  const bool hasPlace = colon != std::string_view::npos && colon + 1 < words.size() &&
                        (words[colon + 1] == '*' || (words[colon + 1] >= '0' && words[colon + 1] <= '9'));
  out.tensor = std::string(words.substr(0, hasPlace ? colon : words.size()));
  if (!isTensorName(out.tensor)) return failUnknown(field_, out.tensor, tensorNames());
  if (!hasPlace) return true;
  words.remove_prefix(colon + 1);
  while (!words.empty()) {
    const std::string_view one = words.substr(0, words.find(','));
    words.remove_prefix(std::min(words.size(), one.size() + 1));
    const bool isAny = one == "*", isNumber = !one.empty() && one.size() <= 5 &&
                                              one.find_first_not_of("0123456789") == std::string_view::npos;
    if ((!isAny && !isNumber) || out.at.size() == 3)
      return fail(field_, {"the place of ", base::inQuotes(out.tensor),
                           " is not one; use a row, a row and a column, or a head before them, counted "
                           "from 0: [q:3,2]."});
    out.at.push_back(isAny ? Cells::kAny : static_cast<int>(*base::parseFloat(one)));
  }
  if (out.at.size() < 3) out.at.insert(out.at.begin(), Cells::kShownHead);
  return true;
}

bool MarkupReader::readPlace(std::string_view words) {
  const std::size_t bar = words.find('|');
  const std::string_view name = words.substr(0, bar);
  Run run;
  if (bar != std::string_view::npos) run.words = std::string(words.substr(bar + 1));
  if (name.starts_with("view:")) {
    run.kind = Run::Kind::view, run.name = std::string(name.substr(5));
    const auto views = option(OptionId::view).choices;
    if (std::find(views.begin(), views.end(), run.name) == views.end())
      return failUnknown(field_, run.name, {views.begin(), views.end()});
  } else if (name.starts_with("lesson:")) {
    run.kind = Run::Kind::lesson, run.name = std::string(name.substr(7));
    if (!isIdentifier(run.name))
      return fail(field_,
                  {base::inQuotes(run.name), " is no id of a lesson; use small letters, digits and -."});
  } else if (const Option* o = optionNamed(name); o && !isTensorName(name)) {
    run.kind = Run::Kind::option, run.name = std::string(o->name);
  } else {
    run.kind = Run::Kind::cells;
    if (!isTensorName(name.substr(0, name.rfind(':'))) && !isTensorName(name)) {
      Names names = tensorNames(), more = optionNames();
      names.insert(names.end(), more.begin(), more.end());
      return failUnknown(field_, name.substr(0, name.rfind(':')), names);
    }
    if (!readCells(name, run.cells)) return false;
  }
  add(std::move(run));
  return true;
}

bool MarkupReader::readTerm(std::string_view words, Term& out) {
  if (words.starts_with("before ")) out.before = true, words.remove_prefix(7);
  if (const auto number = base::parseFloat(words)) {
    out.number = base::readable(*number);
    return true;
  }
  return readCells(words, out.cell);
}

bool MarkupReader::readComputed(std::string_view words) {
  Run run;
  run.kind = Run::Kind::computed;
  char sign = '+';
  while (true) {
    std::size_t end = 0;  // operators are surrounded by spaces
    while (end < words.size() && !(words[end] == ' ' && end + 2 < words.size() && words[end + 2] == ' ' &&
                                   std::string_view("+-*/").find(words[end + 1]) != std::string_view::npos))
      ++end;
    Term term;
    term.sign = sign;
    if (!readTerm(words.substr(0, end), term)) return false;
    run.terms.push_back(std::move(term));
    if (end >= words.size()) break;
    sign = words[end + 1];
    words.remove_prefix(end + 3);
  }
  add(std::move(run));
  return true;
}

// ---- files

class LessonReader : public Refusing {
 public:
  int placeInList = 0;
  Translation translation;

  bool readFile(const Json& root, std::vector<Lesson>& out);
  bool readChecks(const Json& root, std::vector<Goal>& out);

 private:
  bool readLesson(const Json& json, bool isCard, Lesson& out);
  bool readStep(const Json& json, Step& out);
  bool readPrediction(const Json& json, Prediction& out);
  bool readClaim(const Json& json, Prediction& out);
  bool readAttempt(const Json& json, Attempt& out);
  bool readGoals(const Json& json, const std::string& field, std::vector<Goal>& out);
  bool readGoal(const Json& json, const std::string& field, Goal& out);
  bool readGoalOf(const Json& json, const std::string& field, Goal& out);
  bool readMoves(const Json& json, const std::string& field, std::vector<Move>& out);
  bool readMove(const Json& json, const std::string& field, Move& out);
  bool readSet(const Json& json, const std::string& field, std::vector<Move>& out);
  bool readSelect(const Json& json, const std::string& field, Cells& out);

  std::string at(std::string_view field) const { return joined({where_, field}); }
  bool isObject(const Json& json, const std::string& field, std::initializer_list<std::string_view> known);
  bool text(const Json& json, const std::string& field, std::size_t most, std::string& out);
  /// A text that is shown, without markup.
  bool plain(const Json& json, const std::string& field, std::size_t most, std::string& out);
  bool markup(const Json& json, const std::string& field, Markup& out);
  bool markups(const Json& json, const std::string& field, std::vector<Markup>& out);
  bool whole(const Json& json, const std::string& field, int least, int most, int& out);
  bool number(const Json& json, const std::string& field, std::optional<double>& out);
  bool numbers(const Json& json, const std::string& field, std::vector<float>& out);
  bool cells(const Json& json, const std::string& field, Cells& out);
  bool indices(const Json& json, const std::string& field, std::size_t most, std::vector<int>& out);
  bool optionName(const Json& json, const std::string& field, OptionId& out);
  bool optionValue(const Json& json, const std::string& field, OptionId id, Value& out);
  bool choice(const Json& json, const std::string& field, std::initializer_list<std::string_view> choices,
              int& out);
  /// Parses a list: calls `read(item, field of it, last of out)` for each item.
  template <class T, class Read>
  bool list(const Json& json, const std::string& field, std::size_t most, std::vector<T>& out, Read read);

  bool isTranslated_ = false;
  float least_ = 0;    ///< the least index allowed; -1 where that stands for any
  std::string where_;  ///< "card \"x\", step 3, ", or ""
};

bool LessonReader::isObject(const Json& json, const std::string& field,
                            std::initializer_list<std::string_view> known) {
  if (json.kind != Kind::object)
    return fail(field, {json.kindName(), " is not an object; give {…}."}, ErrorKind::type);
  for (const std::string& key : json.keys)
    if (std::find(known.begin(), known.end(), key) == known.end())
      return fail(field,
                  {"the field ", base::inQuotes(key), " is unknown; there are ",
                   base::orList({known.begin(), known.end()}), "."},
                  ErrorKind::type);
  return true;
}

bool LessonReader::text(const Json& json, const std::string& field, std::size_t most, std::string& out) {
  if (json.kind != Kind::text)
    return fail(field, {json.kindName(), " is not a text; give one in quotes."}, ErrorKind::type);
  if (json.text.empty()) return fail(field, {"it is empty; say something, or leave it out."});
  if (json.text.size() > most)
    return fail(field,
                {"the text has ", json.text.size(), " bytes; at most ", most, " are read. Make it shorter."});
  for (const char c : json.text)
    if ((c >= 0 && c < ' ' && c != '\n') || c == 0x7f)
      return fail(field, {"it has a control character; use letters and \\n."});
  out = json.text;
  return true;
}

bool LessonReader::plain(const Json& json, const std::string& field, std::size_t most, std::string& out) {
  if (!text(json, field, most, out)) return false;
  if (isTranslated_) out = translation(out);
  return true;
}

bool LessonReader::markup(const Json& json, const std::string& field, Markup& out) {
  std::string words;
  if (!text(json, field, kMaxLessonText, words)) return false;
  Result<Markup> read = readMarkup(words, field);
  if (!read) return error = read.error(), false;
  Result<Markup> said = isTranslated_ ? readMarkup(translation(words), field) : read;
  out = std::move(said ? *said : *read);
  return true;
}

template <class T, class Read>
bool LessonReader::list(const Json& json, const std::string& field, std::size_t most, std::vector<T>& out,
                        Read read) {
  if (json.kind != Kind::list)
    return fail(field, {json.kindName(), " is not a list of what belongs there; give […]."}, ErrorKind::type);
  if (json.items.empty()) return fail(field, {"the list is empty; put something into it, or leave it out."});
  if (json.items.size() > most)
    return fail(field, {json.items.size(), " are too many; use at most ", most, "."});
  for (std::size_t i = 0; i < json.items.size(); ++i) {
    out.emplace_back();
    if (!read(json.items[i], joined({field, "[", i, "]"}), out.back())) return false;
  }
  return true;
}

bool LessonReader::markups(const Json& json, const std::string& field, std::vector<Markup>& out) {
  return list(json, field, 5, out,
              [&](const Json& item, const std::string& f, Markup& m) { return markup(item, f, m); });
}

bool LessonReader::whole(const Json& json, const std::string& field, int least, int most, int& out) {
  if (json.kind != Kind::number || json.number != std::floor(json.number) || json.number < least ||
      json.number > most)
    return fail(field,
                {described(json), " does not fit; give a whole number from ", least, " to ", most, "."},
                json.kind == Kind::number ? ErrorKind::range : ErrorKind::type);
  out = static_cast<int>(json.number);
  return true;
}

bool LessonReader::number(const Json& json, const std::string& field, std::optional<double>& out) {
  if (json.kind != Kind::number)
    return fail(field, {described(json), " is not a number; give one."}, ErrorKind::type);
  out = json.number;
  return true;
}

bool LessonReader::numbers(const Json& json, const std::string& field, std::vector<float>& out) {
  if (json.kind == Kind::number) {
    out = {json.single};
    if (std::isfinite(json.single)) return true;
    return fail(field, {"the number is too large for 32 bits; use -3.4e38 to 3.4e38."});
  }
  Block block;
  if (Result<void> ok = readBlock(json, field, Kind::numbers, block); !ok) return error = ok.error(), false;
  out = std::move(block.values);
  return true;
}

bool LessonReader::indices(const Json& json, const std::string& field, std::size_t most,
                           std::vector<int>& out) {
  if (json.kind == Kind::list && json.items.empty()) return true;
  if (json.kind != Kind::numbers)
    return fail(
        field,
        {json.kindName(), " is not a list of whole numbers; give [head, row, column], counted from 0."},
        ErrorKind::type);
  if (json.numbers.size() > most)
    return fail(field, {json.numbers.size(), " numbers are too many; give at most ", most,
                        ": head, row and column, counted from 0."});
  for (const float n : json.numbers) {
    if (!(n >= least_ && n <= 1e6f) || n != std::floor(n))
      return fail(field, {base::shortest(n), " is no place; count from 0."});
    out.push_back(static_cast<int>(n));
  }
  return true;
}

// Parses "tensor" and "at" of an object.
bool LessonReader::cells(const Json& json, const std::string& field, Cells& out) {
  if (!text(*json.find("tensor"), field + ".tensor", 64, out.tensor)) return false;
  if (!isTensorName(out.tensor)) return failUnknown(field + ".tensor", out.tensor, tensorNames());
  const Json* place = json.find("at");
  return place == nullptr || indices(*place, field + ".at", 3, out.at);
}

bool LessonReader::optionName(const Json& json, const std::string& field, OptionId& out) {
  std::string name;
  if (!text(json, field, 64, name)) return false;
  const Option* o = optionNamed(name);
  if (!o) return failUnknown(field, name, optionNames());
  out = o->id;
  return true;
}

bool LessonReader::optionValue(const Json& json, const std::string& field, OptionId id, Value& out) {
  Result<void> ok = readValue(json, field, out);
  if (ok) ok = checkAlone(option(id), out);
  return ok || fail(field, {ok.error().sentence}, ok.error().kind);
}

bool LessonReader::choice(const Json& json, const std::string& field,
                          std::initializer_list<std::string_view> choices, int& out) {
  for (const std::string_view& c : choices)
    if (json.kind == Kind::text && json.text == c) return out = static_cast<int>(&c - choices.begin()), true;
  return fail(field, {described(json), " is none of these; use ",
                      base::orList({choices.begin(), choices.end()}), "."});
}

bool LessonReader::readMove(const Json& json, const std::string& field, Move& out) {
  out.field = field;
  if (!isObject(json, field, {"tensor", "at", "value", "values", "option", "is", "mask", "visible"}))
    return false;
  const Json *value = json.find("value"), *values = json.find("values"), *is = json.find("is"),
             *visible = json.find("visible");
  if (json.find("tensor") != nullptr) {
    if ((value == nullptr) == (values == nullptr))
      return fail(field, {"an edit of cells has either value or values; give one of them."});
    return cells(json, field, out.cells) &&
           numbers(value ? *value : *values, field + (value ? ".value" : ".values"), out.values);
  }
  if (json.find("option") != nullptr) {
    out.what = Move::What::option;
    if (is == nullptr) return fail(field, {"is is missing; give the value that the option takes."});
    return optionName(*json.find("option"), field + ".option", out.option) &&
           optionValue(*is, field + ".is", out.option, out.value);
  }
  const Json* mask = json.find("mask");
  if (mask == nullptr)
    return fail(field, {"it says nothing to do; give tensor and value, option and is, or mask and visible."});
  out.what = Move::What::mask;
  if (visible == nullptr || visible->kind != Kind::boolean)
    return fail(field + ".visible", {"it must be true or false."}, ErrorKind::type);
  out.visible = visible->boolean;
  if (!indices(*mask, field + ".mask", 2, out.cells.at)) return false;
  return out.cells.at.size() == 2 || fail(field + ".mask", {"give a row and a column, counted from 0."});
}

bool LessonReader::readMoves(const Json& json, const std::string& field, std::vector<Move>& out) {
  return list(json, field, 64, out,
              [&](const Json& item, const std::string& f, Move& m) { return readMove(item, f, m); });
}

// Parses {"causal": true, "q": [[…]]}: options, and whole tensors.
bool LessonReader::readSet(const Json& json, const std::string& field, std::vector<Move>& out) {
  if (json.kind != Kind::object)
    return fail(field, {json.kindName(), " is not an object; give {\"causal\": true}."}, ErrorKind::type);
  for (std::size_t i = 0; i < json.keys.size(); ++i) {
    const std::string& key = json.keys[i];
    Move move;
    move.field = joined({field, ".", key});
    if (const Option* o = optionNamed(key)) {
      move.what = Move::What::option, move.option = o->id;
      if (!optionValue(json.items[i], move.field, o->id, move.value)) return false;
    } else {
      move.cells.tensor = key;
      const auto id = attention::tensorNamed(key);
      const bool isInput = parameterNamed(key) ||
                           (id && std::find(inputIds().begin(), inputIds().end(), *id) != inputIds().end());
      if (!isInput && isTensorName(key))
        return fail(move.field, {"it is computed; set an option, or an input such as q."});
      if (!isInput) return failUnknown(field, key, optionNames());
      if (!numbers(json.items[i], move.field, move.values)) return false;
    }
    out.push_back(std::move(move));
  }
  return true;
}

bool LessonReader::readSelect(const Json& json, const std::string& field, Cells& out) {
  const bool fits = json.kind == Kind::list && json.items.size() == 4 && json.items[0].kind == Kind::text;
  if (!fits)
    return fail(field, {"give a tensor, a head, a row and a column: [\"weights\", 0, 3, 0]."},
                ErrorKind::type);
  out.tensor = json.items[0].text;
  const auto around = derivedNamed(out.tensor);
  if (!attention::tensorNamed(out.tensor) && !(around && DerivedTensors::isExplained(*around)))
    return failUnknown(field, out.tensor, tensorNames());
  for (int i = 1; i < 4; ++i) {
    int index = 0;
    if (!whole(json.items[static_cast<std::size_t>(i)], joined({field, "[", i, "]"}), 0, 1'000'000, index))
      return false;
    out.at.push_back(index);
  }
  return true;
}

bool LessonReader::readGoalOf(const Json& json, const std::string& field, Goal& out) {
  if (const Json* of = json.find("of")) {
    int which = 0;
    if (!choice(*of, field + ".of", {"each", "sum", "mean", "norm", "entropy", "change"}, which))
      return false;
    out.of = static_cast<Goal::Of>(which);
  }
  if (const Json* argmax = json.find("argmax")) {
    out.what = Goal::What::argmax;
    if (!whole(*argmax, field + ".argmax", 0, 1'000'000, out.argmax)) return false;
    if (out.cells.at.size() != 2)
      return fail(field + ".at", {"argmax is of a row; give its head and its number: [0, 3]."});
  }
  if (const Json* near = json.find("near")) {
    std::vector<float> values;
    if (!numbers(*near, field + ".near", values)) return false;
    for (const float v : values) out.near.push_back(base::readable(v));
  }
  if (const Json* like = json.find("like")) {
    if (!isObject(*like, field + ".like", {"tensor", "at"}) || like->find("tensor") == nullptr)
      return fail(field + ".like", {"give the tensor and the place: {\"tensor\": \"v\", \"at\": [0, 1]}."});
    if (!cells(*like, field + ".like", out.like.emplace())) return false;
  }
  if (const Json* within = json.find("within")) {
    std::optional<double> by;
    if (!number(*within, field + ".within", by)) return false;
    if (!(*by >= 0)) return fail(field + ".within", {"it must not be negative."});
    out.within = *by;
  }
  if (const Json* change = json.find("change")) {
    int which = 0;
    if (!choice(*change, field + ".change", {"up", "down", "same"}, which)) return false;
    out.change = static_cast<Goal::Turn>(which + 1);
  }
  const bool isGoal = out.min || out.max || !out.near.empty() || out.like || out.what == Goal::What::argmax ||
                      out.change != Goal::Turn::none;
  return isGoal || fail(field, {"it asks for nothing; give min, max, near, like, argmax or change."});
}

bool LessonReader::readGoal(const Json& json, const std::string& field, Goal& out) {
  out.field = field;
  if (!isObject(json, field,
                {"tensor", "at", "min", "max", "near", "within", "like", "argmax", "of", "change", "option",
                 "is", "edits", "label"}))
    return false;
  const auto kinds = std::count_if(json.keys.begin(), json.keys.end(), [](const std::string& k) {
    return k == "tensor" || k == "option" || k == "edits";
  });
  if (kinds != 1) return fail(field, {"a check is about one thing; give one of tensor, option and edits."});
  if (const Json* label = json.find("label"); label && !plain(*label, field + ".label", 80, out.label))
    return false;
  const Json* edits = json.find("edits");
  const Json& bounds = edits && edits->kind == Kind::object ? *edits : json;
  for (const auto& [name, value] : {std::pair{"min", &out.min}, {"max", &out.max}})
    if (const Json* bound = bounds.find(name);
        bound && !number(*bound, joined({field, edits ? ".edits." : ".", name}), *value))
      return false;
  if (out.min && out.max && *out.min > *out.max) return fail(field, {"min is above max; swap them."});
  if (edits != nullptr) {
    out.what = Goal::What::edits;
    if (edits->kind == Kind::object && !isObject(*edits, field + ".edits", {"max"})) return false;
    return out.max || out.min ||
           fail(field + ".edits", {"give the most edits that are allowed: {\"max\": 3}."});
  }
  if (json.find("option") != nullptr) {
    out.what = Goal::What::option;
    if (!optionName(*json.find("option"), field + ".option", out.option)) return false;
    const Json* is = json.find("is");
    if (is == nullptr)
      return out.min || out.max || fail(field, {"is is missing; give the value that the option must have."});
    return optionValue(*is, field + ".is", out.option, out.is.emplace());
  }
  return cells(json, field, out.cells) && readGoalOf(json, field, out);
}

bool LessonReader::readGoals(const Json& json, const std::string& field, std::vector<Goal>& out) {
  if (json.kind == Kind::object) return readGoal(json, field, out.emplace_back());
  return list(json, field, 16, out,
              [&](const Json& item, const std::string& f, Goal& g) { return readGoal(item, f, g); });
}

bool LessonReader::readChecks(const Json& root, std::vector<Goal>& out) {
  least_ = Cells::kAny;
  return isObject(root, "check", {"check"}) && readGoals(*root.find("check"), "check", out);
}

// Parses one check, or a list of them, per choice; or one object for all choices, in which argmax, near or
// change is a list with one item per choice.
bool LessonReader::readClaim(const Json& json, Prediction& out) {
  const std::string field = at("predict.claim");
  if (json.kind != Kind::object) {
    if (!list(json, field, 5, out.claim, [&](const Json& item, const std::string& f, std::vector<Goal>& g) {
          return readGoals(item, f, g);
        }))
      return false;
  } else {
    for (std::size_t c = 0; c < out.choices.size(); ++c) {
      Json one = json;
      for (std::size_t i = 0; i < one.keys.size(); ++i) {
        const std::string& key = one.keys[i];
        Json& value = one.items[i];
        const bool isList =
            value.kind == Kind::list || value.kind == Kind::numbers || value.kind == Kind::booleans;
        if (!isList || key == "at" || key == "like") continue;
        const std::size_t count = value.kind == Kind::list ? value.items.size() : value.numbers.size();
        if (count != out.choices.size())
          return fail(joined({field, ".", key}),
                      {count, " are given for ", out.choices.size(), " choices; give one a choice."});
        Json of = value.kind == Kind::list ? value.items[c] : Json{};
        if (value.kind == Kind::numbers)
          of.kind = Kind::number, of.number = base::readable(value.numbers[c]), of.single = value.numbers[c];
        if (value.kind == Kind::booleans) of.kind = Kind::boolean, of.boolean = value.numbers[c] != 0;
        value = std::move(of);
      }
      if (!readGoal(one, field, out.claim.emplace_back().emplace_back())) return false;
    }
  }
  return out.claim.size() == out.choices.size() ||
         fail(field,
              {out.claim.size(), " are given for ", out.choices.size(), " choices; give one a choice."});
}

bool LessonReader::readPrediction(const Json& json, Prediction& out) {
  if (!isObject(json, at("predict"), {"question", "choices", "answer", "because", "after", "claim"}))
    return false;
  for (const std::string_view field : {"question", "choices", "answer"})
    if (json.find(field) == nullptr)
      return fail(at(joined({"predict.", field})),
                  {"it is missing; a prediction has question, choices and answer."}, ErrorKind::type);
  if (!markup(*json.find("question"), at("predict.question"), out.question) ||
      !markups(*json.find("choices"), at("predict.choices"), out.choices))
    return false;
  const auto count = static_cast<int>(out.choices.size());
  if (count < 2) return fail(at("predict.choices"), {"there is one choice; give 2 to 5."});
  if (!whole(*json.find("answer"), at("predict.answer"), 0, count - 1, out.answer)) return false;
  if (const Json* because = json.find("because")) {
    if (because->kind == Kind::text ? !markup(*because, at("predict.because"), out.because.emplace_back())
                                    : !markups(*because, at("predict.because"), out.because))
      return false;
    if (out.because.size() != 1 && out.because.size() != out.choices.size())
      return fail(at("predict.because"), {out.because.size(), " reasons are given for ", count,
                                          " choices; give one a choice, or one text for all."});
  }
  if (const Json* after = json.find("after"); after && !readMoves(*after, at("predict.after"), out.after))
    return false;
  const Json* claim = json.find("claim");
  return claim == nullptr || readClaim(*claim, out);
}

bool LessonReader::readAttempt(const Json& json, Attempt& out) {
  if (!isObject(json, at("try"), {"task", "hint", "allow", "check", "solution"})) return false;
  for (const std::string_view field : {"task", "check"})
    if (json.find(field) == nullptr)
      return fail(at(joined({"try.", field})), {"it is missing; a try has task and check."}, ErrorKind::type);
  if (!markup(*json.find("task"), at("try.task"), out.task) ||
      !readGoals(*json.find("check"), at("try.check"), out.check))
    return false;
  for (const Goal& goal : out.check)
    if (goal.change != Goal::Turn::none || goal.of == Goal::Of::change)
      return fail(goal.field, {"change is for the claim of a prediction; use min or max."});
  if (const Json* hint = json.find("hint"); hint && !markup(*hint, at("try.hint"), out.hint)) return false;
  if (const Json* solution = json.find("solution");
      solution && !readMoves(*solution, at("try.solution"), out.solution))
    return false;
  const Json* allow = json.find("allow");
  return allow == nullptr || list(*allow, at("try.allow"), 32, out.allow,
                                  [&](const Json& item, const std::string& f, std::string& name) {
                                    if (!text(item, f, 64, name)) return false;
                                    return name == "mask" || optionNamed(name) || isTensorName(name) ||
                                           failUnknown(f, name, optionNames());
                                  });
}

bool LessonReader::readStep(const Json& json, Step& out) {
  if (!isObject(json, at("step"), {"preset", "set", "view", "select", "text", "predict", "try"}))
    return false;
  if (json.find("text") == nullptr && json.find("try") == nullptr)
    return fail(at("text"), {"it is missing; say what the step is about."}, ErrorKind::type);
  if (const Json* preset = json.find("preset")) {
    if (!text(*preset, at("preset"), 64, out.preset)) return false;
    Names names;
    for (const Preset& p : presets()) names.emplace_back(p.name);
    if (std::find(names.begin(), names.end(), out.preset) == names.end())
      return failUnknown(at("preset"), out.preset, names);
  }
  if (const Json* set = json.find("set"); set && !readSet(*set, at("set"), out.set)) return false;
  if (const Json* view = json.find("view")) {
    Move move;
    move.what = Move::What::option, move.option = OptionId::view, move.field = at("view");
    if (!optionValue(*view, move.field, move.option, move.value)) return false;
    out.set.push_back(std::move(move));
  }
  if (const Json* select = json.find("select");
      select && !readSelect(*select, at("select"), out.select.emplace()))
    return false;
  if (const Json* words = json.find("text"); words && !markup(*words, at("text"), out.text)) return false;
  if (const Json* predict = json.find("predict"); predict && !readPrediction(*predict, out.predict.emplace()))
    return false;
  const Json* attempt = json.find("try");
  return attempt == nullptr || readAttempt(*attempt, out.attempt.emplace());
}

bool LessonReader::readLesson(const Json& json, bool isCard, Lesson& out) {
  const std::string prefix = where_;
  if (!isObject(json, at("lesson"),
                {"$schema", "lesson", "place", "id", "kind", "title", "about", "par", "next", "steps"}))
    return false;
  for (const std::string_view field : {"id", "title", "steps"})
    if (json.find(field) == nullptr)
      return fail(at(field), {"it is missing; a lesson has id, title and steps."}, ErrorKind::type);
  if (!text(*json.find("id"), at("id"), 64, out.id)) return false;
  if (!isIdentifier(out.id))
    return fail(at("id"),
                {base::inQuotes(out.id), " is no id; use small letters, digits and -, as in \"query\"."});
  if (isCard) where_ = joined({"card \"", out.id, "\", "});
  if (!text(*json.find("title"), at("title"), 100, out.title)) return false;
  if (const Json* about = json.find("about"); about && !text(*about, at("about"), 240, out.about))
    return false;
  if (translation) {
    const std::string known = out.about.empty() ? out.title : out.about;
    out.title = translation(out.title), out.about = translation(out.about);
    out.isTranslated = isTranslated_ = (out.about.empty() ? out.title : out.about) != known;
  }
  int kind = 0;
  if (const Json* of = json.find("kind");
      of && !choice(*of, at("kind"), {"lesson", "puzzle", "question", "example"}, kind))
    return false;
  out.kind = static_cast<LessonKind>(kind);
  if (const Json* par = json.find("par"); par && !whole(*par, at("par"), 1, 1000, out.par)) return false;
  if (const Json *next = json.find("next");
      next &&
      !list(*next, at("next"), 4, out.next,
            [&](const Json& item, const std::string& f, std::string& id) { return text(item, f, 64, id); }))
    return false;
  const Json& steps = *json.find("steps");
  const std::string field = at("steps"), before = where_;
  int number = 0;
  const bool isRead =
      list(steps, field, kMaxLessonSteps, out.steps, [&](const Json& item, const std::string&, Step& step) {
        where_ = joined({before, "step ", ++number, ", "});
        return readStep(item, step);
      });
  where_ = before;
  if (!isRead) return false;
  if (out.kind == LessonKind::puzzle) {
    if (out.steps.size() != 1 || !out.steps[0].attempt)
      return fail(field, {"a puzzle is one step with a try."});
    if (out.par == 0) return fail(at("par"), {"it is missing; give the fewest edits that solve the puzzle."});
  }
  where_ = prefix;
  return true;
}

bool LessonReader::readFile(const Json& root, std::vector<Lesson>& out) {
  const Json* version = root.find("lesson");
  if (root.kind != Kind::object || version == nullptr)
    return fail("lesson", {"it is missing; a lesson file begins with {\"lesson\": 1."}, ErrorKind::type);
  if (version->kind != Kind::number || version->number != 1)
    return fail(
        "lesson",
        {described(*version), " is not a version that is read here; this playground reads version 1."},
        ErrorKind::version);
  if (const Json* given = root.find("place"); given && !whole(*given, "place", 1, kMostPlaces, placeInList))
    return false;
  if (root.find("cards") == nullptr) return readLesson(root, false, out.emplace_back());
  if (!isObject(root, "file", {"$schema", "lesson", "place", "cards"})) return false;
  if (!list(*root.find("cards"), "cards", kMaxLessonCards, out,
            [&](const Json& item, const std::string& field, Lesson& lesson) {
              where_ = field + ", ";
              const bool isRead = readLesson(item, true, lesson);
              where_.clear();
              return isRead;
            }))
    return false;
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (out[i].id == out[j].id)
        return fail(joined({"cards[", i, "].id"}),
                    {base::inQuotes(out[i].id), " is the id of another card too; give each its own."});
  return true;
}

}  // namespace

Result<Markup> readMarkup(std::string_view text, std::string_view field) {
  return MarkupReader(text, field).read();
}

Result<std::vector<Lesson>> readLessons(std::string_view text, Translation translation) {
  if (text.size() > kMaxLessonBytes)
    return base::refuse(ErrorKind::memory, "text",
                        {"the lesson has ", text.size(), " bytes; at most ", kMaxLessonBytes, " are read."})
        .error();
  static constexpr std::string_view kFields[] = {"$schema", "lesson", "place", "id",    "kind", "title",
                                                 "about",   "par",    "next",  "steps", "cards"};
  JsonText parsed;
  if (Result<void> ok = parseJson(text, kFields, parsed); !ok) return ok.error();
  LessonReader reader;
  reader.translation = std::move(translation);
  std::vector<Lesson> lessons;
  if (!reader.readFile(parsed.root, lessons)) return *reader.error;
  for (Lesson& lesson : lessons) lesson.place = reader.placeInList;
  return lessons;
}

Result<std::vector<Goal>> readChecks(std::string_view text) {
  static constexpr std::string_view kFields[] = {"check"};
  JsonText parsed;
  if (Result<void> ok = parseJson(text, kFields, parsed); !ok) return ok.error();
  LessonReader reader;
  std::vector<Goal> goals;
  if (!reader.readChecks(parsed.root, goals)) return *reader.error;
  return goals;
}

bool isLessonText(std::string_view text) {
  const std::size_t at = text.find("\"lesson\"");
  return at != std::string_view::npos && at < 400 &&
         text.substr(0, at).find("\"version\"") == std::string_view::npos;
}

std::string_view name(LessonKind kind) {
  switch (kind) {
    case LessonKind::lesson: return "lesson";
    case LessonKind::puzzle: return "puzzle";
    case LessonKind::question: return "question";
    case LessonKind::example: break;
  }
  return "example";
}

}  // namespace document
