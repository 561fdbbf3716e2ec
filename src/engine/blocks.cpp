// blocks.cpp - blocks.h: what each form is to a block_transfer.
#include <heddle/blocks.h>

#include "engine/block_source.h"
#include "engine/block_transfer.h"

namespace heddle {
namespace {

using engine::block_grid;
using engine::block_list;
using engine::block_transfer;
using engine::get_of_block;
using engine::put_of_block;

template <class Move>
status start_grid(lane& on, std::span<std::byte> first, remote_address there,
                  std::span<const stride> dimensions, const completion& ended) noexcept {
  if (dimensions.size() > max_strides) return status::invalid;
  const block_grid blocks(first, there, dimensions);
  if (blocks.count() > block_grid::most) return status::invalid;
  return block_transfer<Move, block_grid>::start(on, blocks, ended);
}

/// Tries until it is accepted, and waits for the end.
template <class F>
status wait_for(lane& on, F&& attempt) noexcept {
  for (;;) {
    flag ended;
    const status s = attempt(ended);
    if (s == status::posted) return on.wait(ended);
    if (!is_busy(s)) return s;
    flag room;
    on.when_ready(room);
    if (const status waited = on.wait(room); waited != status::done) return waited;
  }
}

}  // namespace

status try_put_blocks(lane& on, std::span<const put_block> blocks, completion ended) noexcept {
  using list = block_list<put_block>;
  return block_transfer<put_of_block, list>::start(on, list(blocks), ended);
}

status try_get_blocks(lane& on, std::span<const get_block> blocks, completion ended) noexcept {
  using list = block_list<get_block>;
  return block_transfer<get_of_block, list>::start(on, list(blocks), ended);
}

status try_put_grid(lane& on, std::span<const std::byte> first, remote_address to,
                    std::span<const stride> dimensions, completion ended) noexcept {
  return start_grid<put_of_block>(on, transport::only_read(first), to, dimensions, ended);
}

status try_get_grid(lane& on, std::span<std::byte> first, remote_address from,
                    std::span<const stride> dimensions, completion ended) noexcept {
  return start_grid<get_of_block>(on, first, from, dimensions, ended);
}

status put_blocks(lane& on, std::span<const put_block> blocks) noexcept {
  return wait_for(on, [&](completion c) { return try_put_blocks(on, blocks, c); });
}

status get_blocks(lane& on, std::span<const get_block> blocks) noexcept {
  return wait_for(on, [&](completion c) { return try_get_blocks(on, blocks, c); });
}

status put_grid(lane& on, std::span<const std::byte> first, remote_address to,
                std::span<const stride> dimensions) noexcept {
  return wait_for(on, [&](completion c) { return try_put_grid(on, first, to, dimensions, c); });
}

status get_grid(lane& on, std::span<std::byte> first, remote_address from,
                std::span<const stride> dimensions) noexcept {
  return wait_for(on, [&](completion c) { return try_get_grid(on, first, from, dimensions, c); });
}

}  // namespace heddle
