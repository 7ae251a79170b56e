#include "views/pages/model_switches.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/sentence.h"
#include "document/layers.h"
#include "training/divergence.h"
#include "views/panels/panels.h"
#include "views/work.h"

namespace views {
namespace {

using base::joined;

constexpr int kMostSwitches = 64;  // bits of training::Model::Pass::hidden
constexpr std::size_t kLikeliest = 10;

using HeadKind = ModelSwitches::HeadChange::Kind;
/// What pressing a head does.
constexpr struct {
  HeadKind kind;
  float factor;
  std::string_view label, tile;
} kWays[] = {{HeadKind::scale, 0.0f, "Off", ""},
             {HeadKind::scale, 0.5f, "Half its output", "× 0.5"},
             {HeadKind::scale, 2.0f, "Twice its output", "× 2"},
             {HeadKind::uniform, 0.0f, "The same weight for all keys", "even"},
             {HeadKind::mean, 0.0f, "Its mean for all queries", "mean"},
             {HeadKind::replace, 0.0f, "The weights of the board", "board"}};

class Switches {
 public:
  Switches(Context& c, training::Trainer& trainer, int& token)
      : c_(c),
        view_(c.view.model.switches),
        trainer_(trainer),
        numbers_(*training::learnedNumbers(c.state.training)),
        chosen_(token) {}

  void draw(PageColumn& column) {
    column.openCard("What the prediction depends on");
    for (const bool ofKeys : {true, false}) {
      if (ofKeys && !c_.state.cross) continue;
      sentenceField(c_, widgets_, ofKeys ? "model:key_labels" : "model:labels", column.take(28), ofKeys);
      column.gap(8);
    }
    auto sequence = document::sequenceOf(trainer_, c_.state);
    if (!sequence) {
      column.sentence(sequence.error().said());
      return column.closeCard();
    }
    chooseToken(c_, column, chosen_);
    token_ = static_cast<std::size_t>(chosen_ < 0 ? c_.state.tokens - 1 : chosen_);
    const base::Message wrong = aim(*sequence);
    answer(*sequence);
    column.gap(4);
    ways(column);
    column.sentence(
        "Press a head to change it in this way. The number on it says how much the prediction at this token "
        "changes without it alone: the KL divergence, in bit.");
    column.gap(6);
    map(column);
    progress(column);
    predictions(column);
    targets(column, wrong);
    column.closeCard();
  }

 private:
  int attentions() const { return static_cast<int>(trainer_.model().attentions().size()); }
  int heads() const { return trainer_.setup().heads; }
  int tried() const { return static_cast<int>(view_.alone.size()); }
  int switches() const { return std::min(attentions() * heads(), kMostSwitches); }
  int classes() const { return trainer_.model().classes(); }

  /// Runs the model for the sentence on the board, with all heads and with those that are on; and, two heads
  /// a frame, without each head alone.
  void answer(const training::Sequence& sequence) {
    const bool isNew = view_.model != c_.state.training.learned || view_.asked.tokens != sequence.tokens ||
                       view_.asked.source != sequence.source;
    if (isNew) {
      ModelSwitches fresh;
      fresh.model = c_.state.training.learned, fresh.way = view_.way;
      if (view_.model == fresh.model) fresh.changes = std::move(view_.changes);
      for (ModelSwitches::HeadChange& one : fresh.changes)
        if (one.kind == HeadKind::replace) one = {};  // those weights were of another sentence
      view_ = std::move(fresh);
    }
    const bool isAsked = isNew || view_.asked.targets != sequence.targets;
    view_.asked = sequence;
    if (isAsked) {
      trainer_.answer(sequence, numbers_, 0, view_.whole);
      view_.logits = trainer_.logits();
    }
    if (isAsked || view_.changes != view_.answered) {
      view_.answered = view_.changes;
      trainer_.answer(sequence, numbers_, view_.changes, view_.without);
      view_.logitsWithout = trainer_.logits();
    }
    if (tried() < switches() && goesOn(c_.view, "Trying without each head", tried(), switches()))
      for (int i = 0; i < 2 && tried() < switches(); ++i) {
        training::Answer one;
        trainer_.answer(sequence, numbers_, std::uint64_t{1} << view_.alone.size(), one);
        view_.alone.push_back(training::divergences(view_.whole, one, classes()));
      }
  }

  /// Gives the sequence the targets that the reader typed; returns what is wrong with them, if anything is.
  base::Message aim(training::Sequence& sequence) const {
    const std::vector<std::string> words = document::splitTokens(c_.state.modelTargets);
    if (words.empty()) return {};
    auto ids = document::targetsOf("model_targets", words, trainer_.examples().classes,
                                   sequence.tokens.size(), std::min(token_, sequence.tokens.size() - 1));
    if (!ids) return ids.error().said();
    sequence.targets = std::move(*ids);
    return {};
  }

  void targets(PageColumn& column, const base::Message& wrong) {
    const std::string& words = c_.state.modelTargets;
    const Box box = column.take(c_.roomy() ? 44 : 28);
    wordsField(c_, widgets_, box, document::OptionId::model_targets, words, "Loss on other targets …");
    column.gap(8);
    if (!wrong.empty()) column.sentence(wrong);
  }

  /// How many heads were tried; always of the same height, so that nothing moves when they all are.
  void progress(PageColumn& column) {
    const int all = switches();
    const Box row = column.take(28);
    textMiddle(list_, c_.fonts.small, row.x, row.y + 14, c_.palette.muted,
               tried() == all ? base::message({"Each of ", all, " heads was off alone."})
                              : base::message({tried(), " of ", all, " heads were off alone."}));
  }

  base::Message nameOf(int attention) const {
    using Kind = training::AttentionPlace::Kind;
    const training::AttentionPlace& place =
        trainer_.model().attentions()[static_cast<std::size_t>(attention)];
    return {!training::isTranslation(trainer_.setup()) ? "Layer "
            : place.kind == Kind::encoder              ? "Encoder "
            : place.kind == Kind::cross                ? "Cross "
                                                       : "Decoder ",
            place.layer + 1};
  }

  void ways(PageColumn& column) {
    const Box row = column.take(36);
    const auto& chosen = kWays[view_.way];
    widgets_.menuButton("model:way", {row.x, row.y, std::min(row.width, 260.0f), 28},
                        elide(c_.fonts.text, chosen.label, 226));
    if (!widgets_.beginMenu("model:way", 250)) return;
    for (int i = 0; i < static_cast<int>(std::size(kWays)); ++i)
      if (widgets_.menuItem(joined({"model:way:", i}), kWays[i].label, i == view_.way)) view_.way = i;
    widgets_.endMenu();
  }

  /// Changes a head in the way that is chosen; back if it is changed like that already.
  void change(int number) {
    const auto& way = kWays[view_.way];
    ModelSwitches::HeadChange made{way.kind, way.factor, {}};
    if (made.kind == HeadKind::replace) made.weights = weightsOnBoard(number / heads(), number % heads());
    if (made.kind == HeadKind::replace && made.weights.empty()) return;
    view_.changes.resize(static_cast<std::size_t>(switches()));
    ModelSwitches::HeadChange& head = view_.changes[static_cast<std::size_t>(number)];
    head = head == made ? ModelSwitches::HeadChange{} : std::move(made);
    if (std::ranges::all_of(view_.changes, [](const auto& one) { return one.kind == HeadKind::none; }))
      view_.changes.clear();
  }

  /// The weights of a head as the board has them; of a translation it has the cross-attentions alone.
  std::vector<float> weightsOnBoard(int attention, int head) const {
    using Kind = training::AttentionPlace::Kind;
    const training::AttentionPlace& place =
        trainer_.model().attentions()[static_cast<std::size_t>(attention)];
    if (c_.state.cross && place.kind != Kind::cross) return {};
    const attention::Tensor all = document::weightsOf(c_.state, place.layer);
    return {all.row(head, 0), all.row(head, 0) + std::ptrdiff_t{all.rows()} * all.cols()};
  }

  void map(PageColumn& column) {
    constexpr float kLabel = 74, kApart = 4;
    float most = 0.01f;  // less is no dependence to speak of
    for (const auto& one : view_.alone) most = std::max(most, one[token_]);
    for (int a = 0; a < attentions(); ++a) {
      const Box row = column.take(column.pitch(32));
      const float size = std::min(52.0f, (row.width - kLabel) / static_cast<float>(heads()) - kApart);
      textMiddle(list_, c_.fonts.small, row.x, row.y + (row.height - kApart) / 2, c_.palette.muted,
                 nameOf(a));
      for (int h = 0; h < heads() && a * heads() + h < switches(); ++h)
        toggle(a * heads() + h,
               {row.x + kLabel + static_cast<float>(h) * (size + kApart), row.y, size, row.height - kApart},
               most, column);
    }
    column.gap(8);
  }

  void toggle(int number, const Box& box, float most, PageColumn& column) {
    const std::string name = joined({"model:off:", number / heads(), ":", number % heads()});
    const auto at = static_cast<std::size_t>(number);
    const HeadKind kind = at < view_.changes.size() ? view_.changes[at].kind : HeadKind::none;
    const bool isOn = kind == HeadKind::none;
    const FocusRing::Key key = column.keys(name, box);
    if (Widgets(c_).area(name, box, Mirror::Role::toggle, isOn) || key.press) change(number);
    const bool isOver = ImGui::IsItemHovered(), isKnown = number < static_cast<int>(view_.alone.size());
    const float depends = isKnown ? view_.alone[static_cast<std::size_t>(number)][token_] : 0;
    if (isOn)
      list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                           withAlpha(c_.palette.weight, 0.6f * std::sqrt(depends / most)), 4);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, isOver ? c_.palette.muted : c_.palette.border,
                   4);
    if (!isOn) {
      const auto* const way = std::ranges::find_if(
          kWays, [&](const auto& one) { return one.kind == kind && one.factor == view_.changes[at].factor; });
      if (way->tile.empty())
        list_->AddLine({box.x + 4, box.bottom() - 4}, {box.right() - 4, box.y + 4}, c_.palette.faint, 1.5f);
      else
        textCentered(list_, c_.fonts.small, box.midX(), box.midY(), c_.palette.text,
                     elide(c_.fonts.small, way->tile, box.width - 4));
    } else if (isKnown && box.width >= 30)
      textCentered(list_, c_.fonts.monoSmall, box.midX(), box.midY(), c_.palette.text,
                   formatNumber(static_cast<double>(depends), 2));
  }

  /// Of the chosen token, one number for each class.
  std::span<const float> rowOf(const std::vector<float>& numbers) const {
    return {&numbers[token_ * static_cast<std::size_t>(classes())], static_cast<std::size_t>(classes())};
  }

  /// A line of up to two pairs, before and after.
  Box line(PageColumn& column, base::MessageView words, std::string_view first, std::string_view second) {
    constexpr float kPair = 108;
    const Box row = column.take(22);
    const bool isOff = !view_.changes.empty();
    textMiddle(list_, c_.fonts.small, row.x, row.midY(), c_.palette.muted, words);
    textRight(list_, c_.fonts.monoSmall, row.right() - (isOff ? kPair : 0), row.midY(), c_.palette.text,
              first);
    if (isOff) textRight(list_, c_.fonts.monoSmall, row.right(), row.midY(), c_.palette.text, second);
    return row;
  }

  void predictions(PageColumn& column) {
    const auto two = [](float value) { return formatNumber(static_cast<double>(value), 2); };
    const bool isOff = !view_.changes.empty();
    const std::span<const float> whole = rowOf(view_.whole.probabilities),
                                 without = rowOf(view_.without.probabilities);
    line(column, base::message({"Predicted at ", base::inQuotes(c_.state.labels[token_])}),
         isOff ? "all heads" : "", "changed");
    line(column, "Logit, probability", "", "");
    std::vector<std::size_t> order(whole.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto most = [&](std::size_t i) { return std::max(whole[i], without[i]); };
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return most(a) != most(b) ? most(a) > most(b) : a < b; });
    order.resize(std::min(order.size(), kLikeliest));
    const std::vector<std::string>& names = trainer_.examples().classes;
    const std::span<const float> logits = rowOf(view_.logits), logitsWithout = rowOf(view_.logitsWithout);
    const auto pair = [&](float logit, float share) {
      const std::string number = two(share);
      return two(logit) + std::string(8 - std::min<std::size_t>(number.size(), 7), ' ') + number;
    };
    for (const std::size_t i : order) {
      const Box row = line(column, "", pair(logits[i], whole[i]), pair(logitsWithout[i], without[i]));
      const AsIs own;  // a class may be a word of the interface too
      textMiddle(list_, c_.fonts.small, row.x, row.midY(), c_.palette.muted, names[i]);
    }
    const auto& targets = view_.whole.sequence.targets;
    if (std::any_of(targets.begin(), targets.end(), [](int t) { return t >= 0; }))
      line(column, c_.state.modelTargets.empty() ? "Loss of the sentence" : "Loss on these targets",
           two(view_.whole.loss), two(view_.without.loss));
    if (!isOff) return;
    const auto changed = training::divergences(view_.whole, view_.without, classes());
    line(column, "KL divergence, in bit", "", two(changed[token_]));
    column.gap(4);
    if (column.button("model:on", "Restore all heads")) view_.changes.clear();
  }

  Context& c_;
  ModelSwitches& view_;
  training::Trainer& trainer_;
  std::span<const float> numbers_;
  int& chosen_;
  std::size_t token_ = 0;
  Widgets widgets_{c_, &c_.view.experiments.focusRing};
  ImDrawList* list_ = ImGui::GetWindowDrawList();
};

}  // namespace

bool wordsField(Context& c, Widgets& w, const Box& box, document::OptionId id, const std::string& words,
                std::string_view hint) {
  const std::string name(document::option(id).name);
  bool isPressed = false;
  if (words.empty()) {
    isPressed = w.field(name, box, hint);
  } else {
    const AsIs own;
    isPressed = w.field(name, box, words);
  }
  if (!isPressed || c.locked(name)) return false;
  TextTarget t;
  t.kind = TextTarget::Kind::option;
  t.option = id, t.name = name, t.text = words, t.box = box;
  c.requests.text = t;
  return true;
}

bool hasLiveModel(Context& c) { return c.derived.training.ofLearned() != nullptr; }

void chooseToken(const Context& c, PageColumn& column, int& token) {
  const int n = c.state.tokens;
  if (token >= n) token = -1;
  const int at = token < 0 ? n - 1 : token;
  const int step = column.stepper("model:token", "Token", joined({at + 1}), at > 0, at + 1 < n);
  if (step != 0) token = at + step;
}

void modelSwitches(Context& c, PageColumn& column, int& token) {
  if (training::Trainer* trainer = c.derived.training.ofLearned()) Switches(c, *trainer, token).draw(column);
}

}  // namespace views
