// Reads the golden numbers from JSON: tensors, and the names of enumeration values.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "attention/layer/tensor.h"
#include "attention/reference/reference.h"

namespace test {

inline attention::Tensor tensorOf(const nlohmann::json& stored) {
  const auto& shape = stored.at("shape");
  attention::Tensor tensor(shape.at(0).get<int>(), shape.at(1).get<int>(), shape.at(2).get<int>());
  const auto& data = stored.at("data");
  REQUIRE(data.size() == tensor.size());
  for (std::size_t i = 0; i < data.size(); ++i) tensor.data()[i] = static_cast<float>(data[i].get<double>());
  return tensor;
}

/// The index of the word in a list, which is also the value of the enumeration.
template <class Choice>
Choice chosen(const nlohmann::json& word, std::span<const std::string_view> words) {
  const auto found = std::find(words.begin(), words.end(), word.get<std::string>());
  REQUIRE(found != words.end());
  return static_cast<Choice>(found - words.begin());
}

template <class Choice>
Choice chosen(const nlohmann::json& word, std::initializer_list<std::string_view> words) {
  return chosen<Choice>(word, std::span(words.begin(), words.size()));
}

inline attention::ReferenceTensor inDouble(const attention::Tensor& from) {
  attention::ReferenceTensor out(from.heads(), from.rows(), from.cols());
  std::copy(from.values().begin(), from.values().end(), out.values.begin());
  return out;
}

/// The largest difference from stored numbers, relative to the largest of 1 and those numbers.
template <class Numbers>
double off(const Numbers& numbers, const nlohmann::json& wanted) {
  const auto exact = wanted.at("data").get<std::vector<double>>();
  REQUIRE(numbers.size() == exact.size());
  double most = 1.0, worst = 0.0;
  for (double v : exact) most = std::max(most, std::abs(v));
  for (std::size_t i = 0; i < exact.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(numbers[i]) - exact[i]) / most);
  return worst;
}

}  // namespace test
