// The Guide: a column in a wide window, a bar in an embed, a sheet on a phone.
#pragma once

#include <optional>

#include "views/context.h"

namespace views {

/// Requests the tab Guide of the left column.
void openGuide(Context& context);
/// The left column, while its tab Guide is open.
void guidePanel(Context& context);
/// What Layout::guide shows: the bar or sheet at the bottom of smaller windows, or beside the controls the
/// goal of the step.
void guideBar(Context& context);
/// If the open exercise has locked `name`, what may be changed instead: "Q, K".
std::optional<base::Message> allowedInstead(const Context& context, std::string_view name);
/// Why what is locked cannot be changed, as a sentence: because of the open exercise, or of the page. `shown`
/// is its name in sentences.
base::Message whyLocked(const Context& context, std::string_view name, std::string_view shown);
/// Is the open step of a lesson about this tensor?
bool isOfStep(const GuideView& guide, std::string_view tensor);
bool isOfStep(const Context& context, std::string_view tensor);
/// The place of cells on the board, in content coordinates; nothing if it does not show them.
std::optional<Box> boxOf(const Layout& layout, const document::Settings& settings,
                         const document::Cells& cells);
/// Outlines the cells of the reference in the text that the pointer is on.
void guideMarks(Context& context);

}  // namespace views
