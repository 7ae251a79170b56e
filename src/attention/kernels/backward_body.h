// The fused backward pass, compiled once per instruction set like kernels_body.h, which includes this file.
// Private to the kernels.
//
// For a block of queries, with whole rows of keys in scratch: scores S = Q·Kᵀ and their exponentials E are
// computed as in the forward pass; G = (dO / ΣE)·Vᵀ is the gradient of the weights divided by ΣE; dS = E∘(G −
// (E·G) / ΣE) applies the Jacobian of softmax; then dQ = dS·K, and the block's contributions are dK += dSᵀ·Q
// and dV += Eᵀ·(dO / ΣE). Nothing is transposed for these: a tile of keys reads columns of the scratch where
// the forward tile reads rows. Dividing dO by ΣE saves dividing E.
//
// Rejected: tiles of keys that extend beyond the visible keys into padding; they would read what earlier
// blocks left there.

namespace attention::kernels::KERNEL_NAMESPACE {
namespace {

constexpr int kChunk = kRows * kRowStride;  // floats of a block of queries by kBlockKeys keys or columns
constexpr int roundedUp(int count, int to) { return (count + to - 1) / to * to; }

/// Scratch memory of one thread.
struct BackwardScratch {
  float *scores, *gradients,
      *slopes;             // [chunk of keys][kRows][kRowStride]: E; G, later dS; the slope of the soft cap
  float *query, *dOutput;  // rows of Q and of dO / ΣE, [chunk of columns][kRows][kRowStride]
  float *queryPanels, *dOutputPanels;  // the same as right operands, [panel][kRows][kPanel]
  float* sums;                         // dQ of the block
  float *keys, *values;                // K and V in panels of keys, for products with Kᵀ and Vᵀ
  float* keyRows;                      // K in panels of columns
  float *dKeys, *dValues;              // sums over all queries; rows are keyStride and valueStride apart
  double* careful;
  Visibility* visibilities;  // [chunk of keys][kTiles]
};

struct BackwardSizes {
  int chunks, paddedKeys, headDim, valueDim;  // the last two rounded up to whole panels
};
BackwardSizes sizesOf(const BackwardPlan& plan) {
  const Forward& f = plan.call.forward;
  const int keyEnd = larger(plan.plan.keyEnd, 1);
  return {(keyEnd + kKeys - 1) / kKeys, roundedUp(keyEnd, kPanel), roundedUp(f.headDim, kPanel),
          roundedUp(f.valueDim, kPanel)};
}

std::size_t placeBackward(const BackwardPlan& plan, float* memory, BackwardScratch& scratch) {
  const Forward& f = plan.call.forward;
  const BackwardSizes s = sizesOf(plan);
  std::size_t used = 0;
  const auto take = [&](std::ptrdiff_t rows, std::ptrdiff_t columns) {
    float* at = memory ? memory + used : nullptr;
    used += static_cast<std::size_t>((rows * columns + 15) / 16 * 16);
    return at;
  };
  scratch.scores = take(s.chunks, kChunk);
  scratch.gradients = take(s.chunks, kChunk);
  scratch.slopes = f.softcap > 0.0f ? take(s.chunks, kChunk) : nullptr;
  scratch.query = take((f.headDim + kBlockKeys - 1) / kBlockKeys, kChunk);
  scratch.dOutput = take((f.valueDim + kBlockKeys - 1) / kBlockKeys, kChunk);
  scratch.queryPanels = take(kRows, s.headDim);
  scratch.dOutputPanels = take(kRows, s.valueDim);
  scratch.sums = take(kRows, s.headDim);
  scratch.keys = take(s.paddedKeys, f.headDim);
  scratch.values = take(s.paddedKeys, f.valueDim);
  scratch.keyRows = take(s.paddedKeys, s.headDim);
  scratch.dKeys = take(s.paddedKeys, s.headDim);
  scratch.dValues = take(s.paddedKeys, s.valueDim);
  scratch.careful = reinterpret_cast<double*>(take(6, f.keyCount));
  scratch.visibilities =
      reinterpret_cast<Visibility*>(take(s.chunks * kTiles, sizeof(Visibility) / sizeof(float)));
  return used;
}

std::size_t backwardFloats(const BackwardPlan& plan) {
  BackwardScratch scratch;
  return placeBackward(plan, nullptr, scratch);
}

/// c[m][0..kPanel) += Σ_k a[k][m]·b[k][0..kPanel), k < depth: the left operand is stored transposed, its rows
/// kRowStride apart.
template <int Rows>
__attribute__((noinline)) void transposedTile(const float* a, const float* b, int depth, float* c,
                                              std::ptrdiff_t cStride) {
  V sums[Rows][kVectors];
  KERNEL_UNROLL
  for (int m = 0; m < Rows; ++m) KERNEL_UNROLL
  for (int n = 0; n < kVectors; ++n) sums[m][n] = load(c + m * cStride + n * kLanes);
  for (const float* end = b + depth * kPanel; b != end; a += kRowStride, b += kPanel) {
    V bn[kVectors];
    KERNEL_UNROLL
    for (int n = 0; n < kVectors; ++n) bn[n] = load(b + n * kLanes);
    KERNEL_UNROLL
    for (int m = 0; m < Rows; ++m) {
      const V am = set(a[m]);
      KERNEL_UNROLL
      for (int n = 0; n < kVectors; ++n) sums[m][n] = mulAdd(am, bn[n], sums[m][n]);
    }
  }
  KERNEL_UNROLL
  for (int m = 0; m < Rows; ++m) KERNEL_UNROLL
  for (int n = 0; n < kVectors; ++n) store(c + m * cStride + n * kLanes, sums[m][n]);
}

/// Packs rows, each times its factor, into panels [panel][kRows][kPanel]; the last panel is padded with zero
/// columns.
void packRows(const float* rows, std::ptrdiff_t rowStride, int count, int dim, const float* factors,
              float* to) {
  for (int c = 0; c < dim; c += kPanel, to += kRows * kPanel) {
    for (int r = 0; r < count; ++r) {
      const float* from = rows + r * rowStride;
      for (int n = 0; n < kVectors; ++n) {
        const int column = c + n * kLanes;
        store(to + r * kPanel + n * kLanes,
              column < dim ? loadBefore(dim, from, column) * set(factors[r]) : V{});
      }
    }
  }
}

/// The backward pass of one block of queries.
class BackwardBlock {
 public:
  BackwardBlock(const BackwardPlan& plan, const BackwardScratch& scratch, bool isBounded, int head, int row,
                int count)
      : call_(plan.call),
        f_(plan.call.forward),
        plan_(plan.plan),
        factor_(plan.factor),
        s_(scratch),
        sizes_(sizesOf(plan)),
        isBounded_(isBounded),
        head_(head),
        row_(row),
        count_(count),
        tiles_((count + kTileRows - 1) / kTileRows) {}

  void run() {
    makeExponentials();
    makeGradients();
    for (int t = 0; t < tiles_; ++t) throughSoftmax(t);
    if (call_.dQ) makeQueries();
    if (call_.dK || call_.dV) addKeysAndValues();
  }

 private:
  const Visibility& visibility(int chunk, int tile) const { return s_.visibilities[chunk * kTiles + tile]; }
  int rowsOf(int tile) const { return smaller(kTileRows, count_ - tile * kTileRows); }
  float* at(float* chunks, int chunk, int tile) const {
    return chunks + static_cast<std::ptrdiff_t>(chunk) * kChunk + tile * kTileRows * kRowStride;
  }
  int endOf(int chunk) const { return smaller(kKeys, plan_.keyEnd - chunk * kKeys); }

  /// to = a·panelsᵀ for the visible panels; a is [chunk of columns][kRows][kRowStride].
  void multiply(const float* a, const float* panels, int dim, float* to) {
    for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
      std::uint64_t any = 0;
      for (int t = 0; t < tiles_; ++t) any |= visibility(chunk, t).visible;
      for (; any; any &= any - 1) {
        const int p = __builtin_ctzll(any);
        const float* panel = panels + static_cast<std::ptrdiff_t>(chunk * kKeys + p * kPanel) * dim;
        for (int t = 0; t < tiles_; ++t) {
          if (!(visibility(chunk, t).visible >> p & 1)) continue;
          for (int c = 0; c < dim; c += kBlockKeys) {
            tileOf(count_ - t * kTileRows, c > 0, at(const_cast<float*>(a), c / kBlockKeys, t),
                   panel + static_cast<std::ptrdiff_t>(c) * kPanel, kPanel, smaller(dim - c, kBlockKeys),
                   at(to, chunk, t) + p * kPanel, kRowStride, nullptr);
          }
        }
      }
    }
  }

  void makeExponentials() {
    for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
      for (int t = 0; t < tiles_; ++t) {
        s_.visibilities[chunk * kTiles + t] =
            look(plan_, head_, row_ + t * kTileRows, rowsOf(t), chunk * kKeys, chunk * kKeys + endOf(chunk));
      }
    }
    packQueries(rowOf(f_.q, head_, row_), f_.q.rowStride, count_, f_.headDim, plan_.queryFactor, s_.query);
    multiply(s_.query, s_.keys, f_.headDim, s_.scores);
    const Exp2Vectors exp2 = inVectors(*inMemory(&kExp2));
    float sums[kRows + kLanes], most[kRows];
    fill(sums, 0, kRows + kLanes, 0.0f);
    fill(most, 0, kRows, -kInfinity);
    for (int t = 0; t < tiles_; ++t) {
      const int rows = rowsOf(t), first = t * kTileRows;
      for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
        const Visibility& seen = visibility(chunk, t);
        const std::uint64_t altered = plan_.plain ? seen.visible & ~seen.whole : seen.visible;
        for (int r = 0; r < rows; ++r) {
          float* s = at(s_.scores, chunk, t) + r * kRowStride;
          forRuns(altered, [&](int from, int to) {
            if (s_.slopes) keepSlopes(s, from, to, at(s_.slopes, chunk, t) + r * kRowStride);
            scoreRow(plan_, head_, row_ + first + r, chunk * kKeys, from, to, s);
          });
          if (isBounded_) continue;
          const float largest = largestOf(s, seen.visible);
          most[first + r] = largest > most[first + r] ? largest : most[first + r];
        }
      }
      const auto shifted = [&](V x, int r) {
        return x - set(most[first + r] == -kInfinity ? 0.0f : most[first + r]);
      };
      for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
        float* s = at(s_.scores, chunk, t);
        const std::uint64_t visible = visibility(chunk, t).visible;
        const std::uint64_t small = isBounded_ ? visible & visibility(chunk, t).whole : 0;
        if (small) exponentiate(s, rows, small, sums + first, [&](V x, int) { return exp2OfSmall(x, exp2); });
        if (plan_.plain)
          exponentiate(s, rows, visible & ~small, sums + first,
                       [&](V x, int r) { return exp2Of(shifted(x, r), exp2); });
        else exponentiate(s, rows, visible, sums + first, [&](V x, int r) { return expOf(shifted(x, r)); });
      }
    }
    for (int r = 0; r < count_; r += kLanes) {
      const V sum = load(sums + r);
      store(inverse_ + r, sum > V{} ? set(1.0f) / sum : V{});
    }
  }

  /// Stores the slope of the soft cap, 1 − tanh²(score / cap).
  void keepSlopes(const float* s, int from, int to, float* slopes) {
    for (int c = from * kPanel; c < to * kPanel; c += kLanes) {
      const V tanh = tanhOf(load(s + c) * set(f_.scale) / set(f_.softcap));
      store(slopes + c, (set(1.0f) - tanh) * (set(1.0f) + tanh));
    }
  }

  /// G = (dO·Vᵀ + dWeights) / ΣE.
  void makeGradients() {
    if (call_.dOutput) {
      const float* rows = rowOf(call_.dOutput, head_, row_);
      for (int c = 0; c < f_.valueDim; c += kBlockKeys) {
        float* to = s_.dOutput + c / kBlockKeys * kChunk;
        for (int r = 0; r < count_; ++r) {
          scaleHere(inverse_[r], rows + r * call_.dOutput.rowStride + c, smaller(f_.valueDim - c, kBlockKeys),
                    to + r * kRowStride);
        }
      }
      multiply(s_.dOutput, s_.values, f_.valueDim, s_.gradients);
    }
    if (!call_.dWeights && call_.dOutput) return;
    for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
      const int begin = chunk * kKeys;
      for (int r = 0; r < count_; ++r) {
        float* to = at(s_.gradients, chunk, 0) + r * kRowStride;
        const float* given = call_.dWeights ? rowOf(call_.dWeights, head_, row_ + r) + begin : nullptr;
        forRuns(visibility(chunk, r / kTileRows).visible, [&](int first, int last) {
          for (int c = first * kPanel; c < last * kPanel; c += kLanes) {
            const V before = call_.dOutput ? load(to + c) : V{};
            const V more = given && begin + c < f_.keyCount ? loadBefore(f_.keyCount - begin, given, c) : V{};
            store(to + c, mulAdd(more, set(inverse_[r]), before));
          }
        });
      }
    }
  }

  /// dS = E∘(G − (E·G) / ΣE) for a tile of rows; sets to zero what other rows of the block may read.
  void throughSoftmax(int tile) {
    for (int r = 0; r < rowsOf(tile); ++r) {
      V sum0{}, sum1{};
      for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
        const float *e = at(s_.scores, chunk, tile) + r * kRowStride,
                    *g = at(s_.gradients, chunk, tile) + r * kRowStride;
        forRuns(visibility(chunk, tile).visible, [&](int first, int last) {
          for (int c = first * kPanel; c < last * kPanel; c += 2 * kLanes) {
            sum0 = mulAdd(load(e + c), load(g + c), sum0);
            sum1 = mulAdd(load(e + c + kLanes), load(g + c + kLanes), sum1);
          }
        });
      }
      const V mean = set(sumOfLanes(sum0 + sum1) * inverse_[tile * kTileRows + r]);
      for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
        const float* e = at(s_.scores, chunk, tile) + r * kRowStride;
        float* g = at(s_.gradients, chunk, tile) + r * kRowStride;
        forRuns(visibility(chunk, tile).visible, [&](int first, int last) {
          for (int c = first * kPanel; c < last * kPanel; c += kLanes)
            store(g + c, load(e + c) * (load(g + c) - mean));
          if (!s_.slopes) return;
          const float* slopes = at(s_.slopes, chunk, tile) + r * kRowStride;
          for (int c = first * kPanel; c < last * kPanel; c += kLanes)
            store(g + c, load(g + c) * load(slopes + c));
        });
      }
    }
    if (!plan_.isMasked) return;
    for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
      forRuns(bitRange(0, kPanels) & ~visibility(chunk, tile).visible, [&](int first, int last) {
        for (int r = 0; r < rowsOf(tile); ++r) {
          fill(at(s_.scores, chunk, tile) + r * kRowStride, first * kPanel, last * kPanel, 0.0f);
          fill(at(s_.gradients, chunk, tile) + r * kRowStride, first * kPanel, last * kPanel, 0.0f);
        }
      });
    }
  }

  /// dQ = factor·dS·K. A panel of K for one chunk of keys stays in the first-level cache while all rows are
  /// multiplied with it.
  void makeQueries() {
    for (int c = 0; c < f_.headDim; c += kPanel) {
      const float* panel = s_.keyRows + static_cast<std::ptrdiff_t>(c) * sizes_.paddedKeys;
      bool isBegun[kTiles] = {};
      for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
        for (int t = 0; t < tiles_; ++t) {
          forRuns(visibility(chunk, t).visible, [&](int first, int last) {
            const int from = first * kPanel, to = smaller(last * kPanel, endOf(chunk));
            tileOf(count_ - t * kTileRows, isBegun[t], at(s_.gradients, chunk, t) + from,
                   panel + (chunk * kKeys + from) * kPanel, kPanel, to - from,
                   s_.sums + t * kTileRows * sizes_.headDim + c, sizes_.headDim, nullptr);
            isBegun[t] = true;
          });
        }
      }
      for (int t = 0; t < tiles_; ++t) {
        float* sums = s_.sums + t * kTileRows * sizes_.headDim + c;
        for (int r = 0; !isBegun[t] && r < kTileRows; ++r)
          for (int n = 0; n < kVectors; ++n) store(sums + r * sizes_.headDim + n * kLanes, V{});
      }
    }
    for (int r = 0; r < count_; ++r)
      scaleTo(factor_, s_.sums + r * sizes_.headDim, f_.headDim, rowOf(call_.dQ, head_, row_ + r));
  }

  /// dV += Eᵀ·(dO / ΣE) and dK += factor·dSᵀ·Q.
  void addKeysAndValues() {
    const bool ofKeys = static_cast<bool>(call_.dK), ofValues = call_.dV && call_.dOutput;
    float factors[kRows];
    fill(factors, 0, kRows, factor_);
    if (ofKeys)
      packRows(rowOf(f_.q, head_, row_), f_.q.rowStride, count_, f_.headDim, factors, s_.queryPanels);
    if (ofValues)
      packRows(rowOf(call_.dOutput, head_, row_), call_.dOutput.rowStride, count_, f_.valueDim, inverse_,
               s_.dOutputPanels);
    for (int chunk = 0; chunk < sizes_.chunks; ++chunk) {
      std::uint64_t any = 0;
      for (int t = 0; t < tiles_; ++t) any |= visibility(chunk, t).visible;
      forRuns(any, [&](int first, int last) {
        const int end = smaller(last * kPanel, endOf(chunk));
        for (int key = first * kPanel; key < end;) {
          const int left = end - key;
          const int rows = left >= kTileRows    ? kTileRows
                           : left >= kTwoThirds ? kTwoThirds
                           : left >= kThird     ? kThird
                                                : 1;
          addTile(chunk, key, rows, ofKeys, ofValues);
          key += rows;
        }
      });
    }
  }

  void addTile(int chunk, int key, int keys, bool ofKeys, bool ofValues) {
    int from = 0, to = tiles_;
    if (plan_.isMasked) {  // rows outside [from, to) see none of these keys
      const std::uint64_t panels = bitRange(key / kPanel, (key + keys - 1) / kPanel + 1);
      while (from < to && !(visibility(chunk, from).visible & panels)) ++from;
      while (from < to && !(visibility(chunk, to - 1).visible & panels)) --to;
    }
    const int row = from * kTileRows, depth = smaller(to * kTileRows, count_) - row;
    if (depth <= 0) return;
    const std::ptrdiff_t place = static_cast<std::ptrdiff_t>(chunk) * kChunk + row * kRowStride + key;
    const std::ptrdiff_t to0 = chunk * kKeys + key;
    if (ofValues)
      addPanels(keys, s_.scores + place, s_.dOutputPanels + row * kPanel, depth,
                s_.dValues + to0 * sizes_.valueDim, sizes_.valueDim);
    if (ofKeys)
      addPanels(keys, s_.gradients + place, s_.queryPanels + row * kPanel, depth,
                s_.dKeys + to0 * sizes_.headDim, sizes_.headDim);
  }

  void addPanels(int keys, const float* a, const float* b, int depth, float* to, int width) {
    for (int c = 0; c < width; c += kPanel, b += kRows * kPanel) {
      if (keys == kTileRows) transposedTile<kTileRows>(a, b, depth, to + c, width);
      else if (keys == kTwoThirds) transposedTile<kTwoThirds>(a, b, depth, to + c, width);
      else if (keys == kThird) transposedTile<kThird>(a, b, depth, to + c, width);
      else transposedTile<1>(a, b, depth, to + c, width);
    }
  }

  const Backward& call_;
  const Forward& f_;
  const Plan& plan_;
  float factor_;
  const BackwardScratch& s_;
  BackwardSizes sizes_;
  bool isBounded_;  // scores are small enough that no maximum is subtracted before exponentiating
  int head_, row_, count_, tiles_;
  float inverse_[kRows + kLanes];
};

/// Do all products of these numbers, and their sums, fit a float? And are the scores small enough that
/// exponentials and their sums keep their accuracy without subtracting a maximum?
struct Fits {
  bool floats = false, isBounded = false;
};
Fits fitsBackward(const BackwardPlan& plan, int kvHead) {
  const Backward& call = plan.call;
  const Forward& f = call.forward;
  const int group = f.heads / f.kvHeads, keyEnd = plan.plan.keyEnd;
  Magnitudes most;
  most.keySquare = largestSquareOf(f.k, kvHead, 0, keyEnd, f.headDim);
  const double valueSquare = largestSquareOf(f.v, kvHead, 0, keyEnd, f.valueDim);
  double gradientSquare = 0.0, weights = 0.0;
  for (int head = kvHead * group; head < (kvHead + 1) * group; ++head) {
    const double query = largestSquareOf(f.q, head, 0, f.queryCount, f.headDim);
    most.querySquare = query > most.querySquare ? query : most.querySquare;
    if (call.dOutput) {
      const double square = largestSquareOf(call.dOutput, head, 0, f.queryCount, f.valueDim);
      gradientSquare = square > gradientSquare ? square : gradientSquare;
    }
    if (call.dWeights) {
      const double given = static_cast<double>(
          largestMagnitude(rowOf(call.dWeights, head, 0), call.dWeights.rowStride, f.queryCount, f.keyCount));
      weights = given > weights ? given : weights;
    }
  }
  if (!fits(plan.plan, most)) return {};
  const double factor = static_cast<double>(magnitude(plan.factor)) + 1.0,
               readers = static_cast<double>(group) * f.queryCount + 1.0;
  const double ofWeights = 2.0 * (__builtin_sqrt(gradientSquare * valueSquare) + weights) * (keyEnd + 1.0);
  const double longest =
      __builtin_sqrt(most.keySquare > most.querySquare ? most.keySquare : most.querySquare) + 1.0;
  const double score = __builtin_sqrt(most.querySquare * most.keySquare) *
                       static_cast<double>(magnitude(plan.plan.queryFactor));
  const bool isNear1 = gradientSquare > 1e-20 && gradientSquare < 1e30 &&
                       (weights == 0.0 || (weights > 1e-10 && weights < 1e15));
  return {ofWeights * factor * longest * readers < 1e37 && __builtin_sqrt(gradientSquare) * readers < 1e37 &&
              factor * longest < 1e37,
          plan.plan.plain && score < 50.0 && isNear1 && ofWeights * factor * longest * readers < 1e20};
}

/// Writes the accumulated rows to the result.
void putRows(const float* sums, int width, int count, int dim, const Out& out, int head) {
  for (int r = 0; r < count; ++r)
    scaleTo(1.0f, sums + static_cast<std::ptrdiff_t>(r) * width, dim, rowOf(out, head, r));
}

void backwardUnit(const BackwardPlan& plan, int kvHead, float* memory) {
  const Backward& call = plan.call;
  const Forward& f = call.forward;
  const int keyEnd = plan.plan.keyEnd, group = f.heads / f.kvHeads;
  BackwardScratch scratch;
  placeBackward(plan, memory, scratch);
  const Fits fit = fitsBackward(plan, kvHead);
  if (!fit.floats) return backwardCarefully(plan, kvHead, scratch.careful);
  const BackwardSizes sizes = sizesOf(plan);
  packKeys(rowOf(f.k, kvHead, 0), f.k.rowStride, 0, keyEnd, f.headDim, scratch.keys);
  packKeys(rowOf(f.v, kvHead, 0), f.v.rowStride, 0, keyEnd, f.valueDim, scratch.values);
  if (call.dQ)
    packValues(rowOf(f.k, kvHead, 0), f.k.rowStride, 0, keyEnd, f.headDim, sizes.paddedKeys, scratch.keyRows);
  const int padded = sizes.paddedKeys;
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(padded) * sizes.headDim; ++i)
    scratch.dKeys[i] = 0.0f;
  for (std::ptrdiff_t i = 0; i < static_cast<std::ptrdiff_t>(padded) * sizes.valueDim; ++i)
    scratch.dValues[i] = 0.0f;
  for (int head = kvHead * group; head < (kvHead + 1) * group; ++head) {
    for (int row = 0; row < f.queryCount; row += kRows)
      BackwardBlock(plan, scratch, fit.isBounded, head, row, smaller(kRows, f.queryCount - row)).run();
  }
  if (call.dK) putRows(scratch.dKeys, sizes.headDim, keyEnd, f.headDim, call.dK, kvHead);
  if (call.dV) putRows(scratch.dValues, sizes.valueDim, keyEnd, f.valueDim, call.dV, kvHead);
  for (int row = keyEnd; row < f.keyCount; ++row) {
    if (call.dK) fill(rowOf(call.dK, kvHead, row), 0, f.headDim, 0.0f);
    if (call.dV) fill(rowOf(call.dV, kvHead, row), 0, f.valueDim, 0.0f);
  }
}

}  // namespace

const BackwardTable& backward() {
  static constexpr BackwardTable functions{backwardFloats, backwardUnit};
  return functions;
}

}  // namespace attention::kernels::KERNEL_NAMESPACE
