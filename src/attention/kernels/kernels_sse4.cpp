// The kernels with SSE4.1: 16 registers of 4 numbers.
#if defined(__SSE4_1__)
#define KERNEL_NAMESPACE sse4
#define KERNEL_LANES 4
#define KERNEL_TILE_ROWS 6
#define KERNEL_TILE_VECTORS 2
#define KERNEL_TILE_STEPS 4
#define KERNEL_BLOCK_ROWS 24
#include "attention/kernels/kernels_body.h"
#endif
