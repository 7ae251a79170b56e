// The options: docked at the left, or as a drawer.
#include <algorithm>
#include <cmath>

#include "views/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::OptionId;

class SidePanel {
 public:
  SidePanel(Context& c, float x, float y, float width) : c_(c), w_(c), x_(x), y_(y), width_(width) {}

  /// Draws all groups; returns the height.
  float draw() {
    const float top = y_;
    inputs();
    mask();
    score();
    numbers();
    return y_ - top;
  }

 private:
  void heading(std::string_view words) {
    y_ += 6;
    textMiddle(ImGui::GetWindowDrawList(), c_.fonts.smallStrong, x_, y_ + 10, c_.palette.muted, words);
    y_ += 27;
  }

  Box row(float height, float gap) {
    const Box box{x_, y_, width_, height};
    y_ += height + gap;
    return box;
  }

  void label(const Box& row, std::string_view words) {
    textMiddle(ImGui::GetWindowDrawList(), c_.fonts.text, row.x, row.midY(), c_.palette.text, words);
  }

  int stepRow(std::string_view name, std::string_view words, int value, bool less, bool more) {
    const Box box = row(26, 7);
    label(box, words);
    return w_.stepper(name, {box.right() - 88, box.y, 88, box.height}, std::to_string(value), less, more);
  }

  void count(OptionId id, std::string_view words, int value) {
    const document::Option& o = document::option(id);
    auto fits = [&](int v) { return !document::check(c_.state, id, static_cast<double>(v)); };
    const int step = stepRow(o.name, words, value, value > o.min, fits(value + 1));
    if (step != 0) c_.wishes.set(id, static_cast<double>(value + step));
  }

  void inputs() {
    heading("INPUTS");
    const Box both = row(28, 8);
    ImGui::GetWindowDrawList()->AddRect({both.x, both.y}, {both.right(), both.bottom()}, c_.palette.border, 5);
    const bool projected = c_.state.mode == document::Mode::x;
    if (w_.segment("mode:qkv", {both.x, both.y, both.width / 2, both.height}, "Q K V", !projected)) {
      c_.wishes.set(OptionId::mode, std::string("qkv"));
    }
    if (w_.segment("mode:x", {both.midX(), both.y, both.width / 2, both.height}, "X · W", projected)) {
      c_.wishes.set(OptionId::mode, std::string("x"));
    }
    sentence();
    count(OptionId::tokens, "Tokens", c_.state.tokens);
    headCount();
    count(OptionId::d_k, "d_k per head", c_.state.headDim);
    if (projected) count(OptionId::model_dim, "Width of X", c_.state.modelDim);
    const Box fill = row(28, 8);
    if (w_.button("randomize", fill, "Random numbers")) {
      c_.wishes.edit(document::Randomize{c_.state.seed * 1664525u + 1013904223u, std::nullopt});
    }
  }

  void sentence() {
    const Box box = row(28, 8);
    std::string words;
    for (const std::string& token : c_.state.labels) words += (words.empty() ? "" : " ") + token;
    if (!w_.field("labels", box, words)) return;
    TextTarget t;
    t.kind = TextTarget::Kind::sentence;
    t.name = "Sentence";
    t.text = words;
    t.box = box;
    c_.wishes.text = t;
  }

  // Steps to the next count that divides the model width.
  void headCount() {
    const std::vector<int> allowed = document::allowedHeads(c_.state);
    const auto here = std::find(allowed.begin(), allowed.end(), c_.state.heads);
    const bool less = here != allowed.begin(), more = here != allowed.end() && here + 1 != allowed.end();
    const int step = stepRow("heads", "Heads", c_.state.heads, less, more);
    if (step != 0) c_.wishes.set(OptionId::heads, static_cast<double>(*(here + step)));
  }

  void mask() {
    heading("MASK");
    if (w_.toggle("causal", row(22, 6), "Causal", c_.state.causal, c_.state.causal)) {
      c_.wishes.set(OptionId::causal, !c_.state.causal);
    }
    const Box paint = row(26, 6);
    label(paint, "Paint cells");
    if (w_.icon("paint", {paint.right() - 34, paint.y, 34, 26}, Widgets::Icon::pencil, true, c_.view.painting)) {
      c_.view.painting = !c_.view.painting;
    }
    if (!c_.state.painted.empty()) {
      const Box clear{paint.right() - 34 - 8 - 54, paint.y, 54, 26};
      if (w_.button("clear-mask", clear, "Clear")) c_.wishes.ask(Command::clearMask);
    }
  }

  void score() {
    heading("SCORE");
    if (w_.toggle("scale", row(22, 6), "÷ √d_k", c_.state.score == attention::Score::scaled)) c_.wishes.set(OptionId::scale, c_.state.score != attention::Score::scaled);
    const Box box = row(24, 6);
    label(box, "Temperature");
    const float t = c_.state.temperature;
    textRight(ImGui::GetWindowDrawList(), c_.fonts.monoSmall, box.right(), box.midY(), c_.palette.muted, formatNumber(static_cast<double>(t), 2));
    float position = std::clamp((std::log10(t) + 1) / 2, 0.0f, 1.0f);
    if (w_.slider("temperature", {box.right() - 116, box.y, 80, box.height}, position)) {
      if (std::fabs(position - 0.5f) < 0.025f) position = 0.5f;  // 1 is easy to find again
      const double value = std::round(std::pow(10.0, 2.0 * static_cast<double>(position) - 1) * 100) / 100;
      c_.wishes.set(OptionId::temperature, value, kSliderGesture);
    }
    if (ImGui::IsItemDeactivated()) c_.wishes.endGesture = true;
  }

  void numbers() {
    heading("NUMBERS");
    count(OptionId::decimals, "Decimals", c_.state.decimals);
  }

  static constexpr std::uint64_t kSliderGesture = ~std::uint64_t{0};
  Context& c_;
  Widgets w_;
  float x_, y_, width_;
};

void scrollWithFinger() {
  if (ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) && !ImGui::IsAnyItemActive() &&
      ImGui::IsMouseDragging(ImGuiMouseButton_Left, 4)) {
    ImGui::SetScrollY(ImGui::GetScrollY() - ImGui::GetIO().MouseDelta.y);
  }
}

}  // namespace

void sidePanel(Context& c) {
  if (c.layout.side.empty() || (c.layout.sidePanelIsDrawer && !c.view.drawer)) return;
  const Box& b = c.layout.side;
  ImGui::SetNextWindowPos({b.x, b.y});
  ImGui::SetNextWindowSize({b.width, b.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, c.palette.panel);
  ImGui::Begin("##side", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav);
  ImGui::PopStyleColor();
  ImGui::PopStyleVar(2);
  sharp(ImGui::GetWindowDrawList());
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const float height = SidePanel(c, origin.x + 14, origin.y + 6, b.width - 29).draw();
  ImGui::SetCursorScreenPos({origin.x, origin.y + height + 16});
  ImGui::Dummy({1, 1});
  scrollWithFinger();
  c.view.sideScroll = ImGui::GetScrollY(), c.view.sideLimit = ImGui::GetScrollMaxY();
  ImGui::GetWindowDrawList()->AddLine({b.right() - 0.5f, b.y}, {b.right() - 0.5f, b.bottom()}, c.palette.border);
  const bool away = c.layout.sidePanelIsDrawer && ImGui::IsMouseClicked(ImGuiMouseButton_Left) &&
                    !b.contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y) &&
                    !c.layout.header.contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y);
  if (away) c.view.drawer = false;
  ImGui::End();
}

}  // namespace views
