// The colour map cividis (Nuñez, Anderton and Renslow 2018): evenly spaced stops, for eyes of any colour vision, and rising in lightness.
#pragma once

namespace base {

inline constexpr unsigned char kCividis[9][3] = {{0, 32, 81}, {17, 54, 108}, {60, 77, 110}, {98, 100, 111}, {127, 124, 117}, {154, 148, 120}, {187, 175, 113}, {226, 203, 92}, {253, 234, 69}};

}  // namespace base
