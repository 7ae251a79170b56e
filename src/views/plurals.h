// Which of its plural forms a language uses with a number.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace views {

/// The plural rules of a language for cardinal numbers, as the Unicode CLDR writes them (Unicode Technical
/// Standard 35, part 3, "Language Plural Rules"): "v = 0 and i % 10 = 2..4 and i % 100 != 12..14". They are
/// tried in order; the last form, "other", has no rule.
class PluralRules {
 public:
  /// The rule of the next form; "other" has none. The text must outlive the rules.
  void add(std::string_view rule);
  /// The index of the form for a number as it is written in English ("1,234.5", "−1"): that of the first rule
  /// that holds, else their count. What is not a plain number ("1.05 M") takes the last form.
  std::size_t formOf(std::string_view number) const;

 private:
  std::vector<std::string_view> rules_;
};

}  // namespace views
