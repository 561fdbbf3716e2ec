// SPDX-License-Identifier: BSD-3-Clause
// blocks.cpp - c.h: operations on many blocks.
#include <heddle/blocks.h>

#include <span>

#include "c/convert.h"

// NOLINTBEGIN(readability-function-size): C has neither spans nor defaults
using heddle::c::bytes_of;
using heddle::c::of;

namespace {

std::span<const heddle::put_block> blocks_of(const heddle_put_block* blocks, size_t n) noexcept {
  return {reinterpret_cast<const heddle::put_block*>(blocks), n};
}
std::span<const heddle::get_block> blocks_of(const heddle_get_block* blocks, size_t n) noexcept {
  return {reinterpret_cast<const heddle::get_block*>(blocks), n};
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
// NOLINTEND(readability-function-size)
