// SPDX-License-Identifier: BSD-3-Clause
// delivery.h - what has ended or arrived, collected while a lane is held and run after.
#pragma once
#include <heddle/completion.h>
#include <heddle/world.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/copy.h"
#include "base/growing_list.h"
#include "protocols/spare_payloads.h"

namespace heddle::protocols {

/// What runs for a handler id.
struct handler_entry {
  call_handler function = nullptr;
  void* context = nullptr;
};

/// Completions and calls. One per thread, reused: no allocation once warm.
///
/// run() may be entered again from what it runs (a callback that posts); the inner call returns at
/// once and the outer one goes on with what was added, so the stack does not grow.
class delivery_batch {
 public:
  delivery_batch() = default;
  ~delivery_batch();
  delivery_batch(const delivery_batch&) = delete;
  delivery_batch& operator=(const delivery_batch&) = delete;

  [[gnu::always_inline]] void add(const completion& done, const outcome& what) {
    if (done.deliver != nullptr) filling_->ended.add({done, what});
  }
  /// The same; what this thread itself awaits in a blocking form has ended at once.
  [[gnu::always_inline]] void finish(const completion& done, const outcome& what) {
    if (!detail::awaited::end_here(done, this, what)) add(done, what);
  }
  /// A call whose header and payload follow each other in `body`, which is copied: the wire's
  /// buffer is free on return.
  [[gnu::always_inline]] void add_call(engine::lane_core& lane, const handler_entry& handler,
                                       destination source, std::span<const std::byte> body,
                                       std::size_t header_bytes) {
    page& p = *filling_;
    std::byte* const copy = p.keep(body.size());
    copy_few(copy, body);
    p.calls.add({&lane, handler, source, static_cast<std::uint32_t>(header_bytes), copy,
                 body.size(), nullptr});
  }
  /// A call whose payload lies in `owned` already, which payloads() gave for it.
  void add_call(engine::lane_core& lane, const handler_entry& handler, destination source,
                std::span<const std::byte> header, payload_memory owned, std::size_t bytes);

  /// Memory for the payloads of large calls; what handlers leave of it comes back.
  [[nodiscard]] spare_payloads& payloads() noexcept { return payloads_; }

  /// Runs what has ended where all of it only raises flags and counters, and nobody watches: no
  /// program's code, so it may be done with a lane held.
  void run_raises() noexcept;
  /// Runs everything; with no lane held. Returns how many items ran.
  std::size_t run() noexcept { return running_ || empty() ? 0 : run_all(); }
  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] bool empty() const noexcept { return filling_->empty(); }
  /// The calling thread's batch.
  static delivery_batch& mine() noexcept {
    if (of_thread == nullptr) [[unlikely]]
      make_mine();
    return *of_thread;
  }

 private:
  std::size_t run_all() noexcept;  // not when empty
  struct end {
    completion done;
    outcome what;
  };
  struct owned_payload {
    payload_memory data;
    std::size_t bytes;
  };
  struct call {
    engine::lane_core* lane;
    handler_entry handler;
    destination source;
    std::uint32_t header_bytes;
    const std::byte* body;  ///< the header, and behind it the payload
    std::size_t body_bytes;
    owned_payload* large;  ///< or there
  };
  static constexpr std::size_t block_bytes = 64 * 1024;
  /// What is to run, and the bytes it refers to.
  struct page {
    growing_list<end> ended;
    growing_list<call> calls;
    std::vector<std::unique_ptr<std::byte[]>> blocks;
    std::byte* room = nullptr;  // of the last block, up to:
    std::byte* room_end = nullptr;
    std::vector<std::unique_ptr<owned_payload>> owned;
    std::byte* keep(std::size_t bytes) {
      if (bytes > static_cast<std::size_t>(room_end - room)) [[unlikely]]
        add_block(bytes);
      std::byte* const at = room;
      room += bytes;
      return at;
    }
    void add_block(std::size_t bytes);
    [[nodiscard]] bool empty() const noexcept { return ended.empty() && calls.empty(); }
    void clear_calls();
  };
  static void tell_watchers(growing_list<end>& ended) noexcept;
  static std::size_t run_ended(page& of) noexcept;
  [[gnu::noinline]] std::size_t run_calls(page& of) noexcept;
  static const end* run_alike(const end* first, const end* last) noexcept;
  static const call* run_of_one_lane(const call* first, const call* last) noexcept;
  static void make_mine() noexcept;

  static thread_local constinit delivery_batch* of_thread;
  std::array<page, 2> pages_;
  page* filling_ = &pages_[0];   // what is added
  page* draining_ = &pages_[1];  // what runs
  bool running_ = false;
  spare_payloads payloads_;
};

}  // namespace heddle::protocols
