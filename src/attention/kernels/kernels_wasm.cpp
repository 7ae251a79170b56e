// The kernels for WebAssembly, SIMD128 or relaxed SIMD depending on compiler flags: 16 registers of 4
// numbers.
#if defined(__wasm_simd128__)
#define KERNEL_NAMESPACE wasm
#define KERNEL_LANES 4
// V8 reserves one register. A separate multiplication and addition need one more for the product, and V8
// before Turboshaft (Node 18 to 23) loads all operands of a step before it multiplies: there 6 rows would be
// half as fast, so core.js uses SIMD128 for those versions. 5 rows would be 4 % faster than 4 in a current
// V8, and half as fast in older ones.
#if defined(__wasm_relaxed_simd__)
#define KERNEL_TILE_ROWS 6
#define KERNEL_ANY_STRIDE  // no cost here; with SIMD128 a stride that is not constant costs 2 %
#else
#define KERNEL_TILE_ROWS 4
#endif
#define KERNEL_TILE_VECTORS 2
// With more steps unrolled, LLVM groups those of one sum, which takes more registers than there are: half the
// speed.
#define KERNEL_TILE_STEPS 1
#define KERNEL_BLOCK_ROWS 48
#include "attention/kernels/kernels_body.h"
#endif
