// record.h - an operation in flight, and the pool a lane takes its records from.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/slab_pool.h"
#include "protocols/command.h"
#include "protocols/list.h"

namespace heddle::protocols {

struct link;

/// Where an operation stands. Who moves it on is in brackets.
enum class stage : std::uint8_t {
  free,
  backlog,   ///< waits for room on the wire [flush_backlog]
  wire,      ///< the backend has it [its `ended` event]
  pieces,    ///< the next piece of it is to be copied here [move_next_piece]
  fetching,  ///< the data of a rendezvous is being read [`ended`, or replies]
  reply,     ///< the peer's engine has it [a reply or `finished`]
  waiting,   ///< flush, when_ready: for other operations [their end]
};

/// What a rendezvous request says about the data it announces.
struct rendezvous {
  memory::region_ref ref;
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t id = 0;  ///< the sender's record
  bool mappable = false;
};

/// What a wire may have of the engine's.
struct tracked : transport::op {
  explicit tracked(bool access) : is_access(access) {}
  const bool is_access;  ///< a native_access; else a record
};

struct record : tracked {
  record() : tracked(false) {}
  command what;
  stage at = stage::free;
  std::uint32_t index = 0, generation = 1;  ///< together its id on the wire
  link* with = nullptr;                     ///< whose `records` it is in; null: nobody's yet
  bool native = false;                      ///< the backend has it and will report its end
  bool eager = false;                       ///< send, call: the data goes with the first message
  bool counted = false;                     ///< put, get, atomic: counts for flush
  status failure = status::done;            ///< of one of its fragments
  rank source = any_source;                 ///< a matched receive's or call's sender
  tag matched_tag = 0;
  std::uint64_t message_bytes = 0;      ///< length of the matched message
  memory::region_ref lent;              ///< the region made for a rendezvous
  rendezvous remote;                    ///< what is fetched
  std::uint64_t issued = 0, moved = 0;  ///< bytes asked for, bytes done, of a fragmented transfer
  std::uint64_t since_ns = 0;           ///< first seen by port::stamp(); 0: not yet
  std::unique_ptr<std::byte[]> owned;   ///< payload of a large call, being fetched
  std::unique_ptr<std::byte[]> owned_header;
  std::uint8_t owned_header_bytes = 0;
  hook<record> in_link, in_queue, in_turns;

  [[nodiscard]] std::uint64_t id() const noexcept {
    return std::uint64_t{generation} << 32 | index;
  }
};

/// A put, get or atomic that the wire took at once: what its end takes, and no more.
struct native_access : tracked {
  native_access() : tracked(true) {}
  link* with = nullptr;  ///< null: not in use
  completion done;
  std::uint64_t bytes = 0;
  std::uint64_t since_ns = 0;  ///< as a record's
  native_access* next_free = nullptr;
};

using link_list = list<record, &record::in_link>;    ///< all of a peer's
using queue_list = list<record, &record::in_queue>;  ///< waiting for something
using turns_list = list<record, &record::in_turns>;  ///< being copied here, by turns

/// Records of one lane. Holder only. Grows by slabs; the lane bounds how many it takes.
class record_pool {
 public:
  record& take();
  void give_back(record& r) noexcept;
  /// The record an id names, or null when that one has ended. For ids from peers too.
  [[nodiscard]] record* find(std::uint64_t id) noexcept;
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

 private:
  static constexpr std::size_t slab_records = 128;
  std::vector<std::unique_ptr<record[]>> slabs_;
  std::vector<record*> free_;
  std::size_t in_use_ = 0;
};

}  // namespace heddle::protocols
