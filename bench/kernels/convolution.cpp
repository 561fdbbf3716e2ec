// SPDX-License-Identifier: BSD-3-Clause
// convolution.cpp - the arithmetic, and what is where.
#include "kernels/convolution.h"

#include <algorithm>

namespace heddle::bench {
namespace {

constexpr int width = 2 * reach + 1;

/// Binomial weights, a smooth blur: the sum of all is 1.
constexpr std::array<double, width> weights{1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16, 1.0 / 16};

/// First and length of what faces the direction `towards` within a block of `size`, `depth` beyond
/// its edge (0: inside).
struct range {
  int first, length;
};
range facing(int towards, int size, bool outside) {
  if (towards == 0) return {0, size};
  if (towards < 0) return {outside ? -reach : 0, reach};
  return {outside ? size : size - reach, reach};
}

rectangle facing(direction way, int rows, int columns, bool outside) {
  const range r = facing(way.row, rows, outside);
  const range c = facing(way.column, columns, outside);
  return {r.first, c.first, r.length, c.length};
}

}  // namespace

block::block(int rows, int columns)
    : rows_(rows),
      columns_(columns),
      stride_(static_cast<std::size_t>(columns + 2 * reach)),
      now_(static_cast<std::size_t>(rows + 2 * reach) * stride_),
      next_(now_.size()) {}

rectangle block::frontier(direction to) const noexcept {
  return facing(to, rows_, columns_, false);
}

rectangle block::halo(direction from) const noexcept {
  return facing(from, rows_, columns_, true);
}

void block::copy_out(const rectangle& from, std::span<double> to) const noexcept {
  auto out = to.begin();
  for (int r = 0; r < from.rows; ++r) {
    const double* const row = &next_[place(from.row + r, from.column)];
    out = std::copy(row, row + from.columns, out);
  }
}

void block::copy_in(std::span<const double> from, const rectangle& to) noexcept {
  auto in = from.begin();
  for (int r = 0; r < to.rows; ++r, in += to.columns) {
    std::copy(in, in + to.columns, &next_[place(to.row + r, to.column)]);
  }
}

void block::compute_frontier() noexcept {
  const int inner = rows_ - 2 * reach;
  compute({0, 0, reach, columns_});
  compute({rows_ - reach, 0, reach, columns_});
  compute({reach, 0, inner, reach});
  compute({reach, columns_ - reach, inner, reach});
}

void block::compute_interior() noexcept {
  compute({reach, reach, rows_ - 2 * reach, columns_ - 2 * reach});
}

void block::compute(const rectangle& where) noexcept {
  for (int r = where.row; r < where.row + where.rows; ++r) {
    for (int c = where.column; c < where.column + where.columns; ++c) {
      double sum = 0;
      for (int i = 0; i < width; ++i) {
        const double* const row = &now_[place(r + i - reach, c - reach)];
        double line = 0;
        for (int j = 0; j < width; ++j) {
          line += weights[static_cast<std::size_t>(j)] * row[j];
        }
        sum += weights[static_cast<std::size_t>(i)] * line;
      }
      next_[place(r, c)] = sum;
    }
  }
}

block_grid block_grid::of(int blocks) noexcept {
  int rows = 1;
  for (int r = 1; r * r <= blocks; ++r) {
    if (blocks % r == 0) rows = r;
  }
  return {rows, blocks / rows};
}

int block_grid::neighbor(int of, direction where) const noexcept {
  const int r = of / columns + where.row, c = of % columns + where.column;
  return r < 0 || c < 0 || r >= rows || c >= columns ? -1 : r * columns + c;
}

double initial_value(int row, int column) noexcept {
  return static_cast<double>((row * 31 + column * 17) % 97);
}

void fill(block& b, const rectangle& where, int matrix_rows, int matrix_columns) noexcept {
  for (int r = -reach; r < where.rows + reach; ++r) {
    for (int c = -reach; c < where.columns + reach; ++c) {
      const int row = where.row + r, column = where.column + c;
      const bool inside = row >= 0 && column >= 0 && row < matrix_rows && column < matrix_columns;
      b.at(r, c) = inside ? initial_value(row, column) : 0;
    }
  }
}

block convolve_alone(int rows, int columns, int steps) {
  block whole(rows, columns);
  fill(whole, {0, 0, rows, columns}, rows, columns);
  for (int i = 0; i < steps; ++i) {
    whole.compute_frontier();
    whole.compute_interior();
    whole.advance();
  }
  return whole;
}

}  // namespace heddle::bench
