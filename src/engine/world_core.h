// world_core.h - what is behind heddle::world: devices, routes, regions, handlers, lanes.
#pragma once
#include <heddle/memory.h>
#include <heddle/types.h>
#include <heddle/world.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "bootstrap/bootstrap.h"
#include "engine/executor.h"
#include "engine/handler_table.h"
#include "engine/host_map.h"
#include "engine/idle_team.h"
#include "engine/inspector.h"
#include "engine/lane_core.h"
#include "engine/routes.h"
#include "engine/world_meeting.h"
#include "memory/remote_memory.h"
#include "memory/segment.h"
#include "protocols/delivery.h"
#include "protocols/lost_peers.h"
#include "sync/counters.h"
#include "sync/published.h"
#include "tracing/trace_file.h"
#include "transport/device.h"

namespace heddle::transport {
struct backend;
}

namespace heddle::engine {

class world_core : public std::enable_shared_from_this<world_core> {
 public:
  /// Collective: exchanges hosts and addresses with the other ranks. Throws error.
  world_core(std::unique_ptr<bootstrap::session> session, const settings& config);
  ~world_core();

  /// The end of the world, once: flushes, ends what is under way, lets go of the network and of the
  /// job. What lanes and memory that outlive it need stays until the last of them has gone.
  void end() noexcept;

  [[nodiscard]] rank self() const noexcept { return job_.rank; }
  [[nodiscard]] int size() const noexcept { return job_.size; }
  [[nodiscard]] const settings& config() const noexcept { return config_; }
  [[nodiscard]] std::span<transport::device* const> devices() const noexcept { return devices_; }
  void barrier();
  /// The launcher is to end the job, if there is one. Returns.
  void abort(int status, std::string_view why) noexcept;

  // --- memory (world_memory.cpp) -------------------------------------------------------
  [[nodiscard]] region expose(std::span<std::byte> memory, rights allowed);
  [[nodiscard]] region allocate(std::size_t bytes, rights allowed);
  void withdraw(const key& of) noexcept;
  [[nodiscard]] std::shared_ptr<memory::remote_memory> import(const key& of_peer);
  /// Collective. Returns this rank's part and the array's number.
  std::span<std::byte> add_symmetric(std::uint64_t bytes, rights allowed, std::uint64_t& number);
  void remove_symmetric(std::uint64_t number) noexcept;
  /// Never throws: what cannot be mapped is reached by the engine.
  [[nodiscard]] std::unique_ptr<memory::remote_memory> import_symmetric(rank peer,
                                                                        std::uint64_t number,
                                                                        std::uint64_t bytes,
                                                                        rights allowed) noexcept;

  // --- lanes and handlers --------------------------------------------------------------
  /// A lane the program opens: -1 for the next free number. Throws error: taken, out of range.
  lane_core& open_lane(int number, bool exclusive);
  /// Frees the number; the lane stays, for peers and for the next who opens it.
  void close_lane(int number) noexcept;
  void for_each_lane(const std::function<void(lane_core&)>& f);
  [[nodiscard]] handler_table& handlers() noexcept { return handlers_; }
  /// Collective: see world::add_handler.
  handler_id add_handler(std::string_view name, call_handler function, void* context);
  [[nodiscard]] protocols::lost_peers& losses() noexcept { return losses_; }

  // --- progress ------------------------------------------------------------------------
  /// Every lane once, where nobody else is at it. Any thread; never blocks.
  std::size_t idle_hook() noexcept;
  /// Data is on the way on some lane.
  [[nodiscard]] bool moving() const noexcept;
  /// Awake without an event before a sleep.
  [[nodiscard]] std::uint64_t spin_ns() const noexcept { return spin_ns_; }
  [[nodiscard]] bool has_team() const noexcept { return team_ != nullptr; }
  [[nodiscard]] bool opened(int lane) const noexcept {
    return opened_[static_cast<std::size_t>(lane)].is_set();
  }

  // --- for the executor ----------------------------------------------------------------
  /// Set-up work of the devices; makes the lanes that peers ask for.
  std::size_t serve_devices();
  [[nodiscard]] std::uint64_t maintain_interval_ms() const noexcept;

  // --- for people (world_describe.cpp, world_report.cpp) -------------------------------
  [[nodiscard]] std::string describe();
  [[nodiscard]] std::string metrics();
  /// What everything waits for, as a JSON object. Any thread, also while all others hang.
  [[nodiscard]] std::string report() const;
  [[nodiscard]] std::string route(rank peer) const;
  [[nodiscard]] std::string host(rank peer) const;
  [[nodiscard]] int host_number(rank peer) const noexcept;

 private:
  // world_join.cpp
  void meet_peers();
  void open_devices();
  [[nodiscard]] std::vector<transport::named_device> open(const transport::backend& which);
  void choose_routes();
  void hear_peers(const bootstrap::gathered& addresses);
  void meet(rank peer, std::span<const std::byte> blob);
  [[nodiscard]] std::string reach(std::size_t device, rank peer, std::span<const std::byte> blob);
  /// A rank that claims something else than `mine`, if there is one. Inside a gathering only.
  [[nodiscard]] std::optional<rank> find_dissent(const claim& mine);
  void linger() noexcept;
  void tell_of_start() const;
  void open_lane_zero();
  void start_progress();
  [[nodiscard]] std::uint64_t choose_spin() const;
  /// One thread at a time waits for all ranks, and lanes move meanwhile.
  class gathering {
   public:
    explicit gathering(world_core& of);
    ~gathering();
    gathering(const gathering&) = delete;
    gathering& operator=(const gathering&) = delete;

   private:
    world_core& of_;
    const std::lock_guard<std::mutex> lock_;
    executor* const keeper_;
  };
  [[nodiscard]] std::string describe_progress() const;
  lane_core& lane_at(int number);
  bool make_wanted(int lane) noexcept;
  [[nodiscard]] transport::device& device_to(rank peer) const noexcept {
    return *first_routes_->devices[first_routes_->route[static_cast<std::size_t>(peer)]];
  }
  [[nodiscard]] rights rights_here(rank owner, const detail::remote_target& t) const noexcept;
  region make_region(const memory::local_region& r, std::span<std::byte> memory, rights allowed);
  void map(memory::remote_memory& made, std::uint64_t bytes, rights allowed);

  settings config_;                              // constant after construction
  std::unique_ptr<bootstrap::session> session_;  // null after the end
  std::mutex session_mutex_;                     // one thread at a time exchanges, or meets
  world_meeting meeting_;                        // where the session is for joining only

  // Constant after construction.
  const bootstrap::job job_;
  const std::uint64_t spin_ns_;
  host_map hosts_;
  int ranks_here_ = 1;  // on this rank's host
  int cores_ = 1;       // this rank's share of its host's
  struct opened_device {
    std::string name;
    std::unique_ptr<transport::device> device;
    std::string unusable;  ///< why there is no device
  };
  std::vector<opened_device> backends_;
  std::vector<transport::device*> devices_;  // the usable ones, best first
  std::vector<std::string> device_names_;
  std::vector<std::uint8_t> device_backends_;  // a number of each one's backend
  std::unique_ptr<routes> routes_;             // of() under mutex_
  const lane_routes* first_routes_ = nullptr;  // of lane 0
  memory::region_table regions_;
  protocols::lost_peers losses_;
  const std::shared_ptr<memory::imported_memory> imported_ =
      std::make_shared<memory::imported_memory>();
  handler_table handlers_;

  std::mutex mutex_;  // guards what follows
  std::array<std::unique_ptr<lane_core>, max_lanes> lanes_;
  // From allocate(), and symmetric arrays, by slot and generation.
  std::map<std::pair<std::uint32_t, std::uint32_t>, memory::segment> owned_;
  std::uint64_t symmetric_count_ = 0;
  bool ended_ = false;

  // Any thread.
  std::array<sync::published<lane_core*>, max_lanes> running_;  // the lanes, for idle_hook()
  std::array<sync::event_bit, max_lanes> opened_;
  sync::owned_counter lanes_end_;  // behind the highest one
  sync::event_bit joined_;         // constructed
  sync::agreed_count gathered_;    // threads that wait for all ranks, or for their turn to

  // One thread at a time: whoever serves the devices.
  std::vector<int> wanted_lanes_;  // by peers, and not made yet
  bool told_of_wanted_ = false;    // that one cannot be made

  std::vector<std::unique_ptr<executor>> executors_;  // the last ones: their threads use the rest
  std::unique_ptr<idle_team> team_;
  std::unique_ptr<inspector> inspector_;
  std::unique_ptr<trace::trace_file> trace_;  // null: none is wanted
};

/// A world from a given membership and settings: what `world()` does, and what tests do.
[[nodiscard]] std::shared_ptr<world_core> make_world(std::unique_ptr<bootstrap::session> session,
                                                     const settings& config);

}  // namespace heddle::engine
