// SPDX-License-Identifier: BSD-3-Clause
// hdf5_node.h - as much of HDF5 as results need, without a name of HDF5: that library brings 36
// others, whose loading would take longer than many a run of `heddle`. So it stands behind a
// module, linktest_hdf5.so, which is loaded when a file is written or read (hdf5_loader.h).
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heddle::linktest {

/// Numbers in memory, by type. Kept as they are, little-endian.
using hdf5_numbers = std::variant<std::span<const std::uint8_t>, std::span<const int>,
                                  std::span<const std::uint64_t>, std::span<const double>>;

/// A file, a group in it, or a dataset. Closed with its object. One thread at a time; all functions
/// throw error that names what failed.
class hdf5_node {
 public:
  using owner = std::unique_ptr<hdf5_node>;
  hdf5_node() = default;
  hdf5_node(const hdf5_node&) = delete;
  hdf5_node& operator=(const hdf5_node&) = delete;
  virtual ~hdf5_node() = default;

  // --- attributes -------------------------------------------------------------------------
  virtual void add(const std::string& name, std::string_view value) = 0;
  virtual void add(const std::string& name, std::uint64_t value) = 0;
  virtual void add(const std::string& name, double value) = 0;
  [[nodiscard]] virtual bool has_attribute(const std::string& name) = 0;
  /// Of an attribute that is a text.
  [[nodiscard]] virtual std::string text(const std::string& name) = 0;

  // --- what lies in it --------------------------------------------------------------------
  virtual owner add_group(const std::string& name) = 0;
  /// A dataset of one dimension; a long one is compressed in pieces.
  virtual owner add_column(const std::string& name, const hdf5_numbers& values) = 0;
  virtual owner add_column(const std::string& name, const std::vector<std::string>& values) = 0;
  /// Such a dataset of `length` numbers of the type of `kind`, to be filled by write().
  virtual owner add_empty_column(const std::string& name, const hdf5_numbers& kind,
                                 std::uint64_t length) = 0;
  /// Of a column: its numbers from `first` on.
  virtual void write(std::uint64_t first, const hdf5_numbers& values) = 0;
  /// A dataset [side x side], compressed in tiles. `single`: doubles are kept in single precision.
  virtual owner add_square(const std::string& name, const hdf5_numbers& values, std::uint64_t side,
                           bool single) = 0;
  /// Of the dataset at that path; empty: there is none.
  [[nodiscard]] virtual std::vector<std::uint8_t> bytes(const std::string& path) = 0;
  [[nodiscard]] virtual std::vector<double> doubles(const std::string& path) = 0;

  /// Closes now, and throws when that fails: the last bytes of a file are written here.
  virtual void close() = 0;
};

/// What the module shows, as `heddle_linktest_hdf5`.
struct hdf5_library {
  const char* version;  ///< heddle's, whose classes both sides must agree on
  /// An empty file, in the place of one that is there.
  hdf5_node::owner (*create)(const std::string& path);
  hdf5_node::owner (*open)(const std::string& path);
};

}  // namespace heddle::linktest
