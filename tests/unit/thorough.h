// How much of a long test each build does. The numbers and the texts are the same in every build; the page
// and the sanitizers take many times longer, and look for something else: other kernels, and how memory is
// used.
#pragma once

namespace test {

/// Are the layers under the sanitizers? The tests themselves may be compiled without them.
#ifdef __EMSCRIPTEN__
inline constexpr bool kSanitized = false;
#else
extern "C" void __asan_init() __attribute__((weak));
inline const bool kSanitized = __asan_init != nullptr;
#endif

/// Is all of a long test done, or a sample of it?
#ifdef __EMSCRIPTEN__
inline constexpr bool kWhole = false;
#else
inline const bool kWhole = !kSanitized;
#endif

/// How often a test is repeated with other random numbers, or how much of the same it does: a tenth under the
/// sanitizers.
inline int rounds(int all) { return kSanitized ? (all + 9) / 10 : all; }

}  // namespace test
