// All heads of all layers of a model, or of the one layer, as small pictures with what they look at; a press
// opens one on the board.
#include <algorithm>
#include <cmath>

#include "base/late.h"
#include "base/sentence.h"
#include "views/head_tag.h"
#include "views/pages/column.h"
#include "views/panels/panels.h"

namespace views {
namespace {

using base::joined;
using base::late;

constexpr std::uint32_t kModelSlot = 10000;  // of the first picture's texture
constexpr float kLargest = 96, kSmallest = 32, kGap = 8, kRowNames = 26;

/// One row of pictures for each layer, or several if they would be too small.
class ModelView {
 public:
  ModelView(Context& c, const Box& area) : c_(c), area_(area), list_(ImGui::GetWindowDrawList()) {}

  float draw() {
    const document::State& s = c_.state;
    PageColumn top(c_, area_.x, area_.y, area_.width);
    const bool isModel = hasLayers(s);
    top.title(isModel ? late<"All heads of the model">() : late<"All heads of the layer">());
    if (!document::hasManyHeads(s)) {
      top.sentence(late<"There is one layer here. Open a file with several, such as a recorded model or "
                        "weights of the shape [layers, heads, queries, keys].">());
      return top.y();
    }
    const std::string of = isModel ? joined({s.batch, late<" layers of ">(), s.heads,
                                             s.heads == 1 ? late<" head each, with the same tokens. ">()
                                                          : late<" heads each, with the same tokens. ">()})
                                   : "";
    top.sentence(of +
                 late<"A row of a picture is a query, a column a key. Press one to open it on the board.">());
    top.gap(6);
    if (!c_.derived.layersAreWhole()) c_.view.busy = true;  // one layer is computed per frame
    // As many side by side as can be seen; all heads of a layer if possible.
    const float left = area_.x + kRowNames, width = area_.width - kRowNames;
    columns_ = std::clamp(static_cast<int>((width + kGap) / (kSmallest + kGap)), 1, s.heads);
    const int lines = (s.heads + columns_ - 1) / columns_;
    columns_ = (s.heads + lines - 1) / lines;
    size_ = std::floor(std::min(kLargest, (width + kGap) / static_cast<float>(columns_) - kGap));
    pitch_ = size_ + (hasTags() ? kTagHeight + 3 : 0) + kGap;
    float y = top.y();
    const bool isOneLine = lines == 1;
    if (isOneLine) {
      for (int h = 0; h < s.heads; ++h)
        textCentered(list_, c_.fonts.small, left + x(h) + size_ / 2, y + 8, c_.palette.muted,
                     joined({h + 1}));
      textMiddle(list_, c_.fonts.smallStrong, area_.x, y + 8, c_.palette.muted,
                 size_ >= 44 ? late<"HEAD">() : "");
      y += 22;
    }
    for (int layer = 0; layer < s.batch; ++layer) {
      const float room = isOneLine ? 0 : 24;
      const bool isHere = layer == s.batchItem;
      if (isOneLine)
        textRight(list_, c_.fonts.small, left - 8, y + size_ / 2, isHere ? c_.palette.text : c_.palette.muted,
                  joined({layer + 1}));
      else
        textMiddle(list_, c_.fonts.strong, area_.x, y + 12, c_.palette.text,
                   joined({late<"Layer ">(), layer + 1}));
      y += room;
      for (int h = 0; h < s.heads; ++h)
        picture(layer, h,
                {isOneLine ? left + x(h) : area_.x + x(h % columns_),
                 y + static_cast<float>(h / columns_) * pitch_, size_, size_},
                top);
      y += static_cast<float>(lines) * pitch_ + (isOneLine ? 0 : 8);
    }
    return y + 12;
  }

 private:
  bool hasTags() const { return size_ >= kTagWidth - kGap / 2 && document::hasHeadTags(c_.state); }
  float x(int column) const { return static_cast<float>(column) * (size_ + kGap); }

  void picture(int layer, int head, const Box& box, PageColumn& column) {
    const document::State& s = c_.state;
    const std::string name = joined({late<"layer:">(), layer, ":", head});
    const bool isHere = layer == s.batchItem && head == s.focusHead && !c_.showsMean();
    const FocusRing::Key key = column.keys(name, box);
    if (Widgets(c_).area(name, box, Mirror::Role::choice, isHere) || key.press) open(layer, head);
    const bool isOver = ImGui::IsItemHovered();
    if (!ImGui::IsRectVisible({box.x, box.y}, {box.right(), box.bottom()})) return;
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.panel, 5);
    const document::LayerPicture& of = c_.derived.layers()[static_cast<std::size_t>(layer)];
    if (of.version != 0) {
      const attention::Tensor& w = of.weights;
      const bool isSigned = views::isSigned(s);
      draw::Heatmap look;
      look.high = 1, look.low = isSigned ? -1.0f : 0.0f,
      look.map = isSigned ? c_.palette.signedMap : c_.palette.weightMap;
      look.scale = static_cast<draw::Scale>(document::shownScale(s));
      const float inner = box.width - 8;
      look.cell = inner / static_cast<float>(std::max(w.rows(), w.cols()));
      look.x = box.x + 4 + (inner - look.cell * static_cast<float>(w.cols())) / 2,
      look.y = box.y + 4 + (inner - look.cell * static_cast<float>(w.rows())) / 2;
      look.gap = look.cell >= 6 ? 1.0f : 0.0f, look.radius = 0;
      draw::Values values{w.head(head), w.rows(), w.cols(), w.cols(), of.version};
      values.rowPeaks = of.peaks.data() + static_cast<std::ptrdiff_t>(head) * w.rows();
      c_.heatmaps.draw(list_, kModelSlot + static_cast<std::uint32_t>(layer * s.heads + head), values, look);
    }
    if (hasTags() && of.version != 0)
      headTag(c_, of.tags[static_cast<std::size_t>(head)], box.midX() - kTagWidth / 2, box.bottom() + 3);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()},
                   isHere   ? c_.palette.weight
                   : isOver ? c_.palette.muted
                            : c_.palette.border,
                   5, 0, isHere ? 2.5f : 1.0f);
  }

  void open(int layer, int head) {
    const std::uint64_t gesture = c_.view.nextGesture++;
    c_.requests.set(document::OptionId::layer, static_cast<double>(layer), gesture);
    c_.requests.set(document::OptionId::focus_head, static_cast<double>(head), gesture);
    c_.requests.set(document::OptionId::average_heads, false, gesture);
    c_.requests.endGesture = true;
    showView(c_, document::View::layer);
  }

  Context& c_;
  Box area_;
  ImDrawList* list_;
  int columns_ = 1;
  float size_ = 0, pitch_ = 0;  ///< of a picture, and from one line of them to the next
};

}  // namespace

float modelPage(Context& c, const Box& area) { return ModelView(c, area).draw(); }

}  // namespace views
