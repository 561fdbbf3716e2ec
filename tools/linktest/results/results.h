// SPDX-License-Identifier: BSD-3-Clause
// results.h - what was measured: one row per rank while measuring, all rows in rank 0 afterwards.
// Memory goes by the pairs of which something is known, not by the square of the ranks; what would
// be too much of it goes into a file.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linktest/results/metrics.h"
#include "linktest/results/row_file.h"

namespace heddle::linktest {

/// How the measurements of one ordered pair and size went; the worst of all repetitions.
enum class pair_state : std::uint8_t {
  unmeasured,  ///< its turn never came
  measured,
  lost,       ///< the peer died or did not answer in time
  corrupted,  ///< bytes arrived that were not sent; the times are kept
};
[[nodiscard]] std::string_view name_of(pair_state state) noexcept;

/// One entry of a matrix.
struct pair_record {
  sketch time;  ///< of all measurements
  pair_state state = pair_state::unmeasured;
  std::array<std::byte, 3> unused{};  ///< what would be padding, so that every byte is defined
};
static_assert(sizeof(pair_record) == 44);

/// An entry of a row, with its place there. Travels between ranks as these bytes.
struct row_record {
  std::int32_t peer = -1;
  std::uint32_t size_index = 0;
  pair_record known;
};
static_assert(sizeof(row_record) == 52);

/// What one rank saw as initiator, of those peers that it met or should have met.
class row {
 public:
  row(std::size_t sizes, int ranks, std::size_t repetitions)
      : sizes_(sizes), ranks_(ranks), repetitions_(repetitions) {}
  /// Memory that a peer takes, with so many times of each size.
  [[nodiscard]] static std::uint64_t bytes_of_peer(std::size_t sizes, std::uint64_t times) noexcept;

  void add_time(std::size_t size_index, int peer, double message_s);
  [[nodiscard]] std::span<const float> times(std::size_t size_index, int peer) const noexcept;
  /// All times of an entry anew, and those of single messages: the percentiles and the maximum are
  /// theirs, where there are any. With times the entry is measured.
  void set_times(std::size_t size_index, int peer, std::span<const float> times,
                 std::span<const float> singles);
  /// What is known of an entry's single messages.
  void set_singles(std::size_t size_index, int peer, const sketch& singles) {
    at(size_index, peer).singles = singles;
  }
  /// Keeps the worst state an entry ever had.
  void mark(std::size_t size_index, int peer, pair_state state);
  void mark_all_sizes(int peer, pair_state state);
  /// The entries of which something is known, by peer and size.
  [[nodiscard]] std::vector<row_record> records() const;

 private:
  struct entry {
    std::vector<float> times;
    sketch singles;  // of single messages; n is 0 without any
    pair_state state = pair_state::unmeasured;
  };
  [[nodiscard]] entry& at(std::size_t size_index, int peer);

  std::size_t sizes_;
  int ranks_;
  std::size_t repetitions_;
  std::map<int, std::vector<entry>> peers_;  // an entry for each size
};

enum class metric : std::uint8_t {
  time_min,
  time_median,
  time_p90,
  time_p99,
  time_max,
  time_mean,
  time_mad,
  time_ci_low,
  time_ci_high,
  samples,
  bandwidth,
};
inline constexpr metric all_metrics[]{metric::time_min, metric::time_median, metric::time_p90,
                                      metric::time_p99, metric::time_max,    metric::time_mean,
                                      metric::time_mad, metric::time_ci_low, metric::time_ci_high,
                                      metric::samples,  metric::bandwidth};
/// "time_median" ... as in the files.
[[nodiscard]] std::string_view name_of(metric m) noexcept;
/// "s", "B/s", or "1" for a number of things.
[[nodiscard]] std::string_view unit_of(metric m) noexcept;
/// One sentence for the files.
[[nodiscard]] std::string_view definition_of(metric m) noexcept;

/// An ordered pair that stands out, with its median time.
struct slow_pair {
  int initiator, peer;
  double time_s, bandwidth;
  double times_median;  ///< time as a multiple of the median of all pairs
};

/// Of more ranks no square is kept, written or drawn pair by pair.
inline constexpr int most_ranks_of_matrices = 2048;
/// Whether files list the known pairs in place of squares: of more ranks than that, and where less
/// than half of a square is known, since a list is shorter then.
[[nodiscard]] bool lists_pairs(int ranks, std::uint64_t known_pairs) noexcept;

/// Rows that take more than this are for a file.
inline constexpr std::uint64_t most_bytes_of_rows_in_memory = std::uint64_t{1} << 30;

/// All rows.
class results {
 public:
  results(int ranks, kernel k, std::vector<std::uint64_t> sizes);
  /// Memory that the rows of so many ranks take, with so many ordered pairs in all of them.
  [[nodiscard]] static std::uint64_t bytes(int ranks, std::uint64_t ordered_pairs,
                                           std::size_t sizes) noexcept;
  /// Rows that are set are not kept in memory, but in a file without a name in `folder`.
  void keep_rows_in(const std::string& folder) { folder_ = folder.empty() ? "." : folder; }

  [[nodiscard]] int ranks() const noexcept { return ranks_; }
  /// Whether files list the pairs of which something is known at any size, in place of squares.
  [[nodiscard]] bool pairs_listed() const noexcept;
  [[nodiscard]] const std::vector<std::uint64_t>& sizes() const noexcept { return sizes_; }
  /// `records` in order of their peers, as row::records() gives them. False, and nothing changed,
  /// when they are not, or name a rank or a size that is not there. Throws error where they are to
  /// be kept in a file, and cannot.
  bool set_row(int rank, std::span<const row_record> records);
  /// Unmeasured where nothing is known.
  [[nodiscard]] const pair_record& at(std::size_t size_index, int initiator, int peer) const;
  /// Calls `each(initiator, peer, record)` for the ordered pairs of a size of which something is
  /// known, row by row.
  template <class Each>
  void for_known(std::size_t size_index, const Each& each) const {
    for (int r = 0; r < ranks_; ++r) for_known_of(size_index, r, each);
  }
  /// The same for the pairs that a rank has initiated.
  template <class Each>
  void for_known_of(std::size_t size_index, int initiator, const Each& each) const {
    const row_view row = view_of(initiator);
    for (std::size_t i = 0; i < row.peers.size(); ++i)
      if (const pair_record& one = row.records[i * sizes_.size() + size_index];
          one.state != pair_state::unmeasured)
        each(initiator, int{row.peers[i]}, one);
  }

  [[nodiscard]] double value(std::size_t size_index, int initiator, int peer, metric m) const;
  [[nodiscard]] double value_of(std::size_t size_index, const pair_record& one, metric m) const;
  /// ranks x ranks values, row by row, row = initiator; NaN where nothing was measured.
  [[nodiscard]] std::vector<double> matrix(std::size_t size_index, metric m) const;
  /// ranks x ranks states of a size.
  [[nodiscard]] std::vector<std::uint8_t> states(std::size_t size_index) const;
  /// Over all pairs of a size.
  [[nodiscard]] spread summary(std::size_t size_index, metric m) const;
  /// Says that so many ordered pairs of each size were to be measured, and the rest not.
  void set_sample(std::uint64_t ordered_pairs) noexcept { sample_ = ordered_pairs; }
  /// Whether only some pairs were to be measured.
  [[nodiscard]] bool sampled() const noexcept { return sample_ != all_pairs; }
  /// How many; only if so.
  [[nodiscard]] std::uint64_t sample() const noexcept { return sample_; }
  /// How many ordered pairs and sizes that were to be measured were not, or failed.
  [[nodiscard]] std::uint64_t missing() const;
  /// How many ordered pairs and sizes have this state; the diagonal is not counted.
  [[nodiscard]] std::uint64_t count(pair_state state) const;

 private:
  static constexpr std::uint64_t all_pairs = ~std::uint64_t{0};
  struct known_row {
    std::vector<std::int32_t> peers;     // ascending
    std::vector<pair_record> records;    // [peer][size]
    std::uint64_t place = 0, filed = 0;  // so many peers and their records are there in the file
  };
  struct row_view {
    std::span<const std::int32_t> peers;
    std::span<const pair_record> records;
  };
  [[nodiscard]] row_view view_of(int rank) const noexcept;
  void file(known_row& row);

  int ranks_;
  kernel kernel_;
  std::uint64_t sample_ = all_pairs;
  std::vector<std::uint64_t> sizes_;
  std::vector<known_row> rows_;
  std::string folder_;              // empty: rows are kept in memory
  std::shared_ptr<row_file> file_;  // else; copies add to it as well
};

}  // namespace heddle::linktest
