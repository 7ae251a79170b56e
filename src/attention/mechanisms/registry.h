// The only list of mechanisms: options, menus, `attn` and core.js offer what is named here. To add a normaliser takes its name here and in
// CMakeLists.txt, a file normalizers/NAME.cpp with what mechanism.h asks for, and the same in double in reference/reference.cpp, which the
// tests compare with; the types of core.d.ts and what is new in menus and explanations for web/languages are asked for by tests.
#pragma once

#include <cstdint>
#include <iterator>
#include <string_view>

#define ATTENTION_NORMALIZERS(use) use(softmax) use(sparsemax) use(entmax15) use(sigmoid) use(relu) use(hardmax) use(none)

namespace attention {

/// How a row of scores (÷ temperature) becomes a row of weights. Masked keys get weight 0 from each. The enumerators are their names in
/// options, states and files.
enum class Normalizer : std::uint8_t {
#define ATTENTION_USE(name) name,
  ATTENTION_NORMALIZERS(ATTENTION_USE)
#undef ATTENTION_USE
};

#define ATTENTION_USE(name) #name,
inline constexpr std::string_view kNormalizerNames[] = {ATTENTION_NORMALIZERS(ATTENTION_USE)};
#undef ATTENTION_USE
inline constexpr int kNormalizerCount = static_cast<int>(std::size(kNormalizerNames));

}  // namespace attention
