// flight.h - one tracked operation between its post and its notice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "backends/backend.h"
#include "backends/utofu/stream.h"
#include "memory/registration_cache.h"

namespace heddle::backends::utofu {

struct target;

/// A put or get that goes in several pieces.
struct large_transfer {
  link* with = nullptr;
  target* to = nullptr;
  std::uint64_t cookie = 0;
  op_kind kind = op_kind::put;
  std::byte* local = nullptr;
  std::uint64_t offset = 0;  ///< in the region
  std::uint64_t bytes = 0, issued = 0;
  std::uint64_t under_way = 0;  ///< pieces
  status failure = status::done;
  memory::registration_cache::lease held;  ///< none: the pieces are staged
  std::list<large_transfer>::iterator self;
};

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
  std::uint32_t bytes = 0;
  std::uint32_t ticket = 0;  ///< staged: of the staging
  std::uint64_t cookie = 0;
  link* with = nullptr;
  flight_queue* queue = nullptr;
  target* to = nullptr;
  std::byte* into = nullptr;          ///< staged get, atomic: where the program wants it
  const std::byte* landed = nullptr;  ///< staged get: where it arrives
  large_transfer* whole = nullptr;
  memory::registration_cache::lease held;
};

/// Flights by number.
class flight_pool {
 public:
  [[nodiscard]] std::uint32_t take() {
    if (free_.empty()) {
      flights_.emplace_back();
      return static_cast<std::uint32_t>(flights_.size() - 1);
    }
    const std::uint32_t number = free_.back();
    free_.pop_back();
    return number;
  }
  void give_back(std::uint32_t number) {
    flights_[number] = {};
    free_.push_back(number);
  }
  [[nodiscard]] flight& operator[](std::uint32_t number) noexcept { return flights_[number]; }
  [[nodiscard]] std::size_t in_use() const noexcept { return flights_.size() - free_.size(); }

 private:
  std::vector<flight> flights_;
  std::vector<std::uint32_t> free_;
};

}  // namespace heddle::backends::utofu
