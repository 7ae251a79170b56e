// A question with several choices, such as which tensors of a file are Q, K and V. Whoever asks it provides
// the text; a panel shows it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/message.h"

namespace document {

/// One field: its label, its choices, and the index of the chosen one.
struct Field {
  std::string name, label;
  int chosen = 0;
  std::vector<base::Message> choices;
};

/// Its texts must not contain tabs or line feeds.
struct Form {
  base::Message title;   ///< "What is in layer.npz?"
  base::Message says;    ///< what the present choices result in, or why they are not possible
  bool isReady = false;  ///< the present choices are possible
  std::vector<Field> fields;
  /// For other questions, the buttons; Enter presses the first. "!save" stands for the choice "Save".
  std::vector<std::string> answers{};
};

/// Converts to lines of text and back; a text in another format gives an empty form.
std::string toLines(const Form& form);
Form formFrom(std::string_view lines);

/// The chosen index of each field, by name.
using Choices = std::vector<std::pair<std::string, int>>;
/// Converts choices to lines, "name\tnumber", and back. `isFinal`: the user has confirmed them.
std::string toLines(const Choices& choices, bool isFinal);
Choices choicesFrom(std::string_view lines, bool& isFinal);

}  // namespace document
