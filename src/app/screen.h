// The content of the screen: the state of the view, the resulting layout, and messages to the user.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/embed.h"
#include "app/session.h"
#include "views/context.h"

namespace app {

inline constexpr int kSettle =
    3;  ///< frames after the last event; Dear ImGui needs a second frame to adapt to a new layout

class Screen {
 public:
  Screen(Session& theSession, Host& theHost, draw::Heatmaps& heatmaps)
      : session(theSession),
        host(theHost),
        heatmaps_(heatmaps) {}

  // --- layout

  bool dark() const;
  const views::Palette& palette() const {
    const views::Palette& own = forced ? *forced : accented ? (*accented)[dark()] : views::palette(dark());
    return session.state().colors == document::Colors::own ? own : mapped(own);
  }
  views::Layout makeLayout() const;
  /// The magnification of the interface in a window of that size.
  float zoomFor(float width, float height) const;
  /// The height at which a window of that width shows the whole board without scrolling, if Embed::fit is
  /// set; 0 for other views.
  float heightFor(float width) const;
  /// Measures the token labels; only if they or the fonts have changed since the last call, because there may
  /// be two thousand.
  void measureLabels(const views::Fonts& fonts);
  /// To be called when the fonts have changed.
  void forgetLabels() { measured_ = {}; }
  /// A hash of what tokens and columns are called and of the mode: numbers of two boards that differ in it
  /// are not compared.
  std::uint64_t namesHash();
  /// The trace with everything that such a board shows: see attention::Engine::traceWith().
  const attention::Trace& traceFor(const views::Layout& layout);
  int rowRead() const;
  /// The Context for panels, of the pinned board while that is shown. What they ask for is added to `asked`.
  views::Context context(const views::Layout& layout, const views::Palette& palette,
                         const views::Fonts& fonts, views::Requests& asked);

  /// Is a page open in place of the board?
  bool onPage() const;
  /// Is this place in something that may cover controls: a panel, or a bar over the board? A page covers
  /// none.
  bool isCovered(float x, float y) const;
  /// The panel or page under a point, for scrolling; null over the board and the header. An open menu or the
  /// help takes precedence everywhere.
  const views::Scroller* panelAt(float x, float y) const;
  /// Does the board show the rows of that tensor as columns?
  bool isTransposed(attention::TensorId id) const;
  bool isChangeable(attention::TensorId id) const;

  // --- actions

  /// Enlarges the matrices, and moves what was at that place by so much. False if there are none there.
  bool magnify(const views::Magnification& by, float dx, float dy);
  /// Requests another frame, and those after it in which Dear ImGui adapts to a new layout. `controlsToo`:
  /// the controls may look different, not only what is drawn after them.
  void wake(bool controlsToo = true);
  void say(base::Message sentence, bool isError) { say({{{std::move(sentence), {}}}, isError}); }
  void say(views::Notice notice);
  /// Reports an error to the user and to page scripts.
  void refuse(const base::Error& error);
  /// Removes the text field without a result.
  void dropText();
  base::Result<void> openPreset(std::string_view name, bool undoable, Source source);

  Session& session;
  Host& host;
  views::ViewState view;
  views::Requests requests;  ///< of the frame being built
  views::WidgetRects widgetRects, lastWidgetRects;
  views::BoardPlaces places, lastPlaces;
  /// The rectangles of the latest frame.
  const views::WidgetRects& drawnRects() const { return widgetRects.empty() ? lastWidgetRects : widgetRects; }
  std::unique_ptr<views::Palette> forced;  ///< the reader's forced colours, used in place of a theme
  /// Light and dark theme with the page's accent colour.
  std::unique_ptr<std::array<views::Palette, 2>> accented;
  /// Numbers of the mirror's tables that are not stored; see mirror().
  std::deque<std::vector<float>> mirrored;
  Embed embed;
  std::string lock;  ///< from the embed and the open lesson
  ImVec2 size{1440, 900};
  float zoom = 1;        ///< of the frame built last
  float textScale = 1;   ///< the scale of text that the page asks for
  int wanted = kSettle;  ///< number of frames still needed
  int noticeAge = 0;
  std::uint64_t changes = 0;  ///< number of changes so far to what controls show

 private:
  /// What a Context has of the frame that is built.
  struct Surroundings {
    const views::Layout& layout;
    const views::Palette& palette;
    const views::Fonts& fonts;
    views::Requests& asked;
  };
  /// Of the session's board, or of the pinned one. Not inline: few frames show the latter.
  template <class Board>
  [[gnu::noinline]] views::Context contextOf(Board& board, const attention::Trace& trace,
                                             std::uint64_t revision, const Surroundings& around);

  views::LayoutInput layoutInput(float width, float height) const;
  /// Without what the reader's fingers do to the board.
  views::Layout layoutAt(float width, float height) const {
    return views::layout(layoutInput(width, height));
  }
  [[gnu::noinline]] const views::Palette& mapped(const views::Palette& palette) const;

  draw::Heatmaps& heatmaps_;
  mutable std::unique_ptr<views::Palette> mapped_;  ///< the theme with other colours for cells
  float labelWidth_ = 30, nameWidth_ = 0;
  struct {
    float scale = 0;
    std::uint64_t names = 0;
  } measured_;  ///< what labelWidth_ and nameWidth_ were measured for
  struct Named {
    std::uint64_t revision, hash;
  };
  std::optional<Named> named_;
};

}  // namespace app
