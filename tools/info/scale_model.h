// SPDX-License-Identifier: BSD-3-Clause
// scale_model.h - a job of which one rank is real: what its launcher's store holds of all others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "bootstrap/store_session.h"

namespace heddle::tools {

/// Ranks fill host after host.
struct scale_job {
  int ranks = 1;
  int per_host = 1;
  int measured_host = 0;

  [[nodiscard]] int hosts() const noexcept { return (ranks + per_host - 1) / per_host; }
  [[nodiscard]] int host_of(int rank) const noexcept { return rank / per_host; }
  [[nodiscard]] int first_of(int host) const noexcept { return host * per_host; }
  [[nodiscard]] int end_of(int host) const noexcept {
    return host + 1 < hosts() ? first_of(host + 1) : ranks;
  }
};

/// What `rank` gives in the exchange in which a rank of the measured host gives `mine`: the same,
/// but that it is of its own host.
[[nodiscard]] bootstrap::blob gift_of(const scale_job& job, int rank,
                                      std::span<const std::byte> mine);

/// Two processes that do the same things by turns. One thread. All throw error: the other has gone.
class lockstep {
 public:
  explicit lockstep(unique_fd socket) : socket_(std::move(socket)) {}

  /// Returns when the other has called it as often.
  void meet();
  /// Returns when the other is one meeting ahead.
  void let_ahead();
  /// What is given in the exchange that follows.
  void tell(std::span<const std::byte> gift);
  /// Nothing: the other has ended.
  [[nodiscard]] std::optional<bootstrap::blob> hear();

 private:
  [[nodiscard]] std::optional<bootstrap::blob> receive();
  void await(int meetings);

  unique_fd socket_;
  int met_ = 0, heard_ = 0;
};

/// What a rank has asked of its launcher.
struct store_traffic {
  std::uint64_t puts = 0, gets = 0, fences = 0, put_bytes = 0, got_bytes = 0;
};

/// The store of one rank, in this process. Each value got is a message, whatever its length. Its
/// own memory does not count (counted_memory.h).
class model_store final : public bootstrap::key_store {
 public:
  /// Without `beside` the rank is alone on its host. `beside` and `traffic` must outlive it.
  model_store(const scale_job& job, std::string name, lockstep* beside, store_traffic& traffic);

  /// What this rank gives in the exchange that follows, from which the gifts of others are made.
  void give(std::span<const std::byte> mine);

  [[nodiscard]] std::string name() const override { return name_; }
  void put(const std::string& key, std::span<const std::byte> value) override;
  void fence() override;
  bootstrap::blob get(int rank, const std::string& key) override;
  void abort(int, std::string_view) noexcept override {}
  void leave() noexcept override {}

 private:
  [[nodiscard]] bootstrap::blob value_of(int rank, const std::string& key);
  [[nodiscard]] bootstrap::blob gifts_of(int first, int end) const;
  [[nodiscard]] bootstrap::blob piece(std::size_t number);

  const scale_job job_;
  const std::string name_;
  lockstep* const beside_;
  store_traffic& traffic_;
  bootstrap::blob mine_, got_;
  std::optional<bootstrap::blob> table_;  // of this exchange, once it was asked for
};

}  // namespace heddle::tools
