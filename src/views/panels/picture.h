// A picture whose patches are the keys: see the option patch_columns.
#pragma once

#include "views/context.h"

namespace views {

/// Are the keys patches of a picture?
inline bool hasPicture(const Context& context) { return context.state.patchColumns > 0; }
/// The picture in the card below the matrices, each patch lit as far as the query in focus looks at it, or as
/// far as it looks at the key in focus. Without pixels (another input than X · W, or rows of X that are no
/// square of pixels) the patches are plain.
void picture(Context& context, const Box& area);
/// Draws the patch that a token stands for into a square; false where it has no pixels.
bool patchLabel(Context& context, bool ofKeys, int token, const Box& box);

}  // namespace views
