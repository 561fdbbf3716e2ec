// SPDX-License-Identifier: BSD-3-Clause
// world.h - the job this process belongs to, and what its lanes share.
#pragma once
#include <heddle/lane.h>
#include <heddle/memory.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace heddle {

/// Gives memory back that malloc made.
struct free_memory {
  void operator()(std::byte* memory) const noexcept { std::free(memory); }
};
/// The bytes of a payload, and its memory, which goes with it. Release()d it is for std::free().
using payload_memory = std::unique_ptr<std::byte[], free_memory>;

/// What an active-message handler sees. Both spans are valid only until it returns.
struct call_message {
  rank source;
  int lane;  ///< of the source, that it was sent from: {source, lane} is where an answer goes
  std::span<const std::byte> header;   ///< 0 to max_call_header bytes
  std::span<const std::byte> payload;  ///< contiguous, any size

  /// The payload's bytes for as long as the handler's program wants them: those of a large message
  /// are handed over as they lie, those of a small one are copied. At most once; `payload` stays
  /// valid until the handler returns. Null: no memory.
  [[nodiscard]] payload_memory keep() const noexcept;

  payload_memory* owned = nullptr;  ///< Heddle's own
};

/// Runs at the target of lane::try_call, on whichever thread drives `here`, with no lock of
/// Heddle's held. May post and cancel on `here` or any lane; must not block and must not throw.
/// Two messages' handlers may run at the same time on two threads, in either order.
using call_handler = void (*)(void* context, lane& here, const call_message& message) noexcept;

/// What a header handler sees: a call whose payload has no place yet.
struct arriving_call {
  rank source;
  int lane;                           ///< of the source, that it was sent from
  std::span<const std::byte> header;  ///< valid until the handler returns
  /// Holds the payload: what().bytes tells its length, and lane::try_recv puts it where it is to
  /// be, now or later; a large one is only then fetched from its sender, straight into that place.
  /// Moved elsewhere it stays for as long as wanted. What is left here at the handler's end is
  /// dropped.
  matched_message& payload;
};

/// As call_handler, but runs when the header has come, before the payload of a large call has: the
/// receiver chooses where it goes (the header handler of LAPI and PAMI). The completion of the
/// sender's try_call comes when the payload has been received or dropped, of a small one before.
using header_handler = void (*)(void* context, lane& here, const arriving_call& call) noexcept;

/// As call_handler, for a call or notification to an `id` that has no handler here.
using unknown_handler = void (*)(void* context, lane& here, handler_id id,
                                 const call_message& message) noexcept;

/// Runs once for each peer that this process loses, on any lane; `why` as lane::why() says it, and
/// valid until it returns. On whichever thread noticed, with no lock of Heddle's held. May post and
/// cancel; must not block and must not throw.
using loss_handler = void (*)(void* context, rank peer, std::string_view why) noexcept;

/// Who moves transfers forward; docs/guide/progress.md says when to choose what.
enum class progress_mode : std::uint8_t {
  adaptive,  ///< threads that post or wait, and an executor that sleeps unless it is worth waking
  inline_only,  ///< threads that post, poll or wait, and nobody else: what they do not call rests
  dedicated,    ///< executors do everything; threads of the program only hand in and wait
  idle,         ///< helpers on cores that would be idle, world::idle_hook, and threads that wait
};

/// What a program may choose. The HEDDLE_* variables of the same names win over it.
struct world_options {
  progress_mode progress = progress_mode::adaptive;  ///< HEDDLE_PROGRESS
  int executors = 1;                    ///< HEDDLE_EXECUTORS: threads, when dedicated or idle
  std::string executor_cores = "near";  ///< HEDDLE_EXECUTOR_CORES: near, none, or "2,3"
  /// Any other setting of docs/guide/settings.md by its name, like {"HEDDLE_RECORDS", "512"}. One
  /// of those above wins over its member.
  std::map<std::string, std::string> settings = {};
};

/// Joins the job it was launched in, by `heddle run`, mpirun, mpiexec, srun or none at all
/// (docs/guide/cluster.md); started alone it is a world of one.
///
/// A process may have several worlds beside each other, each with lanes, handler ids, tags, regions
/// and losses of its own: so libraries that know nothing of each other use one job. The first one
/// joins the job; while it or one beside it lives, every other one joins over the one that it
/// names, else over the oldest, and costs what the first one does (threads, memory, connections).
///
/// Any thread. Its end flushes what was sent,
/// waiting at most HEDDLE_LINGER_MS, and fails what still is in flight with `closed`. Lanes,
/// regions and arrays may be destroyed before or after it. After it lanes answer `closed` to
/// everything, memory of regions and arrays is there as long as they are, and peers cannot reach it
/// any more. No other thread may use anything of the world at the very moment of its end.
class world {
 public:
  /// Waits for the job's other ranks, at most HEDDLE_JOIN_TIMEOUT_MS for each step.
  /// Throws error: ranks do not come (which ones it says), not launched properly, no usable
  /// backend, a bad HEDDLE_* value ...
  explicit world(const world_options& options = {});
  /// A world of the same ranks beside `first`, which it may outlive. Collective over `first`: all
  /// ranks make it, between the same other calls that wait for every rank, as they do where a
  /// process's second world names none. Waits without limit for ranks that live. Throws error:
  /// another rank makes another call instead, and which; a rank is gone, a bad value ...
  explicit world(world& first, const world_options& options = {});
  explicit world(std::shared_ptr<engine::world_core> core);  ///< for Heddle itself and its tests
  ~world();
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  [[nodiscard]] heddle::rank rank() const noexcept;
  [[nodiscard]] int size() const noexcept;

  /// The same `items` of T on every rank. Collective: all ranks call it in the same order with the
  /// same size and rights. Throws error: out of memory, sizes or rights differ, a peer is gone.
  template <class T>
  [[nodiscard]] heddle::symmetric<T> symmetric(std::size_t items, rights allowed = rights::all) {
    return {std::make_unique<detail::symmetric_memory>(
                core_, detail::offset_of(0, items, sizeof(T)), allowed),
            items};
  }
  /// The same of memory that each rank has already: `mine`, which stays the caller's, keeps its
  /// contents and must outlive the array. Sizes may differ, and be 0: bounds are those of each
  /// rank's own part (symmetric::size(peer)). Collective: all ranks call it in the same order with
  /// the same type and rights. Throws error on every rank, which then exposes nothing: a rank gives
  /// null with a size, or has no region left, and which one and why; rights differ; another rank
  /// makes another call; a peer is gone.
  template <class T, std::size_t N>
  [[nodiscard]] heddle::symmetric<T> expose_symmetric(std::span<T, N> mine,
                                                      rights allowed = rights::all) {
    return {
        std::make_unique<detail::symmetric_memory>(core_, std::as_writable_bytes(mine), allowed),
        mine.size()};
  }
  /// Lets peers address `memory`, which stays the caller's. Throws error: too many regions.
  [[nodiscard]] region expose(std::span<std::byte> memory, rights allowed = rights::all);
  /// Memory of Heddle's own, zeroed, which peers on this host can map; for reading only, unless
  /// they may write or do atomics. Takes a descriptor of the process while the region lives. Throws
  /// error: no memory, no descriptors (ulimit -n), too many regions.
  [[nodiscard]] region allocate(std::size_t bytes, rights allowed = rights::all);
  /// Makes a peer's key usable here, for what both the key and the owner allow. May make system
  /// calls. Throws error: not a key, no such region, peer lost, or withdrawn already, where that
  /// shows here; elsewhere operations answer `withdrawn`.
  [[nodiscard]] remote_region import(const key& of_peer);

  /// Sets handler `id` (below max_handlers) before any message for it can arrive: in practice
  /// before a barrier. A message for an id without a handler is dropped and counted, unless
  /// on_unknown_call() has set what hears of it.
  ///
  /// Each function with each context takes some 100 bytes until the world ends, also when another
  /// has replaced it, but set again it takes no more. For on_unknown_call() it is 40 KiB.
  void set_handler(handler_id id, call_handler function, void* context = nullptr);
  /// Sets a handler under a name, and gives it an id, the same on every rank. Collective, and waits
  /// for every rank: all name the same ones in the same order; so no message for it comes before it
  /// is set. Ids are given from the highest down; those that are set by number stay below. Throws
  /// error on every rank: another one gives another name, and which; or here: the name or its id is
  /// taken, a peer is gone.
  handler_id add_handler(std::string_view name, call_handler function, void* context = nullptr);
  /// The same for handlers that choose where the payload goes. An id has one handler, of either
  /// kind: the one that was set last.
  void set_header_handler(handler_id id, header_handler function, void* context = nullptr);
  handler_id add_header_handler(std::string_view name, header_handler function,
                                void* context = nullptr);
  /// The id of that name. Any thread; takes a lock. Throws error: there is none, and which there
  /// are.
  [[nodiscard]] handler_id handler(std::string_view name) const;
  /// Sets what runs for messages to ids without a handler, instead of dropping them, and is told
  /// the id. Before any can arrive, as set_handler. Null: they are dropped. Any thread.
  void on_unknown_call(unknown_handler function, void* context = nullptr);

  /// Sets what is called for each peer that is lost, also by leaving the job in order before this
  /// rank does; at once for those lost already. One that this rank has had nothing to do with may
  /// go unnoticed until it has. Null: nothing. What was under way to a lost peer ends with
  /// peer_lost, before or after. Any thread.
  void on_peer_lost(loss_handler function, void* context = nullptr);

  /// Waits for every rank, through the launcher or over lane 0: for start-up and end. For inner
  /// loops there is heddle::barrier(lane) in collectives.h. Throws error when a rank is gone, over
  /// lane 0 when one makes another call that waits for every rank: not all were here, and with
  /// HEDDLE_PROGRESS=inline when the system gives no thread that moves lanes meanwhile.
  void barrier();

  /// Ends the whole job, all ranks on all hosts, and this process at once: nothing is destroyed,
  /// and nothing that is under way waited for; what was printed is flushed. The launcher ends with
  /// `status`, which is 1 to 255 (others count as 1), and shows `why` where it can. Without a
  /// launcher (HEDDLE_RENDEZVOUS, or alone) only this process ends, with `status`, and the others
  /// find it lost; so it is in the child of a fork. Any thread, also inside a callback.
  [[noreturn]] void abort(int status, std::string_view why = {}) noexcept;

  /// Moves every lane forward once, where nobody else is doing so: for task schedulers to call when
  /// they have nothing better to run. Returns how many things happened. Any thread, never blocks;
  /// from inside a callback it does nothing.
  std::size_t idle_hook() noexcept;

  /// For people: routes, limits, settings, counters. Text of several lines.
  [[nodiscard]] std::string describe() const;
  /// What all lanes have counted, also those that only peers use, in the text format of Prometheus
  /// (counters.h). A lane that another thread keeps for long is told of without its peers. Any
  /// thread.
  [[nodiscard]] std::string metrics() const;
  /// Which backend carries traffic to `peer`: one of list_backends(), or one of its devices.
  [[nodiscard]] std::string route(heddle::rank peer) const;
  /// Name of the host `peer` runs on, for people: two hosts may have the same one.
  [[nodiscard]] std::string host(heddle::rank peer) const;
  /// Which of the job's hosts `peer` runs on: equal for two ranks exactly when they count as being
  /// on one host. From 0, in the order of each host's first rank; -1 when there is no such rank.
  [[nodiscard]] int host_number(heddle::rank peer) const noexcept;

  [[nodiscard]] engine::world_core& core() noexcept { return *core_; }  ///< for Heddle itself

 private:
  friend class lane;
  std::shared_ptr<engine::world_core> core_;
};

}  // namespace heddle
