// What is on the screen: how the view stands, the layout that follows from it, and what the user is told.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "app/embed.h"
#include "app/session.h"
#include "views/context.h"

namespace app {

inline constexpr int kSettle = 3;  ///< frames after the last event: Dear ImGui needs a second one to take in a new layout

class Screen {
 public:
  Screen(Session& theSession, Host& theHost, draw::Heatmaps& heatmaps) : session(theSession), host(theHost), heatmaps_(heatmaps) {}

  // --- layout

  bool dark() const;
  const views::Palette& palette() const {
    const views::Palette& own = forced ? *forced : accented ? (*accented)[dark()] : views::palette(dark());
    return session.state().colors == document::Colors::own ? own : mapped(own);
  }
  views::Layout makeLayout() const { return layoutAt(size.x, size.y); }
  /// How much larger than usual everything is drawn in a window of that size.
  float zoomFor(float width, float height) const;
  /// The height at which a window of that width shows all of the board without scrolling, where the page lets it fit; 0 for other views.
  float heightFor(float width) const;
  /// The width of the token labels: only when they, or the fonts, are others than last time, as there may be two thousand.
  void measureLabels(const views::Fonts& fonts);
  /// The faces are others, with as many glyphs.
  void forgetLabels() { measured_ = {}; }
  /// What panels are given. What they ask for goes to `asked`.
  views::Context context(const views::Layout& layout, const views::Palette& palette, const views::Fonts& fonts, views::Requests& asked);
  /// The same of the pinned board, for as long as it is looked at.
  [[gnu::noinline]] views::Context pinnedContext(document::Pinned& pin, const views::Layout& layout, const views::Palette& palette,
                                                 const views::Fonts& fonts, views::Requests& asked);

  /// Is a page in the place of the board?
  bool onPage() const;
  /// The panel or page that has the pointer there; null for the board and the header. Menus and help have it everywhere.
  const views::Scroller* panelAt(float x, float y) const;
  /// Does the board show rows of that tensor as columns?
  bool isTransposed(attention::TensorId id) const;
  bool isChangeable(attention::TensorId id) const;

  // --- doing

  /// Another frame is wanted, and those after it in which Dear ImGui takes in a new layout. `controlsToo`: what controls
  /// show may be otherwise, and not only what is drawn after them.
  void wake(bool controlsToo = true);
  void say(std::string_view sentence, bool isError) { say({{{std::string(sentence), {}}}, isError}); }
  void say(views::Notice notice);
  /// Tells the user and the page script what was refused.
  void refuse(const base::Error& error);
  /// Takes the text field away without an answer.
  void dropText();
  base::Result<void> openPreset(std::string_view name, bool undoable, Source source);

  Session& session;
  Host& host;
  views::ViewState view;
  views::Requests requests;  ///< of the frame that is being built
  views::WidgetRects widgetRects, lastWidgetRects;
  /// As the latest frame left them.
  const views::WidgetRects& drawnRects() const { return widgetRects.empty() ? lastWidgetRects : widgetRects; }
  std::unique_ptr<views::Palette> forced;  ///< the reader's own colours, in place of a theme
  std::unique_ptr<std::array<views::Palette, 2>> accented;  ///< light and dark, with a colour of the page
  Embed embed;
  std::string lock;  ///< of the embed, and of the lesson that is open
  ImVec2 size{1440, 900};
  float zoom = 1;  ///< of the frame that was built last
  float textScale = 1;  ///< how much larger than usual the page wants its words
  int wanted = kSettle;  ///< frames
  int noticeAge = 0;
  std::uint64_t changes = 0;  ///< so far, to what controls show

 private:
  views::Layout layoutAt(float width, float height) const;
  [[gnu::noinline]] const views::Palette& mapped(const views::Palette& palette) const;

  draw::Heatmaps& heatmaps_;
  mutable std::unique_ptr<views::Palette> mapped_;  ///< the theme with other colours of cells
  float labelWidth_ = 30, nameWidth_ = 0;
  struct {
    float scale = 0;
    int glyphs = 0;
    std::vector<std::string> labels, keyLabels, columnNames;
  } measured_;  ///< what labelWidth_ and nameWidth_ were measured from
};

}  // namespace app
