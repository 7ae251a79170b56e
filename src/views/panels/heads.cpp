// Thumbnails of the weights of every head, and of their mean.
#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "views/head_tag.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr std::uint32_t kFirstSlot = 1000;  // lower texture slots belong to the board

bool isHidden(const Context& c, int head) { return (c.state.hiddenHeads >> head & 1) != 0; }

// Excludes a head from the concatenation, or includes it again.
void toggleHead(Context& c, int head) {
  std::vector<int> hidden;
  for (int h = 0; h < c.state.heads; ++h) {
    if (isHidden(c, h) != (h == head)) hidden.push_back(h);
  }
  c.requests.set(document::OptionId::hidden_heads, std::move(hidden));
}

// Beside the name of a head.
Box hideArea(const Context& c, const Box& box) {
  const float x = box.right() - (box.width < 84 ? -2.0f : 9.0f), y = box.bottom() + 13,
              half = c.roomy() ? 22 : 11;
  return {x - half, y - half, 2 * half, 2 * half};
}

// A ring, filled while the head contributes to the output.
void hideRing(Context& c, int head, const Box& area) {
  const bool over =
      ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({area.x, area.y}, {area.right(), area.bottom()});
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 color = over ? c.palette.text : c.palette.muted;
  list->AddCircle({area.midX(), area.midY()}, 4.5f, color, 16, 1.3f);
  if (!isHidden(c, head)) list->AddCircleFilled({area.midX(), area.midY()}, 2.5f, color, 12);
}

// Heads of a large layer are computed one after the other.
bool isComputed(const Context& c, bool mean, int head) {
  for (int h = 0; mean && h < c.trace.weights.heads(); ++h) {
    if (!c.summaries.isComputed(TensorId::weights, h)) return false;
  }
  if (mean && !c.trace.weights.isStored()) return c.summaries.isComputed(attention::kMeanWeights, 0);
  return mean || c.summaries.isComputed(TensorId::weights, head);
}

bool hasFirst(const Context& c, bool mean, int head) {
  attention::FirstPictures& first = c.summaries.firstPictures();
  return mean ? !isComputed(c, true, 0) && first.mean() != nullptr : first.has(head);
}

void picture(Context& c, bool mean, int head, const Box& box) {
  const float inner = box.width - 12;
  const TensorId id = mean ? attention::kMeanWeights : TensorId::weights;
  const bool isFirst = hasFirst(c, mean, head);
  const attention::Tensor& w = mean && !isFirst ? c.mean(TensorId::weights) : c.trace.weights;
  draw::Heatmap look;
  look.cell = inner / static_cast<float>(std::max(w.cols(), w.rows()));
  look.x = box.x + 6, look.y = box.y + 6;
  look.transposed = c.state.columnLayout;
  look.gap = look.cell >= 12 ? 2.0f : look.cell >= 6 ? 1.0f : 0.0f;
  look.radius = look.cell >= 12 ? 2.0f : 0.0f;
  const bool isSigned = views::isSigned(c.state);
  look.high = 1, look.low = isSigned ? -1.0f : 0.0f,
  look.map = isSigned ? c.palette.signedMap : c.palette.weightMap;
  look.scale = static_cast<draw::Scale>(document::shownScale(c.state));
  draw::Heatmap drawn = look;
  const draw::Values values = isFirst ? firstValues(c, mean, head, drawn)
                                      : valuesOf(c, {id, w, head, 0, 0, c.rowsSoFar(), w.cols()}, drawn);
  ImDrawList* list = ImGui::GetWindowDrawList();
  c.heatmaps.draw(list, kFirstSlot + static_cast<std::uint32_t>(mean ? c.state.heads : head), values, drawn);
  if (c.view.unreached >= 0 && (mean || head == c.state.focusHead)) {
    const float from = static_cast<float>(c.view.unreached) * look.cell,
                whole = static_cast<float>(w.cols()) * look.cell;
    const Box line = look.transposed ? Box{look.x + from, look.y, look.cell, whole}
                                     : Box{look.x, look.y + from, whole, look.cell};
    list->AddRectFilled({line.x, line.y}, {line.right(), line.bottom()}, c.palette.panel);
  }
}

void thumbnail(Context& c, bool mean, int head, Box box, bool focused, base::MessageView name) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c.palette.panel, 6);
  if (hasFirst(c, mean, head) || isComputed(c, mean, head)) picture(c, mean, head, box);
  if (!mean && isHidden(c, head))
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, withAlpha(c.palette.background, 0.7f),
                        6);
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, focused ? c.palette.weight : c.palette.border, 6,
                0, focused ? 2.5f : 1.0f);
  if (!name.empty())
    textCentered(list, c.fonts.small, box.midX(), box.bottom() + 13,
                 focused ? c.palette.text : c.palette.muted, name);
}

// The number of a head and its tag, below the picture.
void tagged(Context& c, int head, const Box& box, bool focused) {
  const float y = box.bottom() + 13;
  const std::string number = std::to_string(head + 1);
  textMiddle(ImGui::GetWindowDrawList(), c.fonts.small, box.x, y, focused ? c.palette.text : c.palette.muted,
             number);
  headTag(
      c,
      c.derived.headTag(head, c.trace, c.summaries.stamps(TensorId::weights, head).latest, c.view.isHandled),
      box.x + std::ceil(textWidth(c.fonts.small, number)) + 2, y - kTagHeight / 2);
}

constexpr float kMeasuresHigh = kHeadMeasures * kMeasureLine;

// What the page of all heads says of each one, in lines below the picture.
[[gnu::noinline]] void measuresBelow(Context& c, int head, const Box& box, int& left) {
  const std::uint32_t written = c.summaries.stamps(TensorId::weights, head).latest;
  const attention::HeadMeasures* m = c.derived.headMeasures(head, c.trace, written, left);
  if (!m) return void(c.view.busy = true);
  headMeasures(c, *m, {box.x, box.bottom() + 22, box.width, kMeasureLine});
}

// The head that is under the pointer, or below a finger until it is lifted, is on the board meanwhile. The
// steps of a row are of one head.
[[gnu::noinline]] bool isPeeked(const Context& c, bool mean, int head) {
  return ImGui::IsItemHovered() && (!c.touch || ImGui::IsMouseDown(0)) && c.state.stepper == 0 &&
         !c.view.before && isComputed(c, mean, head);
}

// A visible thumbnail; if there are several heads, the last one shows their mean.
struct Thumbnail {
  int head;
  bool mean;
  Box box;
  bool named, canHide, hasMeasures;

  std::string name() const { return mean ? "head:mean" : "head:" + std::to_string(head); }
  float below() const { return hasMeasures ? 22 + kMeasuresHigh : named ? 22.0f : 0.0f; }
};

// Below all pictures, without making them smaller.
[[gnu::noinline]] bool hasRoomForMeasures(const Context& c, const ThumbnailGrid& grid, int count) {
  const auto lines = [&](int pictures) {
    return static_cast<float>((pictures + grid.columns - 1) / grid.columns);
  };
  return document::hasHeadTags(c.state) &&
         28 + lines(count) * grid.pitchY + lines(count - 1) * kMeasuresHigh <= c.layout.heads.height;
}

// Calls `visit` for each thumbnail, clipped to the board.
template <class Visit>
void each(const Context& c, Visit visit) {
  const Box& board = c.layout.board;
  const Box area = onScreen(c.layout, c.view, c.layout.heads);
  const int count = c.state.heads > 1 ? c.state.heads + 1 : 1;
  ThumbnailGrid grid = thumbnails(area, count);
  const bool hasMeasures = count > 1 && grid.size >= 84 && hasRoomForMeasures(c, grid, count);
  if (hasMeasures) grid.pitchY += kMeasuresHigh;
  ImGui::PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  for (int h = 0; h < count; ++h) {
    const bool mean = h == c.state.heads;
    const Box box{area.x + static_cast<float>(h % grid.columns) * grid.pitchX,
                  area.y + 28 + static_cast<float>(h / grid.columns) * grid.pitchY, grid.size, grid.size};
    if (box.bottom() < board.y || box.y > board.bottom()) continue;
    visit(Thumbnail{h, mean, box, grid.names, !mean && c.state.heads > 1 && grid.size >= 64 && grid.names,
                    hasMeasures && !mean});
  }
  ImGui::PopClipRect();
}

}  // namespace

void layerStepper(Context& c, std::string_view name, const Box& box) {
  const int here = c.state.batchItem, all = c.state.batch;
  const int step =
      Widgets(c).stepper(name, box, base::message({here + 1, " of ", all}), here > 0, here + 1 < all);
  if (step != 0) c.requests.set(document::OptionId::layer, static_cast<double>(here + step));
}

void headButtons(Context& c) {
  c.view.peekHead = -1;
  if (c.layout.heads.empty()) return;
  if (hasLayers(c.state)) {
    const Box area = onScreen(c.layout, c.view, c.layout.heads);
    const Box& board = c.layout.board;
    const float left =
        area.width < 140
            ? 0.0f
            : std::max(46.0f, std::ceil(textWidth(c.fonts.strong, "Layer")) + 9);  // the word before it
    ImGui::PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
    layerStepper(c, "layer:heads", {area.x + left, area.y, area.width < 140 ? area.width : 132.0f, 24});
    ImGui::PopClipRect();
  }
  each(c, [&](const Thumbnail& t) {
    // First, because a finger's room for it reaches into the picture.
    if (t.canHide && Widgets(c).area("hide-head:" + std::to_string(t.head), hideArea(c, t.box),
                                     Mirror::Role::toggle, !isHidden(c, t.head)))
      toggleHead(c, t.head);
    const bool isShown = t.mean ? c.state.averageHeads : t.head == c.state.focusHead && !c.state.averageHeads;
    if (Widgets(c).area(t.name(), {t.box.x, t.box.y, t.box.width, t.box.height + 2}, Mirror::Role::choice,
                        isShown)) {
      if (!t.mean) c.requests.set(document::OptionId::focus_head, static_cast<double>(t.head));
      if (t.mean != c.state.averageHeads) c.requests.set(document::OptionId::average_heads, t.mean);
    }
    if (isPeeked(c, t.mean, t.head)) c.view.peekHead = t.head, pointBelow(c, t.name(), t.below());
  });
}

void heads(Context& c) {
  if (c.layout.heads.empty()) return;
  const Box area = onScreen(c.layout, c.view, c.layout.heads);
  const Box& board = c.layout.board;
  ImGui::PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  textMiddle(ImGui::GetWindowDrawList(), c.fonts.strong, area.x, area.y + 12, c.palette.text,
             hasLayers(c.state) ? area.width < 140 ? "" : "Layer" : "Heads");
  ImGui::PopClipRect();
  const bool isTagged = c.state.heads > 1 && document::hasHeadTags(c.state);
  int left = document::HeadTags::kHeadsOfFrame;
  each(c, [&](const Thumbnail& t) {
    const bool focused = t.mean ? c.state.averageHeads : t.head == c.state.focusHead && !c.state.averageHeads;
    const bool hasTag = isTagged && t.named && !t.mean && isComputed(c, false, t.head);
    const base::Message words = !t.named || hasTag ? ""
                                : t.mean           ? "mean"
                                                   : base::message({"head ", t.head + 1});
    c.widgetRects[t.name()] = t.box;
    thumbnail(c, t.mean, t.mean ? 0 : t.head, t.box, focused, words);
    if (hasTag) tagged(c, t.head, t.box, focused), c.view.busy |= c.derived.isTagging(t.head);
    if (hasTag && t.hasMeasures) measuresBelow(c, t.head, t.box, left);
    if (t.canHide) hideRing(c, t.head, hideArea(c, t.box));
  });
}

}  // namespace views
