// Which tensors of a file are Q, K and V, where names and shapes do not determine it: a form with the most
// likely answers.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/steps/steps.h"
#include "document/form.h"
#include "document/state.h"
#include "files/formats/stored.h"

namespace files {

/// Reads the layer of a file according to the choices of a user. Knows the names used by Hugging Face and
/// PyTorch (q_proj.weight, in_proj_weight, c_attn.weight, query_states …); an axis of heads before or after
/// the tokens, or heads side by side in the columns; q, k and v in one tensor; Linear weights [out, in];
/// biases (q, k and v are then computed); several layers (those of a recorded model together, if they have
/// the same shapes, or in parts of as many as a board has room for) and batches; and embedding tables.
/// Weights without q and k, [layers, heads, queries, keys] or a list of such layers, become a batch of layers
/// whose scores are the logarithms of the weights, so that softmax reproduces the weights to 1e-6.
class Mapping {
 public:
  /// `title` is the name of the file in the form.
  Mapping(StoredFile file, std::string title);

  /// Does the file contain any matrices?
  bool isPossible() const;
  /// Does the file contain weights without q and k, known by their name or by their numbers: square matrices
  /// whose rows sum to 1?
  bool isWeightsAlone() const;
  /// The fields of the form, set to `choices` where these are possible and to the most likely ones elsewhere,
  /// and what they result in.
  document::Form form(const document::Choices& choices);
  /// The state for these choices. An error for what stateOf() refuses, and for shapes that do not match.
  Result<document::State> state(const document::Choices& choices);

  /// The prefixes of the layers that have q, k and v, in the order of their numbers.
  const std::vector<std::string>& prefixes() const { return layers_; }

 private:
  enum class Role : std::uint8_t { none, q, k, v, qkv, o, x, xKv, mask, weights, tokens, keyTokens, picture };
  struct Item {
    int tensor = 0;
    std::string prefix;  ///< prefix of the layer that it belongs to
    Role role = Role::none;
    bool isWeight = false, isBias = false;  ///< of a projection
    bool isLinear = false;                  ///< [out, in]
  };

  /// A tensor that is asked for: its name in the form and in errors, the label of its field, and its role.
  struct Wanted {
    std::string_view name, label;
    Role role;
  };
  static constexpr Wanted kDirect[] = {{"q", "Q", Role::q}, {"k", "K", Role::k}, {"v", "V", Role::v}};
  static constexpr Wanted kWeights[] = {
      {"w_q", "W_Q", Role::q}, {"w_k", "W_K", Role::k}, {"w_v", "W_V", Role::v}, {"w_o", "W_O", Role::o}};
  using Three = std::array<Array, 3>;                        ///< q, k and v
  using Named = std::vector<std::pair<std::string, Array>>;  ///< by their names in tensors files

  static Item itemOf(std::string_view name);
  void findLayers();
  const Stored& tensor(int index) const { return file_.tensors[static_cast<std::size_t>(index)]; }
  /// In the present layer; the index of a tensor, or -1.
  int find(Role role, bool isWeight, bool isBias = false) const;

  /// Adds one field, and returns its chosen index. With fewer than two choices no field is added.
  int choose(std::string_view name, std::string_view label, std::vector<base::Message> choices,
             int likeliest);
  /// If none is most likely, the `nth` of the tensors is the default.
  int chooseTensor(std::string_view name, std::string_view label, int likeliest, std::string_view none = {},
                   int nth = 0);
  Result<Array> floats(int index, std::string_view name, Holds holds = Holds::finite) const;

  Result<document::State> make();
  std::int64_t numbersOfAlike() const;
  std::vector<attention::Span> together();
  Result<document::State> allLayers(attention::Span which);
  Result<StoredFile> direct();
  Result<StoredFile> projected();
  Result<document::State> weightsAlone();
  bool looksLikeWeights() const;
  Result<std::array<int, 3>> chooseThree(const Wanted* wanted, bool isWeight);
  static bool areOne(const std::array<int, 3>& chosen) {
    return chosen[0] == chosen[1] && chosen[1] == chosen[2];
  }
  Result<Three> readThree(const std::array<int, 3>& chosen);
  Result<void> takeFirst(Three& arrays);
  void chooseAxes(const Shape& shape);
  void takeHeads(Three& arrays);
  Result<Named> readWeights(const std::array<int, 3>& chosen, int output);
  Result<Array> readX(int index, const Shape& weights);
  Array randomX(std::int64_t width);
  Result<Named> readBiases(const Named& weights);
  int likeliestWeights() const;
  Result<Array> readLayers(int chosen);
  Result<int> chooseLayer(std::int64_t layers, const document::State& s, std::string_view field);
  void label(document::State& s) const;
  Result<void> joinLayers(int chosen, Array& read);
  void takeEntry(Array& layers);
  Result<StoredFile> finish(Named arrays, int tokens, int keys);
  Result<void> split(Array& array, std::string_view name, int heads) const;
  int findTexts(Role role) const;
  int labelsCount() const;
  int chooseHeads(std::int64_t columns, std::int64_t keyColumns);

  StoredFile file_;
  std::string title_;
  std::vector<Item> items_;
  std::vector<std::string> layers_;
  // During the construction of a form:
  document::Choices given_;
  document::Form form_;
  std::string layer_;
  base::Message added_;    ///< what else is to be said of the result
  base::Message tooMany_;  ///< why all layers are not read together; empty if they can be
  int axes_ = 0, entry_ = -1;
  bool isJoined_ = true;  ///< where layers can be read together, is that the default?
};

}  // namespace files
