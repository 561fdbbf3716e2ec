// SPDX-License-Identifier: BSD-3-Clause
// group.h - a job of several ranks inside one process, over one backend: what each test works with.
#pragma once
#include <heddle/status.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "contract/port.h"
#include "transport/device.h"

namespace heddle::test {

/// One instance of the suite.
struct contract_case {
  std::string name;
  std::function<std::unique_ptr<transport::device>(const transport::context& where)> open;
  std::string faults;  ///< as settings::faults; empty: the backend alone
};

inline void PrintTo(const contract_case& one, std::ostream* out) {
  *out << one.name;
}

/// One rank: its memory, its device, its lanes. Destroying it is how a process dies here.
class node {
 public:
  /// Throws error when the backend is not usable.
  node(const contract_case& backend, rank self, int size, std::span<const std::byte, 32> secret,
       const settings& config);
  ~node();

  [[nodiscard]] transport::device& device() { return *device_; }
  [[nodiscard]] rank self() const { return self_; }
  /// The port of this lane; made when it is asked for first.
  [[nodiscard]] port& lane(int number = 0);

  /// Makes `memory` addressable by peers.
  memory::region_ref expose(std::span<std::byte> memory, rights allowed = rights::all);
  /// Ends it, in the order the engine does.
  void withdraw(memory::region_ref ref);

  /// Memory of a sealed memfd, exposed, or plain memory when the kernel gives none.
  struct mapped_memory {
    std::span<std::byte> bytes;
    memory::region_ref ref;
  };
  /// `at`: as a region that has this ref on every rank, where it names one.
  mapped_memory allocate(std::size_t bytes, rights allowed = rights::all,
                         memory::region_ref at = {});

  /// Does what the executor does: set-up work, new lanes.
  void serve();
  /// serve, and polls every lane once. Returns how much happened.
  std::size_t pump();
  void maintain();

 private:
  struct owned;
  const rank self_;
  const settings config_;
  std::array<std::byte, 32> secret_;
  // In this order: a lane goes before its device, that before the memory that peers address.
  std::vector<std::unique_ptr<owned>> owned_;  // what allocate() gave
  std::vector<memory::local_region> exposed_;
  std::unique_ptr<memory::region_table> regions_;
  std::unique_ptr<transport::device> device_;
  std::map<int, std::unique_ptr<port>> lanes_;
};

class group {
 public:
  /// Throws error when the backend is not usable.
  /// Backends' own settings are those of the environment.
  group(const contract_case& backend, int size, settings config = {});

  [[nodiscard]] int size() const { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] node& operator[](rank r) { return *nodes_.at(static_cast<std::size_t>(r)); }
  [[nodiscard]] const transport::traits& describe() { return living().device().describe(); }
  /// Of a message, beside its head.
  [[nodiscard]] std::size_t max_message() {
    return describe().max_message - sizeof(transport::message_head);
  }
  [[nodiscard]] bool native(transport::op_kind kind);
  /// Whether a rank may post to itself.
  [[nodiscard]] bool loops() const { return loops_; }

  /// A symmetric array: each rank's memory has the same ref. By rank.
  [[nodiscard]] std::vector<node::mapped_memory> allocate_symmetric(std::size_t bytes);

  /// The rank dies: endpoints, device and regions go away.
  void kill(rank r) { nodes_.at(static_cast<std::size_t>(r)).reset(); }

  /// Lets every living rank move once.
  std::size_t pump();
  /// Pumps until `happened`; false when nothing at all happens for longer than in any test.
  [[nodiscard]] bool until(const std::function<bool()>& happened);
  /// Posts all, pumping in between; ops for lost peers are left out. False: took too long.
  [[nodiscard]] bool post_all(port& from, std::span<op> ops);
  /// post_all, and pumps until none of `from`'s ops is in flight.
  [[nodiscard]] bool run(port& from, std::span<op> ops);
  /// Pumps some time more: for things that must not happen.
  void settle();

 private:
  node& living();
  std::vector<std::unique_ptr<node>> nodes_;
  bool loops_ = true;
  std::uint64_t arrays_ = 0;  // symmetric ones so far
};

// --- ops --------------------------------------------------------------------------------------

[[nodiscard]] op send_op(destination to, std::span<const std::byte> data,
                         std::span<const std::byte> header = {});
[[nodiscard]] op put_op(rank to, memory::region_ref region, std::uint64_t offset,
                        std::span<const std::byte> data);
[[nodiscard]] op get_op(rank from, memory::region_ref region, std::uint64_t offset,
                        std::span<std::byte> into);
/// Of what `from` delivers under `number`.
[[nodiscard]] op receive_op(destination from, std::uint64_t number, std::span<std::byte> into);
[[nodiscard]] op deliver_op(destination to, std::uint64_t number, std::span<const std::byte> data);
/// Acts on `width` bytes; `into` gets the old value, or is empty.
[[nodiscard]] op atomic_operation(rank at, memory::region_ref region, std::uint64_t offset,
                                  atomic_op what, std::uint8_t width, std::uint64_t operand,
                                  std::span<std::byte> into = {}, std::uint64_t compare = 0);

}  // namespace heddle::test
