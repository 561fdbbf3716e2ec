// hdf5_file.cpp - writes the HDF5 file with the library's C interface.
#include "linktest/hdf5_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hdf5.h>
#include <heddle/status.h>

#include <utility>

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
  /// Closes now and throws when that fails: the last bytes are written here.
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

void write_attribute(hid_t where, const char* name, hid_t type, const void* value) {
  const handle space(H5Screate(H5S_SCALAR), H5Sclose, "make a scalar");
  const handle attribute(H5Acreate2(where, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                         fmt::format("create the attribute {}", name));
  checked(H5Awrite(attribute, type, value), fmt::format("write the attribute {}", name));
}

void add(hid_t where, const char* name, std::string_view value) {
  const std::string text(value);
  const char* pointer = text.c_str();
  write_attribute(where, name, text_type(), &pointer);
}
void add(hid_t where, const char* name, std::uint64_t value) {
  write_attribute(where, name, H5T_NATIVE_UINT64, &value);
}
void add(hid_t where, const char* name, double value) {
  write_attribute(where, name, H5T_NATIVE_DOUBLE, &value);
}

handle write_dataset(hid_t where, const std::string& name, hid_t type,
                     const std::vector<hsize_t>& extent, const void* values) {
  const handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                     H5Sclose, "make a data space");
  handle data(H5Dcreate2(where, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              H5Dclose, fmt::format("create the dataset {}", name));
  checked(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values),
          fmt::format("write the dataset {}", name));
  return data;
}

void write_options(hid_t file, const options& o) {
  add(file, "backend", std::string_view(o.backend));
  add(file, "mode", std::string_view(name_of(o.mode)));
  add(file, "kernel", name_of(o.kernel));
  add(file, "messages", o.messages);
  add(file, "warmup", o.warmup);
  add(file, "repetitions", o.repetitions);
  add(file, "seed", o.seed);
  add(file, "shuffle", std::uint64_t{o.shuffle});
  add(file, "timeout_s", o.timeout_s);
}

void write_facts(hid_t file, const run_facts& facts, const results& all) {
  add(file, "format", std::string_view("heddle-linktest"));
  add(file, "schema_version", std::uint64_t{hdf5_schema_version});
  add(file, "heddle_version", std::string_view(facts.version));
  add(file, "started", std::string_view(facts.started));
  add(file, "ended", std::string_view(facts.ended));
  add(file, "elapsed_s", facts.elapsed_s);
  add(file, "complete", std::uint64_t{verdict_of(all) == success});
  add(file, "ranks", static_cast<std::uint64_t>(all.ranks()));
  add(file, "routes", std::string_view(fmt::format("{}", fmt::join(facts.routes, ","))));
  write_options(file, facts.chosen);

  std::vector<const char*> hosts;
  for (const std::string& host : facts.hosts) hosts.push_back(host.c_str());
  write_dataset(file, "hosts", text_type(), {hosts.size()}, hosts.data());
  const handle sizes =
      write_dataset(file, "sizes", H5T_NATIVE_UINT64, {all.sizes().size()}, all.sizes().data());
  add(sizes, "units", std::string_view("B"));
}

void write_size(hid_t file, const results& all, std::size_t size_index) {
  const std::uint64_t bytes = all.sizes()[size_index];
  const handle group(H5Gcreate2(file, fmt::format("size_{}", bytes).c_str(), H5P_DEFAULT,
                                H5P_DEFAULT, H5P_DEFAULT),
                     H5Gclose, "create a group");
  add(group, "bytes", bytes);
  const auto n = static_cast<hsize_t>(all.ranks());
  for (const metric m : all_metrics) {
    const auto values = all.matrix(size_index, m);
    const handle data =
        write_dataset(group, std::string(name_of(m)), H5T_NATIVE_DOUBLE, {n, n}, values.data());
    add(data, "units", unit_of(m));
    add(data, "definition", definition_of(m));
  }
  auto states = all.states(size_index);
  const handle state = write_dataset(group, "state", H5T_NATIVE_UINT8, {n, n}, states.data());
  add(state, "meaning", std::string_view("0 unmeasured, 1 measured, 2 lost, 3 corrupted"));
  for (auto& s : states) s = s >= static_cast<std::uint8_t>(pair_state::lost) ? 1 : 0;
  write_dataset(group, "failed", H5T_NATIVE_UINT8, {n, n}, states.data());
}

}  // namespace

void write_hdf5(const std::string& path, const run_facts& facts, const results& all) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // failures are thrown, not printed as a stack
  try {
    handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                "create the file");
    write_facts(file, facts, all);
    for (std::size_t s = 0; s < all.sizes().size(); ++s) write_size(file, all, s);
    file.close("finish the file; is the disk full?");
  } catch (const error& why) {
    throw error(fmt::format("write {}: {}", path, why.what()));
  }
}

}  // namespace heddle::linktest
