// Compares the time of an incremental edit with that of a full recomputation: ./play bench incremental
//
//   incremental [--json FILE] [--shape HEADSxTOKENSxDIM] [--rounds N] [--only NAME]
//
// Each round times one full recomputation and a few edits of every kind in turn, so that other load on the
// machine affects both alike. The table gives medians. After each kind of edit the trace is compared with a
// recomputation. Without a shape a second table shows a small board. When a token is inserted into a large
// one or removed, only what comes before the heads is computed at once.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include <time.h>

#include "attention/engine/engine.h"
#include "attention/engine/inserted_rows.h"
#include "attention/kernels/kernels.h"
#include "attention/steps/forward.h"

using namespace attention;

namespace {

/// Processor time in microseconds. Both sides run on one thread, so other load on the machine does not count.
double now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e6 * static_cast<double>(time.tv_sec) + 1e-3 * static_cast<double>(time.tv_nsec);
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

struct Random {
  std::uint64_t state = 88172645463325252ull;
  std::uint64_t bits() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
  }
  int below(int n) { return static_cast<int>((bits() >> 33) % static_cast<std::uint64_t>(n)); }
  float normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += static_cast<double>(bits() >> 11) * 0x1p-53;
    return static_cast<float>(sum);
  }
};

/// The board being edited: its numbers, and the engine that keeps the trace.
struct Board {
  Spec spec;
  Tensor q, k, v;
  PaintedMask painted;
  Engine engine;
  Random random;

  explicit Board(const Spec& s)
      : spec(s),
        q(s.heads, s.queryCount, s.headDim),
        k(s.kvHeads, s.keyCount, s.headDim),
        v(s.kvHeads, s.keyCount, s.valueDim) {
    for (Tensor* t : {&q, &k, &v}) {
      for (float& x : t->values()) x = random.normal();
    }
    painted.rows = s.queryCount, painted.cols = s.keyCount;
    painted.blocked.assign(static_cast<std::size_t>(s.queryCount) * static_cast<std::size_t>(s.keyCount), 0);
    apply({});
  }
  Inputs inputs() const {
    Inputs in;
    in.q = &q, in.k = &k, in.v = &v, in.painted = &painted;
    return in;
  }
  void apply(const Change& change) { engine.apply(spec, inputs(), change); }
};

Change cells(TensorId id, int head, int row, int col, int rows, int cols) {
  return {Change::What::cells, id, head, row, col, rows, cols};
}

/// Changes a block of rows × cols somewhere. A drag stays on one cell, so row and column follow `round` and
/// are not random.
Change touch(Board& board, TensorId id, Tensor& tensor, int round, int rows, int cols) {
  const int place = round / 8;
  const int row = place * 37 % (tensor.rows() - rows + 1), col = place * 11 % (tensor.cols() - cols + 1);
  const int head = place % tensor.heads();
  for (int r = row; r < row + rows; ++r) {
    for (int c = col; c < col + cols; ++c) tensor.at(head, r, c) = board.random.normal();
  }
  return cells(id, head, row, col, rows, cols);
}

struct Edit {
  const char* name;
  double target;  ///< required speedup over recomputing everything; 0: none is required
  std::function<Change(Board&, int)> make;
};

Change option(Change::What what) {
  Change change;
  change.what = what;
  return change;
}

Change paintCell(Board& b, int round) {
  const int place = round / 8, row = place * 37 % b.spec.queryCount, col = place * 11 % b.spec.keyCount;
  std::uint8_t& cell =
      b.painted.blocked[static_cast<std::size_t>(row) * static_cast<std::size_t>(b.spec.keyCount) +
                        static_cast<std::size_t>(col)];
  cell = !cell;
  Change change = option(Change::What::painted);
  change.row = row, change.col = col, change.rows = change.cols = 1;
  return change;
}

/// Removes or inserts one token near the middle.
Change moveToken(Board& b, int round, bool insert) {
  const int at = round * 37 % b.spec.queryCount, delta = insert ? 1 : -1;
  b.spec.queryCount += delta, b.spec.keyCount += delta;
  b.painted.rows = b.painted.cols = b.spec.keyCount;
  b.painted.blocked.resize(static_cast<std::size_t>(b.spec.queryCount) *
                           static_cast<std::size_t>(b.spec.keyCount));
  for (Tensor* t : {&b.q, &b.k, &b.v}) {
    if (!insert) removeRows(*t, {at, 1}, {});
    if (insert) insertRows(*t, {at, 1}, {});
    for (int h = 0; insert && h < t->heads(); ++h) {
      for (int c = 0; c < t->cols(); ++c) t->at(h, at, c) = b.random.normal();
    }
  }
  return {};
}

/// The same, after the opposite operation, so that the size does not change.
Change moveTokenBack(Board& b, int round, bool insert) {
  b.apply(moveToken(b, round, !insert));
  return moveToken(b, round, insert);
}

std::vector<Edit> edits(const Spec& s) {
  const int dim = s.headDim, valueDim = s.valueDim;
  return {
      {"cell of Q", 1000, [](Board& b, int i) { return touch(b, TensorId::q, b.q, i, 1, 1); }},
      {"cell of V", 20, [](Board& b, int i) { return touch(b, TensorId::v, b.v, i, 1, 1); }},
      {"cell of K", 15, [](Board& b, int i) { return touch(b, TensorId::k, b.k, i, 1, 1); }},
      {"row of Q", 0, [=](Board& b, int i) { return touch(b, TensorId::q, b.q, i, 1, dim); }},
      {"row of V", 0, [=](Board& b, int i) { return touch(b, TensorId::v, b.v, i, 1, valueDim); }},
      {"row of K", 0, [=](Board& b, int i) { return touch(b, TensorId::k, b.k, i, 1, dim); }},
      {"painted cell", 0, paintCell},
      {"token inserted", 0, [](Board& b, int i) { return moveTokenBack(b, i, true); }},
      {"token removed", 0, [](Board& b, int i) { return moveTokenBack(b, i, false); }},
      {"causal flip", 1.5,
       [](Board& b, int) {
         b.spec.causal = !b.spec.causal;
         return option(Change::What::causal);
       }},
      {"scale", 0,
       [](Board& b, int i) {
         b.spec.scale = 0.1f + 0.001f * static_cast<float>(i % 50);
         return option(Change::What::scale);
       }},
      {"temperature", 0,
       [](Board& b, int i) {
         b.spec.temperature = 0.5f + 0.01f * static_cast<float>(i % 50);
         return option(Change::What::temperature);
       }},
  };
}

struct Figure {
  std::string name;
  double target = 0.0, full = 0.0, edit = 0.0, difference = 0.0;
  double ratio() const { return full / edit; }
};

/// The largest difference between the weights and outputs of two traces.
double difference(const Trace& a, const Trace& b) {
  double most = 0.0;
  const auto compare = [&most](const Tensor& x, const Tensor& y) {
    for (std::size_t i = 0; i < x.size(); ++i)
      most = std::max(most, std::abs(double{x.data()[i]} - double{y.data()[i]}));
  };
  compare(a.weights, b.weights);
  compare(a.output, b.output);
  return most;
}

Figure measure(const Spec& spec, const Edit& edit, int rounds) {
  Board board(spec);
  Trace full;
  Scratch scratch;
  std::vector<double> fullTimes, editTimes;
  const bool wide = std::strcmp(edit.name, "causal flip") == 0 || edit.target == 0;
  const int perRound = wide ? 4 : 32;
  int count = 0;
  for (int round = 0; round < rounds; ++round) {
    const double start = now();
    forward(board.spec, board.inputs(), full, scratch);
    fullTimes.push_back(now() - start);
    for (int i = 0; i < perRound; ++i) {
      const Change change = edit.make(board, count++);
      const double before = now();
      board.apply(change);
      editTimes.push_back(now() - before);
    }
  }
  forward(board.spec, board.inputs(), full, scratch);
  return {edit.name, edit.target, median(fullTimes), median(editTimes),
          difference(full, board.engine.trace())};
}

/// Measures the edits whose names contain `only`.
std::vector<Figure> measureAll(const Spec& spec, const char* only, int rounds) {
  std::vector<Figure> figures;
  for (const Edit& edit : edits(spec)) {
    if (std::strstr(edit.name, only)) figures.push_back(measure(spec, edit, rounds));
  }
  return figures;
}

void print(const Spec& s, const std::vector<Figure>& figures) {
  std::printf("edits at %d x %d x %d (heads x tokens x dim), kernel %s, medians\n", s.heads, s.queryCount,
              s.headDim, std::string(kernels::name(kernels::best())).c_str());
  const bool isAsked =
      s.heads == 8 && s.queryCount == 1024 && s.headDim == 64;  // the targets apply to this board only
  std::printf("%-14s %12s %12s %10s %10s %12s\n", "edit", "full, us", "edit, us", "ratio", "target",
              "difference");
  for (const Figure& f : figures) {
    std::printf("%-14s %12.1f %12.1f %9.1fx", f.name.c_str(), f.full, f.edit, f.ratio());
    if (f.target > 0 && isAsked) {
      std::printf(" %9.1fx", f.target);
    } else {
      std::printf(" %10s", "-");
    }
    std::printf(" %12.1e\n", f.difference);
  }
}

bool writeJson(const char* path, const Spec& s, const std::vector<Figure>& figures) {
  std::FILE* file = std::fopen(path, "w");
  if (!file) return false;
  std::fprintf(file, "{\"kernel\": \"%s\", \"shape\": [%d, %d, %d], \"edits\": [",
               std::string(kernels::name(kernels::best())).c_str(), s.heads, s.queryCount, s.headDim);
  const char* between = "";
  for (const Figure& f : figures) {
    std::fprintf(
        file,
        "%s\n  {\"name\": \"%s\", \"full_us\": %.2f, \"edit_us\": %.2f, \"ratio\": %.2f, \"target\": %.1f}",
        between, f.name.c_str(), f.full, f.edit, f.ratio(), f.target);
    between = ",";
  }
  std::fprintf(file, "\n]}\n");
  return std::fclose(file) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  Spec spec;
  spec.heads = spec.kvHeads = 8, spec.queryCount = spec.keyCount = 1024, spec.headDim = spec.valueDim = 64;
  const char *json = nullptr, *only = "";
  bool isDefault = true;
  int rounds = 15;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!std::strcmp(argv[i], "--json")) json = argv[i + 1];
    if (!std::strcmp(argv[i], "--only")) only = argv[i + 1];
    if (!std::strcmp(argv[i], "--rounds")) rounds = std::max(1, std::atoi(argv[i + 1]));
    if (!std::strcmp(argv[i], "--shape") &&
        std::sscanf(argv[i + 1], "%dx%dx%d", &spec.heads, &spec.queryCount, &spec.headDim) == 3) {
      spec.kvHeads = spec.heads, spec.keyCount = spec.queryCount, spec.valueDim = spec.headDim;
      isDefault = false;
    }
  }
  const std::vector<Figure> figures = measureAll(spec, only, rounds);
  print(spec, figures);
  if (isDefault) {
    Spec small = spec;
    small.heads = small.kvHeads = 2, small.queryCount = small.keyCount = 8,
    small.headDim = small.valueDim = 4;
    print(small, measureAll(small, only, 20 * rounds));
  }
  if (json && !writeJson(json, spec, figures)) {
    std::fprintf(stderr, "incremental: %s cannot be written\n", json);
    return 1;
  }
  return 0;
}
