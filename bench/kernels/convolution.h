// SPDX-License-Identifier: BSD-3-Clause
// convolution.h - a block of a matrix with its halo, the kernel that is applied to it, and how
// blocks make up the matrix.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::bench {

/// How far the kernel of 5 x 5 reaches: so wide is the halo, and the frontier that neighbours need.
inline constexpr int reach = 2;

/// A direction in which a neighbour lies.
struct direction {
  int row = 0, column = 0;  ///< -1, 0 or 1 each
};
inline constexpr std::array<direction, 8> directions{
    {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}, {0, 1}, {1, -1}, {1, 0}, {1, 1}}};
/// The place in `directions` of the one that leads back.
[[nodiscard]] constexpr std::size_t opposite(std::size_t way) noexcept {
  return directions.size() - 1 - way;
}

/// Rows and columns of a block, counted from its first own one; the halo has those outside.
struct rectangle {
  int row = 0, column = 0, rows = 0, columns = 0;
  [[nodiscard]] std::size_t items() const noexcept {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }
};

/// A rectangular part of a matrix, twice: as it is and as it will be after the next step.
class block {
 public:
  block(int rows, int columns)
      : rows_(rows),
        columns_(columns),
        stride_(static_cast<std::size_t>(columns + 2 * reach)),
        now_(static_cast<std::size_t>(rows + 2 * reach) * stride_),
        next_(now_.size()) {}
  [[nodiscard]] double& at(int row, int column) noexcept { return now_[place(row, column)]; }
  [[nodiscard]] double at(int row, int column) const noexcept { return now_[place(row, column)]; }

  /// What the neighbour in that direction needs, of the next state: its outermost items there.
  [[nodiscard]] rectangle frontier(direction to) const noexcept { return facing(to, 0); }
  /// What comes from there, and lies beyond them.
  [[nodiscard]] rectangle halo(direction from) const noexcept { return facing(from, reach); }
  /// Both of the next state.
  void copy_out(const rectangle& from, std::span<double> to) const noexcept {
    auto out = to.begin();
    for (int r = 0; r < from.rows; ++r) {
      const double* const row = &next_[place(from.row + r, from.column)];
      out = std::copy(row, row + from.columns, out);
    }
  }
  void copy_in(std::span<const double> from, const rectangle& to) noexcept {
    auto in = from.begin();
    for (int r = 0; r < to.rows; ++r, in += to.columns) {
      std::copy(in, in + to.columns, &next_[place(to.row + r, to.column)]);
    }
  }

  /// The next state of the items that neighbours need, and of those that they do not.
  void compute_frontier() noexcept {
    const int inner = rows_ - 2 * reach;
    compute({0, 0, reach, columns_});
    compute({rows_ - reach, 0, reach, columns_});
    compute({reach, 0, inner, reach});
    compute({reach, columns_ - reach, inner, reach});
  }
  void compute_interior() noexcept {
    compute({reach, reach, rows_ - 2 * reach, columns_ - 2 * reach});
  }
  /// The next state becomes the present one.
  void advance() noexcept { now_.swap(next_); }

 private:
  static constexpr int width = 2 * reach + 1;
  /// Binomial, a smooth blur: the sum of all is 1.
  static constexpr std::array<double, width> weights{1.0 / 16, 4.0 / 16, 6.0 / 16, 4.0 / 16,
                                                     1.0 / 16};

  /// The items at that side, moved `outwards`.
  [[nodiscard]] rectangle facing(direction way, int outwards) const noexcept {
    const auto first = [outwards](int towards, int size) {
      return towards == 0 ? 0 : towards < 0 ? -outwards : size - reach + outwards;
    };
    return {first(way.row, rows_), first(way.column, columns_), way.row == 0 ? rows_ : reach,
            way.column == 0 ? columns_ : reach};
  }
  [[nodiscard]] std::size_t place(int row, int column) const noexcept {
    return static_cast<std::size_t>(row + reach) * stride_ +
           static_cast<std::size_t>(column + reach);
  }
  void compute(const rectangle& where) noexcept {
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

  int rows_, columns_;
  std::size_t stride_;
  std::vector<double> now_, next_;
};

/// How blocks make up the matrix: row by row, block r * threads + t belongs to thread t of rank r.
struct block_grid {
  int rows = 1, columns = 1;

  /// As square as `blocks` allows, not higher than wide.
  [[nodiscard]] static block_grid of(int blocks) noexcept {
    int rows = 1;
    for (int r = 1; r * r <= blocks; ++r) {
      if (blocks % r == 0) rows = r;
    }
    return {rows, blocks / rows};
  }
  /// Which block lies there; -1: the matrix ends.
  [[nodiscard]] int neighbor(int of, direction where) const noexcept {
    const int r = of / columns + where.row, c = of % columns + where.column;
    return r < 0 || c < 0 || r >= rows || c >= columns ? -1 : r * columns + c;
  }
};

/// The matrix before the first step. Outside of it everything is 0, always.
[[nodiscard]] inline double initial_value(int row, int column) noexcept {
  return static_cast<double>((row * 31 + column * 17) % 97);
}

/// Fills a block whose first item is at (row, column) of a matrix of so many rows and columns, halo
/// included.
inline void fill(block& b, const rectangle& where, int matrix_rows, int matrix_columns) noexcept {
  for (int r = -reach; r < where.rows + reach; ++r) {
    for (int c = -reach; c < where.columns + reach; ++c) {
      const int row = where.row + r, column = where.column + c;
      const bool inside = row >= 0 && column >= 0 && row < matrix_rows && column < matrix_columns;
      b.at(r, c) = inside ? initial_value(row, column) : 0;
    }
  }
}

/// The whole matrix after `steps`, computed as one block.
[[nodiscard]] inline block convolve_alone(int rows, int columns, int steps) {
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
