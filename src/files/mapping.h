// What the tensors of a file are, where their names and shapes do not say it: a question with the likeliest answers.
#pragma once

#include <string>
#include <vector>

#include "document/form.h"
#include "document/state.h"
#include "files/stored.h"

namespace files {

/// The layer of a file by choices of a reader. Knows the names of Hugging Face and PyTorch (q_proj.weight, in_proj_weight, c_attn.weight,
/// query_states …), heads before and after the tokens or side by side in the columns, q, k and v in one tensor, Linear weights
/// [out, in], biases (q, k and v are then computed), several layers (those of a recorded model together, where they are alike) and batches, and tables of embeddings. Weights without q and k, [layers, heads,
/// queries, keys] or a list of such layers, make a batch of layers whose scores are the logarithms of the weights: what the softmax makes of them are the weights, to 1e-6.
class Mapping {
 public:
  /// `title` says which file it is.
  Mapping(StoredFile file, std::string title);

  /// Are there matrices at all?
  bool isPossible() const;
  /// The fields, with `choices` where they are possible and the likeliest ones elsewhere, and what these give.
  document::Form form(const document::Choices& choices);
  /// The state of them. Refused: what stateOf() refuses, and shapes that do not fit each other.
  Result<document::State> state(const document::Choices& choices);

 private:
  enum class Role : std::uint8_t { none, q, k, v, qkv, o, x, xKv, mask, weights, tokens, keyTokens };
  struct Item {
    int tensor = 0;
    std::string prefix;   ///< of the layer that it is part of
    Role role = Role::none;
    bool isWeight = false, isBias = false;  ///< of a projection
    bool isLinear = false;                  ///< [out, in]
  };

  static Item itemOf(std::string_view name);
  void findLayers();
  bool hasRole(std::string_view prefix, Role role, bool isWeight) const;
  const Stored& tensor(int index) const { return file_.tensors[static_cast<std::size_t>(index)]; }
  int find(Role role, bool isWeight, bool isBias = false) const;  ///< in the layer; the index of a tensor, or -1

  /// One field with its choice; the number chosen. None is made for less than two choices.
  int choose(std::string_view name, std::string_view label, std::vector<std::string> choices, int likeliest);
  /// `nth` is the one of those that there are where none is likelier.
  int chooseTensor(std::string_view name, std::string_view label, int likeliest, std::string_view none = {}, int nth = 0);
  Result<Array> floats(int index, std::string_view name) const;

  Result<document::State> make();
  bool mayJoin() const;
  Result<document::State> allLayers();
  Result<StoredFile> direct();
  Result<StoredFile> projected();
  Result<document::State> weightsAlone();
  bool looksLikeWeights() const;
  Result<void> joinLayers(int chosen, Array& read);
  Result<StoredFile> finish(std::vector<std::pair<std::string, Array>> arrays, int tokens, int keys);
  Result<void> split(Array& array, std::string_view name, int heads) const;
  int findTexts(Role role) const;
  int labelsCount() const;
  int chooseHeads(std::int64_t columns, std::int64_t keyColumns);

  StoredFile file_;
  std::string title_;
  std::vector<Item> items_;
  std::vector<std::string> layers_;
  // While a form is made:
  document::Choices given_;
  document::Form form_;
  std::string layer_, added_;
  int axes_ = 0, entry_ = -1;
  bool isJoined_ = true;  ///< are all layers the likeliest choice where they may be?
  std::vector<std::vector<float>> kept_;  ///< what tensors of finish() point into
};

}  // namespace files
