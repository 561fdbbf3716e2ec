// SPDX-License-Identifier: BSD-3-Clause
// blocks.cpp - blocks.h: what each form is to a block_transfer.
#include <heddle/blocks.h>
#include <heddle/detail/outcome_of.h>

#include <memory>
#include <new>

#include "engine/block_source.h"
#include "engine/block_transfer.h"
#include "engine/limited.h"
#include "protocols/packed.h"

namespace heddle {
namespace {

using engine::block_grid;
using engine::block_list;
using engine::block_transfer;
using engine::get_of_block;
using engine::put_of_block;
using protocols::gathered;
using protocols::scattered;

template <class Move>
status start_grid(lane& on, std::span<std::byte> first, remote_address there,
                  std::span<const stride> dimensions, const completion& ended) noexcept {
  if (dimensions.size() > max_strides) return status::invalid;
  const block_grid blocks(first, there, dimensions);
  if (blocks.count() > block_grid::most) return status::invalid;
  return block_transfer<Move, block_grid>::start(on, blocks, ended);
}

template <class F>
status wait_for(lane& on, F&& attempt) noexcept {
  return detail::outcome_of(on, attempt).code;
}

/// `post(packed)` posts it. What is not posted has no end, and is freed here.
template <class Packed, class F, class... Parts>
status post_packed(F&& post, const Parts&... parts) noexcept {
  try {
    auto packed = std::make_unique<Packed>(parts...);
    const status s = post(*packed);
    if (s == status::posted) static_cast<void>(packed.release());
    return s;
  } catch (const std::bad_alloc&) {
    return status::no_memory;
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

// --- messages --------------------------------------------------------------------------

status try_send_blocks(lane& on, destination to, tag t,
                       std::span<const std::span<const std::byte>> blocks,
                       completion ended) noexcept {
  constexpr std::span<const std::byte> no_header;
  const auto post = [&](gathered& g) { return on.try_send(to, t, g.bytes(), g.end()); };
  return post_packed<gathered>(post, no_header, blocks, ended);
}

status try_call_blocks(lane& on, destination to, handler_id h, std::span<const std::byte> header,
                       std::span<const std::span<const std::byte>> payload,
                       completion ended) noexcept {
  const auto post = [&](gathered& g) { return on.try_call(to, h, g.header(), g.bytes(), g.end()); };
  return post_packed<gathered>(post, header, payload, ended);
}

status try_recv_blocks(lane& on, rank from, tag_match t,
                       std::span<const std::span<std::byte>> blocks, completion ended) noexcept {
  const auto post = [&](scattered& g) { return on.try_recv(from, t, g.bytes(), g.end()); };
  return post_packed<scattered>(post, blocks, ended);
}

status send_blocks(lane& on, destination to, tag t,
                   std::span<const std::span<const std::byte>> blocks) noexcept {
  return wait_for(on, [&](completion c) { return try_send_blocks(on, to, t, blocks, c); });
}

status call_blocks(lane& on, destination to, handler_id h, std::span<const std::byte> header,
                   std::span<const std::span<const std::byte>> payload) noexcept {
  return wait_for(on, [&](completion c) { return try_call_blocks(on, to, h, header, payload, c); });
}

outcome recv_blocks(lane& on, rank from, tag_match t,
                    std::span<const std::span<std::byte>> blocks) noexcept {
  return detail::outcome_of(on,
                            [&](completion c) { return try_recv_blocks(on, from, t, blocks, c); });
}

outcome recv_blocks_for(lane& on, rank from, tag_match t,
                        std::span<const std::span<std::byte>> blocks,
                        std::chrono::nanoseconds limit) noexcept {
  return engine::end_within(on, limit, from,
                            [&](flag& f) { return try_recv_blocks(on, from, t, blocks, f); });
}

}  // namespace heddle
