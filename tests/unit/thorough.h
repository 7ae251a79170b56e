// How much of a long test each build does. The numbers and the texts are the same in every build; the page and the sanitizers take many
// times longer, and look for something else: other kernels, and how memory is used.
#pragma once

namespace test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

/// Is all of a long test done, or a sample of it?
#ifdef __EMSCRIPTEN__
inline constexpr bool kWhole = false;
#else
inline constexpr bool kWhole = !kSanitized;
#endif

/// How often a test is repeated with other random numbers: a tenth under the sanitizers.
constexpr int rounds(int all) { return kSanitized ? (all + 9) / 10 : all; }

}  // namespace test
