// The interface in other languages: reading a table, and that the tables contain all text that the board
// shows.
#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <sstream>

#include "app_fixture.h"
#include "document/preset.h"
#include "files/export/figure.h"
#include "files/formats/language.h"
#include "files/layout/mapping.h"
#include "files/layout/opener.h"
#include "files/layout/packed.h"
#include "files/layout/state_tensors.h"
#include "languages.h"
#include "painted.h"
#include "thorough.h"
#include "views/mirror.h"
#include "views/plurals.h"
#include "views/tooltip.h"
#include "views/widgets.h"
#include "views/words.h"

namespace {

/// Collects the text that a table lacks, of all boards that a test shows.
class Listener {
 public:
  explicit Listener(views::Words& words) : words_(words) {
    words.missed = &missed;
    test::Faces::shared().all.words = &words;
  }
  ~Listener() { test::Faces::shared().all.words = nullptr, words_.missed = nullptr; }
  std::set<std::string> missed;

 private:
  views::Words& words_;
};

/// The names of the controls on the screen; `all`: also of those that could not be operated now.
std::vector<std::string> controls(Fixture& f, bool all = false) {
  views::Mirror mirror;
  test::Faces::shared().all.mirror = &mirror;
  f.frame();
  test::Faces::shared().all.mirror = nullptr;
  std::vector<std::string> names;
  std::istringstream lines(mirror.notes);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("C\x1f")) continue;
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '\x1f');) fields.push_back(field);
    if (all || fields.at(3) == "1") names.push_back(fields.at(4));
  }
  return names;
}

void press(Fixture& f, const std::string& name) {
  views::Mirror mirror;
  mirror.press = name;
  test::Faces::shared().all.mirror = &mirror;
  f.app().wake();
  f.frame();
  test::Faces::shared().all.mirror = nullptr;
  f.settle();
}

/// web/languages/TAG.json in the form that the shells pass on.
std::string tableOf(std::string_view name) {
  for (const auto& file : languages::files) {
    if (file.name == name) return *files::wordsOf(file.text);
  }
  return {};
}

/// Opens a preset with numbers as tokens and columns without names, so that these count as no words to be
/// translated.
void open(Fixture& f, std::string_view preset) {
  REQUIRE(f.app().openPreset(preset, false));
  static_cast<void>(f.app().set("column_names", "[]"));
  for (const auto& [labels, count] : {std::pair{"labels", "tokens"}, {"key_labels", "key_tokens"}}) {
    std::string tokens;
    for (int i = 0; i < std::stoi(*f.app().get(count)); ++i)
      tokens += (i > 0 ? "," : "") + std::string("\"") + std::to_string(i) + "\"";
    static_cast<void>(f.app().set(labels, "[" + tokens + "]"));
  }
  f.settle();
}

/// Adds the lines of text on the screen.
void look(Fixture& f, std::set<std::string>& shown) {
  views::Mirror mirror;
  test::Faces::shared().all.mirror = &mirror;
  f.app().wake();
  f.frame();
  test::Faces::shared().all.mirror = nullptr;
  std::istringstream lines(mirror.notes);
  for (std::string line; std::getline(lines, line);) {
    constexpr std::size_t kBefore = 4;  // "T", U+001F, the kind, U+001F
    if (line.starts_with("T\x1f")) shown.insert(line.substr(kBefore, line.find('\x1f', kBefore) - kBefore));
  }
}

/// Presses every control, which opens menus too, and restores the state.
void pressAll(Fixture& f, const std::string& state, std::set<std::string>& shown) {
  for (const std::string& name : controls(f)) {
    press(f, name);
    look(f, shown);
    for (const bool isDown : {true, false})
      Fixture::io().AddKeyEvent(ImGuiKey_Escape, isDown);  // Dear ImGui takes one of them in each frame
    f.settle();
    REQUIRE(f.app().setState(state, false));
    f.settle();
  }
}

}  // namespace

/// Text that is the same in all languages: names of functions, methods and tensors, and the words of the toy
/// sentences for training.
constexpr std::string_view kNames[] = {
    "exp",        "tanh",      "cos",     "sin",     "max",     "softmax",  "sparsemax", "Softmax",
    "Sparsemax",  "ReLU",      "GELU",    "LSTM",    "RNN",     "ALiBi",    "BigBird",   "Longformer",
    "Adam",       "SGD",       "Mom",     "concat",  "dot",     "pre",      "post",      "Attention",
    "Playground", "Dropout",   "Epsilon", "Sigmoid", "sigmoid", "rotated",  "masked",    "raw",
    "output",     "attention", "hidden",  "norm",    "dropout", "residual", "feed",      "forward",
    "delta",      "gamma",     "memory",  "token",   "query",   "segment",  "model",     "softcap",
    "capped",     "biased",    "for",     "sum",     "largest", "first",  // from programs
    "saw",        "the",       "cat",     "old",     "new",     "big",      "you",       "like",
    "want",       "see",       "and"};

/// Does the text contain words to be translated, and not only names, numbers and formulas?
bool hasWords(std::string_view text) {
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      word += c;
      continue;
    }
    if (word.size() > 2 && std::find(std::begin(kNames), std::end(kNames), word) == std::end(kNames))
      return true;
    word.clear();
  }
  return false;
}

/// Shows the board in all ways that users see it: all examples, pages, menus and keys, in windows of all
/// sizes; with sanitizers and as WebAssembly, which would take minutes, in the smallest alone. Returns all
/// lines of text.
std::set<std::string> showAll() {
  std::set<std::string> shown;
  for (const auto& [width, height] :
       {std::pair{1440.0f, 900.0f}, {900.0f, 700.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    if (!test::kWhole && width != 390.0f) continue;
    Fixture f(width, height);
    for (const document::Preset& p : document::presets()) {
      if (width != 1440.0f && width != 390.0f) break;
      open(f, p.name);
      for (const char* tensor : {"x", "q", "k", "v", "raw", "scores", "masked", "weights", "head_output",
                                 "output", "w_q", "q_rotated", "x_positioned"}) {
        if (f.app().select(tensor, 0, 1, 1)) f.settle(), look(f, shown);
      }
      if (width < 1440.0f) continue;
      for (const char c : std::string("cdmpyPlPuUihHnNtT[]zZ?")) f.type(c), f.settle(), look(f, shown);
      f.key(ImGuiKey_Escape);
      f.key(ImGuiKey_Escape);
    }
    for (const char* view : {"layer", "block", "segments", "train", "spread", "dense", "memory", "cost"}) {
      open(f, "i-saw-a-saw");
      REQUIRE(f.app().set("view", "\"" + std::string(view) + "\""));
      f.settle();
      look(f, shown);
      pressAll(f, f.app().state(), shown);
    }
  }
  return shown;
}

/// Is there an English number, such as 0.5, in a text? "6.741" is a German one, and what readers wrote stands
/// in quotation marks.
bool hasEnglishNumber(std::string_view text) {
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    const auto isDigit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '9';
    };
    if (text[i] != '.' || !isDigit(i - 1) || !isDigit(i + 1)) continue;
    if (!(isDigit(i + 2) && isDigit(i + 3)) || isDigit(i + 4)) return true;
  }
  return false;
}

/// Is there a hyphen in the place of a minus sign?
bool hasHyphenAsMinus(std::string_view text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const bool isExponent = i > 1 && text[i - 1] == 'e' && text[i - 2] >= '0' && text[i - 2] <= '9';
    const bool begins =
        i == 0 || isExponent || std::string_view(" ([=,;:").find(text[i - 1]) != std::string_view::npos;
    const bool isOfNumber = text[i + 1] == ' ' || text[i + 1] == '.' ||
                            (text[i + 1] >= '0' && text[i + 1] <= '9') ||
                            text[i + 1] == '\xE2';  // of ∞ and √
    if (text[i] == '-' && begins && isOfNumber) return true;
  }
  return false;
}

TEST_CASE(
    "numbers are written in the notation of the language: the decimal sign, groups and lists, but no names, "
    "versions and quotations") {
  views::Words german(
      "1,234.5\x1f"
      "1.234,5");
  const auto shown = [&](std::string_view english) {
    std::string own;
    return std::string(german.number(german.of(english), own));
  };
  const std::pair<const char*, const char*> kSame[] = {
      {"0.90", "0,90"},
      {"\u22120.123", "\u22120,123"},
      {"6,741 parameters", "6.741 parameters"},
      {"1,234,567", "1.234.567"},
      {"28.0 %", "28,0 %"},
      {"1.0e\u22124", "1,0e\u22124"},
      {"1.05 M", "1,05 M"},
      {"0.20\u00d70.30 + (\u22120.70)\u00d7(\u22120.50) = 2.65",
       "0,20\u00d70,30 + (\u22120,70)\u00d7(\u22120,50) = 2,65"},
      {"[0.07, \u22120.14, 0.69]", "[0,07; \u22120,14; 0,69]"},
      {"exp(1.53 - 1.53) = 1.00", "exp(1,53 - 1,53) = 1,00"},
      {"1, 2, 3", "1, 2, 3"},
      {"\"1.5x\" is no number", "\"1.5x\" is no number"},
      {"\u201c1.5\u201d is no number", "\u201c1.5\u201d is no number"},
      {"Opened v1.2.npz", "Opened v1.2.npz"},
      {"Opened layer.0.npz", "Opened layer.0.npz"},
      {"0.1.0", "0.1.0"},
      {"2048,512", "2048,512"},
      {"7", "7"},
      {"", ""}};
  for (const auto& [english, expected] : kSame) {
    CAPTURE(english);
    CHECK(shown(english) == expected);
    if (german.of(english) != english)
      CHECK(german.of(german.of(english)) == expected);  // text that was measured is looked up again
  }
  german.paused = 1;  // what readers wrote
  CHECK(shown("0.5") == "0.5");
  views::Words chinese(
      "1,234.5\x1f"
      "1,234.5");
  std::string own;
  CHECK(chinese.number("1,234.50", own) == "1,234.50");
}

TEST_CASE("words: a language has the plural forms of its own rules") {
  // Rules of the CLDR 46. The digits say which rule holds for 0, 1, 2 … 130, as Intl.PluralRules of ICU has
  // it: node -e 'for (let n = 0; n <= 130; ++n) console.log(new Intl.PluralRules("pl").select(n))'
  constexpr std::string_view kPolish[] = {
      "i = 1 and v = 0", "v = 0 and i % 10 = 2..4 and i % 100 != 12..14",
      "v = 0 and i != 1 and i % 10 = 0..1 or v = 0 and i % 10 = 5..9 or v = 0 and i % 100 = 12..14"};
  constexpr std::string_view kArabic[] = {"n = 0", "n = 1", "n = 2", "n % 100 = 3..10", "n % 100 = 11..99"};
  struct Language {
    std::span<const std::string_view> rules;
    std::string_view forms;
  };
  const Language languages[] = {{kPolish,
                                 "201112222222222222222211122222221112222222111222222211122222221112222222111"
                                 "22222221112222222111222222211122222222222222222111222222"},
                                {kArabic,
                                 "012333333334444444444444444444444444444444444444444444444444444444444444444"
                                 "44444444444444444444444445553333333344444444444444444444"}};
  for (const Language& language : languages) {
    views::PluralRules rules;
    for (const std::string_view rule : language.rules) rules.add(rule);
    std::string forms;
    for (int n = 0; n <= 130; ++n) forms += std::to_string(rules.formOf(std::to_string(n)));
    CHECK(forms == language.forms);
    CHECK(rules.formOf("1.05 M") == language.rules.size());
  }
  views::PluralRules polish;
  for (const std::string_view rule : kPolish) polish.add(rule);
  CHECK(polish.formOf("1.0") == 3);
  CHECK(polish.formOf("0.5") == 3);
  CHECK(polish.formOf("−1") == 0);
  CHECK(polish.formOf("1,022") == 1);

  const auto table = files::wordsOf(R"({"language": "Polski", "plurals": {
    "one": "i = 1 and v = 0", "few": "v = 0 and i % 10 = 2..4 and i % 100 != 12..14",
    "many": "v = 0 and i != 1 and i % 10 = 0..1 or v = 0 and i % 10 = 5..9 or v = 0 and i % 100 = 12..14"},
    "messages": {"the board": {"{1} cell": "{1} komórka",
      "{1} cells": {"few": "{1} komórki", "many": "{1} komórek", "other": "{1} komórki"},
      "{A}, {1} heads of {2}": {"few": "{1} głowy po {2}, {A}", "other": "{1} głów po {2}, {A}"}}}})");
  REQUIRE(table);
  views::Words words(*table);
  using base::message;
  const auto cells = [](int n) { return message({n, n == 1 ? " cell" : " cells"}); };
  CHECK(words.of(cells(1)) == "1 komórka");
  CHECK(words.of(cells(3)) == "3 komórki");
  CHECK(words.of(cells(12)) == "12 komórek");
  CHECK(words.of(message({cells(22), ", ", 5, " heads of ", 4})) == "5 głów po 4, 22 komórki");
  CHECK(words.of(message({cells(1), ", ", 2, " heads of ", 8})) == "2 głowy po 8, 1 komórka");
  for (const char* wrong :
       {R"({"messages": {"a": {"{1} cells": {"few": "x"}}}})",
        R"({"messages": {"a": {"{1} cells": {"few": "x", "other": "y"}}}})",
        R"({"plurals": {"few": 3}, "messages": {}})",
        R"({"plurals": {"few": "n = 2"}, "messages": {"a": {"b": {"few": 1, "other": "y"}}}})"})
    CHECK_FALSE(files::wordsOf(wrong));
}

TEST_CASE("words: a table says all that the board says") {
  // core/languages.test.mjs checks that all tables have the same messages.
  views::Words words(tableOf("de.json"));
  const Listener listener(words);
  const std::set<std::string> shown = showAll();
  for (const std::string& one : listener.missed) CHECK_MESSAGE(!hasWords(one), "lacks: ", one);
  CHECK(!listener.missed.empty());
  for (const std::string& one : shown) {
    if (one.starts_with("Attention Playground ")) continue;  // with its version
    CHECK_MESSAGE(!hasEnglishNumber(one), one);
    CHECK_MESSAGE(!hasHyphenAsMinus(one), one);
  }
  CHECK(std::any_of(shown.begin(), shown.end(), [](const std::string& one) {
    return one.starts_with("(−0,");
  }));  // arithmetic of a page, without words
}

TEST_CASE("words: every control has a tooltip, and every table says all of it") {
  // What says everything itself: choices of menus and lessons, and what leads to another value.
  constexpr std::string_view kPlain[] = {"preset:", "guide:", "coach:", "form"};
  std::set<std::string> names;
  Fixture f;
  REQUIRE(f.app().openPreset("i-saw-a-saw", false));
  for (const char* set : {"", "mode=\"x\"", "cross=true", "d_k=4", "position=\"rotary\"",
                          "pattern=\"bigbird\"", "position=\"none\"", "score=\"additive\"", "gradient=true",
                          "card=\"changes\"", "stepper=1", "batch=2"}) {
    const std::string option(set);
    if (const std::size_t at = option.find('='); at != std::string::npos)
      REQUIRE(f.app().set(option.substr(0, at), option.substr(at + 1)));
    f.settle();
    for (const char* fold : {"more-sizes", "window", "more-masks", "rotary"})
      if (option.empty() || std::string(fold) == "rotary") press(f, fold);
    for (const std::string& name : controls(f, true)) names.insert(name);
  }
  for (const char* view : {"block", "segments", "train", "spread", "dense", "memory", "cost"}) {
    REQUIRE(f.app().set("view", "\"" + std::string(view) + "\""));
    f.settle();
    for (const std::string& name : controls(f, true)) names.insert(name);
  }
  CHECK(names.size() > 180);
  for (const char* table : {"de.json", "zh.json"}) {
    views::Words words(tableOf(table));
    std::set<std::string> missed;
    words.missed = &missed;
    for (const std::string& name : names) {
      const views::About about = views::about(name);
      const bool isPlain = std::any_of(std::begin(kPlain), std::end(kPlain),
                                       [&](std::string_view plain) { return name.starts_with(plain); });
      CHECK_MESSAGE(isPlain == about.title.empty(), name);
      words.of(about.title), words.of(about.words), words.of(about.key);
    }
    for (const std::string& one : missed) CHECK_MESSAGE(!hasWords(one), table, " lacks: ", one);
  }
}

TEST_CASE(
    "words: text that is laid out in lines, shortened or has raised letters is in the notation of the "
    "language too") {
  views::Words words(
      "1,234.5\x1f"
      "1.234,5\n");
  const Listener listener(words);
  Fixture f;
  ImGui::NewFrame();
  views::Mirror mirror;
  test::Faces::shared().all.mirror = &mirror;
  ImDrawList* list = ImGui::GetForegroundDrawList();
  const views::Fonts& faces = test::Faces::shared().all;
  views::paragraph({list, faces.mono, 0xffffffff}, 0, 0, 80, "(0.67 + 0.31) ÷ 4 = 0.25");
  views::text(list, faces.text, 0, 0, 0xffffffff, "0.5 · K^T");
  CHECK(views::elide(faces.mono, "0.123456789", 40).starts_with("0,1"));
  test::Faces::shared().all.mirror = nullptr;
  ImGui::EndFrame();
  CHECK(!hasEnglishNumber(mirror.notes));
  for (const char* number : {"0,67", "0,25", "0,5"})
    CHECK_MESSAGE(mirror.notes.find(number) != std::string::npos, number);
}

TEST_CASE("words: a text is looked up whole, and not by what it looks like") {
  views::Words words("Open\x1fÖffnen\nHead {1} of {2}\x1f{2} Köpfe, der {1}.\n");
  CHECK(words.of("Open") == "Öffnen");
  CHECK(words.of("  Open ") == "  Öffnen ");
  CHECK(words.of(base::message({"Head ", 3, " of ", 12})) == "12 Köpfe, der 3.");
  CHECK(words.of("Head 3 of 12") == "Head 3 of 12");
  CHECK(words.of("0.69") == "0.69");
  CHECK(words.of("something else") == "something else");
  words.paused = 1;
  CHECK(words.of("Open") == "Open");
}

TEST_CASE("words: a message is looked up by its id, whatever its arguments are") {
  views::Words words(
      "1,234.5\x1f"
      "1.234,5\n{a} of {b}\x1f{b} hat {a}\n{a}: {A}\x1f{a}: {A}\n{1} is too large.\x1f{1} ist zu groß.\n"
      "keep {A} here\x1f{A} bleibt\nHeads\x1fK\u00f6pfe");
  std::set<std::string> missed;
  words.missed = &missed;
  using base::message;
  const std::string name = "a of b";
  words.of(message({"another", " of ", name}));  // a literal belongs to the id
  CHECK(missed == std::set<std::string>{"another of a of b"});
  missed.clear();
  CHECK(words.of(message({name, " of ", 1.5 > 1 ? 2 : 3})) == "2 hat a of b");  // no text is searched
  CHECK(words.of(message(
            {std::string_view("heads"), ": ", message({std::string_view("0.125"), " is too large."})})) ==
        "heads: 0,125 ist zu groß.");  // in the notation once
  CHECK(words.of(message({"keep ", std::string_view("mine"), " here"})) == "mine bleibt");
  CHECK(words.of(message({"keep ", std::string_view("Heads"), " here"})) == "Köpfe bleibt");
  CHECK(words.of(message({"keep ", std::string_view("2.5"), " here"})) == "2,5 bleibt");
  CHECK(words.of(message({"keep ", message({2, "/", std::string_view("0.5")}), " here"})) == "2/0,5 bleibt");
  CHECK(words.of(message({message({name, " of ", 2}), " · ", base::Message("Heads")})) ==
        "2 hat a of b · Köpfe");
  CHECK(words.of(message({" ", name, " of ", 3, " "})) == " 3 hat a of b ");
  CHECK(missed == std::set<std::string>{"mine"});
  words.paused = 1;
  CHECK(words.of(message({name, " of ", 2})) == "a of b of 2");
}

/// The texts of a form, for every choice of every field.
void addForm(const files::StoredFile& file, views::Words& words) {
  const auto add = [&](const document::Form& form) {
    for (const document::Field& field : form.fields) {
      words.of(field.label);
      for (const base::Message& choice : field.choices) words.of(choice);
    }
    words.of(form.says);
  };
  const document::Form form = files::Mapping(file, "").form({});
  add(form);
  for (const document::Field& field : form.fields)
    for (int i = 0; i < static_cast<int>(field.choices.size()); ++i)
      add(files::Mapping(file, "").form({{field.name, i}}));
}

TEST_CASE("words: the form about a file is in the reader's language, whatever is chosen") {
  std::vector<std::vector<float>> kept;
  const auto fileOf = [&](const std::vector<std::pair<std::string, files::Shape>>& tensors) {
    files::StoredFile file;
    for (const auto& [name, shape] : tensors) {
      kept.emplace_back(static_cast<std::size_t>(*files::checkedCount(shape)), 0.25f);
      file.tensors.push_back(files::storedOf(name, shape, kept.back()));
    }
    return file;
  };
  kept.reserve(64);
  views::Words words(tableOf("de.json"));
  std::set<std::string> missed;
  words.missed = &missed;
  addForm(fileOf({{"a", {2, 3, 4, 4}}, {"b", {2, 3, 4, 4}}, {"c", {2, 3, 4, 4}}, {"d", {5, 4, 3}}}), words);
  addForm(fileOf({{"a", {3, 8}}, {"b", {5, 4}}, {"c", {5, 4}}, {"mask", {3, 5}}}), words);
  addForm(fileOf({{"blob", {3, 2, 5, 6}}}), words);
  addForm(fileOf({{"blob", {2, 3, 2, 5, 6}}}), words);
  addForm(fileOf({{"wte.embeddings", {12, 8}},
                  {"h.0.c_attn.weight", {8, 24}},
                  {"h.0.c_proj.weight", {8, 8}},
                  {"h.0.c_attn.bias", {24}},
                  {"h.1.c_attn.weight", {8, 24}}}),
          words);
  addForm(fileOf({{"self.q.weight", {8, 8}}, {"self.k.weight", {4, 8}}, {"self.v.weight", {4, 8}}}), words);
  addForm(fileOf({{"0.q", {2, 3, 4}},
                  {"0.k", {2, 3, 4}},
                  {"0.v", {2, 3, 4}},
                  {"1.q", {2, 3, 4}},
                  {"1.k", {2, 3, 4}},
                  {"1.v", {2, 3, 4}}}),
          words);
  addForm(fileOf({{"attn.0", {1, 2, 4, 4}}, {"attn.1", {1, 2, 4, 4}}}), words);
  addForm(fileOf({{"weights", {3, 2, 2, 4, 4}}}), words);
  for (const std::string& one : missed) CHECK_MESSAGE(!hasWords(one), "lacks: ", one);
}

TEST_CASE("words: why a file is refused is in the reader's language") {
  views::Words words(tableOf("de.json"));
  std::set<std::string> missed;
  words.missed = &missed;
  const std::pair<std::string_view, std::string_view> files[] = {
      {"w.npz", ""},          {"w.npz", "garbage"},       {"w.npy", "garbage"},
      {"w.npy", "\x93NUMPY"}, {"w.safetensors", "short"}, {"w.safetensors", "longer than its header"},
      {"w.csv", ""},          {"w.csv", "1,2\n3\n"},      {"w.csv", "1,2\n3,two\n"},
      {"w.tsv", "\xff\xfe"},  {"w.npz", "\x80\x02"}};
  for (const auto& [name, bytes] : files) {
    files::Opener opener;
    const auto opened = opener.open(bytes, name);
    REQUIRE_MESSAGE(!opened, name, ": ", bytes);
    words.of(base::message({name, ": ", opened.error().said()}));
  }
  for (const char* text : {"tensor([[1, 2], [3", "tensor([[1, two]])", "tensor([[1, ..., 2]])"}) {
    files::Opener opener;
    const auto opened = opener.paste(text);
    REQUIRE_MESSAGE(!opened, text);
    words.of(base::message({"The clipboard: ", opened.error().said()}));
  }
  for (const std::string& one : missed) CHECK_MESSAGE(!hasWords(one), "lacks: ", one);
}

TEST_CASE("words: a figure is in the reader's language, with its numbers") {
  document::State s = *document::preset("i-saw-a-saw");
  s.normalizer = attention::Normalizer::none;  // weights of both signs
  const auto collected = files::collectTensors(s);
  REQUIRE(collected);
  const auto bytes = files::packed(*collected);
  const auto tensors = files::unpackedTensors(bytes);
  REQUIRE(tensors);
  files::FigureOptions options;
  options.sums = true;
  const auto textsOf = [&] {
    std::string all;
    const auto drawing = files::figure(*tensors, options);
    REQUIRE(drawing);
    for (const auto& item : drawing->items) all += item.words + " ";  // the caption is in lines
    return all;
  };
  const std::string english = textsOf();
  for (const char* part :
       {"Attention weights, head 1 ", " \u22120.", " query ", "Rows are queries; the row “", " 0.75 "})
    CHECK_MESSAGE(english.find(part) != std::string::npos, part);
  CHECK(!hasHyphenAsMinus(english));
  views::Words words(tableOf("de.json"));
  options.translated = [&](std::string_view text) {
    std::string digits;
    return std::string(words.number(words.of(text), digits));
  };
  const std::string german = textsOf();
  for (const char* part :
       {"Attention-Gewichte, Kopf 1 ", " \u22120,", " Query ", "Zeilen sind Queries; die Zeile „", " 0,75 "})
    CHECK_MESSAGE(german.find(part) != std::string::npos, part);
  CHECK(!hasEnglishNumber(german));
}

TEST_CASE("words: thousands of others leave the last one as it was") {
  views::Words words("row {1}\x1fZeile {1}\n");
  const auto row = [&](int i) { return words.of(base::message({"row ", i})); };
  const std::string_view first = row(0);
  for (int i = 1; i < 4000; ++i) row(i);
  CHECK(first == "Zeile 0");
  for (int i = 0; i < 20'000; ++i) REQUIRE(row(i) == "Zeile " + std::to_string(i));
}

TEST_CASE("words: the name of a cell is in the reader's language, and its tokens are not") {
  views::Words words(tableOf("de.json"));
  Fixture f;
  REQUIRE(f.app().openPreset("i-saw-a-saw", false));
  const Listener listener(words);
  CHECK(f.app().explain("masked", 0, 3, 2, true)->find("S maskiert[saw₄, a₃]") != std::string::npos);
  CHECK(f.app().explain("masked", 0, 3, 2)->find("S masked[saw₄, a₃]") != std::string::npos);
}

TEST_CASE("words: the label of a stepper leaves room before it, however long it is") {
  views::Words words(tableOf("de.json"));
  Fixture f(1440, 2000);
  const Listener listener(words);
  f.settle();
  const test::Painted painted;
  const test::Words* const label = painted.find("Dezimalstellen");
  REQUIRE(label);
  CHECK(label->right + 5 < f.at("decimals-").x);
}

TEST_CASE("words: a lesson is in the reader's language line by line, also if that comes later") {
  constexpr const char* kLesson = R"({"lesson": 1, "id": "one", "title": "Some weight", "steps": [
    {"preset": "i-saw-a-saw", "text": "The weight is {weights:3,2}.\nHeads", "predict": {"question": "Which?",
     "choices": ["Heads", "a"], "answer": 0, "because": "So it is."}}]})";
  Fixture f(1440, 900);
  REQUIRE(f.app().openLesson(kLesson, "", "", 0));
  f.settle();
  const auto shows = [&](std::string_view words) {
    std::set<std::string> shown;
    look(f, shown);
    return std::any_of(shown.begin(), shown.end(),
                       [&](const std::string& one) { return one.find(words) != std::string::npos; });
  };
  CHECK(shows("The weight is"));
  {
    views::Words other("Heads\x1fK\u00f6pfe\nWhich?\x1fWelcher?\n");  // it does not know the title
    const Listener listener(other);
    f.frame(), f.settle();
    CHECK(shows("Which?"));
  }
  views::Words words(
      "1,234.5\x1f"
      "1.234,5\nSome weight\x1f"
      "Ein Gewicht\nThe weight is {weights:3,2}.\x1f"
      "Das Gewicht betr\u00e4gt {weights:3,2}.\nWhich?\x1fWelcher?\n");
  const Listener listener(words);
  f.frame(), f.settle();
  CHECK(shows("Ein Gewicht"));
  CHECK(shows("Das Gewicht betr\u00e4gt"));
  CHECK(shows("0,"));
  CHECK(shows("Welcher?"));
  CHECK(shows("Heads"));
}

TEST_CASE("words: what readers wrote stays as they wrote it") {
  views::Words words("Open\x1fÖffnen\nTokens\x1fTokens!\n");
  const Listener listener(words);
  Fixture f;
  REQUIRE(f.app().set("labels", R"(["Open","Tokens","a","b"])"));
  f.settle();
  views::Mirror mirror;
  test::Faces::shared().all.mirror = &mirror;
  f.frame();
  test::Faces::shared().all.mirror = nullptr;
  CHECK(mirror.notes.find("\x1fÖffnen\x1f") != std::string::npos);           // the button
  CHECK(mirror.notes.find("\x1fOpen\x1f") != std::string::npos);             // the token
  CHECK(mirror.notes.find("\x1fOpen Tokens a b\x1f") != std::string::npos);  // the sentence
}

TEST_CASE("words: a table of something else is refused by its field") {
  CHECK(!files::wordsOf("[]"));
  CHECK(files::wordsOf(R"({"messages": {"a": {"Open": 1}}})").error().message() ==
        R"(a.Open: it is missing or no group of texts; give {"English": "the same"}.)");
  CHECK(*files::wordsOf(R"({"messages": {"a": {"Open": "Öffnen"}}})") == "Open\x1fÖffnen\n");
}

TEST_CASE("words: in the list of changes, the symbol of a tensor alone has its colour, in every language") {
  Fixture f;
  REQUIRE(f.app().openPreset("i-saw-a-saw", false));
  REQUIRE(f.app().set("pin", "true"));
  REQUIRE(f.app().set("card", "\"changes\""));
  // A cell of the head that is not shown: its name says so.
  REQUIRE(f.app().select("q", 1, 3, 2));
  REQUIRE(f.app().pasteCells("0.5"));
  REQUIRE(f.app().select("q", 0, 0, 0));
  for (const char* table : {"", "de.json", "zh.json"}) {
    CAPTURE(table);
    views::Words words(tableOf(table));
    test::Faces::shared().all.words = *table ? &words : nullptr;
    f.app().wake();
    f.settle();
    test::Faces::shared().all.words = nullptr;
    const float top = f.at("changes:0:0").y;
    const test::Painted painted;
    for (const test::Words& run : painted.words())
      if (run.color == f.app().palette().query && run.top > top) CHECK(run.text == "Q");
  }
}
