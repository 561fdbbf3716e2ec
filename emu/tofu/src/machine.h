// SPDX-License-Identifier: BSD-3-Clause
// machine.h - this process's view of the machine: joining it, finding places, claiming CQs.
#pragma once
#include <cstdint>
#include <optional>

#include "host/machine_lock.h"
#include "host/machine_store.h"
#include "machine_file.h"

namespace tofu {

class machine {
 public:
  [[nodiscard]] host::machine_guard lock() const noexcept {
    return host::machine_guard(file(), job_name());
  }

  /// Joins the machine of our job or creates it, and removes those that nobody has left. Empty:
  /// stderr says why not.
  [[nodiscard]] static std::optional<machine> join(asked_settings& asked);
  /// A look at our job's machine without joining it. Empty: there is none.
  [[nodiscard]] static std::optional<machine> look();
  /// Leaves: our CQs are free, and the last process removes the file.
  void leave() noexcept;
  explicit machine(host::machine_image image);
  machine(machine&&) = default;
  machine& operator=(machine&&) = default;

  [[nodiscard]] unsigned node() const noexcept { return node_; }
  [[nodiscard]] process_stamp stamp() const noexcept { return me_.stamp; }
  [[nodiscard]] unsigned slot() const noexcept { return me_.slot; }
  [[nodiscard]] unsigned nodes() const noexcept { return nodes_; }

  /// Nodes along each dimension.
  [[nodiscard]] coordinates lengths() const noexcept;
  [[nodiscard]] coordinates coordinates_of(unsigned node) const noexcept;
  /// No value: the machine has no such node.
  [[nodiscard]] std::optional<unsigned> node_at(const coordinates& at) const noexcept;
  [[nodiscard]] bool has_path(const std::uint8_t* abc) const noexcept;

  [[nodiscard]] cq_entry& entry(unsigned node, unsigned tni, unsigned cq) const noexcept {
    return file().nodes[node].tnis[tni].cqs[cq];
  }
  [[nodiscard]] process_entry& process(unsigned slot) const noexcept {
    return file().processes[slot % max_processes];
  }
  [[nodiscard]] node_entry& at(unsigned node) const noexcept { return file().nodes[node]; }
  [[nodiscard]] bool is_alive(process_stamp who) const noexcept {
    return host::is_alive(file(), who);
  }

  /// nullptr: no process of the node has asked for gates yet.
  [[nodiscard]] node_gates* gates_of(unsigned node) const noexcept;
  /// Those of our node. Holding the lock. nullptr: there is no memory for them; stderr says so.
  [[nodiscard]] node_gates* make_gates() const noexcept;

  /// Takes the lowest free CQ of a TNI of our node, the file descriptor and one cmp_id of which are
  /// given. No value: none is free.
  [[nodiscard]] std::optional<unsigned> claim_cq(unsigned tni, unsigned cmp, int fd);
  /// What the CQ's VCQs are now; none: the CQ is free.
  void set_cmp_ids(unsigned tni, unsigned cq, unsigned cmp_mask);

  /// Frees what dead processes left.
  void clean();
  [[nodiscard]] machine_file& file() const noexcept {
    return static_cast<machine_file&>(image_.head());
  }
  [[nodiscard]] const host::machine_image& image() const noexcept { return image_; }
  /// Frees what the process there had. Holding the lock.
  void release_all_of(unsigned slot) noexcept;

 private:
  bool settle(asked_settings& asked);
  void clean_locked();

  host::machine_image image_;
  unsigned nodes_ = 0, node_ = 0;
  host::membership me_;
};

}  // namespace tofu
