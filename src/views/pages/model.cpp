// All heads of all layers of a model, or of the one layer, as small pictures with what they look at; a press
// opens one on the board.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "attention/experiments/rollout.h"
#include "attention/layer/explanation_format.h"
#include "attention/mechanisms/mechanism.h"
#include "base/sentence.h"
#include "views/head_tag.h"
#include "views/pages/column.h"
#include "views/pages/model_compare.h"
#include "views/pages/model_switches.h"
#include "views/pages/page.h"
#include "views/panels/panels.h"
#include "views/work.h"

namespace views {
namespace {

using attention::HeadPattern;
using attention::explanation_format::token;
using base::joined;
using By = ModelView::By;

constexpr std::uint32_t kModelSlot = 10000,
                        kLargeSlot = 9999;  // of the first picture's texture, of the large one
constexpr float kLargest = 96, kSmallest = 32, kGap = 8, kRowNames = 26;
constexpr float kLeastNumbered = 88;  // the least with measures below it, and a line of them
// Cells of the large picture from which hidden keys are hatched, the keys are named above it, and weights are
// written: "0.25" and "−0.25" do not touch the next number.
constexpr float kHatchedCell = 14, kNamedCell = 24, kWeightCell = 31, kSignedCell = 38;
constexpr float kKeyNames = 18;  // the height of those

using Place = HeadPlace;

/// The menu of orders, from its top.
constexpr By kOrders[] = {By::layer,  By::likeness, By::previous, By::induction, By::first, By::same,
                          By::itself, By::broad,    By::entropy,  By::distance,  By::word};

/// The names by which the page chooses, and the letters before the counts, by HeadPattern.
constexpr std::string_view kShow[attention::kHeadPatterns] = {"model:show:none",      "model:show:previous",
                                                              "model:show:induction", "model:show:first",
                                                              "model:show:same",      "model:show:broad"};

HeadPattern patternOf(By by) {
  switch (by) {
    case By::previous: return HeadPattern::previous;
    case By::induction: return HeadPattern::induction;
    case By::first: return HeadPattern::first;
    case By::same: return HeadPattern::same;
    case By::broad: return HeadPattern::broad;
    default: return HeadPattern::none;
  }
}

std::string_view titleOf(By by) {
  switch (by) {
    case By::layer: return "By layer";
    case By::previous: return "Previous token";
    case By::induction: return "Induction";
    case By::first: return "First token";
    case By::same: return "Same word";
    case By::broad: return "Broad";
    case By::entropy: return "Entropy";
    case By::distance: return "Distance";
    case By::itself: return "The token itself";
    case By::likeness: return "By similarity";
    case By::word: break;
  }
  return "Looks at the word";
}

/// The places of the largest values, the largest first.
std::vector<int> largest(std::span<const float> values, std::size_t count) {
  std::vector<int> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    const float first = values[static_cast<std::size_t>(a)], second = values[static_cast<std::size_t>(b)];
    return first != second ? first > second : a < b;
  });
  order.resize(std::min(count, order.size()));
  return order;
}

std::string nameOf(Place at) { return joined({"layer:", at.layer, ":", at.head}); }

class ModelPage {
 public:
  ModelPage(Context& c, const Box& area)
      : c_(c),
        view_(c.view.model),
        area_(area),
        list_(ImGui::GetWindowDrawList()),
        asked_(document::headsAsked(c.state)) {}

  float draw() {
    const document::State& s = c_.state;
    PageColumn top(c_, area_.x, area_.y, area_.width);
    const bool isModel = hasLayers(s);
    top.title(isModel ? "All heads of the model" : "All heads of the layer");
    if (!document::hasManyHeads(s)) {
      top.sentence(
          "There is one layer here. Open a file with several, such as a recorded model or "
          "weights of the shape [layers, heads, queries, keys].");
      return top.y();
    }
    base::Message words = "A row of a picture is a query, a column a key. Press one to open it on the board.";
    if (isModel)
      words = base::message({base::message({s.batch, " layers of ", s.heads,
                                            s.heads == 1 ? " head each, with the same tokens."
                                                         : " heads each, with the same tokens."}),
                             " ", words});
    top.sentence(words);
    top.gap(6);
    computeOn();
    findWord();
    const bool isBeside = area_.width >= 980;
    const float first = isBeside ? std::round(area_.width * 0.53f) : area_.width;
    PageColumn left(c_, area_.x, top.y(), first);
    heads(left);
    modelSwitches(c_, left, view_.token);
    PageColumn right(c_, isBeside ? area_.x + first + kColumnGap : area_.x, isBeside ? top.y() : left.y(),
                     isBeside ? area_.width - first - kColumnGap : area_.width);
    compareHeads(c_, right);
    oneHead(right);
    rollout(right);
    return std::max(left.y(), right.y()) + 12;
  }

 private:
  const document::LayerPicture& pictureAt(int layer) const {
    return c_.derived.layers()[static_cast<std::size_t>(layer)];
  }
  bool isMeasured() const { return !asked_.tokens.empty(); }

  /// Once all pictures are there, heads are put in order.
  void computeOn() {
    const int all = c_.state.batch * c_.state.heads;
    isWhole_ = !c_.derived.lacks(document::View::model);
    if (isWhole_ && view_.by == By::likeness) putInOrder(all);
  }

  // --- order and choice

  /// Heads that are alike beside each other: some more of them in each frame.
  void putInOrder(int all) {
    if (view_.likenessOf != c_.revision + 1) {
      std::vector<attention::HeadTag> tags;
      std::vector<float> outlines;
      for (const document::LayerPicture& of : c_.derived.layers()) {
        for (int h = 0; h < c_.state.heads; ++h) {
          tags.push_back(of.tags.empty() ? attention::HeadTag{} : of.tags[static_cast<std::size_t>(h)]);
          const std::vector<float> one = attention::outlineOf(of.weights, h);
          outlines.insert(outlines.end(), one.begin(), one.end());
        }
      }
      view_.likeness = {std::move(tags), std::move(outlines)};
      view_.likenessOf = c_.revision + 1;
    }
    attention::LikenessOrder& order = view_.likeness;
    if (!order.isWhole() && goesOn(c_.view, "Ordering heads", static_cast<int>(order.order().size()), all) &&
        !c_.fonts.mirror)
      order.take(std::max(1, 12000 / all));  // about 5 ms: each is compared with all others
  }

  /// The keys that are the word that is looked for, in any case of its letters; and what to order by.
  void findWord() {
    const std::string& word = c_.state.modelFind;
    const auto& labels = document::keyLabels(c_.state);
    const auto same = [](char a, char b) {
      const auto lower = [](char x) { return x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x; };
      return lower(a) == lower(b);
    };
    for (int j = 0; !word.empty() && j < static_cast<int>(labels.size()); ++j) {
      std::string_view label = labels[static_cast<std::size_t>(j)];
      if (label.starts_with("\u2423") && !word.starts_with("\u2423")) label.remove_prefix(3);  // a space
      if (std::ranges::equal(label, word, same)) found_.push_back(j);
    }
    if (view_.word != word && !word.empty()) view_.by = By::word;
    view_.word = word;
    by_ = found_.empty() ? By::layer : By::word;
    if (view_.by != By::word) by_ = isMeasured() || view_.by == By::likeness ? view_.by : By::layer;
    if (by_ == By::likeness && !(isWhole_ && view_.likeness.isWhole())) by_ = By::layer;
  }

  /// What heads are ordered by; 0 until it is computed.
  float measure(Place at, By by) const {
    const document::LayerPicture& of = pictureAt(at.layer);
    if (of.each != 1) return 0;
    if (by == By::word) return lookAt(of, at.head, found_, asked_);
    if (of.measures.empty()) return 0;
    const attention::HeadMeasures& m = of.measures[static_cast<std::size_t>(at.head)];
    return by == By::entropy    ? m.entropy
           : by == By::distance ? m.distance
           : by == By::itself   ? m.itself
                                : m[patternOf(by)];
  }

  /// What the menu shows as chosen; an order by likeness may take some frames.
  By askedBy() const { return view_.by == By::likeness ? view_.by : by_; }

  bool isFaded(Place at) const {
    const auto& tags = pictureAt(at.layer).tags;
    return !tags.empty() &&
           (view_.faded >> static_cast<int>(tags[static_cast<std::size_t>(at.head)].pattern) & 1) != 0;
  }

  /// All heads, those with the largest measure first.
  std::vector<Place> ordered() const {
    std::vector<Place> out;
    if (by_ == By::likeness) {
      for (const int at : view_.likeness.order()) out.push_back({at / c_.state.heads, at % c_.state.heads});
      return out;
    }
    std::vector<float> by;
    for (int layer = 0; layer < c_.state.batch; ++layer)
      for (int h = 0; h < c_.state.heads; ++h) by.push_back(measure({layer, h}, by_));
    for (const int at : largest(by, by.size())) out.push_back({at / c_.state.heads, at % c_.state.heads});
    return out;
  }

  // --- the grid

  void heads(PageColumn& column) {
    column.openCard();
    choices(column);
    // As many side by side as can be seen; all heads of a layer if possible.
    const Box start = column.take(0);
    const int all = c_.state.heads;
    const float left = start.x + kRowNames, width = start.width - kRowNames;
    const bool isFlat = by_ != By::layer;
    const float least = hasNumbers() ? kLeastNumbered : kSmallest;
    columns_ = std::clamp(static_cast<int>((width + kGap) / (least + kGap)), 1, all);
    const int lines = (all + columns_ - 1) / columns_;
    columns_ = (all + lines - 1) / lines;
    size_ = std::floor(std::min(kLargest, (width + kGap) / static_cast<float>(columns_) - kGap));
    below_ = (hasTags() ? kTagHeight + 3 : 0) + (hasNumbers() ? kHeadMeasures * kMeasureLine + 4 : 0);
    pitch_ = size_ + below_ + (!isFlat ? 0 : hasMeasure() ? 30 : 18) + kGap + (hasNumbers() ? 6 : 0);
    if (isFlat) return flat(column, start);
    const bool isOneLine = lines == 1;
    if (isOneLine) {
      for (int h = 0; h < all; ++h)
        textCentered(list_, c_.fonts.small, left + x(h) + size_ / 2, start.y + 8, c_.palette.muted,
                     joined({h + 1}));
      textMiddle(list_, c_.fonts.smallStrong, start.x, start.y + 8, c_.palette.muted,
                 size_ >= 44 ? "HEAD" : "");
      column.take(22);
    }
    for (int layer = 0; layer < c_.state.batch; ++layer) {
      const Box row = column.take(static_cast<float>(lines) * pitch_ + (isOneLine ? 0 : 32));
      const bool isHere = layer == c_.state.batchItem;
      if (isOneLine)
        textRight(list_, c_.fonts.small, left - 8, row.y + size_ / 2,
                  isHere ? c_.palette.text : c_.palette.muted, joined({layer + 1}));
      else
        textMiddle(list_, c_.fonts.strong, row.x, row.y + 12, c_.palette.text,
                   base::message({"Layer ", layer + 1}));
      for (int h = 0; h < all; ++h)
        picture({layer, h},
                {isOneLine ? left + x(h) : row.x + x(h % columns_),
                 row.y + (isOneLine ? 0 : 24) + static_cast<float>(h / columns_) * pitch_, size_, size_},
                column);
    }
    column.closeCard();
  }

  /// All heads in the order of a measure, with the measure below each.
  void flat(PageColumn& column, const Box& start) {
    columns_ = std::max(1, static_cast<int>((start.width + kGap) / (size_ + kGap)));
    const std::vector<Place> order = ordered();
    const int lines = (static_cast<int>(order.size()) + columns_ - 1) / columns_;
    column.take(static_cast<float>(lines) * pitch_);
    for (int i = 0; i < static_cast<int>(order.size()); ++i) {
      const Place at = order[static_cast<std::size_t>(i)];
      const Box box{start.x + x(i % columns_), start.y + static_cast<float>(i / columns_) * pitch_, size_,
                    size_};
      picture(at, box, column);
      float y = box.bottom() + below_ + 9;
      if (!ImGui::IsRectVisible({box.x, y - 9}, {box.right(), y + 21})) continue;
      if (hasMeasure()) {
        textCentered(list_, c_.fonts.monoSmall, box.midX(), y, c_.palette.text,
                     formatNumber(static_cast<double>(measure(at, by_)), 2));
        y += 13;
      }
      textCentered(list_, c_.fonts.small, box.midX(), y, c_.palette.muted,
                   joined({at.layer + 1, ".", at.head + 1}));
    }
    column.closeCard();
  }

  /// The order, the word to look for, and the patterns that are shown.
  void choices(PageColumn& column) {
    Widgets w(c_, &c_.view.experiments.focusRing);
    const Box row = column.take(36);
    const float menu = std::min(170.0f, (row.width - 8) / 2);
    w.menuButton("model:by", {row.x, row.y, menu, 28}, elide(c_.fonts.text, titleOf(askedBy()), menu - 34));
    if (w.beginMenu("model:by", 200)) {
      const By asked = askedBy();
      for (const By by : kOrders) {
        const bool isThere =
            by == By::word ? !found_.empty() : by == By::layer || by == By::likeness || isMeasured();
        if (isThere && w.menuItem(joined({"model:by:", static_cast<int>(by)}), titleOf(by), by == asked))
          view_.by = by;
      }
      w.endMenu();
    }
    wordField(w, {row.x + menu + 8, row.y, row.width - menu - 8, 28});
    if (!c_.state.modelFind.empty() && found_.empty()) column.sentence("None of the tokens is that word.");
    if (view_.by == By::likeness)
      column.sentence(
          "Heads with the same tag stand together, each followed by the one whose picture differs least.");
    if (isMeasured() && column.toggle("model:numbers", "Measures below each head", hasNumbers()))
      view_.numbers = !hasNumbers();
    if (isMeasured()) filters(column);
    else if (!c_.state.cross && c_.state.tokens < document::kTaggedTokens)
      column.sentence(base::message({"Heads are named after their patterns from ", document::kTaggedTokens,
                                     " tokens on: with fewer, every row has one."}));
    column.gap(6);
  }

  void wordField(Widgets& w, const Box& box) {
    if (wordsField(c_, w, box, document::OptionId::model_find, c_.state.modelFind, "Heads that look at …"))
      view_.by = By::word;  // once there is one
  }

  /// For each pattern how many heads have it; a press fades them.
  void filters(PageColumn& column) {
    int counts[attention::kHeadPatterns] = {};
    for (const document::LayerPicture& of : c_.derived.layers())
      for (const attention::HeadTag& tag : of.tags) ++counts[static_cast<int>(tag.pattern)];
    constexpr float kWide = 58, kHigh = 24;
    const Box start = column.take(0);
    const int perLine = std::max(1, static_cast<int>((start.width + kGap) / (kWide + kGap)));
    for (int i = 0; i < attention::kHeadPatterns; ++i) {
      const int at = (i + 1) % attention::kHeadPatterns;  // none is the last
      const Box box{start.x + static_cast<float>(i % perLine) * (kWide + kGap),
                    start.y + static_cast<float>(i / perLine) * (kHigh + kGap), kWide, kHigh};
      const std::string_view name = kShow[at];
      const bool isOn = (view_.faded >> at & 1) == 0;
      const FocusRing::Key key = column.keys(name, box);
      if (Widgets(c_).area(name, box, Mirror::Role::toggle, isOn) || key.press)
        view_.faded ^= static_cast<std::uint8_t>(1 << at);
      const ImU32 color = c_.palette.patterns[static_cast<std::size_t>(at)];
      if (isOn) list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, withAlpha(color, 0.15f), 4);
      list_->AddRect({box.x, box.y}, {box.right(), box.bottom()},
                     ImGui::IsItemHovered() ? c_.palette.muted : withAlpha(color, isOn ? 0.4f : 0.3f), 4);
      const ImU32 ink = isOn ? color : c_.palette.faint;
      const std::string letter = at == 0 ? "–" : std::string(1, static_cast<char>(name[11] - 'a' + 'A')),
                        count = joined({counts[at]});
      // Not noted: the switch has the name of the pattern.
      plainMiddle(list_, c_.fonts.monoSmall, box.x + 8, box.midY(), ink, letter);
      plainMiddle(list_, c_.fonts.monoSmall, box.right() - 8 - plainWidth(c_.fonts.monoSmall, count),
                  box.midY(), ink, count);
    }
    column.take((kHigh + kGap) * static_cast<float>((attention::kHeadPatterns + perLine - 1) / perLine));
  }

  bool hasNumbers() const {
    return isMeasured() && view_.numbers.value_or(!hasLayers(c_.state) && c_.state.heads <= 16);
  }
  /// Is there a number by which heads are ordered? Likeness is one of two heads, not of each.
  bool hasMeasure() const { return by_ != By::likeness; }
  bool hasTags() const { return size_ >= kTagWidth - kGap / 2 && isMeasured(); }
  float x(int column) const { return static_cast<float>(column) * (size_ + kGap); }

  void picture(Place at, const Box& box, PageColumn& column) {
    const document::State& s = c_.state;
    const std::string name = nameOf(at);
    const bool isHere = at.layer == s.batchItem && at.head == s.focusHead && !c_.showsMean();
    const FocusRing::Key key = column.keys(name, box);
    if (Widgets(c_).area(name, box, Mirror::Role::choice, isHere) || key.press) {
      if (view_.compare.chooses || ImGui::GetIO().KeyShift) chooseHead(c_, at);
      else open(at);
    }
    const bool isOver = ImGui::IsItemHovered();
    if (isOver) view_.layer = at.layer, view_.head = at.head;
    pointBelow(c_, name, below_ + (by_ == By::layer ? 0 : 30));
    if (!ImGui::IsRectVisible({box.x, box.y}, {box.right(), box.bottom() + kTagHeight})) return;
    const float opacity = isFaded(at) ? 0.15f : 1.0f;
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.panel, 5);
    const document::LayerPicture& of = pictureAt(at.layer);
    if (of.version != 0) {
      drawHead(c_, of, at.head, {box.x + 4, box.y + 4, box.width - 8, box.height - 8},
               kModelSlot + static_cast<std::uint32_t>(at.layer * s.heads + at.head),
               of.each == 1 ? opacity : opacity * kFirstOpacity);
    }
    if (of.each == 1) {
      if (hasTags() && opacity == 1)
        headTag(c_, of.tags[static_cast<std::size_t>(at.head)], box.midX() - kTagWidth / 2, box.bottom() + 3);
      if (hasNumbers() && by_ == By::layer)
        textMiddle(list_, c_.fonts.small, box.x, box.bottom() + 3 + kTagHeight / 2, c_.palette.muted,
                   joined({at.head + 1}));
      if (hasNumbers() && opacity == 1)
        headMeasures(c_, of.measures[static_cast<std::size_t>(at.head)],
                     {box.x, box.bottom() + kTagHeight + 5, box.width, kMeasureLine});
    }
    const ModelCompare& two = view_.compare;
    const bool isOne = (two.isOn && at == two.second) || ((two.isOn || two.chooses) && at == two.first);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()},
                   isOne    ? c_.palette.text
                   : isHere ? c_.palette.weight
                   : isOver ? c_.palette.muted
                            : withAlpha(c_.palette.border, std::max(opacity, 0.5f)),
                   5, 0, isHere || isOne ? 2.5f : 1.0f);
  }

  void open(Place at) {
    const std::uint64_t gesture = c_.view.nextGesture++;
    c_.requests.set(document::OptionId::layer, static_cast<double>(at.layer), gesture);
    c_.requests.set(document::OptionId::focus_head, static_cast<double>(at.head), gesture);
    c_.requests.set(document::OptionId::average_heads, false, gesture);
    c_.requests.endGesture = true;
    showView(c_, document::View::layer);
  }

  // --- one head

  Place shown() const {
    const document::State& s = c_.state;
    if (view_.layer < 0 || view_.layer >= s.batch || view_.head >= s.heads) return {s.batchItem, s.focusHead};
    return {view_.layer, view_.head};
  }

  void oneHead(PageColumn& column) {
    const Place at = shown();
    const document::LayerPicture& of = pictureAt(at.layer);
    column.openCard(base::message({"Layer ", at.layer + 1, ", head ", at.head + 1}));
    if (of.each != 1) {
      column.sentence(of.each == 0 ? base::Message("It is being computed.")
                                   : base::message({"So far made of one query in ", of.each,
                                                    "; the others are being computed."}));
      if (of.each != 0) {
        const Box start = column.take(0);
        const float size = std::min(start.width, 340.0f);
        drawHead(c_, of, at.head, {start.x, start.y, size, size}, kLargeSlot, kFirstOpacity);
        column.take(size + 12);
      }
      return column.closeCard();
    }
    if (!of.tags.empty()) column.sentence(tagSentence(of.tags[static_cast<std::size_t>(at.head)]));
    const Box start = column.take(0);
    const bool isBeside = start.width >= 420;
    const float labels = labelsWidth(of), links = 176;
    const float size = std::min(isBeside ? start.width - labels - links - 20 : start.width - labels, 340.0f);
    const float above = keysHeight(of, size);
    large(of, at, {start.x + labels, start.y + above, size, size});
    column.take(above + size + 12);
    const float below = column.y();
    PageColumn aside(c_, isBeside ? start.x + labels + size + 20 : start.x, isBeside ? start.y : below,
                     isBeside ? start.width - labels - size - 20 : start.width);
    strongest(of, at, aside);
    column.gap(std::max(below, aside.y()) - below);
    measures(of, at, column);
    column.gap(8);
    compareButton(at, column);
    if (hasLayers(c_.state) && !hasLiveModel(c_))
      column.sentence(
          "Recorded: the model itself is not here, so what it would say with a head changed cannot be "
          "computed.");
    column.closeCard();
  }

  /// Without Shift, for fingers and keys: first this, then the other head.
  void compareButton(Place at, PageColumn& column) {
    ModelCompare& two = view_.compare;
    if (two.chooses) column.sentence("Press the head to compare it with.");
    if (column.button("model:compare", two.chooses ? "Cancel" : "Compare with another head …")) {
      const bool chooses = !two.chooses;
      two = {};
      if (chooses) two.chooses = true, two.first = at;
    }
    column.gap(8);
  }

  /// Room for the words of the queries; none where most would be left out.
  float labelsWidth(const document::LayerPicture& of) const {
    return of.weights.rows() == c_.state.tokens && c_.state.tokens <= 28 ? 64.0f : 0.0f;
  }

  /// Is each cell of the picture one weight?
  bool isExact(const document::LayerPicture& of) const {
    return of.weights.rows() == c_.state.tokens && of.weights.cols() == c_.state.keyTokens;
  }
  /// Room for the words of the keys; none where hardly more than "…" would be left of them.
  float keysHeight(const document::LayerPicture& of, float size) const {
    const float cell = size / static_cast<float>(std::max(of.weights.rows(), of.weights.cols()));
    return isExact(of) && cell >= kNamedCell ? kKeyNames : 0.0f;
  }

  /// A bias may differ from layer to layer, and only that of the one on the board is there: where a layer has
  /// a weight the key is seen, whatever that bias says.
  bool isHidden(const document::LayerPicture& of, Place at, int query, int key) const {
    if (of.weights.at(at.head, query, key) != 0.0f) return false;
    return c_.state.maskAfterSoftmax || (of.isCausal && key > query) || c_.isMasked(at.head, query, key);
  }

  /// What cells show beside their colour, which is that of drawHead().
  void cells(const document::LayerPicture& of, Place at, ImVec2 from, float cell) {
    if (!isExact(of) || cell < kHatchedCell) return;
    const bool isSigned = views::isSigned(c_.state);
    draw::Heatmap look;
    look.high = 1, look.low = isSigned ? -1.0f : 0.0f;
    look.scale = static_cast<draw::Scale>(document::shownScale(c_.state));
    const int rows = of.weights.rows(), cols = of.weights.cols();
    for (int i = 0; i < rows; ++i) {
      const float peak = of.peaks[static_cast<std::size_t>(at.head * rows + i)];
      for (int j = 0; j < cols; ++j) {
        const Box box{from.x + cell * static_cast<float>(j) + 0.5f,
                      from.y + cell * static_cast<float>(i) + 0.5f, cell - 1, cell - 1};
        if (isHidden(of, at, i, j)) {
          hatched(list_, c_.palette, box);
        } else if (cell >= (isSigned ? kSignedCell : kWeightCell)) {
          const float w = of.weights.at(at.head, i, j);
          const draw::Color under =
              draw::at(isSigned ? c_.palette.signedMap : c_.palette.weightMap, draw::fraction(look, w, peak));
          digitsCentered({list_, c_.fonts.monoSmall, textOn(under)}, 1, box.midX(), box.midY(),
                         formatNumber(static_cast<double>(w), 2));
        }
      }
    }
  }

  void large(const document::LayerPicture& of, Place at, const Box& box) {
    const float cell = drawHead(c_, of, at.head, box, kLargeSlot, 1);
    const float left = box.x + (box.width - cell * static_cast<float>(of.weights.cols())) / 2;
    const float top = box.y + (box.height - cell * static_cast<float>(of.weights.rows())) / 2;
    cells(of, at, {left, top}, cell);
    const AsIs own;
    for (int j = 0; keysHeight(of, box.width) > 0 && j < of.weights.cols(); ++j)
      textCentered(
          list_, c_.fonts.small, left + cell * (static_cast<float>(j) + 0.5f), top - kKeyNames / 2,
          c_.palette.text,
          elide(c_.fonts.small, document::keyLabels(c_.state)[static_cast<std::size_t>(j)], cell - 2));
    constexpr float kLine = 12;
    const int each = cell > 0 ? static_cast<int>(std::ceil(kLine / cell)) : 1;
    for (int i = 0; labelsWidth(of) > 0 && i < of.weights.rows(); i += each)
      textRight(list_, c_.fonts.small, box.x - 6, top + cell * (static_cast<float>(i) + 0.5f),
                c_.palette.text, elide(c_.fonts.small, c_.state.labels[static_cast<std::size_t>(i)], 58));
  }

  struct Link {
    int query = 0, key = 0;
    float weight = 0;
  };

  /// The largest weights but those on the first token; none of a reduced picture.
  std::vector<Link> linksOf(const document::LayerPicture& of, Place at) const {
    std::vector<Link> links;
    const attention::Tensor& w = of.weights;
    if (!isExact(of)) return links;
    const std::span<const float> all(w.head(at.head), static_cast<std::size_t>(w.rows() * w.cols()));
    std::vector<float> rest(all.begin(), all.end());
    for (std::size_t i = 0; i < rest.size(); i += static_cast<std::size_t>(w.cols())) rest[i] = 0;
    constexpr float kLeast = 0.005f;  // less is written as 0.00
    for (const int one : largest(rest, 8))
      if (const float weight = rest[static_cast<std::size_t>(one)]; weight >= kLeast)
        links.push_back({one / w.cols(), one % w.cols(), weight});
    return links;
  }

  void strongest(const document::LayerPicture& of, Place at, PageColumn& column) {
    const std::vector<Link> links = linksOf(of, at);
    if (links.empty()) return;
    const Box title = column.take(22);
    textMiddle(list_, c_.fonts.smallStrong, title.x, title.y + 8, c_.palette.text, "Strongest links");
    column.gap(-4);
    column.sentence("without the first token");
    for (const Link& link : links) row(column, link);
  }

  void row(PageColumn& column, const Link& link) {
    const Box box = column.take(30);
    const float y = box.y + 8;
    float x = box.x + word(c_.state.labels, link.query, {box.x, y, box.width * 0.36f, 0}, c_.palette.query);
    textMiddle(list_, c_.fonts.small, x + 3, y, c_.palette.muted, "→");
    x += 20;
    word(document::keyLabels(c_.state), link.key, {x, y, box.right() - 36 - x, 0}, c_.palette.key);
    textRight(list_, c_.fonts.monoSmall, box.right(), y, c_.palette.text,
              formatNumber(static_cast<double>(link.weight), 2));
    const float full = std::max(2.0f, box.width * std::min(link.weight, 1.0f));
    list_->AddRectFilled({box.x, y + 10}, {box.right(), y + 14}, c_.palette.track, 2);
    list_->AddRectFilled({box.x, y + 10}, {box.x + full, y + 14}, c_.palette.weight, 2);
  }

  /// A token with its number, unless it says that, its middle at the top of the box; returns the width.
  float word(const std::vector<std::string>& tokens, int index, const Box& box, ImU32 color) {
    const AsIs own;
    const std::string& label = tokens[static_cast<std::size_t>(index)];
    const std::string number = token(tokens, index) == label ? std::string() : joined({index + 1});
    const float numbers = textWidth(c_.fonts.tiny, number);
    const std::string shown = elide(c_.fonts.small, label, box.width - numbers - 1);
    textMiddle(list_, c_.fonts.small, box.x, box.y, color, shown);
    const float wide = textWidth(c_.fonts.small, shown);
    textMiddle(list_, c_.fonts.tiny, box.x + wide + 1, box.y + 3, color, number);
    return wide + numbers + 1;
  }

  void measures(const document::LayerPicture& of, Place at, PageColumn& column) {
    if (of.measures.empty()) return;
    const auto two = [](float value) { return formatNumber(static_cast<double>(value), 2); };
    for (const By by : {By::previous, By::induction, By::first, By::same, By::itself})
      column.numbers(titleOf(by), two(measure(at, by)));
    column.numbers("Entropy of a row, in bit", two(measure(at, By::entropy)));
    column.numbers("Distance to the keys, in tokens", two(measure(at, By::distance)));
    if (!found_.empty()) column.numbers(titleOf(By::word), two(measure(at, By::word)));
  }

  // --- all layers together

  bool hasRollout() const {
    const attention::NormalizerMechanism& normalizer = attention::mechanismOf(c_.state.normalizer);
    return hasLayers(c_.state) && !c_.state.cross && normalizer.sumsToOne && normalizer.least >= 0 &&
           c_.state.tokens == c_.state.keyTokens && c_.state.tokens > 1;
  }

  void rollout(PageColumn& column) {
    if (!hasRollout() || !isWhole_) return;
    column.openCard("Rollout: from which tokens, through all layers");
    std::vector<const attention::Tensor*> means;
    for (const document::LayerPicture& of : c_.derived.layers())
      if (!of.mean.empty()) means.push_back(&of.mean);
    if (means.empty()) {
      column.sentence(
          base::message({"It is computed for up to ", document::LayerPicture::kMostMean, " tokens."}));
      return column.closeCard();
    }
    if (!hasLiveModel(c_)) chooseToken(c_, column, view_.token);
    const int token = view_.token < 0 ? c_.state.tokens - 1 : view_.token;
    const std::vector<float> from = attention::rollout(means, token);
    for (const int key : largest(from, 6)) row(column, {token, key, from[static_cast<std::size_t>(key)]});
    column.gap(4);
    column.sentence(
        "The layers multiplied, with the mean of their heads, and half of each kept for the residual "
        "(Abnar and Zuidema 2020). It follows weights alone, not what values, feed-forward networks and "
        "norms make of them: attention is not an explanation.");
    column.closeCard();
  }

  Context& c_;
  ModelView& view_;
  Box area_;
  ImDrawList* list_;
  document::HeadsAsked asked_;
  std::vector<int> found_;  ///< the keys that are the word that is looked for
  bool isWhole_ = false;    ///< are all heads computed?
  By by_ = By::layer;       ///< what heads are ordered by, as far as it can be measured
  int columns_ = 1;
  float size_ = 0, pitch_ = 0;  ///< of a picture, and from one line of them to the next
  float below_ = 0;             ///< what tag and numbers below it take
};

}  // namespace

float modelPage(Context& c, const Box& area) { return ModelPage(c, area).draw(); }

}  // namespace views
