// SPDX-License-Identifier: BSD-3-Clause
// test_link.h - a ring from a lane of this process to another one, for tests without endpoints.
#pragma once
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "backends/shm/link.h"
#include "backends/shm/own_segment.h"

namespace heddle::transport::shm {

/// From lane `from_lane` to lane 0 of the process that has this segment.
struct test_link {
  test_link(const own_segment& segment, int from_lane)
      : process(std::make_shared<peer_process>(segment.where(), false)),
        name{process->number(), from_lane, process->number(), 0, segment.memory().secret},
        ring(create_ring(name, min_ring_bytes)),
        sender(process, 0),
        receiver(process, from_lane) {
    sender.out.emplace(ring.place);
    receiver.open_incoming(ring.fd.get(), name);
  }
  /// False: there is no room.
  bool send(std::string_view text) {
    return sender.out->try_push({}, {}, std::as_bytes(std::span(text)));
  }
  /// The ring's first record gets a length that no record has.
  void spoil() {
    const std::uint64_t nonsense = 0x8000'0000'0000'ffff;
    std::memcpy(ring.place.line(0), &nonsense, sizeof nonsense);
  }

  const std::shared_ptr<peer_process> process;
  const ring_name name;
  const ring_file ring;
  link sender, receiver;
};

}  // namespace heddle::transport::shm
