// The training page: curves, what each head attends to, the model's predictions for a sentence, and going
// back through the run.
#include <algorithm>
#include <cmath>

#include "attention/mechanisms/mechanism.h"
#include "base/random.h"
#include "base/sentence.h"
#include "document/text.h"
#include "views/head_tag.h"
#include "views/pages/chart.h"
#include "views/pages/column.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using document::OptionId;
using training::Answer;
using training::AttentionPlace;
using training::Examples;
using training::Measure;
using training::Trainer;

constexpr float kDigitsCell = 31;  // whose "0.25" does not touch that of the next

constexpr std::string_view kPositions[] = {"None", "Sinusoidal", "Rotary", "ALiBi", "Learned"};

std::string percent(float share) { return formatNumber(static_cast<double>(share) * 100, 1) + " %"; }
std::string decimals(float value, int digits) { return formatNumber(static_cast<double>(value), digits); }

/// The run, with the step, sentence and head that are shown.
class Look {
 public:
  explicit Look(Context& c) : view_(c.view.train), trainer_(c.derived.training.run()) {
    if (!trainer_) return;
    if (view_.answered.run != c.derived.training.number()) view_ = {};
    const training::History& history = trainer_->history();
    newest_ = trainer_->steps();
    if (view_.shown >= newest_ || history.kept().empty()) view_.shown = -1;
    const training::History::Kept* kept = view_.shown < 0 ? nullptr : history.at(view_.shown);
    step_ = kept ? kept->step : newest_;
    numbers_ = kept ? std::span<const float>(kept->numbers) : trainer_->numbers();
    for (const Measure& m : history.measures()) {
      if (m.step <= step_) measure_ = m, isMeasured_ = true;
    }
    const TrainView::Key now{c.derived.training.number(), step_, c.derived.training.sentence, view_.hidden};
    if (now != std::exchange(view_.answered, now)) {
      trainer_->answer(c.derived.training.chosen(*trainer_), numbers_, view_.hidden, view_.answer);
    }
    view_.attention = std::clamp(view_.attention, 0, static_cast<int>(view_.answer.maps.size()) - 1);
    if (view_.hidden == 0) return;
    // Measured on all held-out sequences, which takes longer: only at steps that were measured, or while the
    // run is paused.
    const TrainView::Key whole{now.run, c.state.trainRunning ? measure_.step : step_, -1, view_.hidden};
    if (whole != std::exchange(view_.measured, whole))
      view_.without = trainer_->measureOf(numbers_, view_.hidden);
  }

  explicit operator bool() const { return trainer_ != nullptr; }
  Trainer& trainer() const { return *trainer_; }
  const Examples& examples() const { return trainer_->examples(); }
  const training::History& history() const { return trainer_->history(); }
  const Answer& answer() const { return view_.answer; }
  TrainView& view() const { return view_; }
  int step() const { return step_; }
  int newest() const { return newest_; }
  bool isBack() const { return view_.shown >= 0; }
  std::span<const float> numbers() const { return numbers_; }
  const Measure& measure() const { return view_.hidden != 0 ? view_.without : measure_; }
  /// Has a measurement been made? The first one follows in time slices after the first frames of a run.
  bool isMeasured() const { return view_.hidden != 0 || isMeasured_; }
  training::Point point() const {
    training::Point found;
    for (const training::Point& p : history().points()) {
      if (p.step > step_) break;
      found = p;
    }
    return found;
  }

 private:
  TrainView& view_;
  Trainer* trainer_;
  int step_ = 0, newest_ = 0;
  Measure measure_;
  bool isMeasured_ = false;
  std::span<const float> numbers_;
};

// 1, 2 or 5 times a power of ten, such that two to six ticks reach `high`, however large the loss may have
// been.
double tickStep(double high) {
  const double unit = std::pow(10.0, std::floor(std::log10(high)));
  return unit * (high > 5 * unit ? 2 : high > 2 * unit ? 1 : 0.5);
}

/// 1, 3, 10, 30 … up to `last`.
std::vector<double> stepTicks(double last) {
  std::vector<double> ticks;
  for (double tick = 1; tick <= last; tick *= std::lround(std::log10(tick) * 2) % 2 == 0 ? 3 : 10.0 / 3)
    ticks.push_back(std::round(tick));
  return ticks;
}

/// The items that can be distinguished as a curve on a logarithmic axis.
template <class Item, class Value>
std::vector<Point> curve(std::span<const Item> items, const Value& value) {
  std::vector<Point> out;
  double next = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].step < next && i + 1 < items.size()) continue;
    const double y = value(items[i]);
    if (y >= 0 && std::isfinite(y)) out.push_back({static_cast<double>(items[i].step), y});
    next = items[i].step * 1.006;
  }
  return out;
}

class TrainPage {
 public:
  TrainPage(Context& c, const Look& look)
      : c_(c),
        w_(c, &c.view.experiments.focusRing),
        look_(look),
        list_(ImGui::GetWindowDrawList()) {}

  float draw(const Box& area) {
    const training::TaskWords& words = training::words(look_.trainer().setup().task);
    PageColumn top(c_, area.x, area.y, area.width);
    top.title(words.title);
    top.sentence(words.watch);
    Box below = area;
    below.y = top.y();
    const bool beside = area.width >= 860;
    const float first = beside ? std::round((area.width - 24) * 0.648f) : area.width;
    PageColumn left(c_, area.x, below.y, first);
    PageColumn right(c_, area.x + (beside ? first + 24 : 0), below.y,
                     beside ? area.width - first - 24 : area.width);
    strip(left);
    charts(left);
    maps(left);
    if (!beside) right.gap(left.y() - right.y());
    sentence(right);
    mistakes(right);
    return std::max(left.y(), right.y());
  }

 private:
  const Measure& measure() const { return look_.measure(); }
  bool isTags() const { return look_.examples().saw >= 0; }

  void stat(const Box& box, std::string_view label, const std::string& value, const base::Message& more) {
    textMiddle(list_, c_.fonts.small, box.x, box.y + 8, c_.palette.muted, label);
    textMiddle(list_, c_.fonts.title, box.x, box.y + 30, c_.palette.text, value);
    const float at = textWidth(c_.fonts.title, value) + 8;
    textMiddle(list_, c_.fonts.small, box.x + at, box.y + 31, c_.palette.muted,
               elide(c_.fonts.small, more, box.width - at));
  }

  void strip(PageColumn& column) {
    const training::TaskWords& words = training::words(look_.trainer().setup().task);
    const training::Point point = look_.point();
    column.openCard();
    const Box row = column.take(42);
    const int count = row.width >= 520 ? 4 : 2;
    // Column widths suit their content: the accuracy shares a column with what the task watches.
    static constexpr float kFour[] = {0, 0.27f, 0.53f, 0.84f, 1}, kTwo[] = {0, 0.53f, 1};
    const float* edges = count == 4 ? kFour : kTwo;
    const auto box = [&](int i) {
      const float from = edges[i % count] * row.width, to = edges[i % count + 1] * row.width;
      return Box{row.x + from, row.y + 48 * static_cast<float>(i / count), to - from - 14, 42};
    };
    if (count == 2) column.take(48);
    for (int i = 1; i < count; ++i)
      list_->AddLine({box(i).x - 14, row.y}, {box(i).x - 14, box(3).bottom()}, c_.palette.border);
    stat(box(0), "step", counted(look_.step()),
         base::message({counted(std::int64_t{look_.step()} * look_.trainer().setup().batch), " sentences"}));
    const bool began = look_.step() > 0;  // before the first step there is no batch
    const bool measured = look_.isMeasured(), watched = measured && measure().watched >= 0;
    stat(box(1), "loss, this batch", began ? decimals(point.loss, 3) : "–",
         base::message({"held out ", measured ? decimals(measure().loss, 3) : std::string("–")}));
    stat(box(2), "accuracy, held out", measured ? percent(measure().accuracy) : "–",
         !watched ? base::Message()
                  : base::message({words.measure, " ",
                                   isTags() ? percent(measure().watched) : decimals(measure().watched, 2)}));
    stat(box(3), "gradient norm", began ? decimals(point.gradientNorm, 3) : "–", "");
    c_.widgetRects["train:stats"] = row;
    column.closeCard();
  }

  void charts(PageColumn& column) {
    column.openCard();
    const float width = column.width();
    const bool beside = width >= 480;
    const Box row = column.take(beside ? 216 : 432);
    const Box first{row.x, row.y, beside ? (width - 20) / 2 : width, beside ? 216.0f : 208.0f};
    const Box second{beside ? first.right() + 20 : row.x, beside ? row.y : row.y + 224, first.width,
                     first.height};
    const double last = std::max(2.0, static_cast<double>(look_.newest()));
    const std::vector<double> ticks = stepTicks(last);
    const Axis steps{1, last, true, ticks, "step"};
    const auto points = look_.history().points();
    const auto measures = look_.history().measures();
    double high = 0.5;
    for (const Point& p : curve(measures, [](const Measure& m) { return static_cast<double>(m.loss); }))
      high = std::max(high, p.y);
    const double step = tickStep(high);
    high = std::ceil(high / step) * step;
    std::vector<double> losses;
    for (int i = 0; i * step <= high * (1 + 1e-9); ++i) losses.push_back(i * step);
    const ImU32 batch = c_.palette.key, held = c_.palette.query;
    Chart loss(c_, first, "Loss", steps, {0, high, false, losses, ""});
    loss.line(curve(points, [](const training::Point& p) { return static_cast<double>(p.loss); }), batch,
              1.2f);
    loss.line(curve(measures, [](const Measure& m) { return static_cast<double>(m.loss); }), held, 2);
    loss.legend("held out", held);
    loss.legend("this batch", batch);
    static constexpr double shares[] = {0, 0.25, 0.5, 0.75, 1};
    Chart accuracy(c_, second, "Accuracy, held out", steps, {0, 1, false, shares, ""});
    accuracy.line(curve(measures, [](const Measure& m) { return static_cast<double>(m.accuracy); }), held, 2);
    if (!measures.empty() && measures.back().watched >= 0) {
      accuracy.line(curve(measures, [](const Measure& m) { return static_cast<double>(m.watched); }),
                    c_.palette.weight, 2);
      accuracy.legend(training::words(look_.trainer().setup().task).measure, c_.palette.weight);
    }
    accuracy.legend(isTags() ? "all words" : "accuracy", held);
    const Point here[] = {{std::max(1.0, static_cast<double>(look_.step())), 0}};
    if (look_.isBack()) loss.mark(here[0].x, c_.palette.faint), accuracy.mark(here[0].x, c_.palette.faint);
    c_.widgetRects["train:loss"] = first;
    column.closeCard();
  }

  // --- What the heads attend to

  base::Message nameOf(const AttentionPlace& place) const {
    using Kind = AttentionPlace::Kind;
    return {place.kind == Kind::encoder            ? "encoder "
            : place.kind == Kind::cross            ? "cross "
            : look_.examples().sourceWords.empty() ? "layer "
                                                   : "decoder ",
            place.layer + 1};
  }

  std::string queryWord(const Answer::Map& map, int i) const {
    const auto& sequence = look_.answer().sequence;
    return map.place.kind == AttentionPlace::Kind::encoder
               ? word(look_.examples().sourceWords, sequence.source, i)
               : word(look_.examples().words, sequence.tokens, i);
  }
  std::string keyWord(const Answer::Map& map, int i) const {
    const auto& sequence = look_.answer().sequence;
    return map.place.kind == AttentionPlace::Kind::own
               ? word(look_.examples().words, sequence.tokens, i)
               : word(look_.examples().sourceWords, sequence.source, i);
  }
  static std::string word(const std::vector<std::string>& words, const std::vector<int>& tokens, int i) {
    return words[static_cast<std::size_t>(tokens[static_cast<std::size_t>(i)])];
  }

  void maps(PageColumn& column) {
    column.openCard();
    const Box head = column.take(26);
    textMiddle(list_, c_.fonts.strong, head.x, head.y + 6, c_.palette.text, "What the heads look at");
    const float titled = textWidth(c_.fonts.strong, "What the heads look at") + 12;
    textMiddle(list_, c_.fonts.small, head.x + titled, head.y + 7, c_.palette.muted,
               elide(c_.fonts.small,
                     base::message({"at step ", counted(look_.step()),
                                    ": rows ask, columns answer, rows sum to 1; click a head's name to "
                                    "switch it off"}),
                     head.width - titled));
    const auto& all = look_.answer().maps;
    const int heads = look_.trainer().setup().heads;
    const bool aside = isTags() && column.width() >= 560;
    const float left = 62, room = column.width() - (aside ? 228 : 0);
    int widest = 1;
    for (const Answer::Map& map : all) widest = std::max(widest, map.keys);
    const float most = widest <= 8 ? 36.0f : 28.0f, labels = widest <= 16 ? 54 : 8;
    const float cell = std::floor(std::clamp(
        (room - left - labels * static_cast<float>(heads) - 8) / static_cast<float>(widest * heads), 3.0f,
        most));
    const float pitch = cell * static_cast<float>(widest) + labels;
    const Box start = column.take(0);
    for (int h = 0; h < heads; ++h)
      headName(
          h,
          start.x + left + labels - 8 + pitch * static_cast<float>(h) + cell * static_cast<float>(widest) / 2,
          start.y + 8);
    column.take(16);
    for (std::size_t a = 0; a < all.size(); ++a) {
      const Answer::Map& map = all[a];
      const float wordsHigh = cell >= 14 ? 18.0f : 6.0f;
      const bool isTagged = !map.tags.empty() && cell * static_cast<float>(map.keys) >= kTagWidth;
      const Box row = column.take(wordsHigh + cell * static_cast<float>(map.queries) +
                                  (isTagged ? kTagHeight + 4 : 12.0f));
      textMiddle(list_, c_.fonts.smallStrong, row.x, row.y + wordsHigh + std::min(cell, 28.0f) / 2,
                 c_.palette.text, nameOf(map.place));
      for (int h = 0; h < heads; ++h) {
        const Box box{row.x + left + labels - 8 + pitch * static_cast<float>(h), row.y + wordsHigh,
                      cell * static_cast<float>(map.keys), cell * static_cast<float>(map.queries)};
        drawMap(static_cast<int>(a), h, box, cell);
        if (isTagged) headTag(c_, map.tags[static_cast<std::size_t>(h)], box.x, box.bottom() + 3);
      }
    }
    const float below = column.y();
    if (aside) nounLike({start.x + room + 12, start.y, 216, std::max(below - start.y - 44, 220.0f)});
    const float bottom = aside ? std::max(below, start.y + 264) : below;
    column.gap(bottom - below);
    const Box open = aside ? Box{start.x + room + 12, bottom - 38, 216, 28}
                           : Box{start.x, column.take(38).y, std::min(column.width(), 216.0f), 28};
    if (w_.button("train:open", open, "Open this layer on the board", true)) openOnBoard();
    column.closeCard();
  }

  bool isOff(int attention, int head) const {
    return (look_.view().hidden >> (attention * look_.trainer().setup().heads + head) & 1) != 0;
  }

  /// The name of a head; a press switches the head off in every layer, or on again.
  void headName(int head, float x, float y) {
    const int heads = look_.trainer().setup().heads, layers = static_cast<int>(look_.answer().maps.size());
    const bool off = isOff(0, head);
    const base::Message words{"head ", head + 1, off ? " (off)" : ""};
    const float half = textWidth(c_.fonts.smallStrong, words) / 2 + 8;
    const Box box{x - half, y - 10, 2 * half, 20};
    const bool pressed = w_.area(base::joined({"train:head:", head}), box);
    if (ImGui::IsItemHovered())
      list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.hover, 4);
    textCentered(list_, c_.fonts.smallStrong, x, y, off ? c_.palette.faint : c_.palette.text, words);
    if (!pressed) return;
    for (int a = 0; a < layers && a * heads + head < 64; ++a)
      look_.view().hidden ^= std::uint64_t{1} << (a * heads + head);
  }

  void drawMap(int attention, int head, const Box& box, float cell) {
    const Answer::Map& map = look_.answer().maps[static_cast<std::size_t>(attention)];
    const bool chosen = look_.view().attention == attention && look_.view().head == head;
    const float gap = cell >= 20 ? 1.5f : cell >= 8 ? 0.5f : 0;
    const bool causal = map.place.kind == AttentionPlace::Kind::own &&
                        (look_.trainer().setup().causal || !look_.examples().sourceWords.empty());
    if (w_.area(base::joined({"train:map:", attention, ":", head}), box))
      look_.view().attention = attention, look_.view().head = head;
    const float* weights = map.weights.data() + std::ptrdiff_t{head} * map.queries * map.keys;
    const float fade = isOff(0, head) ? 0.25f : 1.0f;
    const bool isPicture = cell < 14;  // too small for text: drawn as a texture
    if (isPicture) picture(attention, head, weights, box, cell, fade);
    for (int i = 0; !isPicture && i < map.queries; ++i) {
      const float y = box.y + cell * static_cast<float>(i);
      if (!ImGui::IsRectVisible({box.x, y}, {box.right(), y + cell})) continue;
      if (cell >= 14)
        textRight(list_, c_.fonts.small, box.x - 8, y + cell / 2, c_.palette.text,
                  elide(c_.fonts.small, queryWord(map, i), 44));
      for (int j = 0; j < map.keys; ++j) {
        const ImVec2 from{box.x + cell * static_cast<float>(j) + gap, y + gap},
            to{from.x + cell - 2 * gap, from.y + cell - 2 * gap};
        if (causal && j > i) {
          hatched(list_, c_.palette, {from.x, from.y, to.x - from.x, to.y - from.y});
          continue;
        }
        const float w = weights[std::ptrdiff_t{i} * map.keys + j];
        const draw::Color color = draw::at(c_.palette.weightMap, w);
        list_->AddRectFilled(from, to, withAlpha(toU32(color), fade), cell >= 14 ? 2.0f : 0.0f);
        if (cell >= kDigitsCell)
          textCentered(list_, c_.fonts.monoSmall, from.x + cell / 2 - gap, y + cell / 2,
                       fade < 1 ? c_.palette.faint : textOn(color), decimals(w, 2));
      }
    }
    if (cell >= 14) {
      for (int j = 0; j < map.keys; ++j) {
        textCentered(list_, c_.fonts.small, box.x + cell * (static_cast<float>(j) + 0.5f), box.y - 9,
                     c_.palette.text, elide(c_.fonts.small, keyWord(map, j), cell + 4));
      }
    }
    list_->AddRect({box.x - 2, box.y - 2}, {box.right() + 2, box.bottom() + 2},
                   chosen ? c_.palette.weight : c_.palette.border, 4, 0, chosen ? 2.0f : 1.0f);
  }

  void picture(int attention, int head, const float* weights, const Box& box, float cell, float fade) {
    constexpr std::uint32_t kSlot = 5800;
    const Answer::Map& map = look_.answer().maps[static_cast<std::size_t>(attention)];
    const TrainView::Key& key = look_.view().answered;
    const std::uint64_t version = base::mix(base::mix(base::mix(static_cast<std::uint64_t>(key.run)) ^
                                                      static_cast<std::uint64_t>(key.step)) ^
                                            static_cast<std::uint64_t>(key.sentence)) ^
                                  key.hidden;
    draw::Heatmap look;
    look.x = box.x, look.y = box.y, look.cell = cell;
    look.gap = cell >= 8 ? 1.0f : 0.0f;
    look.map = c_.palette.weightMap, look.low = 0, look.high = 1 / fade;
    const auto slot = kSlot + static_cast<std::uint32_t>(attention * look_.trainer().setup().heads + head);
    c_.heatmaps.draw(list_, slot, {weights, map.queries, map.keys, map.keys, version}, look);
  }

  void nounLike(const Box& box) {
    list_->AddLine({box.x - 12, box.y}, {box.x - 12, box.bottom() + 40}, c_.palette.border);
    textMiddle(list_, c_.fonts.smallStrong, box.x, box.y + 8, c_.palette.text, "How noun-like is a saw?");
    const auto measures = look_.history().measures();
    static constexpr double shares[] = {0, 0.5, 1};
    const double last = std::max(2.0, static_cast<double>(look_.newest()));
    const std::vector<double> ticks = stepTicks(last);
    Chart chart(c_, {box.x, box.y + 18, box.width, box.height - 18}, "mean p(noun)",
                {1, last, true, ticks, "step"}, {0, 1, false, shares, ""});
    chart.line(curve(measures, [](const Measure& m) { return static_cast<double>(m.sawNoun); }),
               c_.palette.value, 2);
    chart.line(curve(measures, [](const Measure& m) { return static_cast<double>(m.sawVerb); }),
               c_.palette.key, 2);
    chart.legend("a verb", c_.palette.key);
    chart.legend("a noun", c_.palette.value);
    if (look_.isBack()) chart.mark(look_.step(), c_.palette.faint);
  }

  void openOnBoard() {
    auto state =
        document::layerOf(c_.state, look_.trainer(), look_.numbers(), look_.answer(), look_.view().attention);
    if (!state) return c_.requests.say(state.error().said());
    state->focusHead = look_.view().head;
    c_.requests.opened = std::move(*state);
  }

  // --- One sentence

  void sentence(PageColumn& column) {
    const Examples& examples = look_.examples();
    document::Training& run = c_.derived.training;
    const int held = static_cast<int>(examples.heldOut.size()),
              count = held + static_cast<int>(examples.own.size());
    column.openCard();
    const Box head = column.take(30);
    const float wide = c_.roomy() ? 132 : 100;
    const int step = w_.stepper("train:sentence", {head.right() - wide, head.y, wide, 26},
                                std::to_string(run.sentence + 1), run.sentence > 0, run.sentence + 1 < count);
    run.sentence = std::clamp(run.sentence + step, 0, count - 1);
    const std::string_view kind = run.sentence < held ? "held out" : "your own";
    const float words = head.width - wide - 8;
    textMiddle(list_, c_.fonts.strong, head.x, head.y + 8, c_.palette.text,
               elide(c_.fonts.strong, examples.sentence(look_.answer().sequence), words));
    textMiddle(list_, c_.fonts.small, head.x, head.y + 24, c_.palette.muted,
               base::message({base::Message(kind), ", ", run.sentence + 1, " of ", count}));
    column.gap(8);
    table(column);
    column.closeCard();
  }

  void table(PageColumn& column) {
    const Examples& examples = look_.examples();
    const Answer& answer = look_.answer();
    const float width = column.width(), second = width * 0.26f, third = width * 0.7f;
    const Box title = column.take(22);
    textMiddle(list_, c_.fonts.small, title.x, title.midY(), c_.palette.muted,
               examples.sourceWords.empty() ? "word" : "after");
    textMiddle(list_, c_.fonts.small, title.x + second, title.midY(), c_.palette.muted, "predicted");
    textMiddle(list_, c_.fonts.small, title.x + third, title.midY(), c_.palette.muted, "target");
    int asked = 0;
    std::vector<int> rows;
    for (int i = 0; i < static_cast<int>(answer.said.size()); ++i) {
      const bool isAsked = answer.sequence.targets[static_cast<std::size_t>(i)] >= 0;
      asked += isAsked;
      if (isAsked || c_.derived.training.sentence >= static_cast<int>(examples.heldOut.size()))
        rows.push_back(i);
    }
    constexpr std::size_t kRows = 10;
    if (rows.size() > kRows) rows.erase(rows.begin(), rows.end() - kRows);
    for (const int i : rows) {
      const auto at = static_cast<std::size_t>(i);
      const Box row = column.take(33);
      list_->AddLine({row.x, row.y}, {row.right(), row.y}, withAlpha(c_.palette.border, 0.8f));
      const int said = answer.said[at], target = answer.sequence.targets[at];
      const float chance =
          answer.probabilities[at * examples.classes.size() + static_cast<std::size_t>(said)];
      const bool right = target < 0 || said == target;
      const ImU32 color = right ? c_.palette.on : c_.palette.error;
      const bool isSaw = answer.sequence.tokens[at] == examples.saw;
      textMiddle(list_, isSaw ? c_.fonts.strong : c_.fonts.text, row.x, row.midY(), c_.palette.text,
                 elide(c_.fonts.text, word(examples.words, answer.sequence.tokens, i), second - 8));
      textMiddle(list_, c_.fonts.text, row.x + second, row.y + 11, right ? c_.palette.text : color,
                 examples.classes[static_cast<std::size_t>(said)]);
      const float left = row.x + second, wide = third - second - 16;
      textRight(list_, c_.fonts.monoSmall, left + wide, row.y + 11, c_.palette.muted, decimals(chance, 2));
      list_->AddRectFilled({left, row.y + 22}, {left + wide, row.y + 27}, c_.palette.track, 2);
      list_->AddRectFilled({left, row.y + 22}, {left + std::max(3.0f, wide * chance), row.y + 27}, color, 2);
      if (target < 0) continue;
      textMiddle(
          list_, c_.fonts.text, row.x + third, row.midY(), c_.palette.text,
          elide(c_.fonts.text, examples.classes[static_cast<std::size_t>(target)], width - third - 20));
      mark({row.right() - 8, row.midY()}, right, color);
    }
    column.gap(6);
    if (asked == 0)
      return column.sentence("Nothing says what is right here; this is what the model makes of it.");
    const base::Message words = answer.wrong == 0 ? base::message({"All ", asked, " right."})
                                                  : base::message({answer.wrong, " of ", asked, " wrong."});
    const Box line = column.take(20);
    textMiddle(list_, c_.fonts.strong, line.x, line.midY(),
               answer.wrong == 0 ? c_.palette.on : c_.palette.error, words);
    remark(column);
  }

  /// A tick or a cross.
  void mark(ImVec2 at, bool right, ImU32 color) {
    if (right) {
      list_->PathLineTo({at.x - 5, at.y}), list_->PathLineTo({at.x - 1.5f, at.y + 4}),
          list_->PathLineTo({at.x + 5, at.y - 5});
      return list_->PathStroke(color, 0, 1.8f);
    }
    list_->AddLine({at.x - 4, at.y - 4}, {at.x + 4, at.y + 4}, color, 1.8f);
    list_->AddLine({at.x - 4, at.y + 4}, {at.x + 4, at.y - 4}, color, 1.8f);
  }

  /// A sentence about what the selected head does with the last word that has a target.
  void remark(PageColumn& column) {
    const Answer& answer = look_.answer();
    const Answer::Map& map = answer.maps[static_cast<std::size_t>(look_.view().attention)];
    const int head = std::min(look_.view().head, look_.trainer().setup().heads - 1);
    const int row = map.queries - 1;
    const float* w = map.weights.data() + (std::ptrdiff_t{head} * map.queries + row) * map.keys;
    const int most = static_cast<int>(std::max_element(w, w + map.keys) - w);
    column.sentence(base::message({"At the last word, \"", queryWord(map, row), "\", head ", head + 1, " of ",
                                   nameOf(map.place), " gives ", decimals(w[most], 2), " to \"",
                                   keyWord(map, most), "\"."}));
    if (!map.tags.empty()) column.sentence(tagSentence(map.tags[static_cast<std::size_t>(head)]));
  }

  // --- What goes wrong

  void mistakes(PageColumn& column) {
    column.openCard(isTags() ? "Every saw in the held-out sentences" : "");
    if (isTags()) confusion(column);
    hardest(column);
    column.closeCard();
  }

  void confusion(PageColumn& column) {
    static constexpr std::string_view kSaid[] = {"said noun", "said verb", "said other"};
    const Trainer::Said counts = look_.isMeasured() ? look_.trainer().saidOf(measure()) : Trainer::Said{};
    const Box box = column.take(98);
    c_.widgetRects["train:confusion"] = box;
    const float left = box.x + 96, wide = std::min(110.0f, (box.width - 96) / 3);
    for (int said = 0; said < 3; ++said) {
      textCentered(list_, c_.fonts.small, left + wide * (static_cast<float>(said) + 0.5f), box.y + 8,
                   c_.palette.muted, elide(c_.fonts.small, kSaid[said], wide - 4));
    }
    int all = 1;
    for (const auto& row : counts) all = std::max(all, row[0] + row[1] + row[2]);
    for (int is = 0; is < 2; ++is) {
      const float y = box.y + 20 + 36 * static_cast<float>(is);
      textRight(list_, c_.fonts.text, left - 10, y + 18, c_.palette.text,
                is == 0 ? "is a noun" : "is a verb");
      for (int said = 0; said < 3; ++said) {
        const int count = counts[static_cast<std::size_t>(is)][static_cast<std::size_t>(said)];
        const draw::Color color =
            draw::at(c_.palette.weightMap, static_cast<float>(count) / static_cast<float>(all));
        const ImVec2 from{left + wide * static_cast<float>(said) + 1.5f, y + 1.5f};
        list_->AddRectFilled(from, {from.x + wide - 3, from.y + 33}, toU32(color), 3);
        if (look_.isMeasured())
          textCentered(list_, c_.fonts.mono, from.x + wide / 2 - 1.5f, y + 18, textOn(color),
                       std::to_string(count));
      }
    }
    list_->AddRect({left - 1, box.y + 19}, {left + 3 * wide + 1, box.y + 93}, c_.palette.border, 4);
  }

  void hardest(PageColumn& column) {
    const Examples& examples = look_.examples();
    const auto losses = look_.trainer().losses();
    const Box title = column.take(26);
    textMiddle(list_, c_.fonts.smallStrong, title.x, title.midY(), c_.palette.text, "Hardest sentences now");
    textRight(list_, c_.fonts.small, title.right(), title.midY(), c_.palette.muted, "loss per word");
    std::vector<int> order(losses.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    const std::size_t count = std::min<std::size_t>(6, order.size());
    const auto loss = [&](int i) { return losses[static_cast<std::size_t>(i)]; };
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [&](int a, int b) { return loss(a) > loss(b); });
    const float most = count > 0 ? std::max(loss(order[0]), 0.01f) : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const int n = order[i];
      const Box row = column.take(c_.roomy() ? 44 : 28);
      if (w_.area(base::joined({"train:hardest:", static_cast<int>(i)}), row))
        c_.derived.training.sentence = n;
      if (ImGui::IsItemHovered())
        list_->AddRectFilled({row.x - 6, row.y}, {row.right() + 6, row.bottom()}, c_.palette.hover, 4);
      textMiddle(list_, c_.fonts.text, row.x, row.midY(), c_.palette.text,
                 elide(c_.fonts.text, examples.sentence(examples.heldOut[static_cast<std::size_t>(n)]),
                       row.width - 130));
      const float left = row.right() - 118;
      list_->AddRectFilled({left, row.midY() - 2}, {left + 60, row.midY() + 3}, c_.palette.track, 2);
      list_->AddRectFilled({left, row.midY() - 2},
                           {left + std::max(3.0f, 60 * loss(n) / most), row.midY() + 3},
                           loss(n) > 0.69f ? c_.palette.error : c_.palette.muted, 2);
      textRight(list_, c_.fonts.monoSmall, row.right(), row.midY(), c_.palette.text, decimals(loss(n), 2));
    }
  }

  Context& c_;
  Widgets w_;
  const Look& look_;
  ImDrawList* list_;
};

/// Task, model and optimiser.
class Controls {
 public:
  Controls(Context& c, const Box& area)
      : c_(c),
        w_(c, nullptr),
        list_(ImGui::GetWindowDrawList()),
        column_(c, nullptr, area.x, area.y, area.width) {}

  float draw() {
    const training::Setup& now = c_.state.training;
    heading("TASK");
    menu(
        "train_task", OptionId::train_task,
        [](int i) { return training::words(static_cast<training::Task>(i)).title; },
        static_cast<int>(now.task));
    sentences();
    column_.gap(4);
    heading("MODEL");
    count("train_layers", "Layers", OptionId::train_layers, now.layers, 1);
    count("train_heads", "Heads", OptionId::train_heads, now.heads, 0);
    count("train_d_model", "d_model", OptionId::train_d_model, now.modelDim,
          now.heads * (now.position == training::Positions::rotary ? 2 : 1));
    flip("train_feed_forward", "Feed-forward", OptionId::train_feed_forward, now.feedForward);
    flip("train_layer_norm", "Layer norm", OptionId::train_layer_norm, now.layerNorm);
    flip("train_residual", "Residual", OptionId::train_residual, now.residual);
    if (!training::isTranslation(now)) flip("train_causal", "Causal", OptionId::train_causal, now.causal);
    menu(
        "train_position", OptionId::train_position, [](int i) { return kPositions[i]; },
        static_cast<int>(now.position), "Positions");
    menu(
        "train_score", OptionId::train_score,
        [](int i) { return attention::mechanismOf(static_cast<attention::Score>(i)).title; },
        static_cast<int>(now.score), "Score");
    column_.number(OptionId::train_dropout, "train_dropout", "Dropout",
                   {0, training::Limits::dropout, 20, 2});
    if (Trainer* trainer = c_.derived.training.run())
      column_.sentence(
          base::message({counted(static_cast<std::int64_t>(trainer->model().size())), " parameters"}));
    heading("OPTIMISER");
    static constexpr std::string_view kKinds[] = {"SGD", "Mom.", "Adam"};
    setChoice(c_, OptionId::train_optimizer,
              column_.choice("train_optimizer", "", kKinds, static_cast<int>(now.optimizer)));
    float at = static_cast<float>(std::clamp((std::log10(now.rate) + 5) / 5, 0.0, 1.0));
    if (column_.slider("train_rate", "Rate", document::toJson(now.rate), at, 0.02f,
                       &document::option(OptionId::train_rate))) {
      const double rate = std::pow(10.0, 5 * static_cast<double>(at) - 5),
                   digit = std::pow(10.0, std::floor(std::log10(rate)));
      set(c_, OptionId::train_rate, std::max(1e-5, std::round(rate / digit) * digit), kSliderGesture);
    }
    count("train_batch", "Batch", OptionId::train_batch, now.batch, 4);
    count("train_seed", "Seed", OptionId::train_seed, static_cast<double>(now.seed), 1);
    column_.gap(8);
    buttons();
    return column_.y();
  }

 private:
  void heading(std::string_view words) {
    const Box box = column_.take(26);
    textMiddle(list_, c_.fonts.smallStrong, box.x, box.y + 10, c_.palette.muted, words);
  }

  template <class Title>
  void menu(std::string_view name, OptionId id, const Title& title, int now, std::string_view label = {}) {
    const Box row = column_.take(36);
    Box box{row.x, row.y, row.width, 28};
    if (!label.empty()) {
      textMiddle(list_, c_.fonts.text, row.x, row.y + 14, c_.palette.text, label);
      box.x += 84, box.width -= 84;
    }
    w_.menuButton(name, box, elide(c_.fonts.text, title(now), box.width - 34));
    if (!w_.beginMenu(name, label.empty() ? 240 : 140)) return;
    const int count = static_cast<int>(document::option(id).choices.size());
    for (int i = 0; i < count; ++i) {
      if (w_.menuItem(std::string(name) + ":" + std::to_string(i), title(i), i == now) && i != now)
        setChoice(c_, id, i);
    }
    w_.endMenu();
  }

  /// Some sentences to train on; a click opens the field for the user's own.
  void sentences() {
    Trainer* trainer = c_.derived.training.run();
    if (!trainer) return column_.sentence(c_.derived.training.error()->said());
    const Examples& e = trainer->examples();
    const bool editable =
        c_.state.training.task == training::Task::tags || training::isTranslation(c_.state.training);
    const Box box = column_.take(100);
    list_->AddRect({box.x, box.y}, {box.right(), box.y + 94}, c_.palette.border, 5);
    for (int i = 0; i < 4; ++i) {
      textMiddle(list_, c_.fonts.small, box.x + 10, box.y + 12 + 16 * static_cast<float>(i), c_.palette.text,
                 elide(c_.fonts.small, e.sentence(e.learned(i)), box.width - 20));
    }
    const base::Message more = e.learnCount > 4 ? base::message({"… ", counted(e.learnCount - 4), " more"})
                                                : base::Message("… and as many as it takes");
    textRight(list_, c_.fonts.small, box.right() - 8, box.y + 80, c_.palette.muted, more);
    if (editable && w_.area("train_sentences", {box.x, box.y, box.width, 94}) &&
        !c_.locked("train_sentences")) {
      TextTarget t;
      t.kind = TextTarget::Kind::option;
      t.option = OptionId::train_sentences, t.name = "train_sentences";
      t.text = document::toJson(document::Value(c_.state.training.sentences));
      t.box = {box.x, box.y, box.width, 28};
      c_.requests.text = t;
    }
    const std::string held = counted(static_cast<std::int64_t>(e.heldOut.size()));
    column_.sentence(e.learnCount > 0
                         ? base::message({counted(e.learnCount), " to learn from, ", held, " held out"})
                         : base::message({held, " held out"}));
  }

  void count(std::string_view name, std::string_view label, OptionId id, double now, int step) {
    const document::Option& option = document::option(id);
    const auto next = [&](int direction) {
      if (step > 0) return now + direction * step;
      double n = now;  // the next divisor, for heads
      do n += direction;
      while (n >= option.min && n <= option.max && c_.state.training.modelDim % static_cast<int>(n) != 0);
      return n;
    };
    const auto fits = [&](double n) { return n >= option.min && n <= option.max; };
    const int pressed =
        column_.stepper(name, label, counted(static_cast<std::int64_t>(now)), fits(next(-1)), fits(next(1)));
    if (pressed != 0) set(c_, id, next(pressed));
  }

  void flip(std::string_view name, std::string_view label, OptionId id, bool on) {
    if (column_.toggle(name, label, on)) set(c_, id, !on);
  }

  void buttons() {
    const Box row = column_.take(36);
    const float each = (row.width - 16) / 3;
    if (w_.button("train:play", {row.x, row.y, each, 28}, c_.state.trainRunning ? "Pause" : "Play", true)) {
      set(c_, OptionId::train_running, !c_.state.trainRunning);
      c_.view.train.shown = -1;
    }
    if (w_.button("train:step", {row.x + each + 8, row.y, each, 28}, "Step"))
      c_.requests.trainSteps = 1, c_.view.train.shown = -1;
    if (w_.button("train:reset", {row.x + 2 * (each + 8), row.y, each, 28}, "Reset"))
      c_.requests.trainAnew = true;
  }

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  PageColumn column_;
};

}  // namespace

float trainPage(Context& c, const Box& area) {
  const Look look(c);
  if (look) return TrainPage(c, look).draw(area);
  PageColumn column(c, area.x, area.y, area.width);
  column.title("There is no run");
  column.sentence(c.derived.training.error()->said());
  return column.y();
}

float trainControls(Context& c, const Box& area) { return Controls(c, area).draw(); }

void trainBar(Context& c, const Box& bar) {
  Trainer* trainer = c.derived.training.run();
  if (!trainer) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  Widgets w(c);
  TrainView& view = c.view.train;
  const auto kept = trainer->history().kept();
  list->AddRectFilled({bar.x, bar.y}, {bar.right(), bar.bottom()}, c.palette.panel);
  list->AddLine({bar.x, bar.y}, {bar.right(), bar.y}, c.palette.border);
  const double last = std::max(2, trainer->steps());
  int at = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (view.shown < 0 || kept[i].step <= view.shown) at = static_cast<int>(i);
  }
  const int count = static_cast<int>(kept.size());
  const auto go = [&](int to) {
    if (count == 0) return;
    set(c, OptionId::train_running, false);
    to = std::clamp(to, 0, count - 1);
    view.shown = to == count - 1 ? -1 : kept[static_cast<std::size_t>(to)].step;
  };
  float x = bar.x + 14;
  const float each = c.roomy() ? 42 : 28;  // with the gap, as wide as a finger
  const auto button = [&](std::string_view name, std::string_view words, float wide) {
    const bool pressed = w.button(name, {x, bar.y + 8, wide, 28}, words);
    x += wide + 4;
    return pressed;
  };
  if (button("train:first", "«", each)) go(0);
  if (button("train:back", "‹", each)) go(at - 1);
  if (button("train:run", c.state.trainRunning ? "Pause" : "Play", 58))
    set(c, OptionId::train_running, !c.state.trainRunning), view.shown = -1;
  if (button("train:next", "›", each)) go(at + 1);
  if (button("train:last", "»", each)) go(count - 1);
  const base::Message words{"step ", counted(view.shown < 0 ? trainer->steps() : view.shown)};
  textMiddle(list, c.fonts.strong, x + 8, bar.midY(), c.palette.text, words);
  const Box track{x + 96, bar.y + 2, bar.right() - x - 96 - 24, 28};
  if (track.width < 80) return;
  const auto place = [&](double step) {
    return static_cast<float>(std::log(std::max(step, 1.0)) / std::log(last));
  };
  float position = place(view.shown < 0 ? trainer->steps() : view.shown);
  for (double tick = 1; tick <= last; tick *= 10) {
    const float along = track.x + 7 + (track.width - 14) * place(tick);
    list->AddLine({along, bar.y + 22}, {along, bar.y + 26}, c.palette.faint);
    textCentered(list, c.fonts.monoSmall, along, bar.y + 34, c.palette.muted,
                 counted(static_cast<std::int64_t>(tick)));
  }
  if (!w.slider("train:scrub", track, position, 0)) return;
  set(c, OptionId::train_running, false);
  const double step = std::exp(static_cast<double>(position) * std::log(last));
  const training::History::Kept* found = trainer->history().at(static_cast<int>(std::lround(step)));
  view.shown = !found || found == &kept.back() ? -1 : found->step;
}

}  // namespace views
