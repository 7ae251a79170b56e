// Numbers as text and back. The numeric locale is "C", which nothing in the project changes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

/// The fewest digits that read back to the same bits: "0.1", "-0.0", "1e+20". Finite numbers only; valid
/// JSON.
std::string shortest(float value);
std::string shortest(double value);
/// Rounded to 0 to 9 decimals as printf does: exactly, a tie to the even digit. From 0 to below ten million.
std::string fixed(double size, int decimals);
/// The double that is written with the same digits: 0.1 for 0.1f, where a plain conversion gives
/// 0.10000000149….
double readable(float value);
/// The float nearest to a decimal number such as "-1.5e3", ".5", "+2."; infinite beyond the range; none if it
/// is no number.
std::optional<float> parseFloat(std::string_view text);

}  // namespace base
