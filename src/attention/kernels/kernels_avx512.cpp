// The kernels with AVX-512: 32 registers of 16 numbers. Tiles of 12 rows would fit, but 8 rows waste less
// where a mask cuts through them; blocks of 64 rows fetch keys and values from the second-level cache less
// often than those of 24.
#if defined(__AVX512F__)
#define KERNEL_NAMESPACE avx512
#define KERNEL_LANES 16
#define KERNEL_TILE_ROWS 8
#define KERNEL_TILE_VECTORS 2
#define KERNEL_TILE_STEPS 4
#define KERNEL_BLOCK_ROWS 64
#include "attention/kernels/kernels_body.h"
#endif
