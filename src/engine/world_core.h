// SPDX-License-Identifier: BSD-3-Clause
// world_core.h - what is behind heddle::world: a rank's network, memory, lanes and handlers, who
// moves the lanes, and how the ranks meet.
#pragma once
#include <heddle/memory.h>
#include <heddle/types.h>
#include <heddle/world.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "backends/all_settings.h"
#include "base/settings.h"
#include "bootstrap/bootstrap.h"
#include "engine/handler_table.h"
#include "engine/inline_round.h"
#include "engine/inspector.h"
#include "engine/network.h"
#include "engine/world_assembly.h"
#include "engine/world_lanes.h"
#include "engine/world_memory.h"
#include "engine/world_progress.h"
#include "engine/world_symmetric.h"
#include "protocols/lost_peers.h"
#include "sync/release_acquire.h"
#include "tracing/trace_file.h"

namespace heddle::engine {

class world_core : public std::enable_shared_from_this<world_core> {
 public:
  /// Collective: exchanges hosts and addresses with the other ranks. Throws error.
  world_core(std::unique_ptr<bootstrap::session> session, const settings& config,
             std::shared_ptr<inline_round> inline_worlds);
  ~world_core();

  /// The end of the world, once: flushes, ends what is under way, lets go of the network and of the
  /// job. What lanes and memory that outlive it need stays until the last of them has gone.
  void end() noexcept;
  [[nodiscard]] bool has_joined() const noexcept { return joined_.is_set(); }
  [[nodiscard]] bool has_ended() const noexcept { return ended_.is_set(); }

  [[nodiscard]] rank self() const noexcept { return job_.rank; }
  [[nodiscard]] int size() const noexcept { return job_.size; }
  [[nodiscard]] const settings& config() const noexcept { return config_; }
  /// Those that somebody had set when this was made, and who.
  [[nodiscard]] const std::vector<transport::given_setting>& given_settings() const noexcept {
    return given_settings_;
  }
  [[nodiscard]] const bootstrap::secret_bytes& job_secret() const noexcept { return job_.secret; }
  /// By which this process is in the job. Before the end; whoever has a share of it stays in the
  /// job behind that.
  [[nodiscard]] const std::shared_ptr<bootstrap::session>& membership() const noexcept {
    return session_;
  }
  /// This one, if it is in mode inline, and those beside it that are.
  [[nodiscard]] const std::shared_ptr<inline_round>& inline_worlds() const noexcept {
    return inline_worlds_;
  }
  [[nodiscard]] const engine::network& network() const noexcept { return *network_; }
  [[nodiscard]] world_memory& memory() noexcept { return *memory_; }
  [[nodiscard]] world_lanes& lanes() noexcept { return lanes_; }
  [[nodiscard]] handler_table& handlers() noexcept { return handlers_; }
  [[nodiscard]] protocols::lost_peers& losses() noexcept { return losses_; }
  [[nodiscard]] world_assembly& assembly() noexcept { return *assembly_; }
  [[nodiscard]] world_symmetric& symmetric() noexcept { return *symmetric_; }
  [[nodiscard]] world_progress& progress() noexcept { return *progress_; }

  /// Collective. See world::add_handler. `set` sets the handler for its id.
  handler_id add_handler(std::string_view name, const std::function<void(handler_id)>& set);
  /// The launcher is to end the job, if there is one. Returns. Not collective.
  void abort(int status, std::string_view why) noexcept;
  /// If one is wanted: what has been recorded, once. Any thread, also behind the end.
  void write_trace() noexcept;

 private:
  [[nodiscard]] std::unique_ptr<lane_core> make_lane(int number);
  void linger() noexcept;

  // Constant after construction.
  settings config_;
  const std::vector<transport::given_setting> given_settings_;
  std::shared_ptr<bootstrap::session> session_;  // null after the end; worlds beside have a share
  const std::shared_ptr<inline_round> inline_worlds_;  // never null
  const bootstrap::job job_;

  // What lanes and devices use while they exist.
  memory::region_table regions_;
  protocols::lost_peers losses_;
  handler_table handlers_;
  std::unique_ptr<engine::network> network_;
  std::unique_ptr<world_memory> memory_;
  world_lanes lanes_;

  std::unique_ptr<world_assembly> assembly_;
  std::unique_ptr<world_symmetric> symmetric_;

  // Any thread.
  sync::release_acquire_flag joined_;  // constructed
  sync::release_acquire_flag ended_;

  std::unique_ptr<world_progress> progress_;  // the last ones: their threads use the rest
  std::unique_ptr<inspector> inspector_;
  std::mutex trace_mutex_;
  std::unique_ptr<trace::trace_file> trace_;  // guarded by it; null: none is wanted, or is written
};

/// A world from a given membership and settings: what `world()` does, and what tests do.
[[nodiscard]] std::shared_ptr<world_core> make_world(std::unique_ptr<bootstrap::session> session,
                                                     const settings& config);
/// The same, over the membership of `first` (session_over).
[[nodiscard]] std::shared_ptr<world_core> make_world_beside(
    const world_core& first, std::unique_ptr<bootstrap::session> session, const settings& config);

}  // namespace heddle::engine
