"""What rows and columns stand for where a model sees or hears: patches of a picture, frames of a sound."""

import numpy as np

MOST = 8     # class tokens and registers before the patches
SIDE = 8     # pixels a side of a patch that are kept, at most
HOP = 0.01   # seconds from one column of input_features to the next, as speech models have it
RATE = 16000


def patch_of(config):
    """(height, width) of a patch by a configuration or one inside it; None: it says none."""
    for one in (config, getattr(config, "vision_config", None)):
        size = getattr(one, "patch_size", None)
        if isinstance(size, int):
            return size, size
        if isinstance(size, (list, tuple)) and len(size) == 2:
            return tuple(size)
    return None


def grid_of(config, inputs, count):
    """(patches in a row, tokens before them) where `count` tokens are the patches of pixel_values after a few others; None: they are not."""
    pixels, patch = inputs.get("pixel_values"), patch_of(config)
    if patch is None or getattr(pixels, "ndim", 0) != 4:
        return None
    columns = pixels.shape[3] // patch[1]
    others = count - pixels.shape[2] // patch[0] * columns
    return (columns, others) if 0 <= others <= MOST and others < count else None


def picture_of(config, inputs, count):
    """[batch, count, 3 · side²]: the pixels of each patch, row by row and red, green, blue, from −1, the darkest of the picture, to 1; 0 of the tokens before them."""
    import torch
    pixels, (rows, columns) = inputs["pixel_values"].detach().float().cpu(), patch_of(config)
    side, down, across = min(SIDE, rows, columns), pixels.shape[2] // rows, pixels.shape[3] // columns
    pixels = torch.nn.functional.adaptive_avg_pool2d(pixels[:, :3, :down * rows, :across * columns], (down * side, across * side)).numpy()
    pixels = np.repeat(pixels[:, :1], 3, 1) if pixels.shape[1] < 3 else pixels
    least, most = (limit(pixels, axis=(1, 2, 3), keepdims=True) for limit in (np.min, np.max))
    pixels = 2 * (pixels - least) / np.maximum(most - least, 1e-6) - 1
    patches = pixels.reshape(len(pixels), 3, down, side, across, side).transpose(0, 2, 4, 3, 5, 1).reshape(len(pixels), down * across, -1)
    return np.pad(patches, ((0, 0), (count - down * across, 0), (0, 0))).astype(np.float32)


def sensed(config, inputs, count):
    """Labels of `count` tokens: "row,column" of a patch, the first row and column are 0; the seconds at which a frame begins; None where they are neither."""
    grid = grid_of(config, inputs, count)
    if grid:
        columns, others = grid
        return ["[CLS]" if i == 0 else "[%d]" % i for i in range(others)] + ["%d,%d" % divmod(i, columns) for i in range(count - others)]
    features, strides, samples = inputs.get("input_features"), getattr(config, "conv_stride", None), inputs.get("input_values")
    step = None
    if getattr(features, "ndim", 0) == 3 and features.shape[2] in (count, 2 * count):
        step = HOP * features.shape[2] / count
    elif getattr(samples, "ndim", 0) == 2 and isinstance(strides, (list, tuple)):
        step = 1 / RATE
        for stride in strides:
            step *= stride
        step = step if abs(samples.shape[1] / RATE / step - count) <= 2 else None
    return None if step is None else ["%.2f s" % (i * step) for i in range(count)]
