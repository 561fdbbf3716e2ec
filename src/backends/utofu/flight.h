// flight.h - one tracked operation between its post and its notice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>

#include "backends/utofu/stream.h"
#include "base/slab_pool.h"
#include "memory/registration_cache.h"
#include "transport/device.h"

namespace heddle::transport::utofu {

struct target;

/// A put or get that goes in several pieces.
struct large_transfer {
  link* with = nullptr;
  target* to = nullptr;
  op* of = nullptr;
  op_kind kind = op_kind::put;
  std::byte* local = nullptr;
  std::uint64_t offset = 0;  ///< in the region
  std::uint64_t bytes = 0, issued = 0;
  std::uint64_t under_way = 0;  ///< pieces
  status failure = status::done;
  memory::registration_cache::lease held;  ///< none: the pieces are staged
  std::list<large_transfer>::iterator self;
};

/// What has something to do at its end. Stays where it is, so its address serves as its name.
struct flight {
  /// What its end means. All but `access` are the endpoint's own.
  enum class purpose : std::uint8_t {
    access,
    piece,
    ticket,
    places,
    request,
    answer,
    entry,
    probe
  };
  purpose what = purpose::access;
  op_kind kind = op_kind::put;
  bool staged = false;
  bool over = false;  ///< retired: what the hardware still says of it counts no more
  std::uint32_t bytes = 0;
  op* of = nullptr;  ///< access
  link* with = nullptr;
  flight_queue* queue = nullptr;
  std::byte* into = nullptr;          ///< staged get, atomic: where the program wants it
  const std::byte* landed = nullptr;  ///< staged get: where it arrives
  std::uint32_t ticket = 0;           ///< staged: of the staging
  large_transfer* whole = nullptr;    ///< piece
  flight* next_free = nullptr;
  memory::registration_cache::lease held;
};

class flight_pool {
 public:
  /// As a new one, but for what only some purposes use.
  [[nodiscard]] flight& take() { return pool_.take(); }
  void give_back(flight& f) noexcept {
    f.what = flight::purpose::access;
    f.staged = false;
    f.into = nullptr;
    f.held = {};
    pool_.give_back(f);
  }
  /// It has ended while the hardware may still have its command, and name it: not to be used again.
  void retire(flight& f) noexcept {
    f.over = true;
    f.held = {};
    pool_.retire(f);
  }
  [[nodiscard]] std::size_t in_use() const noexcept { return pool_.in_use(); }

 private:
  slab_pool<flight> pool_;
};

}  // namespace heddle::transport::utofu
