// SPDX-License-Identifier: BSD-3-Clause
// blocks.cpp - c.h: operations on many blocks.
#include <heddle/blocks.h>

#include <chrono>
#include <cstddef>
#include <span>

#include "c/convert.h"

// NOLINTBEGIN(readability-function-size): C has neither spans nor defaults
using heddle::destination;
using heddle::tag_match;
using heddle::c::bytes_of;
using heddle::c::of;

namespace {

std::span<const heddle::put_block> blocks_of(const heddle_put_block* blocks, size_t n) noexcept {
  return {reinterpret_cast<const heddle::put_block*>(blocks), n};
}
std::span<const heddle::get_block> blocks_of(const heddle_get_block* blocks, size_t n) noexcept {
  return {reinterpret_cast<const heddle::get_block*>(blocks), n};
}
std::span<const std::span<const std::byte>> blocks_of(const heddle_send_block* blocks,
                                                      size_t n) noexcept {
  return {reinterpret_cast<const std::span<const std::byte>*>(blocks), n};
}
std::span<const std::span<std::byte>> blocks_of(const heddle_recv_block* blocks,
                                                size_t n) noexcept {
  return {reinterpret_cast<const std::span<std::byte>*>(blocks), n};
}
std::span<const heddle::stride> strides_of(const heddle_stride* strides, size_t n) noexcept {
  return {reinterpret_cast<const heddle::stride*>(strides), n};
}

}  // namespace

heddle_status heddle_try_put_blocks(heddle_lane* lane, const heddle_put_block* blocks, size_t count,
                                    heddle_completion ended) {
  return of(try_put_blocks(of(lane), blocks_of(blocks, count), of(ended)));
}
heddle_status heddle_try_get_blocks(heddle_lane* lane, const heddle_get_block* blocks, size_t count,
                                    heddle_completion ended) {
  return of(try_get_blocks(of(lane), blocks_of(blocks, count), of(ended)));
}
heddle_status heddle_try_put_grid(heddle_lane* lane, const void* first, size_t bytes,
                                  heddle_address to, const heddle_stride* strides, size_t count,
                                  heddle_completion ended) {
  return of(try_put_grid(of(lane), bytes_of(first, bytes), of(to), strides_of(strides, count),
                         of(ended)));
}
heddle_status heddle_try_get_grid(heddle_lane* lane, void* first, size_t bytes, heddle_address from,
                                  const heddle_stride* strides, size_t count,
                                  heddle_completion ended) {
  return of(try_get_grid(of(lane), bytes_of(first, bytes), of(from), strides_of(strides, count),
                         of(ended)));
}
heddle_status heddle_put_blocks(heddle_lane* lane, const heddle_put_block* blocks, size_t count) {
  return of(put_blocks(of(lane), blocks_of(blocks, count)));
}
heddle_status heddle_get_blocks(heddle_lane* lane, const heddle_get_block* blocks, size_t count) {
  return of(get_blocks(of(lane), blocks_of(blocks, count)));
}
heddle_status heddle_put_grid(heddle_lane* lane, const void* first, size_t bytes, heddle_address to,
                              const heddle_stride* strides, size_t count) {
  return of(put_grid(of(lane), bytes_of(first, bytes), of(to), strides_of(strides, count)));
}
heddle_status heddle_get_grid(heddle_lane* lane, void* first, size_t bytes, heddle_address from,
                              const heddle_stride* strides, size_t count) {
  return of(get_grid(of(lane), bytes_of(first, bytes), of(from), strides_of(strides, count)));
}

// --- messages ----------------------------------------------------------------------------------

heddle_status heddle_try_send_blocks(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                                     const heddle_send_block* blocks, size_t count,
                                     heddle_completion ended) {
  return of(try_send_blocks(of(lane), destination(to, to_lane), tag, blocks_of(blocks, count),
                            of(ended)));
}
heddle_status heddle_try_call_blocks(heddle_lane* lane, heddle_rank to, int to_lane,
                                     uint16_t handler, const void* header, size_t header_bytes,
                                     const heddle_send_block* payload, size_t count,
                                     heddle_completion ended) {
  return of(try_call_blocks(of(lane), destination(to, to_lane), handler,
                            bytes_of(header, header_bytes), blocks_of(payload, count), of(ended)));
}
heddle_status heddle_try_recv_blocks(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                     uint64_t mask, const heddle_recv_block* blocks, size_t count,
                                     heddle_completion ended) {
  return of(
      try_recv_blocks(of(lane), from, tag_match(tag, mask), blocks_of(blocks, count), of(ended)));
}
heddle_status heddle_send_blocks(heddle_lane* lane, heddle_rank to, int to_lane, heddle_tag tag,
                                 const heddle_send_block* blocks, size_t count) {
  return of(send_blocks(of(lane), destination(to, to_lane), tag, blocks_of(blocks, count)));
}
heddle_status heddle_call_blocks(heddle_lane* lane, heddle_rank to, int to_lane, uint16_t handler,
                                 const void* header, size_t header_bytes,
                                 const heddle_send_block* payload, size_t count) {
  return of(call_blocks(of(lane), destination(to, to_lane), handler, bytes_of(header, header_bytes),
                        blocks_of(payload, count)));
}
heddle_outcome heddle_recv_blocks(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                  uint64_t mask, const heddle_recv_block* blocks, size_t count) {
  return of(recv_blocks(of(lane), from, tag_match(tag, mask), blocks_of(blocks, count)));
}
heddle_outcome heddle_recv_blocks_for(heddle_lane* lane, heddle_rank from, heddle_tag tag,
                                      uint64_t mask, const heddle_recv_block* blocks, size_t count,
                                      int64_t limit_ns) {
  return of(recv_blocks_for(of(lane), from, tag_match(tag, mask), blocks_of(blocks, count),
                            std::chrono::nanoseconds(limit_ns)));
}
// NOLINTEND(readability-function-size)
