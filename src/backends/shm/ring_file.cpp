// SPDX-License-Identifier: BSD-3-Clause
// ring_file.cpp - creating a ring, and checking one that a peer has created.
#include "backends/shm/ring_file.h"

#include <bit>

namespace heddle::transport::shm {

namespace {

constexpr std::uint64_t ring_magic = 0x3147'4e52'4c44'4548;  // "HEDLRNG1"
constexpr std::size_t lines_at = 4096;                       // in the file, and of page size

struct ring_head {
  std::uint64_t magic;
  ring_name name;
  alignas(sync::cache_line) sync::ring_control control;
};
static_assert(sizeof(ring_head) <= lines_at);

sync::ring_place place_in(const mapping& memory) {
  auto* const head = reinterpret_cast<ring_head*>(memory.data());
  const std::size_t bytes = memory.size() - lines_at;
  return {&head->control, memory.data() + lines_at,
          static_cast<std::uint32_t>(bytes / sync::ring_line), 0, provide_pages};
}

bool is_ring_size(std::size_t bytes) {
  return std::has_single_bit(bytes) && bytes >= min_ring_bytes && bytes <= max_ring_bytes;
}

}  // namespace

ring_file create_ring(const ring_name& name, std::size_t bytes) {
  ring_file ring;
  ring.fd = make_sealed_memory("heddle-ring", lines_at + bytes);
  ring.memory = mapping(ring.fd.get(), lines_at + bytes, "a ring");
  auto* const head = reinterpret_cast<ring_head*>(ring.memory.data());
  head->name = name;
  head->magic = ring_magic;
  ring.place = place_in(ring.memory);
  return ring;
}

ring_file open_ring(owned_fd fd, const ring_name& name) {
  ring_file ring;
  const std::size_t size = check_sealed_memory(fd.get(), lines_at + min_ring_bytes, "a ring");
  if (!is_ring_size(size - lines_at)) throw error("a ring has an impossible size");
  ring.memory = mapping(fd.get(), size, "a ring");
  const auto* const head = reinterpret_cast<const ring_head*>(ring.memory.data());
  if (head->magic != ring_magic || head->name != name) {
    throw error("a ring is not the one that was announced");
  }
  ring.place = place_in(ring.memory);
  return ring;
}

}  // namespace heddle::transport::shm
