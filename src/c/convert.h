// SPDX-License-Identifier: BSD-3-Clause
// convert.h - what c.h's types are to the C++ interface. Where both lay out the same, one is used
// as the other: a completion or a handler of C is called without a step in between.
#pragma once
#include <heddle/c.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// At its beginning, so that a header handler in C has the message by its address.
struct heddle_matched {
  heddle::matched_message message;
};

namespace heddle::c {

// --- structures -------------------------------------------------------------------------------

static_assert(sizeof(outcome) == sizeof(heddle_outcome) &&
              offsetof(outcome, code) == offsetof(heddle_outcome, code) &&
              offsetof(outcome, lane) == offsetof(heddle_outcome, lane) &&
              offsetof(outcome, peer) == offsetof(heddle_outcome, peer) &&
              offsetof(outcome, tag) == offsetof(heddle_outcome, tag) &&
              offsetof(outcome, bytes) == offsetof(heddle_outcome, bytes));
static_assert(sizeof(completion) == sizeof(heddle_completion) &&
              offsetof(completion, owner) == offsetof(heddle_completion, owner) &&
              offsetof(completion, cookie) == offsetof(heddle_completion, cookie));
static_assert(sizeof(call_message) == sizeof(heddle_message) &&
              offsetof(call_message, header) == offsetof(heddle_message, header) &&
              offsetof(call_message, payload) == offsetof(heddle_message, payload) &&
              offsetof(call_message, owned) == offsetof(heddle_message, owned));
static_assert(sizeof(arriving_call) == sizeof(heddle_arriving_call) &&
              sizeof(matched_message) == sizeof(heddle_matched));
static_assert(sizeof(remote_address) == sizeof(heddle_address) &&
              offsetof(remote_address, offset) == offsetof(heddle_address, offset));
static_assert(sizeof(put_block) == sizeof(heddle_put_block) &&
              offsetof(put_block, to) == offsetof(heddle_put_block, to));
static_assert(sizeof(get_block) == sizeof(heddle_get_block) &&
              offsetof(get_block, from) == offsetof(heddle_get_block, from));
static_assert(sizeof(std::span<std::byte>) == sizeof(heddle_recv_block) &&
              sizeof(std::span<const std::byte>) == sizeof(heddle_send_block));
static_assert(sizeof(stride) == sizeof(heddle_stride) &&
              offsetof(stride, there) == offsetof(heddle_stride, there));
static_assert(sizeof(key) == sizeof(heddle_key));
static_assert(static_cast<int>(status::timed_out) == HEDDLE_TIMED_OUT &&
              static_cast<int>(status::not_found) == HEDDLE_NOT_FOUND);
static_assert(static_cast<int>(atomic_op::compare_swap) == HEDDLE_COMPARE_SWAP &&
              static_cast<int>(last_atomic_op) == HEDDLE_FLOAT_ADD);
static_assert(static_cast<int>(reduce_op::bit_xor) == HEDDLE_BIT_XOR);
static_assert(static_cast<int>(log_level::error) == HEDDLE_LOG_ERROR);
static_assert(static_cast<int>(progress_mode::idle) == HEDDLE_PROGRESS_IDLE);

[[nodiscard]] inline heddle_status of(status s) noexcept {
  return static_cast<heddle_status>(s);
}
[[nodiscard]] inline heddle_outcome of(const outcome& o) noexcept {
  return std::bit_cast<heddle_outcome>(o);
}
[[nodiscard]] inline completion of(const heddle_completion& c) noexcept {
  return std::bit_cast<completion>(c);
}
[[nodiscard]] inline heddle_completion of(const completion& c) noexcept {
  return std::bit_cast<heddle_completion>(c);
}
[[nodiscard]] inline remote_address of(const heddle_address& a) noexcept {
  return {static_cast<const detail::remote_target*>(a.target), a.offset};
}
[[nodiscard]] inline heddle_address of(const remote_address& a) noexcept {
  return {a.target, a.offset};
}
[[nodiscard]] inline std::span<const std::byte> bytes_of(const void* data, std::size_t n) noexcept {
  return {static_cast<const std::byte*>(data), n};
}
[[nodiscard]] inline std::span<std::byte> bytes_of(void* data, std::size_t n) noexcept {
  return {static_cast<std::byte*>(data), n};
}

// --- handles ------------------------------------------------------------------------------------

[[nodiscard]] inline lane& of(heddle_lane* l) noexcept {
  return *reinterpret_cast<lane*>(l);
}
[[nodiscard]] inline const lane& of(const heddle_lane* l) noexcept {
  return *reinterpret_cast<const lane*>(l);
}

// --- errors and texts
// -----------------------------------------------------------------------------

/// For heddle_error().
void remember_error(const char* why) noexcept;

/// What `set_up` returns, or `failed` where it throws, whose reason is remembered.
template <class F>
auto or_failed(std::invoke_result_t<F> failed, F&& set_up) noexcept -> std::invoke_result_t<F> {
  try {
    return set_up();
  } catch (const std::exception& e) {
    remember_error(e.what());
    return failed;
  }
}

/// The text that `make` returns, for heddle_free(), as a kept payload is; null where it throws.
template <class F>
[[nodiscard]] char* text_of(F&& make) noexcept {
  return or_failed(static_cast<char*>(nullptr), [&] {
    const std::string text = make();
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
  });
}

/// `usual` in as much of `*into` as its program knows, which is `size` bytes.
template <class Sized>
void begin_sized(Sized* into, std::size_t size, Sized usual) noexcept {
  usual.size = size;
  std::memset(static_cast<void*>(into), 0, size);
  std::memcpy(static_cast<void*>(into), &usual, std::min(size, sizeof usual));
}

}  // namespace heddle::c

struct heddle_world {
  explicit heddle_world(const heddle::world_options& options) : world(options) {}
  heddle_world(heddle::world& first, const heddle::world_options& options)
      : world(first, options) {}
  /// Handlers that C has set, also those replaced since, which may be running still.
  std::mutex mutex;
  std::vector<std::shared_ptr<void>> listeners;
  heddle::world world;  // first to go
};
