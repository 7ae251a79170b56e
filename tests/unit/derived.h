// The numbers of tests/golden/derived.json, and tensors filled with them.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "attention/layer/tensor.h"
#include "golden.h"
#include "golden_json.h"

namespace test {

inline nlohmann::json derived() {
  return nlohmann::json::parse(golden::derived.begin(), golden::derived.end());
}

/// Checks that all numbers of `got` are within `bound` of those in `wanted`, a JSON list or a vector of
/// double.
template <class Numbers>
void compare(const Numbers& wanted, const attention::Tensor& got, double bound) {
  REQUIRE(wanted.size() == got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(double{got.data()[i]} - static_cast<double>(wanted[i])) <= bound);
  }
}

}  // namespace test
