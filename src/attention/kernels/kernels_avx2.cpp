// The kernels with AVX2 and FMA: 16 registers of 8 numbers.
#if defined(__AVX2__) && defined(__FMA__)
#define KERNEL_NAMESPACE avx2
#define KERNEL_LANES 8
#define KERNEL_TILE_ROWS 6
#define KERNEL_TILE_VECTORS 2
#define KERNEL_TILE_STEPS 4
#define KERNEL_BLOCK_ROWS 48
#include "attention/kernels/kernels_body.h"
#endif
