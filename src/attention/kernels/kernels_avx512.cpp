// The kernels with AVX-512: 32 registers of 16 numbers. Tiles of 8 rows end sooner than those of 12 that would fit, and waste
// less where a mask cuts them; blocks of 64 rows fetch keys and values from the second-level cache less often than 24.
#if defined(__AVX512F__)
#define KERNEL_NAMESPACE avx512
#define KERNEL_LANES 16
#define KERNEL_TILE_ROWS 8
#define KERNEL_TILE_VECTORS 2
#define KERNEL_TILE_STEPS 4
#define KERNEL_BLOCK_ROWS 64
#include "attention/kernels/kernels_body.h"
#endif
