#include "document/form.h"

#include <charconv>

#include "base/sentence.h"

namespace document {
namespace {

/// Returns the text up to the mark, and removes it and the mark from `rest`.
std::string_view upTo(char mark, std::string_view& rest) {
  const std::size_t end = std::min(rest.find(mark), rest.size());
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return first;
}

int numberOf(std::string_view digits) {
  int number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return number;
}

}  // namespace

std::string toLines(const Form& form) {
  std::string out =
      base::joined({form.title.bytes(), "\n", form.isReady ? "1" : "0", form.says.bytes(), "\n"});
  for (const Field& field : form.fields) {
    out += base::joined({field.name, "\t", field.label, "\t", field.chosen});
    for (const base::Message& choice : field.choices) out += '\t', out += choice.bytes();
    out += '\n';
  }
  return out;
}

Form formFrom(std::string_view lines) {
  Form form;
  form.title = base::Message::ofBytes(upTo('\n', lines));
  const std::string_view says = upTo('\n', lines);
  if (says.empty()) return form;
  form.isReady = says[0] == '1', form.says = base::Message::ofBytes(says.substr(1));
  while (!lines.empty()) {
    std::string_view line = upTo('\n', lines);
    Field field;
    field.name = upTo('\t', line), field.label = upTo('\t', line), field.chosen = numberOf(upTo('\t', line));
    while (!line.empty()) field.choices.push_back(base::Message::ofBytes(upTo('\t', line)));
    if (field.chosen < 0 || field.chosen >= static_cast<int>(field.choices.size())) continue;
    form.fields.push_back(std::move(field));
  }
  return form;
}

std::string toLines(const Choices& choices, bool isFinal) {
  std::string out = isFinal ? "!\n" : "?\n";
  for (const auto& [name, chosen] : choices) out += base::joined({name, "\t", chosen, "\n"});
  return out;
}

Choices choicesFrom(std::string_view lines, bool& isFinal) {
  isFinal = upTo('\n', lines) == "!";
  Choices choices;
  while (!lines.empty()) {
    std::string_view line = upTo('\n', lines);
    const std::string_view name = upTo('\t', line);
    choices.emplace_back(name, numberOf(line));
  }
  return choices;
}

}  // namespace document
