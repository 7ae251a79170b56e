// The text and shapes on the board agree with plain arithmetic on its numbers, and all of it is in view.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "app_fixture.h"
#include "base/sentence.h"
#include "painted.h"
#include "views/mirror.h"

namespace {

using test::Painted;
using test::Rectangle;
using test::Words;

class Shown : public Fixture {
 public:
  using Fixture::Fixture;

  void set(std::string_view name, std::string_view json) {
    const auto done = app().set(name, json);
    REQUIRE_MESSAGE(done, (done ? "" : done.error().message()));
    settle();
  }
  const Tensor& tensor(std::string_view name) { return **app().tensor(name); }

  /// Selects the cell to be explained, then moves the pointer away.
  void choose(std::string_view name, int row, int col) {
    click(at(name, std::stoi(option("focus_head")), row, col));
    moveTo(-1000, -1000);
  }
  bool isThere(std::string_view name) { return static_cast<bool>(app().locate(name, 0, 0, 0)); }
  std::string words(std::string_view place) { return Painted().in(at(place)); }
  /// The text in a cell.
  std::string cell(std::string_view name, int row, int col) {
    return Painted().in(at(name, std::stoi(option("focus_head")), row, col));
  }
};

/// The number at the beginning of the text; the board writes the minus sign "−".
double numberIn(std::string words) {
  for (std::size_t at; (at = words.find("−")) != std::string::npos;)
    words.replace(at, std::string("−").size(), "-");
  return std::strtod(words.c_str(), nullptr);
}
double numberAfter(const std::string& words, const std::string& before) {
  const std::size_t at = words.find(before);
  REQUIRE_MESSAGE(at != std::string::npos, words);
  return numberIn(words.substr(at + before.size()));
}

std::vector<double> rowOf(const Tensor& t, int head, int row) {
  return {t.row(head, row), t.row(head, row) + t.cols()};
}

/// The mean of a row over some heads.
std::vector<double> meanOf(const Tensor& t, const std::vector<int>& heads, int row) {
  std::vector<double> mean(static_cast<std::size_t>(t.cols()));
  for (const int h : heads) {
    const auto one = rowOf(t, h, row);
    for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += one[j] / static_cast<double>(heads.size());
  }
  return mean;
}

double bits(const std::vector<double>& shares) {
  double sum = 0;
  for (const double p : shares) sum -= p > 0 ? p * std::log2(p) : 0;
  return sum;
}

constexpr double kHalf = 0.005 + 1e-6;  // half of the last of two decimals

/// One bar of a row, with the number at its end.
struct Bar {
  double weight;
  float number;  ///< the vertical middle of the number
  Rectangle box;
};

/// The bars of the inspector from left to right; each is centred horizontally on its number.
std::vector<Bar> barsOf(Shown& f) {
  const app::Rect card = f.at("inspector");
  const float top = card.y + card.height - 108, bottom = card.y + card.height;
  const Painted painted;
  std::vector<Bar> bars;
  const ImU32 color = views::palette(false).weight;
  for (const Words& w : painted.words()) {
    const bool isNumber = w.text.find_first_not_of("−0123456789.") == std::string::npos;
    if (!isNumber || w.left < card.x + 140 || w.right > card.x + card.width || w.midY() < top ||
        w.midY() > bottom)
      continue;
    const Rectangle derived{w.midX() - 28, top, w.midX() + 28, bottom};
    Rectangle box = painted.extent(views::withAlpha(color, 0.35f), derived);
    if (box.width() < 0) box = painted.extent(color, derived);
    bars.push_back({numberIn(w.text), w.midY(), box});
  }
  std::sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.box.left < b.box.left; });
  return bars;
}

}  // namespace

TEST_CASE("shown: the mean of the heads leaves hidden ones out: W, O, the sums and the entropy") {
  Shown f;
  f.set("causal", "false");
  f.set("heads", "3");
  for (const std::vector<int>& heads : {std::vector<int>{0, 1, 2}, {0, 2}, {1}}) {
    std::string hidden;
    for (int h = 0; h < 3; ++h) {
      if (std::find(heads.begin(), heads.end(), h) == heads.end())
        hidden += (hidden.empty() ? "" : ",") + std::to_string(h);
    }
    CAPTURE(hidden);
    f.set("hidden_heads", "[" + hidden + "]");
    f.set("average_heads", "true");
    CHECK(f.words("title:weights")
              .starts_with(heads.size() == 1 ? "W: the one head that takes part"
                                             : "W: mean of the " + std::to_string(heads.size()) + " heads"));
    for (const char* name : {"weights", "head_output"}) {
      CAPTURE(name);
      for (int row = 0; row < 4; ++row) {
        const auto mean = meanOf(f.tensor(name), heads, row);
        for (int col = 0; col < static_cast<int>(mean.size()); ++col) {
          CHECK(std::abs(numberIn(f.cell(name, row, col)) - mean[static_cast<std::size_t>(col)]) <= kHalf);
        }
      }
    }
    for (int row = 0; row < 4; ++row) {
      f.choose("weights", row, 1);
      const auto mean = meanOf(f.tensor("weights"), heads, row);
      const std::string words = f.words("inspector");
      CHECK(numberAfter(words, "Σ ") == doctest::Approx(1));
      CHECK(std::abs(numberAfter(words, "its entropy ") - bits(mean)) <= kHalf);
      CHECK(std::abs(numberAfter(words, "] = ") - mean[1]) <= kHalf);
      // The heads differ, so the entropy of a single head, or one that includes hidden heads, would be
      // noticed.
      for (int h = 0; h < 3 && heads.size() > 1; ++h)
        CHECK(std::abs(bits(rowOf(f.tensor("weights"), h, row)) - bits(mean)) > 2 * kHalf);
      if (heads.size() < 3)
        CHECK(std::abs(bits(meanOf(f.tensor("weights"), {0, 1, 2}, row)) - bits(mean)) > kHalf);
    }
  }
}

TEST_CASE("shown: weights that are no shares have bars both ways and no entropy") {
  Shown f(1270, 900);
  f.set("causal", "false");
  f.set("normalizer", "\"none\"");
  int below = 0;
  for (const char* head : {"0", "1"}) {
    f.set("focus_head", head);
    for (int row = 0; row < 4; ++row) {
      CAPTURE(row);
      f.choose("weights", row, 1);
      const auto wanted = rowOf(f.tensor("weights"), std::stoi(head), row);
      const std::string words = f.words("inspector");
      CHECK(words.find("entropy not defined") != std::string::npos);
      CHECK(words.find(" bit") == std::string::npos);
      const auto bars = barsOf(f);
      REQUIRE(bars.size() == wanted.size());
      float base = 0, most = 0;
      double largest = 0;
      for (std::size_t j = 0; j < bars.size(); ++j) {
        if (std::abs(wanted[j]) > largest)
          largest = std::abs(wanted[j]), most = bars[j].box.height(),
          base = wanted[j] < 0 ? bars[j].box.top : bars[j].box.bottom;
      }
      REQUIRE(most > 10);
      for (std::size_t j = 0; j < bars.size(); ++j) {
        CAPTURE(wanted[j]);
        const auto& [weight, number, box] = bars[j];
        CHECK(std::abs(weight - wanted[j]) <= kHalf);
        if (std::abs(wanted[j]) < 0.1) continue;
        CHECK(std::abs((wanted[j] < 0 ? box.top : box.bottom) - base) < 1.5f);
        CHECK((wanted[j] < 0 ? number > box.bottom : number < box.top));
        CHECK(static_cast<double>(box.height() / most) ==
              doctest::Approx(std::abs(wanted[j]) / largest).epsilon(0.1));
        below += wanted[j] < 0;
      }
    }
  }
  CHECK(below > 4);
  f.set("average_heads", "true");
  CHECK(f.words("inspector").find("entropy not defined") != std::string::npos);
}

TEST_CASE("shown: the formula of the weights divides by the temperature where that is not 1") {
  const std::pair<const char*, const char*> formulas[] = {{"softmax", "W = softmax(S), rows sum to 1"},
                                                          {"sparsemax", "W = sparsemax(S), rows sum to 1"},
                                                          {"entmax15", "W = entmax15(S), rows sum to 1"},
                                                          {"hardmax", "W = hardmax(S), rows sum to 1"},
                                                          {"sigmoid", "W = 1 / (1 + exp(−S))"},
                                                          {"relu", "W = max(S, 0)"},
                                                          {"none", "W = S, 0 where masked"}};
  Shown f;
  for (const auto& [normalizer, plain] : formulas) {
    CAPTURE(normalizer);
    f.set("normalizer", '"' + std::string(normalizer) + '"');
    f.set("temperature", "1");
    CHECK(f.words("caption:weights") == plain);
    std::string divided = plain;
    divided.replace(divided.rfind('S'), 1, "S / T");
    for (const char* temperature : {"2", "0.5"}) {
      f.set("temperature", temperature);
      CHECK(f.words("caption:weights") == divided);
    }
  }
}

TEST_CASE("shown: a decoder explains the row of its step, and shows no row that does not exist yet") {
  Shown f;
  for (const int step : {2, 3, 1, 4}) {
    CAPTURE(step);
    f.set("step", std::to_string(step));
    CHECK(f.app().explained().row == step - 1);
    const std::string words = f.words("inspector");
    CHECK(words.find("row " + std::to_string(step) + ", Σ 1.00") != std::string::npos);
    for (int t = 0; t < 4; ++t) CHECK(f.isThere("query:" + std::to_string(t)) == (t < step));
    // Curves begin at existing queries and end at keys that these see.
    const app::Rect arcs = f.at("arcs"), last = f.at("query:" + std::to_string(step - 1));
    const Painted painted;
    float lowest = 0;
    for (const float alpha : {0.15f, 0.88f}) {
      const Rectangle drawn = painted.extent(views::withAlpha(views::palette(false).weight, alpha),
                                             {arcs.x, arcs.y, arcs.x + arcs.width, arcs.y + arcs.height});
      if (drawn.width() > 0) lowest = std::max(lowest, drawn.bottom);
    }
    CHECK(std::abs(lowest - (last.y + last.height / 2)) < 8);
  }
}

TEST_CASE("shown: + mask stands below the scores only where something may be hidden") {
  Shown f(1440, 900);
  f.set("causal", "false");
  CHECK(f.words("caption:scores") == "S = Q·K T / d k");
  f.set("key_length", "3");
  CHECK(f.words("caption:scores") == "S = Q·K T / d k + mask");
}

TEST_CASE("shown: the bar of a key that is not seen says so") {
  Shown f(1440, 900);
  f.set("causal", "true");
  f.choose("weights", 1, 0);
  CHECK(f.words("bar:1:3").find("hidden") != std::string::npos);
  CHECK(f.words("bar:1:0").find("hidden") == std::string::npos);
}

TEST_CASE("shown: a board that nobody has changed is not called one's own on a page") {
  Shown f(1440, 900, true);
  f.set("view", "\"block\"");
  CHECK(f.words("preset").find("Your own") == std::string::npos);
}

TEST_CASE("shown: the shares of the plane add up to what is shown of both") {
  Shown f(1440, 900);
  f.set("card", "\"plane\"");
  for (int columns = 4; columns <= 20; ++columns) {
    f.set("d_k", std::to_string(columns));
    const app::Rect plane = f.at("plane"), card = f.at("inspector");
    const std::string words = Painted().in(plane.x + plane.width, plane.y, card.x, plane.y + plane.height);
    CAPTURE(words);
    const auto shares = [&](const std::string& name) {
      const std::size_t at = words.rfind(name);
      REQUIRE(at != std::string::npos);
      return numberIn(words.substr(at + name.size()));
    };
    CHECK(shares("axis 1") + shares("axis 2") == shares("variance shown"));
  }
}

TEST_CASE("shown: the formula of the scores is in view at common sizes, and nothing is written over it") {
  for (const auto& [width, height] :
       {std::pair{1366, 768}, {1280, 720}, {1440, 900}, {1920, 1080}, {1100, 700}}) {
    CAPTURE(width);
    Shown f(static_cast<float>(width), static_cast<float>(height));
    for (const char* columns : {"3", "1", "2"}) {
      CAPTURE(columns);
      f.set("d_k", columns);
      for (const auto& [score, formula] : {std::pair{"scaled", "S = Q·K T / d k + mask"},
                                           {"dot", "S = Q·K T + mask"},
                                           {"cosine", "S = cos(q, k) + mask"}}) {
        CAPTURE(score);
        f.set("score", '"' + std::string(score) + '"');
        REQUIRE(f.isThere("caption:scores"));
        const app::Rect place = f.at("caption:scores");
        CHECK(f.words("caption:scores") == formula);
        CHECK((place.x > 232 && place.x + place.width <= static_cast<float>(width) &&
               place.y + place.height <= static_cast<float>(height)));
        for (const char* other : {"caption:q", "caption:weights", "caption:head_output"}) {
          if (!f.isThere(other)) continue;
          const app::Rect b = f.at(other);
          CHECK((b.y + b.height <= place.y || b.y >= place.y + place.height ||
                 b.x >= place.x + place.width + 6 || b.x + b.width + 6 <= place.x));
        }
      }
      f.set("score", "\"scaled\"");
    }
  }
}

TEST_CASE("shown: no caption is written over the heads") {
  const auto areApart = [](const app::Rect& a, const app::Rect& b) {
    return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
  };
  int seen = 0;
  for (const auto& [width, height] : {std::pair{1440, 900}, {1280, 720}, {1920, 1080}, {1024, 600}}) {
    Shown f(static_cast<float>(width), static_cast<float>(height));
    f.set("mode", "\"x\""), f.set("heads", "1"), f.set("d_k", "64"), f.set("heads", "8"), f.set("d_k", "64");
    for (const std::string tokens : {"4", "12", "256", "1500"}) {
      CAPTURE(width);
      CAPTURE(tokens);
      f.set("tokens", tokens);
      for (const std::string caption : {"scores", "weights", "head_output", "output"})
        for (const std::string head : {"0", "1", "2", "3", "4", "5", "6", "7", "mean"}) {
          if (!f.isThere("caption:" + caption) || !f.isThere("head:" + head)) continue;
          CAPTURE(caption);
          CAPTURE(head);
          CHECK(areApart(f.at("caption:" + caption), f.at("head:" + head)));
          ++seen;
        }
    }
  }
  CHECK(seen > 100);
}

TEST_CASE("shown: columns keep names at any number of words: all of 12, every so manyth of more") {
  for (const auto& [width, height] : {std::pair{1440, 900}, {1280, 720}}) {
    CAPTURE(width);
    Shown f(static_cast<float>(width), static_cast<float>(height));
    for (const int tokens : {12, 25, 64}) {
      CAPTURE(tokens);
      std::string sentence;
      std::set<std::string> all;
      for (int t = 0; t < tokens; ++t) {
        const std::string word = "word" + std::to_string(t);
        sentence += (t ? " " : "") + word;
        all.insert(word);
      }
      f.set("labels", '"' + sentence + '"');
      f.choose("weights", tokens - 1, tokens / 2);
      const app::Rect first = f.at("weights", 0, 0, 0), last = f.at("weights", 0, 0, tokens - 1);
      const Painted painted;
      std::set<std::string> seen;
      float before = -100;
      for (const Words& w : painted.slanted()) {
        if (w.left < first.x - 4 || w.left > last.x + last.width + 4) continue;
        CAPTURE(w.text);
        CHECK((all.contains(w.text) || w.text.ends_with("…")));
        CHECK(w.left - before >= 14);
        before = w.left;
        seen.insert(w.text);
      }
      const float pitch = (last.x + last.width - first.x) / static_cast<float>(seen.size());
      CHECK((seen.size() == all.size() || pitch < 36));
      CHECK(seen.contains("word" + std::to_string(tokens / 2)));  // the explained key
    }
  }
}

TEST_CASE(
    "shown: every matrix has its name and what it is, above it, or as a tooltip where there is no room") {
  const std::pair<const char*, const char*> all[] = {{"q", "what each word asks"},
                                                     {"k", "what each word offers"},
                                                     {"v", "what each word says"},
                                                     {"scores", "how well they match"},
                                                     {"weights", "how much each word looks at each"},
                                                     {"head_output", "what each word becomes"}};
  for (const auto& [width, height] : {std::pair{1440, 900}, {1024, 768}, {640, 440}, {390, 844}}) {
    for (const char* tokens : {"1", "4", "12", "25"}) {
      CAPTURE(width);
      CAPTURE(std::string(tokens));
      Shown f(static_cast<float>(width), static_cast<float>(height));
      f.set("tokens", tokens);
      for (const auto& [name, meaning] : all) {
        CAPTURE(std::string(name));
        const auto place = f.app().locate("title:" + std::string(name), 0, 0, 0);
        if (!place || place->y + place->height > static_cast<float>(height)) continue;  // further down
        const std::string words = f.words("title:" + std::string(name));
        CHECK(words.starts_with(name == std::string_view("scores") ? "S"
                                : name == std::string_view("head_output")
                                    ? "O"
                                    : std::string(1, static_cast<char>(std::toupper(name[0])))));
        if (words.find(meaning) != std::string::npos) continue;
        f.moveTo(place->x + 4, place->y + 8);
        f.frame(0.5f);  // for as long as a tooltip waits
        f.settle();
        CHECK_MESSAGE(Painted().find(meaning) != nullptr, words);
        f.moveTo(-1000, -1000);
      }
      if (width == 1440 && std::string_view(tokens) == "4") {
        for (const auto& [name, meaning] : all)
          CHECK(f.words("title:" + std::string(name)).find(meaning) != std::string::npos);
      }
    }
  }
}

TEST_CASE("shown: cells have the two decimals that are asked for wherever those fit") {
  constexpr float kDigit = 6, kAir = 3;  // width of a digit of the smallest font; gap between neighbours
  int whole = 0;
  for (const auto& [width, height] :
       {std::pair{1440, 900}, {1366, 768}, {1280, 720}, {1024, 700}, {412, 892}}) {
    CAPTURE(width);
    Shown f(static_cast<float>(width), static_cast<float>(height));
    for (const char* tokens : {"4", "6", "9", "12", "16"}) {
      CAPTURE(tokens);
      f.set("tokens", tokens);
      for (const char* name : {"q", "k", "v", "scores", "weights", "head_output"}) {
        CAPTURE(name);
        const Tensor numbers = f.tensor(std::string_view(name) == "scores" ? "masked" : name);
        double low = 0, high = 0;
        for (int row = 0; row < numbers.rows(); ++row) {
          for (const double v : rowOf(numbers, 0, row)) {
            if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
          }
        }
        const auto length = [](double v) {
          return static_cast<float>(std::to_string(static_cast<int>(std::abs(v) + kHalf)).size()) + 3;
        };
        const float longest = std::max(length(high), low <= -kHalf ? length(low) + 1 : 0.0f);
        const app::Rect box = f.at(name, 0, 0, 0);
        const bool isWeights = std::string_view(name) == "weights";  // which have two decimals or none
        if (longest * kDigit > box.width - kAir && (!isWeights || f.cell(name, 0, 0).empty())) continue;
        const std::string text = f.cell(name, 0, 0);
        CAPTURE(text);
        REQUIRE(text.find('.') != std::string::npos);
        CHECK(text.size() - text.find('.') == 3);
        ++whole;
      }
    }
  }
  CHECK(whole > 45);
}

TEST_CASE("shown: the formula of a weight is typeset at common sizes, beside the controls too") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f},
                                      {1366.0f, 768.0f},
                                      {1150.0f, 800.0f},
                                      {1024.0f, 768.0f},
                                      {820.0f, 1180.0f},
                                      {390.0f, 844.0f},
                                      {360.0f, 740.0f}}) {
    Shown f(width, height);  // from 1100 on with the controls
    f.choose("weights", 3, 2);
    CAPTURE(width);
    const app::Rect box = f.at("inspector");
    const std::string card = Painted().in(box);
    CAPTURE(card);
    CHECK(card.find("W[saw₄, a₃] = 0.69") != std::string::npos);
    CHECK(card.find("÷ Σ row") == std::string::npos);
    for (const char* part : {"exp", "2.65", "0.60 + 0.84 + 4.62 + 0.63"})
      CHECK(card.find(part) != std::string::npos);
    if (width < 1400) continue;
    CHECK(card.find("q₄ · k₃") != std::string::npos);
    CHECK(card.find("entropy") != std::string::npos);
  }
}

TEST_CASE("shown: a low card has all terms of a weight above its bars, and the chosen bar its name") {
  int low = 0, named = 0;
  for (const auto& [width, height] :
       {std::pair{1270.0f, 900.0f}, {1270.0f, 960.0f}, {1270.0f, 1000.0f}, {1270.0f, 1080.0f}}) {
    Shown f(width, height);
    for (int tokens = 9; tokens <= 25; tokens += 1) {
      f.set("tokens", std::to_string(tokens));
      f.choose("weights", 3, 2);
      const app::Rect box = f.at("inspector");
      const std::string card = Painted().in(box);
      if (box.y + box.height > height) continue;
      CAPTURE(height);
      CAPTURE(tokens);
      CAPTURE(card);
      const bool isFormula = card.find("÷ Σ row") == std::string::npos;
      for (const char* term : {"mask", "exp(s − max)", "÷ Σ row", "adds to output"})
        CHECK((isFormula || card.find(term) != std::string::npos));
      for (const char* part : {"2.65", "0.60 + 0.84 + 4.62 + 0.63", "= 6.69"})
        CHECK((!isFormula || card.find(part) != std::string::npos));
      low += box.height < 300;
      if (card.find("entropy") == std::string::npos) continue;
      if (!f.app().locate("bar:chosen", 0, 0, 0)) continue;  // all bars have labels of their own
      CHECK(f.words("bar:chosen") == "0.69 a");
      ++named;
    }
  }
  CHECK(low > 0);
  CHECK(named > 10);
}

TEST_CASE("shown: counts have a comma at each thousand, and what the arcs leave out is said to its end") {
  Shown f;
  f.set("tokens", "64");
  CHECK(Painted().find("2,080 of 4,096"));
  const std::string note = f.words("arcs-note");
  CAPTURE(note);
  CHECK(note.find(" of 1,") != std::string::npos);
  CHECK(note.ends_with(" ≥ 1 %"));
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {1110.0f, 900.0f}, {390.0f, 2000.0f}}) {
    CAPTURE(width);
    Shown other(width, height);
    for (const char* tokens : {"33", "64"}) {
      other.set("tokens", tokens);
      CHECK(other.words("arcs-note").find(" ≥ 1 %") != std::string::npos);
    }
  }
}

TEST_CASE(
    "shown: on a phone the captions of the arcs stand below the line under the tabs, at any number of "
    "words") {
  Shown f(390, 3000);
  int seen = 0;
  for (int tokens = 1; tokens <= 30; ++tokens) {
    CAPTURE(tokens);
    f.set("tokens", std::to_string(tokens));
    const app::Rect card = f.at("arcs");
    const Painted painted;
    for (const Words& w : painted.words()) {
      if (w.text != "query" || w.top < card.y) continue;
      ++seen;
      CHECK(w.top >= card.y + 40);
      CHECK(w.bottom <= f.at("query:0").y + 3);
    }
  }
  CHECK(seen > 10);
}

TEST_CASE("shown: the words beside the arcs thin out before they touch, and the chosen one stays") {
  Shown f(1440, 1600);
  for (const char* tokens : {"12", "30", "64", "1024"}) {
    CAPTURE(tokens);
    f.set("tokens", tokens);
    f.choose("weights", 7, 5);
    const app::Rect card = f.at("arcs");
    std::vector<float> lines;
    bool isChosenThere = false;
    const Painted painted;
    for (const Words& w : painted.words()) {
      if (w.midY() < card.y + 42 || w.left < card.x || w.right > card.x + card.width / 2 || w.text == "query")
        continue;
      isChosenThere |= w.text == "t8";
      lines.push_back(w.midY());
    }
    std::sort(lines.begin(), lines.end());
    REQUIRE(lines.size() >= 10);
    for (std::size_t i = 1; i < lines.size(); ++i)
      CHECK(lines[i] - lines[i - 1] >= 11);  // text is at whole pixels
    CHECK((isChosenThere ||
           f.option("tokens") == "1024"));  // the cells of 1024 tokens are too small to be clicked precisely
  }
}

constexpr const char* kLongWords =
    R"(["Donaudampfschifffahrtsgesellschaft", "incomprehensibilities", "Llanfairpwllgwyngyll", "antidisestablishmentarianism"])";

TEST_CASE("shown: beside the arcs of a pinned board words and numbers are apart") {
  for (const float width : {1440.0f, 1180.0f}) {
    Shown f(width, 900);
    f.set("labels", kLongWords), f.set("causal", "false"), f.set("pin", "true"), f.set("causal", "true");
    for (const bool byKey : {false, true}) {
      CAPTURE(byKey);
      f.choose(byKey ? "k" : "weights", 1, 0);
      const app::Rect card = f.at("arcs");
      const Painted painted;
      int numbers = 0;
      for (const Words& one : painted.words()) {
        if (one.text.find("→") == std::string::npos || one.left < card.x || one.right > card.x + card.width ||
            one.top < card.y + 42)
          continue;
        ++numbers;
        for (const Words& other : painted.words())
          if (&other != &one && std::abs(other.midY() - one.midY()) < 8)
            CHECK_MESSAGE((other.right < one.left || other.left > one.right), other.text, " and ", one.text);
      }
      CHECK(numbers >= 1);
    }
  }
}

TEST_CASE("shown: a hidden key has no bar of a weight") {
  Shown f(1440, 900);
  f.set("causal", "true");
  f.choose("weights", 1, 0);
  CHECK(f.words("inspector").find("hidden") != std::string::npos);
  const auto weightIn = [&](const char* bar) {
    const app::Rect b = f.at(bar);
    const ImU32 color = (f.app().palette().weight & ~IM_COL32_A_MASK) | 89u << IM_COL32_A_SHIFT;  // 0.35
    return Painted().extent(color, {b.x, b.y, b.x + b.width, b.y + b.height}).width();
  };
  CHECK(weightIn("bar:1:1") > 20);
  CHECK(weightIn("bar:1:2") <= 0);
}

TEST_CASE("shown: of a title that is too long the number stays") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {1100.0f, 900.0f}, {390.0f, 844.0f}}) {
    CAPTURE(width);
    Shown f(width, height);
    f.set("labels", kLongWords);
    f.choose("weights", 3, 2);
    const std::string card = f.words("inspector");
    CAPTURE(card);
    CHECK(card.find("…") != std::string::npos);
    CHECK(card.find("] = 0.69 ") != std::string::npos);
  }
}

// Each piece is laid out on its own, from left to right; in one, "W[a, b] = 0.69" would end in reverse order.
TEST_CASE("shown: a title that names words read from right to left is drawn in pieces") {
  for (const float width : {1440.0f, 390.0f, 640.0f}) {
    CAPTURE(width);
    Shown f(width, width < 600 ? 844.0f : width < 700 ? 440.0f : 900.0f);
    f.set("labels", R"(["رأيت", "منشارا", "في", "الحديقة"])");
    f.choose("weights", 0, 1);
    views::Mirror mirror;
    test::Faces::shared().all.mirror = &mirror;
    f.frame();
    test::Faces::shared().all.mirror = nullptr;
    for (const char* piece : {"W[رأيت₁, ", "منشارا₂", "]"}) {
      CAPTURE(piece);
      const std::size_t at = mirror.notes.find(base::joined({"\x1f", piece}));
      REQUIRE(at != std::string::npos);
      const std::string_view rest =
          std::string_view(mirror.notes).substr(at + 1 + std::string_view(piece).size());
      CHECK((rest.starts_with("\n") || rest.starts_with(" = ") || rest.starts_with("\x1f")));
    }
  }
}

TEST_CASE("shown: beside a small board the sum of the row stands clear of a long title") {
  Shown f(640, 440);
  f.set("labels", kLongWords);
  f.choose("weights", 3, 2);
  const app::Rect brief = f.at("brief");
  const Painted painted;
  const auto inBrief = [&](std::string_view part) {
    for (const Words& w : painted.words()) {
      if (w.text.find(part) != std::string::npos && w.left >= brief.x - 1 && w.midY() > brief.y &&
          w.midY() < brief.y + 28)
        return &w;
    }
    return static_cast<const Words*>(nullptr);
  };
  const Words *title = inBrief("W["), *sum = inBrief("Σ");
  REQUIRE(title);
  REQUIRE(sum);
  CHECK(sum->left > title->right + 8);
  CHECK(sum->right <= brief.x + brief.width + 1);
}

TEST_CASE("shown: Help says the kernels and the time of a frame, the median of the last ones") {
  Shown f;
  f.type('?');
  f.settle();
  CHECK(Painted().find("kernels"));
  CHECK_FALSE(Painted().find("ms per frame"));
  for (const float milliseconds : {2.0f, 900.0f, 3.3f, 1.0f, 4.0f}) f.app().noteFrameTime(milliseconds);
  f.frame();
  CHECK(Painted().find("3.3 ms per frame"));
}

TEST_CASE(
    "shown: beside a small board the formula is typeset, and the softmax is of the number that it gets") {
  Shown f(640, 440);
  f.choose("weights", 3, 1);
  CHECK(f.words("brief").find("exp") != std::string::npos);
  CHECK(f.words("brief").find("÷ 3") != std::string::npos);
  for (const auto& [option, value] : {std::pair("softcap", "1"), std::pair("position", "\"alibi\"")}) {
    CAPTURE(option);
    f.set(option, value);
    CHECK(std::abs(numberAfter(f.words("brief"), "softmax(") -
                   static_cast<double>(f.tensor("masked").at(0, 3, 1))) <= kHalf);
    f.set(option, value[0] == '1' ? "0" : "\"none\"");
  }
  REQUIRE(f.app().openText(
      R"({"q": [[1], [2]], "k": [[1], [1]], "v": [[1], [1]], "mask": [[0.5, -1], [2, -3]]})", "a.json"));
  f.settle();
  f.choose("weights", 1, 1);
  CHECK(numberAfter(f.words("brief"), "softmax(") == doctest::Approx(-1));
}

TEST_CASE(
    "shown: a score too large for a float is marked as a bound, in its cell and in the arithmetic, whatever "
    "the scale makes of it") {
  Shown f;
  REQUIRE(f.app().openText(
      R"({"q": [[1e30, 1, 0, 0], [-1e30, 2, 0, 0]], "k": [[1e30, 0, 0, 0], [0, 1, 0, 0]], "v": [[1], [2]]})",
      "a.json"));
  f.settle();
  CHECK(f.cell("scores", 0, 0) == "≥1e38");
  CHECK(f.cell("scores", 1, 0) == "≤−1e38");
  CHECK(numberIn(f.cell("scores", 1, 1)) == doctest::Approx(1));
  CHECK(f.cell("q", 0, 0).find("≥") == std::string::npos);  // it was given, and is what it says
  f.choose("scores", 0, 0);
  CHECK(f.words("inspector").find("= ≥ 1.70e38") != std::string::npos);
  CHECK(f.words("inspector").find("too large") != std::string::npos);
  f.set("scale", "0.001");
  CHECK(f.cell("scores", 0, 0) == "≥1e35");
  f.set("softcap", "5");
  CHECK(numberIn(f.cell("scores", 0, 0)) == doctest::Approx(5));  // as for any number beyond a float
}

TEST_CASE(
    "shown: a temperature that two decimals would make 0 is written with its digits, and the keys change "
    "it") {
  Shown f;
  f.set("temperature", "0.0004");
  CHECK(f.words("temperature-value").find("0.0004") != std::string::npos);
  f.type(']');
  CHECK(f.option("temperature") == "0.0005");
  CHECK(f.app().notice() == "Temperature 0.0005. Press [ to go back.");
  f.set("temperature", "1e-06");
  f.type('[');
  CHECK(f.option("temperature") == "1e-06");
  f.set("temperature", "1000000");
  f.type(']');
  CHECK(f.option("temperature") == "1000000");
}

TEST_CASE("shown: beside a small board with many words stand the strongest keys, the largest first") {
  Shown f(640, 440);
  f.set("tokens", "25");
  f.choose("weights", 20, 2);
  CHECK(Painted().find("The strongest of 25 keys"));
  const auto row = rowOf(f.tensor("weights"), 0, 20);
  std::vector<double> sorted(row);
  std::sort(sorted.rbegin(), sorted.rend());
  for (std::size_t i = 0; i < 5; ++i) {
    const std::string line = f.words("strongest:" + std::to_string(i));
    CAPTURE(line);
    CHECK(std::abs(std::stod(line.substr(line.rfind(' '))) - sorted[i]) <= kHalf);
  }
}

TEST_CASE("shown: beside the arithmetic stand the strongest keys that are seen, and no hidden one") {
  Shown f;
  f.set("tokens", "12");
  const auto sums = [&f](int row) {
    f.choose("weights", row, 0);
    const Painted painted;
    const Words* const words = painted.find("row " + std::to_string(row + 1) + ",");
    REQUIRE(words);
    return words->midY();
  };
  const float last = sums(11);
  int bars = 0;
  for (int j = 0; j < 12; ++j) bars += f.isThere("bar:11:" + std::to_string(j));
  CHECK(bars > 4);
  CHECK(sums(3) == doctest::Approx(last));  // fewer keys leave it where it is
  CHECK(Painted().find("The strongest of 12 keys"));
  CHECK(f.words("inspector").find("hidden") == std::string::npos);
  for (int j = 0; j < 12; ++j) CHECK(f.isThere("bar:3:" + std::to_string(j)) == (j <= 3));
  // A query that sees no key.
  std::string rows, mask;
  for (int i = 0; i < 12; ++i) {
    rows += (i > 0 ? ", [" : "[") + std::to_string(i) + "]";
    mask += i > 0 ? ", [" : "[";
    for (int j = 0; j < 12; ++j) mask += std::string(j > 0 ? ", " : "") + (i == 2 ? "false" : "true");
    mask += "]";
  }
  REQUIRE(f.app().openText(
      "{\"q\": [" + rows + "], \"k\": [" + rows + "], \"v\": [" + rows + "], \"mask\": [" + mask + "]}",
      "a.json"));
  f.settle();
  sums(2);
  CHECK(Painted().find("All 12 keys are hidden"));
  CHECK(!Painted().find("The strongest of"));
  CHECK(!f.isThere("bar:2:0"));
}

TEST_CASE("shown: weights too small for numbers are hatched where a key is masked, and only there") {
  Shown f(640, 440);
  f.set("tokens", "20");
  f.moveTo(-1000, -1000);
  f.settle();
  const Painted painted;
  const auto isHatched = [&](int row, int col) {
    const app::Rect r = f.at("weights", 0, row, col);
    return painted
               .extent(views::palette(false).border,
                       {r.x + 1, r.y + 1, r.x + r.width - 1, r.y + r.height - 1})
               .width() > 0;
  };
  REQUIRE(f.at("weights", 0, 0, 0).width < 20);
  for (const auto& [row, col] : {std::pair{0, 9}, {3, 4}, {8, 19}}) CHECK(isHatched(row, col));
  for (const auto& [row, col] : {std::pair{1, 0}, {4, 2}, {9, 5}}) CHECK(!isHatched(row, col));
}

TEST_CASE("shown: names of values stand clear of the ring of the chosen one and of their points") {
  Shown f;
  f.set("card", "\"values\"");
  f.choose("weights", 3, 2);
  const Painted painted;
  int seen = 0;
  for (int row = 0; row < 4; ++row) {
    const app::Rect tip = f.at("tip:v:" + std::to_string(row)), plane = f.at("values");
    const float x = tip.x + tip.width / 2, y = tip.y + tip.height / 2, radius = row == 2 ? 8 : 4.5f;
    const std::string letter =
        std::vector<std::string>{"v₁", "v₂", "v₃", "v₄"}[static_cast<std::size_t>(row)];
    for (const Words& w : painted.words()) {
      if (!w.text.starts_with(letter) || w.left < plane.x || w.right > plane.x + plane.width ||
          w.top < plane.y)
        continue;
      ++seen;
      CAPTURE(w.text);
      const float dx = std::max({w.left - x, x - w.right, 0.0f}),
                  dy = std::max({w.midY() - 6 - y, y - w.midY() - 6, 0.0f});
      CHECK(std::hypot(dx, dy) >= radius + 2);
    }
  }
  CHECK(seen == 4);
}

TEST_CASE("shown: the table of values has its words whole") {
  Shown f;
  f.set("card", "\"values\"");
  const app::Rect plane = f.at("values");  // the numbers are right of it
  int names = 0;
  const Painted painted;
  for (const Words& w : painted.words()) {
    if (w.top < plane.y || w.left < plane.x || w.right > plane.x + plane.width + 202) continue;
    CAPTURE(w.text);
    CHECK(w.text.find("…") == std::string::npos);
    names += w.text == "v₂ saw";
  }
  CHECK(names == 2);  // in the plane and in the table
}

TEST_CASE("shown: where positions are added to X, the formula of Q is of their sum") {
  Fixture f(1920, 1080);
  const auto below = [&] {
    const app::Rect at = f.at("caption:q");
    return test::Painted().in(at);
  };
  REQUIRE(f.app().openPreset("sinusoidal", true));
  f.settle();
  CHECK(below().find("(X + P)") != std::string::npos);
  REQUIRE(f.app().set("position", "\"none\""));
  f.settle();
  CHECK(below().find("P)") == std::string::npos);
  CHECK(below().find("X") != std::string::npos);
}

TEST_CASE("shown: rows of the table of positions are numbered by the position ids that are given") {
  Shown f;
  f.set("d_k", "4");
  f.set("position", "\"rotary\"");
  f.set("position_ids", "[7, 9, 11, 40]");
  REQUIRE(f.isThere("positions"));
  const app::Rect first = f.at("positions", 0, 0, 0), last = f.at("positions", 0, 3, 0);
  const Painted painted;
  CHECK(painted.in(first.x - 60, first.y, first.x - 2, last.y + last.height) == "7 9 11 40");
}

TEST_CASE("shown: a long axis has powers of ten from 10,000 on") {
  Shown f;
  f.set("view", "\"cost\"");
  const Painted painted;
  CHECK(painted.find("1e4"));
  for (const Words& w : painted.words()) CHECK(w.text != "10000");
}

TEST_CASE("shown: the chart of reach goes as far up as what explodes") {
  Shown f(1440, 3200);
  f.set("experiment", "\"reach\"");
  const auto slide = [&](const char* name, float to) {
    const app::Rect r = f.at(name);
    f.click({r.x + (r.width - 2) * to, r.y, 2, r.height});
  };
  slide("slider:steps", 1);
  slide("slider:recurrent", 0.7f);
  slide("slider:input", 0);
  const Tensor reach = f.tensor("reach:curve");
  double most = 0;
  for (int i = 0; i < reach.rows(); ++i) most = std::max(most, static_cast<double>(reach.at(0, i, 1)));
  REQUIRE(most > 2000);
  REQUIRE(std::isfinite(most));
  // The numbers of the axis are right-aligned; the lowest and the highest determine the positions of all
  // others.
  const Painted painted;
  std::map<int, std::map<double, float>> columns;
  for (const Words& w : painted.words()) {
    const double power = std::log10(numberIn(w.text));
    const bool isPower = w.text.find_first_not_of("0123456789.e") == std::string::npos &&
                         std::abs(std::remainder(power, 1)) < 1e-9;
    if (isPower) columns[static_cast<int>(std::lround(w.right / 3))][power] = w.midY();
  }
  const auto bySize = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
  const auto& ticks = std::max_element(columns.begin(), columns.end(), bySize)->second;
  REQUIRE(ticks.size() >= 4);
  const auto [low, bottom] = *ticks.begin();
  const auto [high, top] = *ticks.rbegin();
  // The axis ends at its last number; above it is the legend, in the same colour.
  const auto share = static_cast<float>((std::log10(most) - low) / (high - low));
  const Rectangle end = painted.extent(views::palette(false).key,
                                       {1000, top - 4, 1440, bottom + 4});  // other curves are left of it
  CHECK(end.width() > 100);
  CHECK(std::abs(end.top - (bottom + (top - bottom) * share)) < 3);
}

TEST_CASE("shown: with a sink its share stands beside each row, and with its weights makes 1") {
  for (const float width : {1440.0f, 390.0f}) {
    CAPTURE(width);
    Shown f(width, width > 600 ? 900.0f : 844.0f);
    f.set("causal", "false");
    f.set("softmax_sink", "true");
    f.choose("weights", 3, 1);
    const auto row = rowOf(f.tensor("weights"), 0, 3);
    double rest = 1;
    for (const double w : row) rest -= w;
    CHECK(rest > 0.05);
    const std::string words = f.words("inspector");  // in a formula too, without a number
    CHECK(std::abs(numberAfter(words.substr(words.find("sink 0")), "sink ") - rest) <= kHalf);
  }
}

TEST_CASE("shown: where the host asks for a few parts, nothing is drawn at the corner of the board") {
  for (const auto& [width, height] : {std::pair{735.0f, 560.0f}, {1110.0f, 560.0f}}) {
    CAPTURE(width);
    Shown f(width, height);
    app::Embed embed;
    embed.show = "q,k,v,weights,output,inspector";
    f.app().setEmbed(embed);
    f.settle();
    REQUIRE(f.isThere("brief"));
    CHECK(Painted().in(app::Rect{0, 0, 60, 40}).find("0.69") == std::string::npos);
  }
}

TEST_CASE("shown: the words of a title end before the slanted names above the matrix beside it") {
  Shown f(390, 400);
  app::Embed embed;
  embed.show = "q,weights";
  f.app().setEmbed(embed);
  REQUIRE(f.app().openPreset("additive", false));
  f.settle();
  const Painted painted;
  REQUIRE(!painted.slanted().empty());
  const app::Rect title = f.at("title:q");
  CHECK(title.x + title.width <= painted.slanted().front().left);
}

TEST_CASE("shown: at the edge of a phone a name without room for a letter is left out") {
  Shown f(390, 844);
  for (int tokens = 16; tokens <= 32; ++tokens) {
    CAPTURE(tokens);
    std::string sentence;
    for (int t = 0; t < tokens; ++t) sentence += "sawdust ";
    f.set("labels", '"' + sentence + '"');
    const Painted painted;
    REQUIRE(!painted.slanted().empty());
    for (const Words& w : painted.slanted()) CHECK(w.text != "…");
  }
}

TEST_CASE("shown: with tokens as columns, neither sums nor the words beside the bars touch a number") {
  Shown f(1440, 900);
  f.set("column_layout", "true");
  for (const char* columns : {"3", "13"}) {
    CAPTURE(columns);
    f.set("d_k", columns);
    const app::Rect last = f.at("weights", 0, 3, 3);
    const Painted painted;
    for (const Words& w : painted.words()) {
      const bool isSum = w.left < last.x + last.width && w.right > last.x - 3 * last.width &&
                         std::abs(w.midY() - last.y - last.height - 11) < 4;
      if (isSum) CHECK_MESSAGE(w.text.size() <= 4, w.text);
    }
  }
  Shown tablet(820, 1180);
  tablet.set("column_layout", "true");
  const Painted painted;
  const Words* said = painted.find("column 4, ");
  REQUIRE(said);
  for (const Words& w : painted.words())
    if (w.left > said->left + 1 && std::abs(w.midY() - said->midY()) < 12) CHECK(w.left >= said->right + 6);
}

TEST_CASE("shown: weights of many keys have their order of magnitude, not 0.00") {
  Shown f;
  f.set("tokens", "300");
  f.set("causal", "false");
  const app::Rect middle = f.at("weights", 0, 150, 150);
  f.app().pinch(middle.x, middle.y, 64, 0, 0), f.settle();
  int small = 0;
  for (int j = 148; j < 153; ++j) {
    const double weight = double{f.tensor("weights").at(0, 150, j)},
                 seen = numberIn(f.cell("weights", 150, j));
    CAPTURE(f.cell("weights", 150, j));
    small += weight < kHalf;
    const double step = weight < kHalf ? std::pow(10, std::floor(std::log10(weight))) : 0.01;  // of its digit
    CHECK(std::abs(seen - weight) <= 0.51 * step);
  }
  CHECK(small > 0);
}
