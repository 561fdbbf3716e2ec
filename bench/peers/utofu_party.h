// utofu_party.h - one of two processes that call uTofu themselves: what Heddle's utofu backend
// could reach at best.
#pragma once
#include <memory>
#include <vector>

#include "peers/party.h"
#include "peers/process_pair.h"
#include "peers/table.h"
#include "peers/utofu_path.h"

namespace heddle::peers {

/// What one thread works with; valid as long as its party.
struct utofu_seat {
  const task& what;
  utofu_path& path;
  int thread;
  int on_path;                   ///< its number among the threads of its path
  const utofu_memory& table;     ///< this rank's
  std::span<utofu_path*> paths;  ///< all of this rank

  /// Behind the table: where the partner thread tells how much it has taken.
  [[nodiscard]] std::uint64_t control() const noexcept;
};

class utofu_party final : public party {
 public:
  utofu_party(const process_pair& both, const task& t);
  [[nodiscard]] int rank() const override { return both_.rank(); }
  void tell(std::span<const std::byte> bytes) override { both_.tell(bytes); }
  void hear(std::span<std::byte> bytes) override { both_.hear(bytes); }
  std::unique_ptr<exchange> make_exchange(int thread) override;
  std::unique_ptr<bench::overlap_side> make_side() override;
  std::span<std::uint64_t> words() override;
  std::unique_ptr<updater> make_updater(int thread) override;

 private:
  [[nodiscard]] utofu_seat seat_of(int thread);
  void open_paths();

  const process_pair& both_;
  const task& task_;
  const utofu_memory table_;
  std::vector<std::unique_ptr<utofu_path>> paths_;
  std::vector<utofu_path*> all_paths_;
};

/// put, get and fetch-add, and puts with a notice at the target (am): utofu_exchange.cpp.
[[nodiscard]] std::unique_ptr<exchange> make_utofu_exchange(const utofu_seat& s);
/// utofu_updater.cpp.
[[nodiscard]] std::unique_ptr<updater> make_utofu_updater(const utofu_seat& s);

}  // namespace heddle::peers
