// The only list of mechanisms: options, menus, `attn` and core.js offer what is named here. To add one takes
// its name here, a file scores/NAME.cpp or normalizers/NAME.cpp, also in CMakeLists.txt, with what
// mechanism.h asks for, and the same in double in reference/reference.cpp, which the tests compare with; the
// types of core.d.ts and what is new in menus and explanations for web/languages are asked for by tests.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#define ATTENTION_SCORES(use) use(dot) use(scaled) use(general) use(additive) use(cosine)
#define ATTENTION_NORMALIZERS(use) \
  use(softmax) use(sparsemax) use(entmax15) use(sigmoid) use(relu) use(hardmax) use(none)

namespace attention {

// The enumerators are their names in options, states and files.
#define ATTENTION_ENUMERATOR(name) name,
#define ATTENTION_NAME(name) #name,

/// How a query and a key become one number.
enum class Score : std::uint8_t { ATTENTION_SCORES(ATTENTION_ENUMERATOR) };
inline constexpr std::string_view kScoreNames[] = {ATTENTION_SCORES(ATTENTION_NAME)};
inline constexpr int kScoreCount = static_cast<int>(std::size(kScoreNames));

/// How a row of scores (÷ temperature) becomes a row of weights. Masked keys get weight 0 from each.
enum class Normalizer : std::uint8_t { ATTENTION_NORMALIZERS(ATTENTION_ENUMERATOR) };
inline constexpr std::string_view kNormalizerNames[] = {ATTENTION_NORMALIZERS(ATTENTION_NAME)};
inline constexpr int kNormalizerCount = static_cast<int>(std::size(kNormalizerNames));

#undef ATTENTION_NAME
#undef ATTENTION_ENUMERATOR

}  // namespace attention
