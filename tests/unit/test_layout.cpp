// The layout at every size from 320 px to 2560 px: nothing overlaps, nothing leaves the board sideways.
#include <doctest/doctest.h>

#include <algorithm>
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
std::vector<Named> boxes(const Layout& l, int count) {
  std::vector<Named> all;
  for (const MatrixPlace& m : l.matrices) {
    Box b = m.box;
    if (!m.title.empty()) b.y -= 22, b.height += 22;
    if (m.labelsAbove && m.labelRoom > 0) b.y -= m.labelRoom - 22, b.height += m.labelRoom - 22;
    all.push_back({std::string(attention::name(m.tensor)), b});
  }
  if (!l.heads.empty()) {
    // The place of the heads holds all of their pictures: what is below it is not covered.
    const ThumbnailGrid grid = thumbnails(l.heads, count);
    const float rows = static_cast<float>((count + grid.columns - 1) / grid.columns);
    Box b = l.heads;
    b.height = std::max(b.height, 28 + rows * grid.pitchY - (grid.names ? 0.0f : grid.pitchY - grid.size));
    all.push_back({"heads", b});
  }
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
  const auto all = boxes(l, in.thumbnails);
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
  const float sizes[][2] = {{3840, 2160}, {1366, 768}, {1280, 720}, {320, 320}, {320, 640}, {360, 740}, {390, 844}, {599, 500},  {600, 400},   {640, 440},
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
    CHECK(28 + static_cast<float>((count + grid.columns - 1) / grid.columns) * grid.pitchY <= panel.height + 0.5f);
    CHECK(static_cast<float>(grid.columns - 1) * grid.pitchX + grid.size <= panel.width);
  }
}

TEST_CASE("layout: heads, long sentences and long words overlap nothing from a phone to a wall") {
  for (const auto& size : {std::pair{320.0f, 320.0f}, {390.0f, 844.0f}, {640.0f, 440.0f}, {1280.0f, 720.0f}, {1440.0f, 900.0f}, {3840.0f, 2160.0f}}) {
    for (const int tokens : {1, 2, 4, 12, 25, 30, 64, 1024}) {
      for (const int heads : {1, 2, 12, 16, 64}) {
        for (const float labelWidth : {8.0f, 40.0f, 84.0f}) {
          LayoutInput in;
          in.width = size.first, in.height = size.second;
          in.tokens = in.keyTokens = tokens, in.heads = in.kvHeads = heads, in.headDim = in.valueDim = 3, in.modelDim = 4;
          in.thumbnails = heads > 1 ? heads + 1 : 1;
          in.labelWidth = labelWidth;
          for (const bool present : {false, true}) {
            in.present = present;
            checkLayout(in);
          }
        }
      }
    }
  }
}

TEST_CASE("layout: no matrix of the layer leaves the screen at 1440 by 900") {
  for (const document::Mode mode : {document::Mode::qkv, document::Mode::x}) {
    for (const int tokens : {1, 4, 8, 12, 16, 25, 64, 1024}) {
      for (const int headDim : {1, 3, 8, 16, 32}) {
        for (const int heads : {1, 2, 4}) {
          for (const bool whole : {false, true}) {
            LayoutInput in;
            in.width = 1440, in.height = 900;
            in.mode = mode, in.wholeProjections = whole;
            in.tokens = in.keyTokens = tokens, in.heads = in.kvHeads = heads, in.headDim = in.valueDim = in.modelDim = headDim;
            in.thumbnails = heads > 1 ? heads + 1 : 1;
            in.labelWidth = 40;
            const Layout l = layout(in);
            CAPTURE(tokens);
            CAPTURE(headDim);
            CAPTURE(heads);
            CAPTURE(whole);
            for (const MatrixPlace& m : l.matrices) {
              CAPTURE(attention::name(m.tensor));
              CHECK(m.box.bottom() <= l.board.height);
              CHECK(m.box.right() <= l.board.width);
            }
            checkLayout(in);
          }
        }
      }
    }
  }
}

TEST_CASE("layout: presented, there is nothing but the matrices and the arithmetic") {
  LayoutInput in;
  in.width = 1440, in.height = 900, in.tokens = in.keyTokens = 4, in.heads = 2, in.headDim = in.valueDim = 3, in.modelDim = 3;
  in.thumbnails = 3, in.present = true;
  const Layout l = layout(in);
  CHECK(l.side.empty());
  CHECK(l.board.x == 0);
  CHECK(l.heads.empty());
  CHECK(l.arcs.empty());
  CHECK_FALSE(l.inspector.empty());
}
