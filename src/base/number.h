// Conversion between numbers and text. Assumes the numeric locale "C", which nothing in the project changes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base {

/// The shortest decimal that reads back to the same bits: "0.1", "-0.0", "1e+20". Finite numbers only; the
/// result is valid JSON.
std::string shortest(float value);
std::string shortest(double value);
/// `size` with 0 to 9 `decimals`, correctly rounded (a tie goes to the even digit) as printf does. 0 <= size
/// < 10,000,000.
std::string fixed(double size, int decimals);
/// The double with the same shortest decimal as `value`: 0.1 for 0.1f, where a plain conversion gives
/// 0.10000000149….
double readable(float value);
/// The float nearest to a decimal number such as "-1.5e3", ".5" or "+2."; infinite beyond the range of a
/// float; nothing if the text is not a number.
std::optional<float> parseFloat(std::string_view text);

}  // namespace base
