// SPDX-License-Identifier: BSD-3-Clause
// fabric.h - this process's view of the fabric: joining it, and who has which queue pair.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

#include "fabric_file.h"
#include "host/machine_lock.h"
#include "host/machine_store.h"
#include "place.h"

namespace hca {

class fabric {
 public:
  /// Joins the fabric of our job or creates it. Empty: stderr says why not.
  [[nodiscard]] static std::optional<fabric> join(asked_settings& asked, int arena_fd);
  /// Leaves: our queue pairs are free, and the last process removes the file.
  void leave() noexcept;
  explicit fabric(host::machine_image image) : image_(std::move(image)) {}

  [[nodiscard]] host::process_stamp stamp() const noexcept { return me_.stamp; }
  [[nodiscard]] unsigned node() const noexcept { return node_; }
  [[nodiscard]] bool is_alive(host::process_stamp who) const noexcept {
    return host::is_alive(file(), who);
  }
  [[nodiscard]] fabric_file& file() const noexcept {
    return static_cast<fabric_file&>(image_.head());
  }
  [[nodiscard]] const host::machine_image& image() const noexcept { return image_; }
  [[nodiscard]] host::machine_guard lock() const noexcept {
    return host::machine_guard(file(), job_name());
  }

  /// A number for a queue pair that lies at `at` in our arena; 0: there are max_qps already.
  [[nodiscard]] std::uint32_t add_qp(std::uint64_t at);
  void remove_qp(std::uint32_t number) noexcept;
  /// nullptr: no queue pair has this number now.
  [[nodiscard]] const qp_entry* find_qp(std::uint32_t number) const noexcept;

  [[nodiscard]] std::atomic<std::uint32_t>& port(const place& at) const noexcept {
    return file().devices[at.node][at.device].down[at.port - 1];
  }
  [[nodiscard]] bool is_up(const place& at) const noexcept {
    return port(at).load(std::memory_order_relaxed) == 0;  // relaxed: see softhca_set_port()
  }

  /// Whom to tell of the device's ports. False: the fabric has max_contexts already.
  bool add_context(const place& at, const pipe_address& async);
  void remove_context(const pipe_address& async) noexcept;

  /// Frees what the process there had. Holding the lock.
  void release_all_of(unsigned slot) noexcept;

 private:
  bool settle(asked_settings& asked, int arena_fd);

  host::machine_image image_;
  host::membership me_;
  unsigned node_ = 0;
  unsigned next_ = 0;
};

}  // namespace hca
