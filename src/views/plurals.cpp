#include "views/plurals.h"

#include <cmath>
#include <cstdlib>

#include "base/sentence.h"

namespace views {
namespace {

/// The operands of UTS 35: n the absolute value, i its integer part, v and w the count of decimals with and
/// without zeros at the end, f and t these decimals as a number.
struct Operands {
  double n = 0;
  long i = 0, f = 0, t = 0, v = 0, w = 0;
  bool isNumber = false;

  double of(char name) const {
    switch (name) {
      case 'n': return n;
      case 'i': return static_cast<double>(i);
      case 'f': return static_cast<double>(f);
      case 't': return static_cast<double>(t);
      case 'v': return static_cast<double>(v);
      case 'w': return static_cast<double>(w);
      default: return 0;  // c and e, the exponent of "1.2c6", which is not written here
    }
  }
};

Operands operandsOf(std::string_view number) {
  for (const std::string_view sign : {"−", "-", "+"}) {
    if (number.starts_with(sign)) number.remove_prefix(sign.size());
  }
  std::string plain;
  for (const char c : number) {
    if (c != ',') plain += c;
  }
  if (plain.empty() || plain.size() > 15 || plain.find_first_not_of("0123456789.") != std::string::npos)
    return {};
  Operands out{.n = std::strtod(plain.c_str(), nullptr),
               .i = std::strtol(plain.c_str(), nullptr, 10),
               .isNumber = true};
  if (const std::size_t point = plain.find('.'); point != std::string::npos) {
    std::string decimals = plain.substr(point + 1);
    out.v = static_cast<long>(decimals.size()), out.f = std::strtol(decimals.c_str(), nullptr, 10);
    decimals.erase(decimals.find_last_not_of('0') + 1);
    out.w = static_cast<long>(decimals.size()), out.t = std::strtol(decimals.c_str(), nullptr, 10);
  }
  return out;
}

/// Does it hold for any of the parts between the marks?
template <typename Holds>
bool any(std::string_view text, std::string_view mark, Holds holds) {
  while (true) {
    const std::size_t end = text.find(mark);
    if (holds(base::trimmed(text.substr(0, end)))) return true;
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + mark.size());
  }
}

double numberIn(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

/// "i % 10 = 2..4, 7" or "v != 0".
bool relationHolds(std::string_view relation, const Operands& of) {
  const std::size_t equals = relation.find('=');
  if (relation.empty() || equals == 0 || equals == std::string_view::npos) return false;
  const bool isNot = relation[equals - 1] == '!';
  const std::string_view left = relation.substr(0, equals - (isNot ? 1 : 0));
  double value = of.of(left[0]);
  if (const std::size_t modulo = left.find('%'); modulo != std::string_view::npos) {
    const double by = numberIn(left.substr(modulo + 1));
    value -= std::trunc(value / by) * by;
  }
  const bool isListed = any(relation.substr(equals + 1), ",", [&](std::string_view range) {
    const std::size_t dots = range.find("..");
    const double from = numberIn(range.substr(0, dots));
    if (dots == std::string_view::npos) return value == from;
    return value >= from && value <= numberIn(range.substr(dots + 2)) && value == std::trunc(value);
  });
  return isListed != isNot;
}

bool ruleHolds(std::string_view rule, const Operands& of) {
  return any(rule, " or ", [&](std::string_view all) {
    return !any(all, " and ", [&](std::string_view relation) { return !relationHolds(relation, of); });
  });
}

}  // namespace

void PluralRules::add(std::string_view rule) { rules_.push_back(rule); }

std::size_t PluralRules::formOf(std::string_view number) const {
  const Operands operands = operandsOf(number);
  for (std::size_t form = 0; operands.isNumber && form < rules_.size(); ++form) {
    if (ruleHolds(rules_[form], operands)) return form;
  }
  return rules_.size();
}

}  // namespace views
