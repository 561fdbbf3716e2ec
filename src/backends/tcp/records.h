// records.h - the operations one endpoint has in flight, and those that ended but were not told.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/device.h"

namespace heddle::transport::tcp {

class connection;

/// Number of a record; travels as the request's id.
using record_id = std::uint32_t;
inline constexpr record_id no_record = ~record_id{0};

/// One operation, or one rail's part of it.
struct record {
  enum class use_t : std::uint8_t { free, in_flight, ended };
  use_t use = use_t::free;
  op_kind kind = op_kind::put;
  status code = status::done;  ///< first failure of it or its parts
  std::uint8_t width = 0;
  std::uint32_t parts = 0;      ///< of a whole: parts still in flight
  record_id whole = no_record;  ///< of a part: what it is a part of
  record_id next = no_record;   ///< in the one list it is on
  rank peer = 0;
  op* of = nullptr;
  const connection* via = nullptr;        ///< where answers must come from; null: a whole of parts
  std::byte* into = nullptr;              ///< get, atomic: may be null for an atomic
  std::uint64_t bytes = 0, received = 0;  ///< get
};

/// First in, first out, linked through the records.
struct record_list {
  record_id first = no_record, last = no_record;
  std::size_t count = 0;
  [[nodiscard]] bool empty() const noexcept { return first == no_record; }
};

/// A fixed number of records. Nothing allocates after construction.
class record_pool {
 public:
  explicit record_pool(std::size_t capacity);

  [[nodiscard]] std::size_t available() const noexcept { return available_; }
  /// How many were ever given back.
  [[nodiscard]] std::uint64_t released() const noexcept { return released_; }
  /// Takes a record for an op; only while available().
  record_id take(op& o, const connection* via) noexcept;
  /// Takes a record for a part of `whole`.
  record_id take_part(record_id whole, const connection* via) noexcept;
  [[nodiscard]] record& operator[](record_id id) noexcept { return records_[id]; }
  /// The record in flight with this number on this connection, or null: `id` is from a peer.
  [[nodiscard]] record* find(std::uint32_t id, const connection& via, op_kind kind) noexcept;

  /// Its end, or that of a part: the last part's end is the whole's.
  void finish(record_id id, status code) noexcept;
  /// Ends everything in flight to `peer`.
  void lose(rank peer) noexcept;
  /// Takes the oldest ended record as an event; only unless none_ended().
  event take_ended() noexcept;
  [[nodiscard]] bool none_ended() const noexcept { return ended_.empty(); }

  void push(record_list& list, record_id id) noexcept;
  record_id pop(record_list& list) noexcept;

 private:
  void release(record_id id) noexcept;

  std::vector<record> records_;
  record_id free_ = no_record;  // last used on top
  std::size_t available_ = 0;
  std::uint64_t released_ = 0;
  record_list ended_;
};

// On the path of every operation, so inline.

inline record_id record_pool::take(op& o, const connection* via) noexcept {
  const record_id id = free_;
  record& r = records_[id];
  free_ = r.next;
  --available_;
  r.use = record::use_t::in_flight;
  r.kind = o.kind;
  r.code = status::done;
  r.width = o.width;
  r.parts = 0;
  r.whole = no_record;
  r.next = no_record;
  r.peer = o.peer;
  r.of = &o;
  r.via = via;
  r.into = o.memory.data();
  r.bytes = o.memory.size();
  r.received = 0;
  return id;
}

inline void record_pool::push(record_list& list, record_id id) noexcept {
  records_[id].next = no_record;
  (list.empty() ? list.first : records_[list.last].next) = id;
  list.last = id;
  ++list.count;
}

inline record_id record_pool::pop(record_list& list) noexcept {
  const record_id id = list.first;
  list.first = records_[id].next;
  --list.count;
  return id;
}

}  // namespace heddle::transport::tcp
