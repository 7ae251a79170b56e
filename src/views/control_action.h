// Operating a control by its name, wherever it is: it is pressed where it is drawn; its page, menu or column
// is opened first.
#pragma once

#include <string>
#include <vector>

#include "views/context.h"

namespace views {

struct ControlAction {
  std::vector<std::string> presses;  ///< the controls to press, one after the other
  std::string seeks;                 ///< then the one to which the keyboard focus goes
  int frames = 0;                    ///< for how many frames the present one has been waited for
};

/// Can it be operated on this board, where its part is not hidden by the page and its layer exists?
bool isReachable(const Context& context, std::string_view name);
/// The option that a control sets; null for a button, also for one with the name of an option, as those of
/// the header.
const document::Option* optionOf(std::string_view name);
/// The page that an option belongs to, or that a control opens; nothing for the board.
std::optional<document::View> pageOf(const Context& context, std::string_view name);
/// Switches an option that is on or off; leads the keyboard to any other; presses a button.
void begin(Context& context, ControlAction& action, std::string_view name);
/// Goes on with it in every frame, until it is done; says so if its control is nowhere.
void advance(Context& context, ControlAction& action);

}  // namespace views
