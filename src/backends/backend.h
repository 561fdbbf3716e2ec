// backend.h - the contract between the engine and one kind of wire.
//
// A backend is a folder with a device (one per process) that makes endpoints (one per lane).
// What a backend cannot do is data (traits); the protocols make up for it with messages.
// tests/contract is this page as a test: a new backend passes it unchanged.
#pragma once
#include <heddle/detail/direct.h>
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/region_table.h"
#include "base/settings.h"

namespace heddle::backends {

enum class op_kind : std::uint8_t { send, put, get, atomic };
using op_set = std::uint8_t;
constexpr op_set only(op_kind k) {
  return static_cast<op_set>(1u << static_cast<unsigned>(k));
}

/// One operation, of any kind. The engine owns it; a backend copies what it needs from it.
/// The memory its spans name stays untouched until the op is done.
struct op {
  op_kind kind = op_kind::send;
  atomic_op atomic = atomic_op::add;
  std::uint8_t width = 8;  ///< atomic: 4 or 8 bytes
  rank peer = 0;
  std::uint64_t cookie = 0;           ///< comes back in this op's event
  std::span<const std::byte> header;  ///< send: goes before data; header + data <= max_message
  std::span<const std::byte> data;    ///< send, put: what to move
  std::span<std::byte> into;          ///< get: where to; atomic: `width` bytes or empty
  region_ref region;                  ///< put, get, atomic: where at the peer
  std::uint64_t offset = 0;
  std::uint64_t operand = 0, compare = 0;
  bool overtakes = false;  ///< send: may arrive before the bytes of puts that were posted earlier
  status finished = status::posted;  ///< set by post(): done or an error means no event follows
};

/// How many ops, from the first on, were taken; and when not all, what is in the way.
struct post_result {
  std::size_t accepted = 0;
  status reason = status::done;  ///< done, busy_queue (post again after a poll), peer_lost
};

struct event {
  enum class kind_t : std::uint8_t {
    ended,      ///< the op with this cookie is over: `code` says how. Exactly once per posted op
    arrived,    ///< a message from `peer`, in `bytes`, which stay valid until the next poll()
    peer_lost,  ///< `peer` is gone; each of its ops has its own `ended` before or after this.
                ///< `bytes`: why, in words for people that follow "rank 3 is lost: "
  };
  kind_t kind = kind_t::ended;
  status code = status::done;
  rank peer = 0;
  std::uint64_t cookie = 0;
  std::span<const std::byte> bytes;
};

/// For event::bytes of a peer_lost.
[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view words) noexcept {
  return std::as_bytes(std::span(words));
}

/// What a device can do. Constant after open.
struct traits {
  op_set native = only(op_kind::send);  ///< kinds post() takes; the engine emulates the others
  std::size_t max_message = 0;          ///< bytes of header + data in one send
  /// A send posted after a put to the same peer arrives after the put's bytes. Sends to one peer
  /// arrive in order in any case.
  bool ordered = true;
  bool defers = false;      ///< post() may leave output for the next poll() to send (batching)
  bool cpu_atomics = true;  ///< native atomics and the CPU's on one word see each other
  /// post() may answer posted for an op that ends as `unsupported`: whoever cannot know at once.
  bool refuses_late = false;
};

/// What a device is told about its process and job.
struct context {
  rank self = 0;
  int size = 1;
  int on_host = 1;                            ///< ranks of the job on this host
  std::span<const std::byte, 32> job_secret;  ///< known to the job's ranks only
  const settings* config = nullptr;
  region_table* regions = nullptr;  ///< memory of this process that peers may address
};

/// One lane's way to all peers over one wire.
///
/// Threads: the engine calls an endpoint from one thread at a time and never re-enters it.
/// An endpoint never calls up; everything it has to say comes out of poll(). Nothing here blocks.
class endpoint {
 public:
  /// Frees. Does not wait: what peers have not taken yet is lost (see idle()).
  virtual ~endpoint() = default;

  /// Starts a prefix of `ops`, in order. The first op for a peer starts connecting to it, during
  /// which post answers busy_queue; a peer to which no way can be made is lost. An accepted send
  /// is always copied: finished is done, or why it was not sent. A put keeps reading `data`, a get
  /// and an atomic keep writing `into`, until ended.
  virtual post_result post(std::span<op> ops) noexcept = 0;

  /// Takes up to `out.size()` events, oldest first. Moves transfers and connections forward.
  virtual std::size_t poll(std::span<event> out) noexcept = 0;

  /// Prepares for sleep: from now until the next poll(), anything poll() would report, and room for
  /// a post that was answered busy_queue, makes fd() readable. False: there is work now, do not
  /// sleep.
  virtual bool arm() noexcept = 0;
  /// Watched for reading while armed. Constant.
  [[nodiscard]] virtual int fd() const noexcept = 0;

  /// Called now and then while anything is in flight, also when nobody arms: looks for dead peers.
  virtual void maintain() noexcept = 0;

  /// The engine holds `peer` for dead: every op in flight to it ends with peer_lost, nothing more
  /// is taken from it, and later posts answer peer_lost.
  virtual void drop(rank peer) noexcept = 0;

  /// True when everything accepted has left this process's memory. For an orderly end.
  [[nodiscard]] virtual bool idle() const noexcept = 0;
};

/// One process's access to a wire. Thread-safe except where said.
class device {
 public:
  virtual ~device() = default;  ///< after all its endpoints

  [[nodiscard]] virtual const traits& describe() const noexcept = 0;

  /// What peers need to find this process; at most 512 bytes. Carried by the bootstrap.
  [[nodiscard]] virtual std::vector<std::byte> address() const = 0;

  /// Makes `peer` known by what its address() gave. Returns why this device cannot reach it, or an
  /// empty string when it can. `same_host` says whether host_id matches ours. Does not connect.
  /// `address` is the peer's: nothing in it is to be believed unchecked.
  virtual std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) = 0;

  /// Called once per lane number, before any message for it can be delivered.
  virtual std::unique_ptr<endpoint> make_endpoint(int lane) = 0;

  /// A region entered or is about to leave context::regions. Must be cheap: large messages do it.
  virtual void expose(const local_region& region) noexcept = 0;
  virtual void withdraw(const local_region& region) noexcept = 0;

  /// If this process can map `region` of `peer`: fills direct, live and generation of `out` and
  /// returns what keeps the mapping, which can be written to only if the owner allows that.
  /// Otherwise null, and ops go through post(). Sets bytes and allowed of `out` to what the owner
  /// says, where that can be known here. Throws error with the reason when the region cannot exist.
  virtual std::shared_ptr<void> import(rank peer, region_ref region,
                                       detail::remote_target& out) = 0;

  /// Set-up work no endpoint can do (accepting connections). Executor thread only. fd() is readable
  /// when there is some; -1: never. Lanes that newly got a peer are reported by serve().
  [[nodiscard]] virtual int fd() const noexcept = 0;
  /// Returns the number of a lane that a peer wants to talk to and that has no endpoint yet, or -1.
  virtual int serve() noexcept = 0;

  /// For people: what lies behind each lane, a line each, indented by four. May be empty.
  [[nodiscard]] virtual std::string details() const { return {}; }
};

/// How a device is made, and its name, for the registry.
struct factory {
  std::string name;
  std::function<std::unique_ptr<device>(const context& where)> open;  ///< throws error: why not
};

}  // namespace heddle::backends
