#include "views/work.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

/// What is shorter needs no words, in seconds.
constexpr double kSoon = 1;
/// A frame may be built a few times before it is drawn.
constexpr int kMostBuilt = 5;

}  // namespace

bool goesOn(ViewState& view, const char* what, int done, int total) {
  if (!view.work) view.work = std::make_shared<WorkView>();
  WorkView& w = *view.work;
  const bool isOther = std::string_view(w.what) != what || w.total != total || done < w.done;
  if (isOther) w = {what, done, total, ImGui::GetTime(), done};
  w.done = done, w.frame = ImGui::GetFrameCount();
  if (!w.isStopped) view.busy = true;
  return !w.isStopped;
}

base::Message timeLeft(const WorkView& w, double now) {
  const int made = w.done - w.first;
  const double took = now - w.began;
  if (made <= 0 || took < kSoon) return {};
  const double left = took / made * (w.total - w.done);
  if (left < 60)
    return base::message({"about ", std::max(1, static_cast<int>(std::lround(left))), " s left"});
  return base::message({"about ", static_cast<int>(std::lround(left / 60)), " min left"});
}

void workBar(Context& c) {
  if (!c.view.work) return;
  const int since = ImGui::GetFrameCount() - c.view.work->frame;
  // What the board computes is reported after a frame was built.
  if (since > (c.view.work->isStopped ? 1 : 0)) c.view.busy = true;
  if (since > kMostBuilt) return c.view.work.reset();  // it is done
  WorkView& w = *c.view.work;
  const double now = ImGui::GetTime();
  if (!w.isStopped && now - w.began < kSoon) return;
  const base::Message how = base::message({w.what, ": ", counted(w.done), " of ", counted(w.total)}),
                      left = w.isStopped ? base::Message("cancelled") : timeLeft(w, now);
  const std::string_view act = w.isStopped ? "Go on" : "Cancel";
  constexpr float kAround = 14, kApart = 14, kLeft = 96;
  const float high = c.roomy() ? 48.0f : 36.0f;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float words = std::ceil(textWidth(c.fonts.text, how)),
              end = std::ceil(textWidth(c.fonts.strong, act)),
              lefts = std::max(kLeft, std::ceil(textWidth(c.fonts.small, left)));
  const bool isNarrow = size.x < 480;  // without the time, which moves nothing else
  const float width =
      std::min(2 * kAround + words + kApart + (isNarrow ? 0 : lefts + kApart) + end, size.x - 16);
  constexpr float kAbove = 72;  // of where a message may be, which goes when something is pressed
  const Box box{std::floor((size.x - width) / 2), std::floor(c.layout.board.bottom() - high - kAbove), width,
                high};
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.width, box.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::Begin("##work", nullptr,
               kFixedWindow | ImGuiWindowFlags_NoFocusOnAppearing | ImGuiWindowFlags_NoBackground |
                   ImGuiWindowFlags_NoScrollbar);
  ImGui::PopStyleVar();
  ImDrawList* list = sharp(ImGui::GetForegroundDrawList());
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c.palette.ink, 8);
  const float done = (box.width - 16) * static_cast<float>(w.done) / static_cast<float>(std::max(1, w.total));
  list->AddRectFilled({box.x + 8, box.bottom() - 4}, {box.x + 8 + done, box.bottom() - 2}, c.palette.inkText,
                      1);
  textMiddle(list, c.fonts.text, box.x + kAround, box.midY(), c.palette.inkText, how);
  if (!isNarrow)
    textMiddle(list, c.fonts.small, box.x + kAround + words + kApart, box.midY(),
               withAlpha(c.palette.inkText, 0.75f), left);
  const Box button{box.right() - kAround - end - 6, box.y, end + kAround + 6, box.height};
  textMiddle(list, c.fonts.strong, button.x + 6, box.midY(), c.palette.inkText, act);
  list->AddLine({button.x + 6, box.midY() + 9}, {button.x + 6 + end, box.midY() + 9}, c.palette.inkText, 1);
  if (Widgets(c).area("work:cancel", button)) {
    w.isStopped = !w.isStopped, w.began = now, w.first = w.done;
    c.view.busy = true;
  }
  ImGui::End();
  c.widgetRects["work"] = box;
}

}  // namespace views
