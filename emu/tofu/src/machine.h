// machine.h - this process's view of the machine: joining it, finding places, claiming CQs.
#pragma once
#include <optional>
#include <string>

#include "host/os.h"
#include "machine_file.h"

namespace tofu {

class machine {
 public:
  class guard;  ///< holds the machine's lock, see machine_lock.h
  [[nodiscard]] guard lock() const noexcept;

  /// Joins the machine of our job or creates it, and removes those that nobody has left. Empty:
  /// stderr says why not.
  [[nodiscard]] static std::optional<machine> join(asked_settings& asked);
  /// A look at our job's machine without joining it. Empty: there is none.
  [[nodiscard]] static std::optional<machine> look();
  /// Leaves: our CQs are free, and the last process removes the file.
  void leave() noexcept;
  machine(machine&&) = default;
  machine& operator=(machine&&) = default;

  [[nodiscard]] unsigned node() const noexcept { return node_; }
  [[nodiscard]] process_stamp stamp() const noexcept { return stamp_; }
  [[nodiscard]] unsigned slot() const noexcept { return slot_; }
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
  [[nodiscard]] bool is_alive(process_stamp who) const noexcept;

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
    return *reinterpret_cast<machine_file*>(map_.data());
  }

 private:
  enum class entering : std::uint8_t { entered, try_again, failed };
  machine(std::string path, host::owned_fd fd, host::mapping map);
  /// The machine in the file at `path`. Empty: none there, or a foreign file.
  static std::optional<machine> open(const std::string& path);
  static void sweep();
  static std::optional<machine> open_or_create(const asked_settings& asked);
  static entering enter(machine& m, asked_settings& asked);
  std::optional<unsigned> free_slot() const noexcept;
  bool settle(const settings& now);
  void clean_locked();
  void release_all_of(unsigned slot) noexcept;
  [[nodiscard]] bool anybody() const noexcept;
  [[nodiscard]] bool is_abandoned() const noexcept;
  void close_locked() noexcept;

  std::string path_;
  host::owned_fd fd_;
  host::mapping map_;
  unsigned nodes_ = 0, slot_ = 0, node_ = 0;
  process_stamp stamp_ = 0;
  std::uint32_t life_ = 0;
};

}  // namespace tofu
