// A question with several choices, such as which tensors of a file are Q, K and V: who asks writes it, a panel shows it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace document {

/// One choice: a label, what there is to choose from, and which one it is.
struct Field {
  std::string name, label;
  int chosen = 0;
  std::vector<std::string> choices;
};

/// Texts have no tabs and no line ends in them.
struct Form {
  std::string title;      ///< "layer.npz: which tensors are Q, K and V?"
  std::string says;       ///< what the choices give, or why they give nothing
  bool isReady = false;   ///< they give something
  std::vector<Field> fields;
  std::vector<std::string> answers{};  ///< where it asks something else: the buttons, the first of which Enter presses; "!save" is the choice "Save"
};

/// As lines of text, and back; of what is no such text, an empty form.
std::string toLines(const Form& form);
Form formFrom(std::string_view lines);

/// What was chosen, by the fields' names.
using Choices = std::vector<std::pair<std::string, int>>;
/// A form's choices as lines, "name\tnumber", and back. `isFinal` adds that they are to be carried out.
std::string toLines(const Choices& choices, bool isFinal);
Choices choicesFrom(std::string_view lines, bool& isFinal);

}  // namespace document
