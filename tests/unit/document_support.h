// Shared by the tests of the document: states, random edits made from a seed, and checks of error sentences.
#pragma once

#include <doctest/doctest.h>

#include <random>
#include <string>

#include "base/sentence.h"
#include "document/document.h"
#include "document/preset.h"
#include "document/text.h"

namespace test {

inline document::State start() { return *document::preset("i-saw-a-saw"); }

inline document::SetOption set(document::OptionId id, document::Value value) {
  return {id, std::move(value)};
}

inline document::Edit setCell(attention::TensorId tensor, int head, int row, int col, float value) {
  return document::SetCells{tensor, head, row, col, 1, 1, {value}};
}

/// Checks that the error names its field, that its sentence ends with a full stop, and that both are valid
/// UTF-8.
inline void checkSentence(const base::Error& error) {
  const std::string message = error.message();
  CAPTURE(message);
  CHECK(!error.field.empty());
  CHECK_FALSE(error.sentence.english().starts_with(error.field + ": "));
  CHECK(message == error.field + (error.isSubject ? " " : ": ") + error.sentence.english());
  CHECK((message.back() == '.' || message.back() == '?'));
  for (std::string_view rest = message; !rest.empty();) {
    const int length = base::utf8Length(rest);
    REQUIRE(length > 0);
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
}

/// The error as text, or "accepted".
template <class T>
std::string refusal(const base::Result<T>& result) {
  if (result) return "accepted";
  checkSentence(result.error());
  return result.error().message();
}

/// Random edits of every kind, made from a seed; most of them refer to cells and tokens that exist.
class RandomEdits {
 public:
  explicit RandomEdits(std::uint32_t seed, bool view = false) : random_(seed), view_(view) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<std::uint32_t>(n)); }
  float number() { return static_cast<float>(below(801) - 400) / 100.0f; }

  document::Edit next(const document::State& s) {
    using document::OptionId;
    switch (below(view_ ? 26 : 21)) {
      case 0:
      case 1:
      case 2: return cells(s);
      case 3:
      case 4: return paint(s);
      case 5: return set(OptionId::temperature, static_cast<double>(1 + below(400)) / 100.0);
      case 6:
        return below(2) != 0 ? set(OptionId::causal, below(2) != 0) : set(OptionId::scale, below(2) != 0);
      case 7: return set(OptionId::mode, std::string(below(2) != 0 ? "x" : "qkv"));
      case 8: return set(OptionId::heads, static_cast<double>(1 + below(6)));
      case 9:
        return set(below(2) != 0 ? OptionId::d_k : OptionId::model_dim, static_cast<double>(1 + below(5)));
      case 10:
        return set(below(3) != 0 ? OptionId::tokens : OptionId::key_tokens,
                   static_cast<double>(1 + below(8)));
      case 11: return labels(s);
      case 12: return document::InsertTokens{below(s.tokens + 1), 1 + below(2), side()};
      case 13: return document::RemoveTokens{below(s.tokens), 1 + below(2), side()};
      case 14: return random(s);
      case 15: return choice();
      case 16: return mask();
      case 17:
        return below(2) != 0 ? set(OptionId::scale, static_cast<double>(1 + below(300)) / 100.0)
                             : set(OptionId::softcap, static_cast<double>(below(30)) / 2.0);
      case 18:
        return set(below(2) != 0 ? OptionId::kv_heads : OptionId::d_v, static_cast<double>(1 + below(4)));
      case 19:
        return below(2) != 0 ? set(OptionId::cross, below(2) != 0)
                             : set(OptionId::hidden_heads,
                                   std::vector<int>(static_cast<std::size_t>(below(2)), below(s.heads)));
      case 20:
        return below(3) != 0 ? set(OptionId::batch_item, static_cast<double>(below(s.batch)))
                             : set(OptionId::batch, static_cast<double>(1 + below(3)));
      case 21: return set(OptionId::decimals, static_cast<double>(below(7)));
      case 22: return set(OptionId::theme, std::string(below(2) != 0 ? "dark" : "light"));
      case 23: return set(OptionId::step, static_cast<double>(below(s.tokens + 1)));
      case 24: return set(OptionId::average_heads, below(2) != 0);
      default: return set(OptionId::focus_head, static_cast<double>(below(s.heads)));
    }
  }

 private:
  document::Edit parameter(const document::State& s) {
    document::SetParameter edit;
    edit.parameter = static_cast<document::ParameterId>(below(document::kParameterCount));
    const document::ParameterShape shape = document::shapeOf(s, edit.parameter);
    edit.row = below(shape.rows), edit.col = below(shape.cols);
    edit.values = {number()};
    return edit;
  }
  document::Edit cells(const document::State& s) {
    if (below(4) == 0) return parameter(s);
    const auto ids = document::inputIds();
    document::SetCells edit;
    do edit.tensor = ids[static_cast<std::size_t>(below(static_cast<int>(ids.size())))];
    while (!document::hasInput(s, edit.tensor));
    const attention::Tensor& tensor = *document::input(s, edit.tensor);
    edit.head = below(tensor.heads()), edit.row = below(tensor.rows()), edit.col = below(tensor.cols());
    edit.rows = 1 + below(tensor.rows() - edit.row), edit.cols = 1 + below(tensor.cols() - edit.col);
    for (int i = 0; i < edit.rows * edit.cols; ++i) edit.values.push_back(below(20) == 0 ? -0.0f : number());
    return edit;
  }
  document::Edit paint(const document::State& s) {
    document::PaintCells edit{below(s.tokens), below(s.keyTokens), 1, 1, {}};
    edit.cols += below(s.keyTokens - edit.col);
    for (int i = 0; i < edit.cols; ++i) edit.blocked.push_back(below(3) == 0 ? 1 : 0);
    return edit;
  }
  document::Edit labels(const document::State& s) {
    if (below(2) != 0) {
      document::SetOption edit{document::OptionId::labels,
                               {}};  // in two steps: GCC 12 warns of a free of an invalid pointer otherwise
      edit.value.emplace<std::string>("a b c d e f", 0, static_cast<std::size_t>(1 + below(11)));
      return edit;
    }
    return document::SetLabels{below(s.tokens), {"n" + std::to_string(below(100))}, side()};
  }
  document::Side side() { return below(2) != 0 ? document::Side::keys : document::Side::queries; }
  /// A random value of a random option that has choices.
  document::Edit choice() {
    static constexpr document::OptionId ids[] = {document::OptionId::score, document::OptionId::normalizer,
                                                 document::OptionId::position, document::OptionId::pattern};
    const document::Option& o = document::option(ids[below(4)]);
    return set(o.id,
               std::string(o.choices[static_cast<std::size_t>(below(static_cast<int>(o.choices.size())))]));
  }
  document::Edit mask() {
    using document::OptionId;
    static constexpr OptionId ids[] = {
        OptionId::causal_offset,    OptionId::window_left,    OptionId::window_right,
        OptionId::prefix,           OptionId::key_length,     OptionId::pattern_local,
        OptionId::pattern_dilation, OptionId::pattern_stride, OptionId::pattern_block,
        OptionId::pattern_global,   OptionId::pattern_random, OptionId::pattern_seed};
    const int which = below(13);
    if (which == 12) return set(OptionId::mask_after_softmax, below(2) != 0);
    return set(ids[which], static_cast<double>(below(6) - 1));
  }
  document::Edit random(const document::State& s) {
    const auto seed = static_cast<std::uint32_t>(below(5));
    if (below(2) != 0) return document::Randomize{seed, {}};
    if (below(2) != 0)
      return document::Randomize{
          seed, s.mode == document::Mode::x ? attention::TensorId::w_k : attention::TensorId::v};
    return document::Load{
        std::make_shared<document::State>(*document::preset(below(2) != 0 ? "look-up" : "i-saw-a-saw"))};
  }

  std::mt19937 random_;
  bool view_;
};

}  // namespace test
