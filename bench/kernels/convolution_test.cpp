// SPDX-License-Identifier: BSD-3-Clause
// convolution_test.cpp - blocks that exchange their halos make up the same matrix as one.
#include "kernels/convolution.h"

#include <gtest/gtest.h>

#include <numeric>

namespace heddle::bench {
namespace {

TEST(Convolution, SpreadsOnePointByTheWeightsOfTheKernel) {
  block b(9, 9);
  b.at(4, 4) = 256;
  b.compute_frontier();
  b.compute_interior();
  b.advance();
  EXPECT_DOUBLE_EQ(b.at(4, 4), 36);
  EXPECT_DOUBLE_EQ(b.at(3, 4), 24);
  EXPECT_DOUBLE_EQ(b.at(2, 2), 1);
  EXPECT_DOUBLE_EQ(b.at(1, 4), 0);
}

TEST(Convolution, FrontierAndHaloOfNeighboursFit) {
  const block b(10, 7);
  for (std::size_t way = 0; way < directions.size(); ++way) {
    const direction to = directions[way], back = directions[opposite(way)];
    EXPECT_EQ(to.row, -back.row);
    EXPECT_EQ(to.column, -back.column);
    EXPECT_EQ(b.frontier(to).rows, b.halo(back).rows);
    EXPECT_EQ(b.frontier(to).columns, b.halo(back).columns);
  }
}

TEST(BlockGrid, IsAsSquareAsItCanBeAndHasNoNeighboursBeyondItsEdges) {
  for (const auto& [blocks, rows] : {std::pair{4, 2}, {16, 4}, {8, 2}, {7, 1}}) {
    EXPECT_EQ(block_grid::of(blocks).rows, rows);
    EXPECT_EQ(block_grid::of(blocks).columns, blocks / rows);
  }
  const block_grid g{2, 3};
  EXPECT_EQ(g.neighbor(0, {0, 1}), 1);
  EXPECT_EQ(g.neighbor(0, {1, 1}), 4);
  EXPECT_EQ(g.neighbor(0, {-1, 0}), -1);
  EXPECT_EQ(g.neighbor(2, {0, 1}), -1);
  EXPECT_EQ(g.neighbor(5, {-1, -1}), 1);
}

constexpr int side = 6, steps = 4;

/// All blocks of `g`, filled.
std::vector<block> filled_blocks(const block_grid& g) {
  std::vector<block> blocks;
  for (int i = 0; i < g.rows * g.columns; ++i) {
    const rectangle where{i / g.columns * side, i % g.columns * side, side, side};
    fill(blocks.emplace_back(side, side), where, g.rows * side, g.columns * side);
  }
  return blocks;
}

void exchange_all(std::vector<block>& blocks, const block_grid& g) {
  for (int i = 0; i < g.rows * g.columns; ++i) {
    for (std::size_t way = 0; way < directions.size(); ++way) {
      const int to = g.neighbor(i, directions[way]);
      if (to < 0) continue;
      const block& from = blocks[static_cast<std::size_t>(i)];
      const rectangle what = from.frontier(directions[way]);
      std::vector<double> message(what.items());
      from.copy_out(what, message);
      block& there = blocks[static_cast<std::size_t>(to)];
      there.copy_in(message, there.halo(directions[opposite(way)]));
    }
  }
}

TEST(Convolution, OfBlocksThatExchangeTheirHalosIsThatOfTheMatrix) {
  const block_grid g{2, 3};
  std::vector<block> blocks = filled_blocks(g);
  for (int i = 0; i < steps; ++i) {
    for (block& b : blocks) b.compute_frontier();
    exchange_all(blocks, g);
    for (block& b : blocks) b.compute_interior();
    for (block& b : blocks) b.advance();
  }
  const block whole = convolve_alone(g.rows * side, g.columns * side, steps);
  EXPECT_EQ(whole.at(-1, 0), 0) << "outside of the matrix";
  for (int r = 0; r < g.rows * side; ++r) {
    for (int c = 0; c < g.columns * side; ++c) {
      const auto owner = static_cast<std::size_t>(r / side * g.columns + c / side);
      EXPECT_DOUBLE_EQ(blocks[owner].at(r % side, c % side), whole.at(r, c)) << r << ' ' << c;
    }
  }
}

}  // namespace
}  // namespace heddle::bench
