// link.h - what a lane keeps of one peer it has had to do with.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "protocols/message.h"
#include "protocols/record.h"
#include "transport/device.h"

namespace heddle::protocols {

/// A peer's region that large messages have come from, kept mapped for the next one.
struct mapped_region {
  memory::region_ref ref;
  detail::remote_target target;
  std::shared_ptr<void> mapping;
};

struct link {
  // Constant after it was made.
  rank peer = 0;
  transport::endpoint* wire = nullptr;
  transport::endpoint* atomics = nullptr;  ///< set: another endpoint does the atomics on the peer
  std::uint8_t device = 0;
  bool copies_in_post = false;   ///< traits::copies_in_post
  bool refuses_late = false;     ///< traits::refuses_late
  transport::op_set native = 0;  ///< kinds the endpoint takes
  transport::atomic_set native_atomics = transport::atomic_set::none();  ///< `wire` does itself
  bool no_atomics = false;      ///< a network does the atomics on the peer, and is not reached
  std::size_t max_op = 0;       ///< traits::max_op
  std::size_t max_payload = 0;  ///< of one message, beside max_overhead
  std::size_t eager_bytes = 0;  ///< larger messages rendezvous
  std::uint64_t credit_limit =
      0;  ///< bytes of unexpected messages each side may cause at the other

  [[nodiscard]] bool takes(transport::op_kind k) const noexcept {
    return (native & transport::only(k)) != 0;
  }

  // Holder only.
  bool lost = false;
  bool blocked = false;  ///< in port's list of links with something to post
  [[nodiscard]] bool is_free() const noexcept { return !lost && !blocked; }
  link_list records;                    ///< every operation that needs this peer
  queue_list backlog;                   ///< operations in the order they must go out
  std::deque<message> control;          ///< the protocol's own messages: first, and never refused
  queue_list flushes;                   ///< flush commands
  std::uint64_t counted = 0;            ///< puts, gets, atomics in flight
  std::uint64_t credit = 0;             ///< what we may still send eagerly
  std::uint64_t held = 0;               ///< what the peer's unexpected messages use here
  std::uint64_t owed = 0;               ///< what we have to give back
  std::array<mapped_region, 8> mapped;  ///< the last used ones; `next_mapped` is replaced next
  std::size_t next_mapped = 0;
  bool awaited = false;      ///< a posted receive names it: as of the last maintain()
  std::size_t requests = 0;  ///< its rendezvous requests nobody has asked for yet
  bool heard = false;        ///< anything came since the last maintain()
  bool pinged = false;
  std::uint64_t silent_since_ns = 0;
};

}  // namespace heddle::protocols
