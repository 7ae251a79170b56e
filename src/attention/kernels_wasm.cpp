// The kernels as WebAssembly, SIMD128 or relaxed SIMD by the flags of the build: 16 registers of 4 numbers.
#if defined(__wasm_simd128__)
#define KERNEL_NAMESPACE wasm
#define KERNEL_LANES 4
#define KERNEL_TILE_ROWS 4
#define KERNEL_TILE_VECTORS 2
// More steps at a time, and LLVM gathers those of one sum, which takes more registers than there are: half the speed.
#define KERNEL_TILE_STEPS 1
#define KERNEL_BLOCK_ROWS 24
#include "attention/kernels_body.h"
#endif
