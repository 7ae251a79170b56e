// The scalar kernels, for any processor.
#define KERNEL_NAMESPACE scalar
#define KERNEL_LANES 1
#define KERNEL_TILE_ROWS 3
#define KERNEL_TILE_VECTORS 4
#define KERNEL_TILE_STEPS 4
#define KERNEL_BLOCK_ROWS 24
#include "attention/kernels/kernels_body.h"
