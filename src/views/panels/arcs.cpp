// Who attends to whom: a curve from every query to every key that it attends to.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attention/steps/column.h"
#include "base/sentence.h"
#include "views/panels/changes.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr int kAllPairs =
    1600;  // with more pairs, only the strongest link of each query is shown, and all of the focused one
constexpr std::size_t kMostLinks = 400;  // links drawn at most
constexpr float kCaptioned = 14;         // captions are shown if the words are at least this far apart
constexpr float kWordPitch = 12.5f;
constexpr float kLeastToSay = 40, kLeftOut = 160;  // kLeftOut: for what is left out, in its shortest form
constexpr float kOff = 0.2f;                       // the maximal deviation of a curve, in pixels

class Arcs {
 public:
  Arcs(Context& c, Box area, float titleEnd) : c_(c), list_(ImGui::GetWindowDrawList()) {
    const int n = std::max(c.state.tokens, c.state.keyTokens);
    const float top = area.y + 42;
    isLong_ = thresholdWidth(c, area.width) > 0;
    titleEnd_ = titleEnd, right_ = area.right(), left_ = area.x, top_ = top;
    x0_ = area.x + area.width * 0.225f, x1_ = area.x + area.width * 0.76f;
    const float room = area.bottom() - top - 26;
    pitch_ = std::min(56.0f, room / static_cast<float>(n));
    // Captions are above the first word, and below the line under the tabs; where there are none, what is
    // left out is said there if it does not fit beside the tabs.
    saysBelow_ = pitch_<kCaptioned&& static_cast<std::size_t>(n) * static_cast<std::size_t>(n)> kMostLinks &&
                 roomToSay() < kLeftOut;
    const float lead = pitch_ >= kCaptioned || saysBelow_ ? std::max(0.0f, 18 - pitch_ / 2) : 0;
    pitch_ = std::min(pitch_, (room - lead) / static_cast<float>(n));
    y0_ = top + 12 + lead + std::max(0.0f, (room - lead - pitch_ * static_cast<float>(n)) / 2) + pitch_ / 2;
    thick_ = std::min(10.0f, pitch_ * 0.45f);
  }

  void draw() {
    const CellRef focus = c_.focus();
    const attention::Rows rows = attention::rowsOf(focus.tensor);
    byKey_ = rows == attention::Rows::keys;
    chosen_ = rows == attention::Rows::other ? -1 : focus.row;
    key_ = focus.tensor == TensorId::weights || focus.tensor == TensorId::scores ? focus.col : -1;
    makeRoom();
    captions();
    collect();
    for (const bool chosen : {false, true}) {  // links of the focused token on top
      for (const Link& l : links_) {
        if (l.chosen == chosen) link(l);
      }
    }
    labels();
    note();
  }

 private:
  /// For the numbers before and now, beside the words of one side.
  void makeRoom() {
    constexpr float kWord = 44;
    if (!showsBefore()) return;
    numbers_ = textWidth(c_.fonts.monoSmall, changedNumber(c_, 0.0f, 0.0f)) + 8;
    if (byKey_) x0_ = std::max(x0_, left_ + 28 + numbers_ + kWord);
    else x1_ = std::min(x1_, right_ - 28 - numbers_ - kWord);
  }
  bool showsBefore() const { return c_.pin && !c_.state.valueNorms && pitch_ >= 14; }

  float y(int token) const { return y0_ + pitch_ * static_cast<float>(token); }

  float captionY() const { return y(0) - std::max(pitch_ / 2, 18.0f) - 2; }
  void captions() {
    if (pitch_ < kCaptioned) return;
    const float top = captionY();
    textRight(list_, c_.fonts.small, x0_ - 8, top, c_.palette.muted, "query");
    textMiddle(list_, c_.fonts.small, x1_ + 10, top, c_.palette.muted, "key");
  }

  struct Link {
    int query, key;
    float weight;
    bool chosen;
  };

  // The norm of a weighted value as a share of the sum in its row (Kobayashi et al. 2020: ‖αf(x)‖, without
  // W_O).
  [[gnu::noinline]] float share(int i, int j) {
    if (lengths_.empty()) {
      const attention::Tensor& v = c_.trace.v;
      const int head = sliceOf(c_.state, TensorId::v).head;
      for (int key = 0; key < v.rows(); ++key) {
        double squares = 0;
        for (int col = 0; col < v.cols(); ++col)
          squares += double{v.at(head, key, col)} * double{v.at(head, key, col)};
        lengths_.push_back(std::sqrt(squares));
      }
      sums_.assign(static_cast<std::size_t>(c_.state.tokens), -1);
    }
    double& sum = sums_[static_cast<std::size_t>(i)];
    const auto adds = [&](int key) {
      return std::fabs(double{c_.weight(i, key)}) * lengths_[static_cast<std::size_t>(key)];
    };
    if (sum < 0) {
      sum = 0;
      for (int key = 0; key < c_.state.keyTokens; ++key) sum += adds(key);
    }
    return sum > 0 ? static_cast<float>(adds(j) / sum) : 0.0f;
  }

  void add(int i, int j, bool chosen) { add(i, j, chosen, showsNorms() ? 0.0f : c_.weight(i, j)); }
  void add(int i, int j, bool chosen, float weight) {
    const float w = showsNorms() ? share(i, j) : weight;
    if (w < (isLong_ ? c_.view.linkFrom : attention::kLink)) return;
    links_.push_back({i, j, w, chosen});
    if (chosen) ++chosenCount_, chosenSum_ += double{w};
  }

  bool showsNorms() const { return c_.state.valueNorms && c_.summaries.sampledEach() == 1; }

  // The weights of the chosen key, where rows are made when they are read.
  [[gnu::noinline]] void readColumn() {
    const std::size_t queries = static_cast<std::size_t>(c_.state.tokens);
    column_.assign(queries, 0.0f);
    std::vector<float> one(queries);
    const int first = c_.showsMean() ? 0 : c_.state.focusHead,
              last = c_.showsMean() ? c_.state.heads - 1 : first;
    int heads = 0;
    for (int h = first; h <= last; ++h) {
      if (c_.showsMean() && attention::isHidden(c_.spec, h)) continue;
      ++heads;
      attention::weightsOfKey({c_.spec, c_.inputs, c_.trace}, h, chosen_, one.data());
      for (std::size_t i = 0; i < queries; ++i) column_[i] += one[i];
    }
    for (float& weight : column_) weight /= static_cast<float>(std::max(heads, 1));
  }

  // The links of the focused token, and the strongest of the others.
  void collect() {
    const attention::Tensor& w = c_.weights();
    // Where not all rows are computed, the links are those of the rows that are, and of the chosen query.
    const int each = c_.summaries.sampledEach();
    const bool hasColumns = each == 1;
    if (byKey_ && chosen_ >= 0 && !w.isStored() && hasColumns) readColumn();
    const int queries = c_.rowsSoFar(), keys = w.cols();
    strongestOnly_ = std::int64_t{queries} * keys > kAllPairs;
    const auto isChosen = [this](int i, int j) { return (byKey_ ? j : i) == chosen_; };
    for (int first = 0; first < queries && !c_.lacks(TensorId::weights); first += each) {
      const int i = hasColumns ? first : c_.summaries.sampleOf(first);
      if (i == c_.view.unreached) continue;
      for (int j = 0; !strongestOnly_ && j < keys; ++j) add(i, j, isChosen(i, j));
      if (!strongestOnly_) continue;
      const attention::RowSummary& row = c_.summaries.row(c_.weightsId(), w, c_.weightsHead(), i);
      if (row.highAt >= 0 && !isChosen(i, row.highAt)) add(i, row.highAt, false, row.range.high);
      if (!column_.empty()) add(i, chosen_, true, column_[static_cast<std::size_t>(i)]);
      else if (byKey_ && chosen_ >= 0 && hasColumns) add(i, chosen_, true);
    }
    const bool isOfRow = strongestOnly_ && !byKey_ && chosen_ >= 0 && chosen_ != c_.view.unreached;
    const float* const row = isOfRow ? weightsOf(c_, chosen_) : nullptr;
    for (int j = 0; isOfRow && j < keys; ++j) add(chosen_, j, true, row[j]);
    const auto isBefore = [](const Link& a, const Link& b) {
      return a.chosen != b.chosen ? a.chosen : a.weight > b.weight;
    };
    if (links_.size() > kMostLinks) {
      std::nth_element(links_.begin(), links_.begin() + kMostLinks, links_.end(), isBefore);
      links_.resize(kMostLinks);
      // Drawn in an order that does not depend on their weights, so that the picture changes only where links
      // do.
      std::sort(links_.begin(), links_.end(), [](const Link& a, const Link& b) {
        return a.query != b.query ? a.query < b.query : a.key < b.key;
      });
    }
  }

  // A curve is divided into as many points as its curvature needs.
  void link(const Link& l) {
    const float alpha = l.chosen ? 0.88f : c_.palette.dark ? 0.2f : 0.15f;
    // In steps too small to be seen, so that what changes all weights by little leaves the picture as it is.
    constexpr float kSteps = 16;  // per pixel
    const float middle = (x0_ + x1_) / 2,
                width = 1.0f + std::round(thick_ * std::min(l.weight, 1.0f) * kSteps) / kSteps;
    const float from = y(l.query), to = y(l.key);
    const int points =
        std::clamp(static_cast<int>(std::sqrt(0.75f * std::fabs(to - from) / kOff)) + 1, 1, 32);
    list_->PathLineTo({x0_, from});
    if (points < 3) list_->PathLineTo({x1_, to});
    else list_->PathBezierCubicCurveTo({middle, from}, {middle, to}, {x1_, to}, points);
    list_->PathStroke(withAlpha(c_.palette.weight, alpha), 0, width);
    if (l.chosen && c_.pin && !c_.state.valueNorms) before(l, points);
  }

  // The outline of the link in the pinned board, and both numbers beside its end.
  [[gnu::noinline]] void before(const Link& l, int points) {
    const std::optional<float> was = weightBefore(c_, l.query, l.key);
    if (!was) return;
    const float from = y(l.query), to = y(l.key), middle = (x0_ + x1_) / 2;
    for (const float side : {-0.5f, 0.5f}) {
      const float by = side * (2 + thick_ * std::min(*was, 1.0f));
      list_->PathLineTo({x0_, from + by});
      list_->PathBezierCubicCurveTo({middle, from + by}, {middle, to + by}, {x1_, to + by},
                                    std::max(points, 2));
      list_->PathStroke(withAlpha(c_.palette.text, 0.55f), 0, 1);
    }
    const std::string words = changedNumber(c_, was, l.weight);
    if (!showsBefore()) return;
    if (!byKey_) textRight(list_, c_.fonts.monoSmall, right_ - 18, to, c_.palette.muted, words);
    else textMiddle(list_, c_.fonts.monoSmall, left_ + 18, from, c_.palette.muted, words);
  }

  // Says what has been omitted.
  void note() {
    const auto fits = [this](base::MessageView words) {
      return textWidth(c_.fonts.small, words) <= (saysBelow_ ? x1_ - x0_ : roomToSay());
    };
    if (showsNorms()) {
      const char* const words = "as thick as w × the length of v";
      if (saysBelow_ || (roomToSay() < kLeastToSay && pitch_ >= kCaptioned)) return sayBelow(words);
      return say(fits(words) ? words : "as thick as w·‖v‖");
    }
    if (isLong_ && !byKey_ && chosen_ >= 0) {
      const base::Message words =
          base::message({chosenCount_, chosenCount_ == 1 ? " link carries " : " links carry ",
                         formatNumber(chosenSum_, 2), " of its row"});
      return saysBelow_ ? sayBelow(words) : say(words);
    }
    if (isLong_ && c_.view.linkFrom > attention::kLink) return;
    const int all = c_.summaries.links(c_.weightsId(), c_.weights(), c_.weightsHead());
    const int drawn = static_cast<int>(links_.size());
    if (drawn >= all || c_.view.unreached >= 0) return;
    const auto of = [&](const char* what) {
      return base::message({counted(drawn), " of ", counted(all), what});
    };
    const int each = c_.summaries.sampledEach();
    base::Message words = of(strongestOnly_ ? " links of 1 % or more: each query's strongest"
                                            : " links of 1 % or more: the strongest");
    if (each > 1) words = base::message({"the strongest link of one query in ", each});
    if (!fits(words)) words = of(" links ≥ 1 %");
    if (!fits(words)) words = of(" ≥ 1 %");
    if (saysBelow_) sayBelow(words);
    else say(words);
  }
  // Right of it are the buttons of the title.
  float endOfSaying() const {
    return right_ - 18 - normsWidth(c_.layout.arcs.width) - 10 - thresholdWidth(c_, c_.layout.arcs.width);
  }
  float roomToSay() const { return endOfSaying() - titleEnd_ - 16; }
  // Between the captions, where beside the tabs there is no room.
  void sayBelow(base::MessageView words) {
    const std::string fitting = elide(c_.fonts.small, words, x1_ - x0_);
    const float width = textWidth(c_.fonts.small, fitting), middle = (x0_ + x1_) / 2;
    textCentered(list_, c_.fonts.small, middle, captionY(), c_.palette.muted, fitting);
    c_.widgetRects["arcs-note"] = {middle - width / 2, captionY() - 8, width, 16};
  }
  void say(base::MessageView words) {
    const float right = endOfSaying(), room = roomToSay();
    if (room < kLeastToSay) return;
    const std::string fitting = elide(c_.fonts.small, words, room);
    const float width = textWidth(c_.fonts.small, fitting), midY = top_ - 20;
    textRight(list_, c_.fonts.small, right, midY, c_.palette.muted, fitting);
    c_.widgetRects["arcs-note"] = {right - width, midY - 8, width, 16};
  }

  // If words would overlap, only some are shown; the focused one has priority.
  int namedEach() const { return static_cast<int>(std::ceil(kWordPitch / pitch_)); }
  bool isNamed(int token, int chosen) const {
    const int each = namedEach();
    return token == chosen || (token % each == 0 && (chosen < 0 || std::abs(token - chosen) >= each));
  }
  // The next token that may be named: of a hundred thousand, few are.
  int nextNamed(int token, int chosen) const {
    const int each = namedEach(), next = (token / each + 1) * each;
    return token < chosen && chosen < next ? chosen : next;
  }

  void labels() {
    const AsIs asIs;
    for (int t = 0, own = byKey_ ? -1 : chosen_; t < c_.rowsSoFar(); t = nextNamed(t, own)) {
      const bool chosen = !byKey_ && t == chosen_;
      if (!isNamed(t, own)) continue;
      ImFont* font = chosen ? c_.fonts.strong : pitch_ < 16 ? c_.fonts.small : c_.fonts.text;
      const std::string word = elide(font, c_.state.labels[static_cast<std::size_t>(t)],
                                     std::min(110.0f, x0_ - left_ - 18 - (byKey_ ? numbers_ : 0)));
      textRight(list_, font, x0_ - 10, y(t), chosen ? c_.palette.query : c_.palette.text, word);
      const float width = textWidth(font, word), high = std::min(pitch_, 24.0f);
      c_.widgetRects["query:" + std::to_string(t)] = {x0_ - 10 - width, y(t) - high / 2, width, high};
    }
    const std::vector<std::string>& keys = document::keyLabels(c_.state);
    for (int t = 0, own = byKey_ ? chosen_ : key_; t < c_.state.keyTokens; t = nextNamed(t, own)) {
      const bool chosen = t == own;
      if (!isNamed(t, own)) continue;
      ImFont* font = chosen ? c_.fonts.strong : pitch_ < 16 ? c_.fonts.small : c_.fonts.text;
      textMiddle(list_, font, x1_ + 10, y(t), chosen ? c_.palette.key : c_.palette.text,
                 elide(font, keys[static_cast<std::size_t>(t)],
                       std::min(110.0f, right_ - x1_ - 18 - (byKey_ ? 0 : numbers_))));
    }
  }

  Context& c_;
  ImDrawList* list_;
  std::vector<Link> links_;
  std::vector<double> lengths_, sums_;  ///< norms of the values, and of what they contribute to each row
  std::vector<float> column_;           ///< see readColumn()
  bool strongestOnly_ = false, saysBelow_ = false;
  float numbers_ = 0, left_ = 0, right_ = 0, titleEnd_ = 0, top_ = 0, x0_ = 0, x1_ = 0, y0_ = 0, pitch_ = 0,
        thick_ = 0;
  int chosen_ = -1, key_ = -1, chosenCount_ = 0;
  double chosenSum_ = 0;
  bool byKey_ = false, isLong_ = false;
};

}  // namespace

void arcs(Context& c, const Box& area, float titleEnd) {
  c.widgetRects["arcs"] = area;
  Arcs(c, area, titleEnd).draw();
}

}  // namespace views
