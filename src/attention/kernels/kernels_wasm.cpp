// The kernels as WebAssembly, SIMD128 or relaxed SIMD by the flags of the build: 16 registers of 4 numbers.
#if defined(__wasm_simd128__)
#define KERNEL_NAMESPACE wasm
#define KERNEL_LANES 4
// V8 keeps one register for itself. A multiply and an add want one more for the product, and V8 before Turboshaft (Node
// 18 to 23) loads all that a step needs before it multiplies anything: 6 rows would be half as fast there, so core.js
// gives it SIMD128. In between, 5 rows are 4 % faster than 4 in a V8 of today, and half as fast before.
#if defined(__wasm_relaxed_simd__)
#define KERNEL_TILE_ROWS 6
#define KERNEL_ANY_STRIDE  // costs nothing here; without multiply-adds a stride that is no constant costs 2 %
#else
#define KERNEL_TILE_ROWS 4
#endif
#define KERNEL_TILE_VECTORS 2
// More steps at a time, and LLVM gathers those of one sum, which takes more registers than there are: half the speed.
#define KERNEL_TILE_STEPS 1
#define KERNEL_BLOCK_ROWS 48
#include "attention/kernels/kernels_body.h"
#endif
