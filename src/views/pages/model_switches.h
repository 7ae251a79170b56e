// What a model predicts for the sentence on the board, and what it would without some of its heads. Only for
// a model that can be run: one that was trained here and opened from a file.
#pragma once

#include "views/pages/column.h"

namespace views {

/// A field for words of the reader that an option holds, with a hint while it holds none; true once pressed.
bool wordsField(Context& context, Widgets& widgets, const Box& box, document::OptionId id,
                const std::string& words, std::string_view hint);
/// Is the model of the recording on the board here to be run?
bool hasLiveModel(Context& context);
/// Draws the switches of the heads, and what the model predicts at a token, −1 for the last one, which can be
/// chosen; nothing without a model.
void modelSwitches(Context& context, PageColumn& column, int& token);
/// Chooses a token of the queries, −1 for the last one.
void chooseToken(const Context& context, PageColumn& column, int& token);

}  // namespace views
