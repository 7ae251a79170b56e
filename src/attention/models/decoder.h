// A recurrent decoder that attends anew for each word that it writes (Bahdanau et al. 2015, section 3.1 and
// appendix A.1.2): its state before a word is the query, and the states of the encoder are keys and values.
//   e_ij = v_a·tanh(s_{i−1}·W_a + h_j·U_a), a_i = softmax(e_i), c_i = Σ_j a_ij·h_j, s_i = tanh(s_{i−1}·U + c_i·C)
//
// s_0 is the last state of the encoder. The decoder of the paper has gates, and also reads the word that it
// wrote last; here it reads the context alone.
#pragma once

#include <string>
#include <vector>

#include "attention/layer/explain.h"
#include "base/slices.h"

namespace attention {

/// All tensors have one head and must outlive the call.
struct DecoderInputs {
  const Tensor* h = nullptr;   ///< the states of the encoder, [1, tokens, units]
  const Tensor* wA = nullptr;  ///< of the score, [1, units, units]
  const Tensor* uA = nullptr;  ///< [1, units, units]
  const Tensor* vA = nullptr;  ///< [1, 1, units]
  const Tensor* u = nullptr;   ///< of the decoder, [1, units, units]
  const Tensor* c = nullptr;   ///< [1, units, units]
  int words = 0;               ///< how many it writes
};

/// The intermediates, one row per word.
struct DecoderTrace {
  Tensor queries;   ///< s_{i−1}, [1, words, units]
  Tensor scores;    ///< e, [1, words, tokens]
  Tensor weights;   ///< a, the same; each row sums to 1
  Tensor contexts;  ///< c, [1, words, units]
  Tensor states;    ///< s_i, the same
};

/// One look of a query at all states: fills `bent`, tanh(query·W_a + h_j·U_a), [1, tokens, units], and writes
/// a score and a weight for each token, and the context. Needs only the tensors of the score.
void look(const DecoderInputs& inputs, const float* query, Tensor& bent, float* scores, float* weights,
          float* context);

/// Fills `trace`. Sums are in double: weights are within 1e-6 of the exact ones, for scores of magnitude 1.
void forwardDecoder(const DecoderInputs& inputs, DecoderTrace& trace);
/// The same in slices, of a word each.
base::Slices decoderInSlices(DecoderInputs inputs, DecoderTrace& trace);

/// Explains the weight that a word gives a token, with `decimals` digits: query and key, score, exponential,
/// division.
Explanation explain(const DecoderInputs& inputs, const DecoderTrace& trace, int word, int token,
                    const std::vector<std::string>& labels, int decimals);

}  // namespace attention
