// The colour map cividis (Nuñez, Anderton and Renslow 2018): perceptually uniform, readable with any colour
// vision, and rising steadily in lightness. Nine equally spaced stops of red, green and blue, 0 to 255.
#pragma once

namespace base {

inline constexpr unsigned char kCividis[9][3] = {{0, 32, 81},     {17, 54, 108},   {60, 77, 110},
                                                 {98, 100, 111},  {127, 124, 117}, {154, 148, 120},
                                                 {187, 175, 113}, {226, 203, 92},  {253, 234, 69}};

}  // namespace base
