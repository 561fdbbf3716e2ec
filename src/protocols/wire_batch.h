// wire_batch.h - operations that will go to the wire with one post.
#pragma once
#include <array>
#include <cstddef>
#include <optional>

#include "backends/backend.h"
#include "protocols/command.h"
#include "wire/message.h"

namespace heddle::protocols {

struct link;
struct record;

struct wire_batch {
  static constexpr std::size_t most = 32;
  struct entry {
    link* to = nullptr;
    record* of = nullptr;              ///< null: a message that has none yet
    command message = {};              ///< that message
    std::optional<wire::prefix> head;  ///< and what its op points to
  };
  std::size_t size = 0;
  std::array<entry, most> entries;
  std::array<backends::op, most> ops;
};

}  // namespace heddle::protocols
