#include <charconv>

#include "files/formats/digits.h"

namespace files {
namespace {

template <class Real>
std::string written(Real value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

}  // namespace

std::string digitsOf(float value) { return written(value); }
std::string digitsOf(double value) { return written(value); }

}  // namespace files
