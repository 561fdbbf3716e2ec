// SPDX-License-Identifier: BSD-3-Clause
// hdf5_module.cpp - hdf5_node.h over the C interface of HDF5; linktest_hdf5.so is this file.
#include <fmt/format.h>
#include <hdf5.h>
#include <heddle/status.h>
#include <heddle/version.h>

#include <algorithm>
#include <array>
#include <utility>

#include "linktest/results/hdf5_node.h"

namespace heddle::linktest {
namespace {

/// Throws when a call of the library answered that it failed.
template <class Answer>
Answer checked(Answer answer, std::string_view what) {
  if (answer < 0) throw error(fmt::format("HDF5 could not {}", what));
  return answer;
}

/// An identifier of the library and the function that closes it.
class handle {
 public:
  using closer = herr_t (*)(hid_t);
  handle(hid_t id, closer closing, std::string_view what)
      : id_(checked(id, what)), close_(closing) {}
  handle(handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  handle& operator=(handle&&) = delete;
  ~handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const noexcept { return id_; }  // NOLINT: used as one
  void close(std::string_view what) { checked(close_(std::exchange(id_, -1)), what); }

 private:
  hid_t id_;
  closer close_;
};

handle text_type() {
  handle type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
  checked(H5Tset_size(type, H5T_VARIABLE), "make a text type");
  checked(H5Tset_cset(type, H5T_CSET_UTF8), "make a text type");
  return type;
}

/// Of a number in the file and in memory.
struct types {
  hid_t kept, given;
};
types types_of(std::uint8_t) {
  return {H5T_STD_U8LE, H5T_NATIVE_UINT8};
}
types types_of(int) {
  return {H5T_STD_I32LE, H5T_NATIVE_INT};
}
types types_of(std::uint64_t) {
  return {H5T_STD_U64LE, H5T_NATIVE_UINT64};
}
types types_of(double) {
  return {H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE};
}

types types_in(const hdf5_numbers& values) {
  return std::visit(
      [](const auto& of) { return types_of(typename std::decay_t<decltype(of)>::value_type{}); },
      values);
}

/// How a square is kept, or a long column: in tiles that are compressed each for itself, so that a
/// few rows of a large one can be read alone.
handle tiles(std::span<const hsize_t> extent) {
  constexpr std::array<hsize_t, 3> most{0, 65'536, 256};  // by dimensions
  constexpr unsigned usual_effort = 4;
  handle list(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
  if (extent.size() == 1 && extent.front() <= most[1]) return list;
  std::vector<hsize_t> tile;
  for (const hsize_t side : extent) tile.push_back(std::min(side, most[extent.size()]));
  checked(H5Pset_chunk(list, static_cast<int>(tile.size()), tile.data()), "choose tiles");
  checked(H5Pset_shuffle(list), "choose compression");
  checked(H5Pset_deflate(list, usual_effort), "choose compression");
  return list;
}

class node final : public hdf5_node {
 public:
  explicit node(handle id) noexcept : id_(std::move(id)) {}

  void add(const std::string& name, std::string_view value) override {
    const std::string text(value);
    const char* const pointer = text.c_str();
    add_attribute(name, text_type(), &pointer);
  }
  void add(const std::string& name, std::uint64_t value) override {
    add_attribute(name, H5T_NATIVE_UINT64, &value);
  }
  void add(const std::string& name, double value) override {
    add_attribute(name, H5T_NATIVE_DOUBLE, &value);
  }
  bool has_attribute(const std::string& name) override { return H5Aexists(id_, name.c_str()) > 0; }
  std::string text(const std::string& name) override {
    const handle attribute(H5Aopen(id_, name.c_str(), H5P_DEFAULT), H5Aclose,
                           fmt::format("open the attribute {}", name));
    const handle type = text_type();
    char* read = nullptr;
    checked(H5Aread(attribute, type, &read), fmt::format("read the attribute {}", name));
    const std::unique_ptr<char, herr_t (*)(void*)> held(read, H5free_memory);
    return read == nullptr ? "" : read;
  }

  /// "rack1/n0" is a group in a group, and found by the same name.
  owner add_group(const std::string& name) override {
    const std::string what = fmt::format("create the group {}", name);
    const handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, what);
    checked(H5Pset_create_intermediate_group(links, 1), what);
    return std::make_unique<node>(
        handle(H5Gcreate2(id_, name.c_str(), links, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, what));
  }
  owner add_column(const std::string& name, const hdf5_numbers& values) override {
    const auto count = std::visit([](const auto& of) { return of.size(); }, values);
    return add_numbers(name, values, std::array<hsize_t, 1>{count}, false);
  }
  owner add_empty_column(const std::string& name, const hdf5_numbers& kind,
                         std::uint64_t length) override {
    return std::make_unique<node>(
        create(name, types_in(kind).kept, std::array<hsize_t, 1>{length}));
  }
  void write(std::uint64_t first, const hdf5_numbers& values) override {
    const hsize_t begin = first;
    std::visit(
        [&](const auto& of) {
          const hsize_t count = of.size();
          const handle from(H5Screate_simple(1, &count, nullptr), H5Sclose, "make a data space");
          const handle to(H5Dget_space(id_), H5Sclose, "ask for an extent");
          checked(H5Sselect_hyperslab(to, H5S_SELECT_SET, &begin, nullptr, &count, nullptr),
                  "choose a part of a column");
          checked(H5Dwrite(id_, types_in(values).given, from, to, H5P_DEFAULT, of.data()),
                  "write a part of a column; is the disk full?");
        },
        values);
  }
  owner add_column(const std::string& name, const std::vector<std::string>& values) override {
    std::vector<const char*> pointers;
    for (const std::string& text : values) pointers.push_back(text.c_str());
    const handle type = text_type();
    const std::array<hsize_t, 1> extent{pointers.size()};
    return add_dataset(name, {type, type}, extent, pointers.data());
  }
  owner add_square(const std::string& name, const hdf5_numbers& values, std::uint64_t side,
                   bool single) override {
    return add_numbers(name, values, std::array<hsize_t, 2>{side, side}, single);
  }

  std::vector<std::uint8_t> bytes(const std::string& path) override {
    return read<std::uint8_t>(path);
  }
  std::vector<double> doubles(const std::string& path) override { return read<double>(path); }

  void close() override { id_.close("finish the file; is the disk full?"); }

 private:
  owner add_numbers(const std::string& name, const hdf5_numbers& values,
                    std::span<const hsize_t> extent, bool single) {
    types t = types_in(values);
    if (single) t.kept = H5T_IEEE_F32LE;
    return std::visit([&](const auto& of) { return add_dataset(name, t, extent, of.data()); },
                      values);
  }
  void add_attribute(const std::string& name, hid_t type, const void* value) {
    const handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar");
    const handle attribute(H5Acreate2(id_, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose, fmt::format("create the attribute {}", name));
    checked(H5Awrite(attribute, type, value), fmt::format("write the attribute {}", name));
  }
  handle create(const std::string& name, hid_t kept, std::span<const hsize_t> extent) {
    const handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                       H5Sclose, "make a data space");
    const handle how = tiles(extent);
    return {H5Dcreate2(id_, name.c_str(), kept, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose,
            fmt::format("create the dataset {}", name)};
  }
  owner add_dataset(const std::string& name, types of, std::span<const hsize_t> extent,
                    const void* values) {
    handle data = create(name, of.kept, extent);
    checked(H5Dwrite(data, of.given, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
            fmt::format("write the dataset {}", name));
    return std::make_unique<node>(std::move(data));
  }
  template <class Value>
  std::vector<Value> read(const std::string& path) {
    if (H5Lexists(id_, path.c_str(), H5P_DEFAULT) <= 0) return {};
    const handle data(H5Dopen2(id_, path.c_str(), H5P_DEFAULT), H5Dclose,
                      fmt::format("open the dataset {}", path));
    const handle space(H5Dget_space(data), H5Sclose, "ask for an extent");
    const hssize_t entries = checked(H5Sget_simple_extent_npoints(space), "ask for an extent");
    std::vector<Value> out(static_cast<std::size_t>(entries));
    checked(H5Dread(data, types_of(Value{}).given, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()),
            fmt::format("read the dataset {}", path));
    return out;
  }

  handle id_;
};

/// Failures are thrown, not printed as a stack.
void print_nothing() {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

hdf5_node::owner create(const std::string& path) {
  print_nothing();
  return std::make_unique<node>(
      handle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
             "create the file"));
}

hdf5_node::owner open(const std::string& path) {
  print_nothing();
  return std::make_unique<node>(handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                                       "open the file: is it whole?"));
}

}  // namespace

extern "C" [[gnu::visibility("default")]] const hdf5_library heddle_linktest_hdf5{
    HEDDLE_VERSION_STRING, create, open};

}  // namespace heddle::linktest
