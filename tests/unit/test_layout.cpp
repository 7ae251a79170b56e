// The layout at all sizes from 320 px to 2560 px: nothing overlaps, and nothing extends beyond the sides of
// the board.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "views/board/layout.h"
#include "views/head_tag.h"

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

// Everything that has an area; each matrix includes its title.
std::vector<Named> boxes(const Layout& l, int count) {
  std::vector<Named> all;
  for (const MatrixPlace& m : l.matrices) {
    Box b = m.box;
    if (!m.title.empty()) b.y -= 22, b.height += 22;
    if (m.labelsAbove && m.labelRoom > 0) b.y -= m.labelRoom - 22, b.height += m.labelRoom - 22;
    all.push_back({std::string(attention::name(m.tensor)), b});
  }
  if (!l.heads.empty()) {
    // The area of the heads holds all of their pictures, so that they do not cover what is below.
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
  const std::string what = std::to_string(in.width) + "x" + std::to_string(in.height) + " tokens " +
                           std::to_string(in.tokens) + " heads " + std::to_string(in.heads) + " d_k " +
                           std::to_string(in.headDim) + " mode " + std::to_string(static_cast<int>(in.mode));
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
  const float sizes[][2] = {{3840, 2160}, {1366, 768}, {1280, 720}, {320, 320},  {320, 640},   {360, 740},
                            {390, 844},   {599, 500},  {600, 400},  {640, 440},  {768, 1024},  {899, 600},
                            {900, 700},   {1099, 800}, {1100, 700}, {1440, 900}, {1920, 1080}, {2560, 1440}};
  for (const auto& size : sizes) {
    for (const document::Mode mode : {document::Mode::qkv, document::Mode::x}) {
      for (const int tokens : {1, 2, 4, 6, 10, 12, 33, 200, 1024, 4096}) {
        for (const int headDim : {1, 3, 8, 32}) {
          LayoutInput in;
          in.width = size[0], in.height = size[1];
          in.mode = mode;
          in.tokens = in.keyTokens = tokens, in.heads = tokens % 3 + 1, in.headDim = in.valueDim = headDim,
          in.modelDim = headDim + 1;
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
        in.headDim = 4, in.valueDim = 6, in.modelDim = 5, in.queryDim = tokens;
        in.kvHeads = 5, in.wholeProjections = tokens % 2 == 0;
        in.extras = {{TensorId::w_a, 4, 4},
                     {TensorId::u_a, 4, 4},
                     {TensorId::v_a, 1, 4},
                     {TensorId::x_kv, 15 - tokens, 5},
                     {TensorId::positions, tokens, 5},
                     {TensorId::biased, tokens, 15 - tokens}};
        checkLayout(in);
      }
    }
  }
}

TEST_CASE("layout: nothing overlaps where tokens are columns") {
  for (const auto& [width, height] : {std::pair{320.0f, 640.0f},
                                      {390.0f, 844.0f},
                                      {640.0f, 440.0f},
                                      {899.0f, 600.0f},
                                      {1100.0f, 700.0f},
                                      {1440.0f, 900.0f},
                                      {2560.0f, 1440.0f}}) {
    for (const int tokens : {1, 2, 4, 10, 33, 200}) {
      for (int kind = 0; kind < 8; ++kind) {
        LayoutInput in;
        in.width = width, in.height = height, in.columns = true;
        in.mode = kind % 2 == 0 ? document::Mode::qkv : document::Mode::x;
        in.tokens = tokens, in.keyTokens = kind < 4 ? tokens : tokens + 3,
        in.heads = in.kvHeads = kind % 3 + 1, in.thumbnails = in.heads > 1 ? in.heads + 1 : 1;
        in.headDim = 2 + kind, in.queryDim = 6 - kind / 2 * 2, in.valueDim = 1 + kind % 3, in.modelDim = 5,
        in.outputDim = 3;
        in.nameWidth = kind < 4 ? 0 : 40.0f;
        in.present = kind == 6;
        checkLayout(in);
        in.isPart = true, in.headsPanel = false, in.present = false;
        in.only = {attention::TensorId::weights, attention::TensorId::k};
        if (kind % 2 == 0) in.only.push_back(attention::TensorId::q);
        if (kind > 3)
          in.only.insert(in.only.end(), {attention::TensorId::v, attention::TensorId::head_output});
        checkLayout(in);
      }
    }
  }
}

TEST_CASE("layout: rows of Q, S, W and O and columns of Kᵀ and S line up") {
  for (const float width : {1200.0f, 1440.0f, 2560.0f}) {
    LayoutInput in;
    in.width = width, in.height = 900, in.tokens = 4, in.keyTokens = 5, in.heads = 2, in.headDim = 3,
    in.valueDim = 2, in.modelDim = 3;
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
    // Key 2 in Kᵀ is above column 2 of the scores.
    CHECK(k.cellBox(2, 0).x == s.cellBox(0, 2).x);
  }
}

TEST_CASE("layout: what the page hides leaves no gap") {
  LayoutInput in;
  in.width = 1440, in.height = 900, in.tokens = in.keyTokens = 4, in.heads = 2, in.headDim = in.valueDim = 3,
  in.modelDim = 3;
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
    CHECK(28 + static_cast<float>((count + grid.columns - 1) / grid.columns) * grid.pitchY <=
          panel.height + 0.5f);
    CHECK(static_cast<float>(grid.columns - 1) * grid.pitchX + grid.size <= panel.width);
  }
  // A number of two digits and its tag, below the smallest pictures that have names, touch no neighbour.
  const ThumbnailGrid sixteen = thumbnails({0, 0, 358, 0}, 17);
  CHECK(sixteen.names);
  CHECK(sixteen.pitchX - 16 - 2 - kTagWidth >= 5);
}

TEST_CASE("layout: heads, long sentences and long words overlap nothing from a phone to a wall") {
  for (const auto& size : {std::pair{320.0f, 320.0f},
                           {390.0f, 844.0f},
                           {640.0f, 440.0f},
                           {1280.0f, 720.0f},
                           {1440.0f, 900.0f},
                           {3840.0f, 2160.0f}}) {
    for (const int tokens : {1, 2, 4, 12, 25, 30, 64, 1024, 4096}) {
      for (const int heads : {1, 2, 12, 16, 64}) {
        for (const float labelWidth : {8.0f, 40.0f, 84.0f}) {
          LayoutInput in;
          in.width = size.first, in.height = size.second;
          in.tokens = in.keyTokens = tokens, in.heads = in.kvHeads = heads, in.headDim = in.valueDim = 3,
          in.modelDim = 4;
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
    for (const int tokens : {1, 4, 8, 12, 16, 25, 64, 1024, 4096}) {
      for (const int headDim : {1, 3, 8, 16, 32}) {
        for (const int heads : {1, 2, 4}) {
          for (const bool whole : {false, true}) {
            LayoutInput in;
            in.width = 1440, in.height = 900;
            in.mode = mode, in.wholeProjections = whole;
            in.tokens = in.keyTokens = tokens, in.heads = in.kvHeads = heads,
            in.headDim = in.valueDim = in.modelDim = headDim;
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
  in.width = 1440, in.height = 900, in.tokens = in.keyTokens = 4, in.heads = 2, in.headDim = in.valueDim = 3,
  in.modelDim = 3;
  in.thumbnails = 3, in.present = true;
  const Layout l = layout(in);
  CHECK(l.side.empty());
  CHECK(l.board.x == 0);
  CHECK(l.heads.empty());
  CHECK(l.arcs.empty());
  CHECK_FALSE(l.inspector.empty());
}

namespace {

LayoutInput plain(float width, float height, int tokens) {
  LayoutInput in;
  in.width = width, in.height = height, in.tokens = in.keyTokens = tokens, in.heads = in.kvHeads = 2,
  in.headDim = in.valueDim = 3;
  in.modelDim = 6, in.thumbnails = 3;
  return in;
}

float smallest(const Layout& l) {
  float cell = l.matrices.front().cell;
  for (const MatrixPlace& m : l.matrices) cell = std::min(cell, m.cell);
  return cell;
}

/// The space left of the leftmost and right of the rightmost item of the board, labels included.
std::pair<float, float> margins(const LayoutInput& in) {
  const Layout l = layout(in);
  float left = l.board.width, right = l.board.width;
  for (const Named& n : boxes(l, in.thumbnails)) {
    if (n.name == "arcs" || n.name == "inspector") continue;
    left = std::min(left, n.box.x), right = std::min(right, l.board.width - n.box.right());
  }
  return {left, right};
}

/// Is a box where it was the first time?
void checkStays(std::optional<views::Box>& place, const views::Box& at) {
  if (!place) place = at;
  CHECK(at.x == place->x);
  CHECK(at.y == place->y);
  CHECK(at.width == place->width);
  CHECK(at.height == place->height);
}

}  // namespace

TEST_CASE("layout: on a large screen cells grow with the board, which stands in its middle") {
  CHECK(layout(plain(1440, 900, 4)).matrices.front().cell == 47);
  CHECK(layout(plain(1440, 900, 1)).matrices.front().cell == 48);
  CHECK(layout(plain(1920, 1080, 4)).matrices.front().cell >= 56);
  CHECK(layout(plain(2560, 1440, 4)).matrices.front().cell == 64);
  for (const int tokens : {1, 2, 4, 8}) {
    CAPTURE(tokens);
    for (const auto& size :
         {std::pair{1440.0f, 900.0f}, {1707.0f, 960.0f}, {1920.0f, 1080.0f}, {2560.0f, 1440.0f}}) {
      CAPTURE(size.first);
      const auto [left, right] = margins(plain(size.first, size.second, tokens));
      CHECK(std::fabs(left - right) <= 60);  // names are left of Q, a margin is right of the heads
      LayoutInput in = plain(size.first, size.second, tokens);
      in.present = true;
      const auto [l, r] = margins(in);
      CHECK(std::fabs(l - r) <= 60);
    }
  }
}

TEST_CASE("layout: presented, the arithmetic stands among the matrices and nothing has to be scrolled") {
  for (const auto& size :
       {std::pair{1024.0f, 576.0f}, {1440.0f, 900.0f}, {1920.0f, 1080.0f}, {2560.0f, 1440.0f}}) {
    for (const int tokens : {1, 2, 4, 8, 12, 25, 64, 1024, 4096}) {
      for (const int headDim : {1, 3, 8, 16}) {
        LayoutInput in = plain(size.first, size.second, tokens);
        in.headDim = in.valueDim = headDim, in.present = true;
        CAPTURE(size.first);
        CAPTURE(tokens);
        CAPTURE(headDim);
        const Layout l = layout(in);
        CHECK(l.inspector.width >= 330);
        CHECK(l.inspector.height >= 190);
        CHECK(l.contentHeight <= l.board.height + 0.01f);
        checkLayout(in);
      }
    }
  }
}

const int kLengths[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 26, 33, 64, 65, 200, 1024, 4096};

TEST_CASE("layout: the arithmetic stays in one place at every length, in view, below the matrices") {
  using document::Mode;
  for (const auto& [width, height] :
       {std::pair{1440.0f, 900.0f}, {1366.0f, 768.0f}, {1920.0f, 1080.0f}, {1024.0f, 768.0f}}) {
    for (const Mode mode : {Mode::qkv, Mode::x}) {
      for (const bool closed : {false, true}) {
        CAPTURE(width);
        CAPTURE(closed);
        std::optional<views::Box> place;
        for (const int tokens : kLengths) {
          CAPTURE(tokens);
          LayoutInput in = plain(width, height, tokens);
          in.mode = mode, in.modelDim = 3, in.outputDim = 3, in.sideClosed = closed;
          const Layout l = layout(in);
          const views::Box& at = l.inspector;
          checkStays(place, at);
          CHECK(at.bottom() <= l.board.height);
          CHECK(at.y == l.arcs.y);
          CHECK_FALSE(l.inspectorIsBrief);
          for (const MatrixPlace& m : l.matrices) CHECK(m.box.bottom() <= at.y - 24);
          if (width > 1100 && tokens <= 64) CHECK(smallest(l) >= (tokens > 25 ? 2 : 8));
          checkLayout(in);
        }
      }
    }
  }
  // A short sentence keeps its numbers, in the size of the pictures of the design.
  LayoutInput four = plain(1440, 900, 4);
  four.heads = four.kvHeads = four.thumbnails = 1, four.sideClosed = true;
  CHECK(layout(four).matrices.front().cell == 48);
}

// What a long board has to give up is the size of its cells; numbers of four words fit wherever they would
// without the cards.
TEST_CASE("layout: with wide queries and with tokens as columns too, the arithmetic stays in one place") {
  using document::Mode;
  for (const auto& [width, height] :
       {std::pair{1440.0f, 900.0f}, {1366.0f, 768.0f}, {1920.0f, 1080.0f}, {1024.0f, 768.0f}}) {
    for (const bool columns : {false, true}) {
      for (const int headDim : {1, 4, 12, 13, 16, 21, 32, 64}) {
        for (const int valueDim : {3, headDim}) {
          for (const auto& [heads, mode] : {std::pair{1, Mode::qkv}, {2, Mode::x}, {16, Mode::qkv}}) {
            CAPTURE(width);
            CAPTURE(columns);
            CAPTURE(headDim);
            CAPTURE(valueDim);
            CAPTURE(heads);
            std::optional<views::Box> place;
            for (const int tokens : kLengths) {
              CAPTURE(tokens);
              for (const float label : {8.0f, 60.0f}) {
                LayoutInput in = plain(width, height, tokens);
                in.columns = columns, in.headDim = headDim, in.valueDim = valueDim, in.labelWidth = label;
                in.heads = in.kvHeads = heads, in.thumbnails = heads > 1 ? heads + 1 : 1, in.mode = mode;
                const Layout l = layout(in);
                checkStays(place, l.inspector);
                CHECK(l.inspector.y == l.arcs.y);
                if (!columns) CHECK(l.inspector.y + 120 <= l.board.height);  // half of it is in view
                CHECK_FALSE(l.inspectorIsBrief);
                for (const MatrixPlace& m : l.matrices) {
                  CHECK(m.box.bottom() <= l.inspector.y - 8);
                  // With tokens as columns projections stand below the layer.
                  if (mode == Mode::qkv || !columns) CHECK(m.box.bottom() <= l.board.height);
                }
                checkLayout(in);
              }
            }
          }
        }
      }
    }
  }
}

TEST_CASE(
    "layout: numbers of four words fit above the arithmetic for as wide queries as the board has room for") {
  for (const bool columns : {false, true}) {
    for (const int headDim : {1, 4, 12, 13, 16}) {
      for (const int tokens : {1, 2, 3, 4}) {
        CAPTURE(columns);
        CAPTURE(headDim);
        CAPTURE(tokens);
        LayoutInput in = plain(1440, 900, tokens);
        in.columns = columns, in.headDim = headDim;
        CHECK(smallest(layout(in)) >= 28);
      }
    }
  }
}

TEST_CASE(
    "layout: on a phone, a tablet and in a small embed the arithmetic stays in one place at every length, "
    "too") {
  for (const auto& [width, height] : {std::pair{640.0f, 440.0f},
                                      {844.0f, 390.0f},
                                      {390.0f, 844.0f},
                                      {430.0f, 932.0f},
                                      {360.0f, 740.0f},
                                      {375.0f, 667.0f},
                                      {360.0f, 640.0f},
                                      {320.0f, 568.0f},
                                      {358.0f, 440.0f},
                                      {820.0f, 1180.0f},
                                      {768.0f, 1024.0f},
                                      {600.0f, 960.0f},
                                      {768.0f, 700.0f}}) {
    for (const float label : {8.0f, 30.0f, 90.0f}) {
      CAPTURE(width);
      CAPTURE(label);
      std::optional<views::Box> place, whole;
      for (const int tokens : kLengths) {
        CAPTURE(tokens);
        for (const int headDim : {1, 16, 64}) {  // wide queries have the place of narrow ones
          for (const bool columns : {false, true}) {
            CAPTURE(headDim);
            CAPTURE(columns);
            LayoutInput other = plain(width, height, tokens);
            other.labelWidth = label, other.headDim = headDim, other.columns = columns;
            checkStays(place, layout(other).inspector);
            checkLayout(other);
          }
        }
        LayoutInput in = plain(width, height, tokens);
        in.labelWidth = label;
        const Layout l = layout(in);
        const views::Box& at = l.inspector;
        checkStays(place, at);
        if (height == 700) {  // below the short version
          if (!whole) whole = l.inspectorBelow;
          CHECK(l.inspectorBelow.y == whole->y);
          CHECK(whole->y + 120 <= l.board.height);
        }
        // The first screen ends with the card or, on a low phone, within it; and numbers of few words, which
        // come first, are legible.
        if (width >= 600 || height >= 700) CHECK(at.bottom() <= l.board.height);
        else if (height > 500) CHECK(at.y + 100 <= l.board.height);
        if (tokens <= 4 && label < 20) CHECK(l.matrices.front().cell >= 32);
        CHECK(at.width >= 190);
        checkLayout(in);
        // Nothing moves under a finger when the controls are opened.
        in.drawer = true;
        if (width < 600) CHECK(layout(in).inspector.y == at.y);
      }
    }
  }
}

TEST_CASE(
    "layout: the pictures of 16 heads stand beside 12 words as large as above them, and all of the layer "
    "side "
    "by side") {
  LayoutInput in = plain(1440, 900, 12);
  in.heads = 16, in.thumbnails = 17, in.headDim = in.valueDim = 1, in.labelWidth = 46;
  const Layout l = layout(in);
  CHECK(l.find(attention::TensorId::q)->box.y == l.find(attention::TensorId::weights)->box.y);
  CHECK(thumbnails(l.heads, in.thumbnails).names);
  CHECK(l.heads.bottom() < l.inspector.y);
}

TEST_CASE("layout: on a phone fewer words have larger cells, and are no higher than four") {
  const auto at = [](int tokens, float height) {
    const Layout l = layout(plain(390, height, tokens));
    const MatrixPlace& weights = *l.find(attention::TensorId::weights);
    return std::pair{weights.cell, weights.box.bottom()};
  };
  for (const float height : {844.0f, 667.0f}) {
    const auto [cell, bottom] = at(4, height);
    CHECK(cell == 44);
    for (const int tokens : {1, 2, 3}) {
      CHECK(at(tokens, height).first > at(tokens + 1, height).first);
      CHECK(at(tokens, height).second <= bottom);
    }
    CHECK(at(5, height).first <= 44);
  }
}

TEST_CASE("layout: on a phone the matrices keep off the scroll bar") {
  for (const float width : {320.0f, 360.0f, 390.0f, 430.0f, 599.0f}) {
    for (int columns = 1; columns <= 16; ++columns) {
      for (const int tokens : {1, 4, 9, 25}) {
        LayoutInput in;
        in.width = width, in.height = 844, in.tokens = in.keyTokens = tokens,
        in.headDim = in.valueDim = columns;
        in.labelWidth = 26;
        CAPTURE(width);
        CAPTURE(columns);
        CAPTURE(tokens);
        for (const bool turned : {false, true}) {
          in.columns = turned;
          const Layout l = layout(in);
          for (const auto id :
               {attention::TensorId::q, attention::TensorId::k, attention::TensorId::weights}) {
            REQUIRE(l.find(id));
            CHECK(l.find(id)->box.right() <= width - 16);
          }
        }
      }
    }
  }
}

TEST_CASE("layout: between Kᵀ and the scores there is room for a label with its descenders") {
  const Layout l = layout(plain(1440, 900, 4));
  const float frame = 3;                          // the frame of the card around a matrix
  const float labelMiddle = 11, halfLine = 7.3f;  // Inter 12
  const float room =
      l.find(attention::TensorId::scores)->box.y - frame - l.find(attention::TensorId::k)->box.bottom();
  CHECK(room >= labelMiddle + halfLine);
}

TEST_CASE(
    "layout: as high as it comes, whatever the height: nothing overlaps, and that height shows all of it") {
  using attention::TensorId;
  for (const float width : {320.0f, 390.0f, 640.0f, 900.0f, 1440.0f, 2560.0f}) {
    for (const int tokens : {1, 4, 12, 33}) {
      for (const int part : {0, 1, 2, 3}) {
        LayoutInput in;
        in.natural = true;
        in.width = width, in.height = 500;
        in.tokens = in.keyTokens = tokens, in.heads = 2, in.thumbnails = 3, in.headDim = in.valueDim = 3,
        in.modelDim = 4;
        if (part > 0) in.isPart = true, in.header = in.side = in.headsPanel = in.arcs = in.inspector = false;
        if (part == 1)
          in.only = {TensorId::q, TensorId::k, TensorId::v, TensorId::weights, TensorId::head_output};
        if (part == 2) in.only = {TensorId::weights}, in.inspector = true;
        if (part == 3) in.arcs = true;
        checkLayout(in);
        const Layout l = layout(in);
        in.height = l.contentHeight + 500 - l.board.height;
        const Layout fitting = layout(in);
        CHECK(fitting.contentHeight == l.contentHeight);
        CHECK(std::fabs(fitting.board.height - l.contentHeight) < 0.01f);
        CHECK(fitting.side.bottom() <= in.height + 0.01f);
        for (const MatrixPlace& m : fitting.matrices) CHECK(m.cell <= 48);
        in.stepper = part == 0;
        const Layout stepped = layout(in);
        CHECK(stepped.board.bottom() <= in.height + 0.01f);
        if (part == 0) CHECK(std::fabs(stepped.stepper.bottom() - in.height) < 0.01f);
      }
    }
  }
}

TEST_CASE(
    "layout: parts of a page stay on the board beside the arithmetic, and what is said below scores has its "
    "room") {
  using attention::TensorId;
  for (const float width : {440.0f, 520.0f, 640.0f, 900.0f}) {
    for (const int tokens : {1, 4, 12, 33}) {
      for (const bool keys : {false, true}) {
        LayoutInput in;
        in.width = width, in.height = 300;
        in.tokens = in.keyTokens = tokens, in.headDim = in.valueDim = 3;
        in.isPart = true, in.header = in.side = in.headsPanel = in.arcs = false;
        in.only = {TensorId::weights};
        if (keys) in.only.insert(in.only.end(), {TensorId::q, TensorId::k});
        checkLayout(in);
        in.inspector = false, in.only = {TensorId::scores};
        const Layout l = layout(in);
        CHECK(l.find(TensorId::scores)->box.bottom() + 22 <= 300.01f);
      }
    }
  }
}

TEST_CASE(
    "layout: two fingers magnify the matrices and keep them in line, labels and cards keep their sizes, and "
    "nothing overlaps") {
  for (const auto& [width, height] :
       {std::pair{390.0f, 844.0f}, {640.0f, 440.0f}, {1024.0f, 768.0f}, {1440.0f, 900.0f}}) {
    for (const float by : {1.3f, 2.0f, 3.0f}) {
      CAPTURE(width);
      CAPTURE(by);
      LayoutInput in;
      in.width = width, in.height = height, in.tokens = in.keyTokens = 5, in.headDim = 3, in.valueDim = 4,
      in.heads = in.kvHeads = 2, in.thumbnails = 3;
      const Layout fit = layout(in);
      CHECK(fit.panLimit == 0);
      in.magnify = by;
      const Layout l = layout(in);
      REQUIRE(l.matrices.size() == fit.matrices.size());
      for (std::size_t i = 0; i < l.matrices.size(); ++i) {
        CHECK(l.matrices[i].cell == doctest::Approx(fit.matrices[i].cell * by));
        CHECK(l.matrices[i].box.width == doctest::Approx(fit.matrices[i].box.width * by));
        for (std::size_t j = 0; j < i; ++j) {  // a row, or a column, of cells is still one
          if (fit.matrices[i].box.y == fit.matrices[j].box.y)
            CHECK(l.matrices[i].box.y == l.matrices[j].box.y);
          if (fit.matrices[i].box.x == fit.matrices[j].box.x)
            CHECK(l.matrices[i].box.x == l.matrices[j].box.x);
        }
      }
      CHECK(l.arcs.width == fit.arcs.width);
      CHECK(l.inspector.height == fit.inspector.height);
      const auto all = boxes(l, in.thumbnails);
      for (std::size_t i = 0; i < all.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          const std::string pair = all[i].name + " and " + all[j].name;
          CHECK_MESSAGE(!overlap(all[i].box, all[j].box), pair);
        }
        CHECK(all[i].box.bottom() <= l.contentHeight + 0.01f);
      }
      float right = 0;
      for (const MatrixPlace& m : l.matrices) right = std::max(right, m.box.right());
      CHECK(right - l.panLimit <= l.board.width);
      in.pan = 1e6f;
      CHECK(layout(in).matrices.front().box.x == doctest::Approx(l.matrices.front().box.x - l.panLimit));
    }
  }
}

TEST_CASE(
    "layout: below what a step asks about, Kᵀ still has a row for each of its columns, and a column for each "
    "key") {
  for (const bool columns : {false, true}) {
    CAPTURE(columns);
    LayoutInput in = plain(390, 844, 6);
    in.headDim = in.valueDim = 16, in.columns = columns;
    in.asked = {attention::TensorId::scores};
    const Layout l = layout(in);
    for (const auto& [id, rows, cols] : {std::tuple{attention::TensorId::q, 6, 16},
                                         {attention::TensorId::k, 6, 16},
                                         {attention::TensorId::v, 6, 16},
                                         {attention::TensorId::weights, 6, 6}}) {
      CAPTURE(attention::name(id));
      const MatrixPlace* m = l.find(id);
      REQUIRE(m);
      CHECK((m->transposed ? m->cols : m->rows) == rows);
      CHECK((m->transposed ? m->rows : m->cols) == cols);
    }
  }
}
