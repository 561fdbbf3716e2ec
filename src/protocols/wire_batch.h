// wire_batch.h - operations that will go to the wire with one post.
#pragma once
#include <array>
#include <cstddef>
#include <optional>

#include "protocols/command.h"
#include "protocols/message.h"
#include "transport/device.h"

namespace heddle::protocols {

struct link;
struct record;

struct wire_batch {
  static constexpr std::size_t most = 32;
  struct entry {
    link* to = nullptr;
    record* of = nullptr;        ///< null: a message that has none yet
    command message = {};        ///< that message
    std::optional<prefix> head;  ///< what its op points to
    transport::op op;            ///< and that op
  };
  std::size_t size = 0;
  std::array<entry, most> entries;
  std::array<transport::op*, most> ops;
};

}  // namespace heddle::protocols
