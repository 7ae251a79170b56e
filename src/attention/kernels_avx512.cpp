// The kernels with AVX-512: 32 registers of 16 numbers.
#if defined(__AVX512F__)
#define KERNEL_NAMESPACE avx512
#define KERNEL_LANES 16
#define KERNEL_TILE_ROWS 12
#define KERNEL_TILE_VECTORS 2
#define KERNEL_TILE_STEPS 4
#define KERNEL_BLOCK_ROWS 24
#include "attention/kernels_body.h"
#endif
