// The kernels as WebAssembly, SIMD128 or relaxed SIMD by the flags of the build: 16 registers of 4 numbers.
#if defined(__wasm_simd128__)
#define KERNEL_NAMESPACE wasm
#define KERNEL_LANES 4
#define KERNEL_TILE_ROWS 6
#define KERNEL_TILE_VECTORS 2
#define KERNEL_BLOCK_ROWS 24
#include "attention/kernels_body.h"
#endif
