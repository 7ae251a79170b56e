// The pages that replace the board, and how they are opened: all that the header, keys, the search and a
// phone's sheet know of them.
#pragma once

#include <optional>
#include <span>

#include "views/context.h"

namespace views {

struct Page {
  /// Where it is offered: as a tab of the header, in its menu More, or in that menu as one of the
  /// experiments, which have tabs of their own.
  enum class Place : std::uint8_t { tab, menu, experiment };
  document::View view;
  std::string_view name;   ///< of the control that opens it
  std::string_view title;  ///< of its tab
  Place place;
};

/// In the order in which they are offered; the board is the first.
std::span<const Page> pages();
const Page& pageOf(document::View view);
/// The page that a control of this name opens, or that an option of this name belongs to.
std::optional<document::View> pageNamed(std::string_view name);
/// What a tooltip says of a page; without a title if no page has a control of this name.
About aboutPage(std::string_view name);

/// Are there pages, which the host page may have hidden, and this one? That of all heads needs several.
bool hasPages(const Context& context);
bool hasPage(const Context& context, document::View view);
/// Requests a page, or the board with the layer, like any option. Does nothing if the host page locked the
/// view.
void showView(Context& context, document::View view);
/// Opens the page of this key from the board, and says how to go back. False if it is the key of none.
bool showPageOfKey(Context& context, ImWchar key);
bool isPageKey(const Context& context, ImGuiKey key);

/// The page that is open in place of the board: block, segments, an experiment …
void page(Context& context);
/// Handles keys on a page. Returns true if one was used.
bool pageKeys(Context& context);
bool pageUsesKey(const Context& context, ImGuiKey key, bool command, bool alt);

}  // namespace views
