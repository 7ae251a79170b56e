// The numbers of tests/golden/around.json, and tensors made of them.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "attention/tensor.h"
#include "golden.h"

namespace test {

inline nlohmann::json around() { return nlohmann::json::parse(golden::around.begin(), golden::around.end()); }

inline attention::Tensor tensorOf(const nlohmann::json& stored) {
  const auto& shape = stored.at("shape");
  attention::Tensor tensor(shape.at(0).get<int>(), shape.at(1).get<int>(), shape.at(2).get<int>());
  const auto& data = stored.at("data");
  REQUIRE(data.size() == tensor.size());
  for (std::size_t i = 0; i < data.size(); ++i) tensor.data()[i] = static_cast<float>(data[i].get<double>());
  return tensor;
}

/// All numbers of `got` within `bound` of those in `wanted`, which may be a JSON list or a vector of double.
template <class Numbers>
void compare(const Numbers& wanted, const attention::Tensor& got, double bound) {
  REQUIRE(wanted.size() == got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(double{got.data()[i]} - static_cast<double>(wanted[i])) <= bound);
  }
}

}  // namespace test
