// The layout at every size from 320 px to 2560 px: nothing overlaps, nothing leaves the board sideways.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "views/layout.h"

using namespace views;

namespace {

struct Named {
  std::string name;
  Box box;
};

bool overlap(const Box& a, const Box& b) {
  const float e = 0.01f;
  return a.x < b.right() - e && b.x < a.right() - e && a.y < b.bottom() - e && b.y < a.bottom() - e;
}

// Everything with an area, each matrix with its title.
std::vector<Named> boxes(const Layout& l) {
  std::vector<Named> all;
  for (const MatrixPlace& m : l.matrices) {
    Box b = m.box;
    if (!m.title.empty()) b.y -= 22, b.height += 22;
    all.push_back({std::string(attention::name(m.tensor)), b});
  }
  if (!l.heads.empty()) all.push_back({"heads", l.heads});
  if (!l.arcs.empty()) all.push_back({"arcs", l.arcs});
  if (!l.inspector.empty()) all.push_back({"inspector", l.inspector});
  if (!l.inspectorBelow.empty()) all.push_back({"inspectorBelow", l.inspectorBelow});
  return all;
}

void checkLayout(const LayoutInput& in) {
  const Layout l = layout(in);
  const std::string what = std::to_string(in.width) + "x" + std::to_string(in.height) + " tokens " + std::to_string(in.tokens) +
                           " heads " + std::to_string(in.heads) + " d_k " + std::to_string(in.headDim) + " mode " +
                           std::to_string(static_cast<int>(in.mode));
  CAPTURE(what);
  const auto all = boxes(l);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(all[i].name);
    CHECK(all[i].box.x >= 0);
    CHECK(all[i].box.right() <= l.board.width + 0.01f);
    CHECK(all[i].box.y >= 0);
    CHECK(all[i].box.bottom() <= l.contentHeight + 0.01f);
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      CAPTURE(all[j].name);
      CHECK_FALSE(overlap(all[i].box, all[j].box));
    }
  }
}

}  // namespace

TEST_CASE("layout: nothing overlaps at any size") {
  const float sizes[][2] = {{320, 320}, {320, 640}, {360, 740}, {390, 844}, {599, 500},  {600, 400},   {640, 440},
                            {768, 1024}, {899, 600}, {900, 700}, {1099, 800}, {1100, 700}, {1440, 900}, {1920, 1080}, {2560, 1440}};
  for (const auto& size : sizes) {
    for (const document::Mode mode : {document::Mode::qkv, document::Mode::x}) {
      for (const int tokens : {1, 2, 4, 6, 10, 12, 33, 200, 1024}) {
        for (const int headDim : {1, 3, 8, 32}) {
          LayoutInput in;
          in.width = size[0], in.height = size[1];
          in.mode = mode;
          in.tokens = in.keyTokens = tokens, in.heads = tokens % 3 + 1, in.headDim = in.valueDim = headDim, in.modelDim = headDim + 1;
          checkLayout(in);
        }
      }
    }
  }
}

TEST_CASE("layout: nothing overlaps with two sequences, d_v of its own and the steps of every mechanism") {
  using attention::TensorId;
  for (const float width : {320.0f, 390.0f, 640.0f, 900.0f, 1100.0f, 1440.0f, 2560.0f}) {
    for (const document::Mode mode : {document::Mode::qkv, document::Mode::x}) {
      for (const int tokens : {1, 3, 7, 14}) {
        LayoutInput in;
        in.width = width, in.height = 800;
        in.mode = mode;
        in.tokens = tokens, in.keyTokens = 15 - tokens, in.heads = in.thumbnails = 5;
        in.headDim = 4, in.valueDim = 6, in.modelDim = 5;
        in.kvHeads = 5, in.wholeProjections = tokens % 2 == 0;
        in.extras = {{TensorId::w_a, 4, 4}, {TensorId::u_a, 4, 4}, {TensorId::v_a, 1, 4}, {TensorId::x_kv, 15 - tokens, 5},
                     {TensorId::positions, tokens, 5}, {TensorId::biased, tokens, 15 - tokens}};
        checkLayout(in);
      }
    }
  }
}

TEST_CASE("layout: rows of Q, S, W and O and columns of Kᵀ and S line up") {
  for (const float width : {1200.0f, 1440.0f, 2560.0f}) {
    LayoutInput in;
    in.width = width, in.height = 900, in.tokens = 4, in.keyTokens = 5, in.heads = 2, in.headDim = 3, in.valueDim = 2, in.modelDim = 3;
    const Layout l = layout(in);
    const MatrixPlace &q = *l.find(attention::TensorId::q), &k = *l.find(attention::TensorId::k);
    const MatrixPlace &s = *l.find(attention::TensorId::scores), &w = *l.find(attention::TensorId::weights);
    const MatrixPlace &v = *l.find(attention::TensorId::v), &o = *l.find(attention::TensorId::head_output);
    CHECK(q.box.y == s.box.y);
    CHECK(w.box.y == s.box.y);
    CHECK(o.box.y == s.box.y);
    CHECK(k.box.x == s.box.x);
    CHECK(v.box.x == o.box.x);
    CHECK(k.box.bottom() <= s.box.y);
    // Key 2 in Kᵀ stands above column 2 of the scores.
    CHECK(k.cellBox(2, 0).x == s.cellBox(0, 2).x);
  }
}

TEST_CASE("layout: what the page hides leaves no gap") {
  LayoutInput in;
  in.width = 1440, in.height = 900, in.tokens = in.keyTokens = 4, in.heads = 2, in.headDim = in.valueDim = 3, in.modelDim = 3;
  in.header = in.side = in.headsPanel = in.arcs = in.inspector = false;
  const Layout l = layout(in);
  CHECK(l.board.x == 0);
  CHECK(l.board.y == 0);
  CHECK(l.board.width == 1440);
  CHECK(l.heads.empty());
  CHECK(l.arcs.empty());
  CHECK(l.inspector.empty());
}

TEST_CASE("layout: thumbnails stay inside their panel") {
  for (const int count : {1, 2, 4, 8, 16, 64}) {
    const Box panel{0, 0, 206, 400};
    const ThumbnailGrid grid = thumbnails(panel, count);
    CHECK(grid.columns >= 1);
    CHECK(static_cast<float>(grid.columns - 1) * grid.pitchX + grid.size <= panel.width);
  }
}
