// Which instruction sets this processor has, and the system lets programs use. Not asked by
// __builtin_cpu_supports(), because Zig's run-time library answers no to everything.
#pragma once

#if defined(__x86_64__)
#include <cpuid.h>

#include <cstdint>

namespace attention::kernels {

class Processor {
 public:
  Processor() {
    std::uint32_t eax = 0, ebx = 0, edx = 0;
    if (__get_cpuid(1, &eax, &ebx, &usual_, &edx) == 0) return;
    if (has(usual_, 27)) asm("xgetbv" : "=a"(saved_), "=d"(edx) : "c"(0));
    std::uint32_t ecx = 0;
    __get_cpuid_count(7, 0, &eax, &more_, &ecx, &edx);
  }
  bool hasSse4() const { return has(usual_, 19); }
  bool hasAvx2() const { return saves(0x6) && has(usual_, 12) && has(more_, 5); }  ///< and FMA
  bool hasAvx512() const {                                                         ///< F, DQ, BW and VL
    return saves(0xe6) && has(more_, 16) && has(more_, 17) && has(more_, 30) && has(more_, 31);
  }

 private:
  static bool has(std::uint32_t word, int bit) { return (word >> bit & 1u) != 0; }
  /// Does the system keep these registers when it changes between programs?
  bool saves(std::uint32_t registers) const { return (saved_ & registers) == registers; }

  std::uint32_t usual_ = 0, more_ = 0, saved_ = 0;
};

}  // namespace attention::kernels
#endif
