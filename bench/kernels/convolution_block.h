// SPDX-License-Identifier: BSD-3-Clause
// convolution_block.h - a block of a matrix with its halo, and the kernel that is applied to it.
#pragma once
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
  block(int rows, int columns);
  [[nodiscard]] double& at(int row, int column) noexcept { return now_[place(row, column)]; }
  [[nodiscard]] double at(int row, int column) const noexcept { return now_[place(row, column)]; }

  /// What the neighbour in that direction needs, of the next state.
  [[nodiscard]] rectangle frontier(direction to) const noexcept;
  /// What comes from there.
  [[nodiscard]] rectangle halo(direction from) const noexcept;
  void copy_out(const rectangle& from, std::span<double> to) const noexcept;  ///< of the next state
  void copy_in(std::span<const double> from, const rectangle& to) noexcept;   ///< of the next state

  /// The next state of the items that neighbours need, and of those that they do not.
  void compute_frontier() noexcept;
  void compute_interior() noexcept;
  /// The next state becomes the present one.
  void advance() noexcept { now_.swap(next_); }

 private:
  [[nodiscard]] std::size_t place(int row, int column) const noexcept {
    return static_cast<std::size_t>(row + reach) * stride_ +
           static_cast<std::size_t>(column + reach);
  }
  void compute(const rectangle& where) noexcept;

  int rows_, columns_;
  std::size_t stride_;
  std::vector<double> now_, next_;
};

/// How blocks make up the matrix: row by row, block r * threads + t belongs to thread t of rank r.
struct block_grid {
  int rows = 1, columns = 1;

  /// As square as `blocks` allows, not higher than wide.
  [[nodiscard]] static block_grid of(int blocks) noexcept;
  /// Which block lies there; -1: the matrix ends.
  [[nodiscard]] int neighbor(int of, direction where) const noexcept;
};

/// The matrix before the first step. Outside of it everything is 0, always.
[[nodiscard]] double initial_value(int row, int column) noexcept;

/// Fills a block whose first item is at (row, column) of a matrix of so many rows and columns, halo
/// included.
void fill(block& b, const rectangle& where, int matrix_rows, int matrix_columns) noexcept;

/// The whole matrix after `steps`, computed as one block.
[[nodiscard]] block convolve_alone(int rows, int columns, int steps);

}  // namespace heddle::bench
