// Products of small matrices: choice of the kernel.
#include "attention/kernels/kernels_table.h"

namespace attention::kernels {

void product(Kernel kernel, const Product& p) {
  switch (kernel) {
#if defined(__wasm_simd128__)
    default: return wasm::product(p);
#else
#if defined(__x86_64__)
    case Kernel::sse4: return sse4::product(p);
    case Kernel::avx2: return avx2::product(p);
    case Kernel::avx512: return avx512::product(p);
#endif
    default: return scalar::product(p);
#endif
  }
}

}  // namespace attention::kernels
