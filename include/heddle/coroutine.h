// SPDX-License-Identifier: BSD-3-Clause
// coroutine.h - a lane's operations to co_await: async_lane.
//
//   heddle::task<> work(heddle::async_lane lane) {
//     std::uint64_t value = 0;
//     if (co_await lane.get(value, place) == heddle::status::done) ...
//   }
//   heddle::flag ended;
//   heddle::spawn(work(heddle::async_lane(lane)), ended);
//   lane.wait(ended);
//
// What an operation needs while it runs lives in the awaiting coroutine's frame, so none
// allocates. One that is answered `done` does not suspend; `posted` suspends and goes on from the
// completion; busy waits until the lane says that asking again makes sense (lane::when_ready);
// anything else is the result.
//
// How a completion that runs on another thread before await_suspend has returned is kept from
// harm, without a lock or an atomic: a coroutine counts as suspended before await_suspend begins,
// and there the post is the last action: after an answer of `posted`, nothing of the frame, and
// that includes the awaiter, is touched.
#pragma once
#include <heddle/blocks.h>
#include <heddle/completion.h>
#include <heddle/detail/join.h>
#include <heddle/detail/run_loop.h>
#include <heddle/lane.h>
#include <heddle/memory.h>
#include <heddle/status.h>
#include <heddle/task.h>
#include <heddle/types.h>

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>

namespace heddle {

/// One operation, not yet posted. Await it, or hand it to when_all. `Post` is how to post it.
template <class Result, class Lane, class Post>
class [[nodiscard]] operation : private detail::step {
 public:
  operation(Lane& on, Post post) noexcept : lane_(&on), post_(std::move(post)) {}

  bool await_ready() const noexcept { return false; }
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> waiter) noexcept {
    waiter_ = waiter;
    return !post();
  }
  Result await_resume() const noexcept {
    if constexpr (std::same_as<Result, status>) {
      return result_.code;
    } else {
      return result_;
    }
  }

  /// For when_all: posts, and arrives at `group` when it ends.
  void start(std::coroutine_handle<> waiter, detail::join& group) noexcept {
    waiter_ = waiter;
    group_ = &group;
    if (post()) static_cast<void>(group.arrive());  // never the last: when_all itself is missing
  }

 private:
  enum : std::uint64_t { ended, ask_again };  // cookies

  /// True: it has ended and result_ is set. False: it is Heddle's now, and `this` may be gone.
  bool post() noexcept {
    const status answer = post_(*lane_, completion{&operation::deliver, this, ended});
    if (answer == status::posted) return false;
    if (is_busy(answer)) {
      lane_->when_ready({&operation::deliver, this, ask_again});
      return false;
    }
    result_.code = answer;
    return true;
  }

  static void deliver(void* owner, std::uint64_t cookie, const outcome& what) noexcept {
    auto& self = *static_cast<operation*>(owner);
    if (cookie == ask_again) {
      self.run = &operation::post_again;
    } else {
      self.result_ = what;
      if (self.others_missing()) return;
      self.run = &operation::resume;
    }
    detail::run_loop::run_soon(self);
  }
  static void post_again(step& s) noexcept {
    auto& self = static_cast<operation&>(s);
    if (self.post() && !self.others_missing()) self.waiter_.resume();
  }
  static void resume(step& s) noexcept { static_cast<operation&>(s).waiter_.resume(); }
  /// True: somebody else will resume, and `this` may be gone.
  bool others_missing() noexcept { return group_ != nullptr && !group_->arrive(); }

  Lane* lane_;
  Post post_;
  std::coroutine_handle<> waiter_;
  detail::join* group_ = nullptr;
  outcome result_;
};

namespace detail {

template <class... Operations>
class all_operations {
 public:
  explicit all_operations(Operations... operations) noexcept
      : operations_(std::move(operations)...) {}
  bool await_ready() const noexcept { return false; }
  [[gnu::noinline]] bool await_suspend(std::coroutine_handle<> waiter) noexcept {
    std::apply([&](Operations&... each) { (each.start(waiter, running_), ...); }, operations_);
    return !running_.arrive();  // this call's own share, which kept `this` alive until here
  }
  auto await_resume() const noexcept {
    return std::apply([](const Operations&... each) { return std::tuple(each.await_resume()...); },
                      operations_);
  }

 private:
  std::tuple<Operations...> operations_;
  join running_{sizeof...(Operations) + 1};
};

}  // namespace detail

/// Posts the operations one after the other, goes on when all have ended: a tuple of their results.
/// `auto [sent, received] = co_await when_all(lane.send(...), lane.recv(...));`
template <class... Result, class... Lane, class... Post>
[[nodiscard]] auto when_all(operation<Result, Lane, Post>... operations) noexcept {
  return detail::all_operations<operation<Result, Lane, Post>...>(std::move(operations)...);
}

/// A lane whose operations are awaited. A pointer to the lane, which must outlive its use.
///
/// The functions mirror the blocking forms of `lane`: arguments, buffers and statuses are those of
/// the lane::try_* function of that name, less `posted` and the busy ones. Nothing happens before
/// the await. Buffers and `old` belong to Heddle until it is over.
template <class Lane>
class basic_async_lane {
 public:
  explicit basic_async_lane(Lane& on) noexcept : lane_(&on) {}
  [[nodiscard]] Lane& base() const noexcept { return *lane_; }

  // --- remote memory: each gives a status -------------------------------------------------------
  auto put(std::span<const std::byte> from, remote_address to) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept { return l.try_put(from, to, c); });
  }
  auto get(std::span<std::byte> into, remote_address from) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept { return l.try_get(into, from, c); });
  }
  template <class T>
  auto put(const T& from, remote_ptr<T> to) const noexcept {
    return put(std::as_bytes(std::span(&from, 1)), to.address);
  }
  template <class T>
  auto get(T& into, remote_ptr<T> from) const noexcept {
    return get(std::as_writable_bytes(std::span(&into, 1)), from.address);
  }
  auto put_notify(std::span<const std::byte> from, remote_address to, handler_id notify,
                  std::uint64_t value) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept {
      return l.try_put_notify(from, to, notify, value, c);
    });
  }
  auto put_signal(std::span<const std::byte> from, remote_address to, atomic_op how,
                  remote_ptr<std::uint64_t> word, std::uint64_t value) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept {
      return l.try_put_signal(from, to, how, word, value, c);
    });
  }
  template <atomic_number T>
  auto atomic(atomic_op op, remote_ptr<T> at, std::type_identity_t<T> operand, T* old,
              std::type_identity_t<T> compare = 0) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept {
      return l.template try_atomic<T>(op, at, operand, old, c, compare);
    });
  }
  template <atomic_number T>
  auto fetch_add(remote_ptr<T> at, std::type_identity_t<T> operand, T& old) const noexcept {
    return atomic<T>(atomic_op::add, at, operand, &old);
  }
  template <atomic_integer T>
  auto fetch_min(remote_ptr<T> at, std::type_identity_t<T> operand, T& old) const noexcept {
    return atomic<T>(atomic_op::min, at, operand, &old);
  }
  template <atomic_integer T>
  auto fetch_max(remote_ptr<T> at, std::type_identity_t<T> operand, T& old) const noexcept {
    return atomic<T>(atomic_op::max, at, operand, &old);
  }
  template <atomic_number T>
  auto add(remote_ptr<T> at, std::type_identity_t<T> operand) const noexcept {
    return atomic<T>(atomic_op::add, at, operand, nullptr);
  }
  template <atomic_number T>
  auto swap(remote_ptr<T> at, std::type_identity_t<T> desired, T& old) const noexcept {
    return atomic<T>(atomic_op::swap, at, desired, &old);
  }
  template <atomic_number T>
  auto compare_swap(remote_ptr<T> at, std::type_identity_t<T> expected,
                    std::type_identity_t<T> desired, T& old) const noexcept {
    return atomic<T>(atomic_op::compare_swap, at, desired, &old, expected);
  }

  // --- messages ---------------------------------------------------------------------------------
  /// A status.
  auto send(destination to, tag t, std::span<const std::byte> data) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept { return l.try_send(to, t, data, c); });
  }
  /// An outcome: status, source, tag, length.
  auto recv(rank from, tag_match t, std::span<std::byte> into) const noexcept {
    return make<outcome>(
        [=](Lane& l, completion c) noexcept { return l.try_recv(from, t, into, c); });
  }
  /// An outcome, as of recv; then `into` holds the message.
  auto match(rank from, tag_match t, matched_message& into) const noexcept {
    return make<outcome>([=, place = &into](Lane& l, completion c) noexcept {
      return l.try_match(from, t, *place, c);
    });
  }
  auto recv(matched_message& m, std::span<std::byte> into) const noexcept {
    return make<outcome>(
        [=, taken = &m](Lane& l, completion c) noexcept { return l.try_recv(*taken, into, c); });
  }
  /// A status.
  auto call(destination to, handler_id h, std::span<const std::byte> header,
            std::span<const std::byte> payload) const noexcept {
    return make<status>(
        [=](Lane& l, completion c) noexcept { return l.try_call(to, h, header, payload, c); });
  }

  // --- order: each gives a status ---------------------------------------------------------------
  auto flush(rank peer) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept { return l.try_flush(peer, c); });
  }
  auto flush() const noexcept {
    return make<status>([](Lane& l, completion c) noexcept { return l.try_flush(c); });
  }
  auto fence(rank peer) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept { return l.try_fence(peer, c); });
  }

  // --- many blocks as one: those of blocks.h
  // ------------------------------------------------------ The lists are read again where an answer
  // was busy: they stay as long as the buffers do.
  auto put_blocks(std::span<const put_block> blocks) const noexcept {
    return make<status>(
        [=](Lane& l, completion c) noexcept { return try_put_blocks(l, blocks, c); });
  }
  auto get_blocks(std::span<const get_block> blocks) const noexcept {
    return make<status>(
        [=](Lane& l, completion c) noexcept { return try_get_blocks(l, blocks, c); });
  }
  auto put_grid(std::span<const std::byte> first, remote_address to,
                std::span<const stride> dimensions) const noexcept {
    return make<status>(
        [=](Lane& l, completion c) noexcept { return try_put_grid(l, first, to, dimensions, c); });
  }
  auto get_grid(std::span<std::byte> first, remote_address from,
                std::span<const stride> dimensions) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept {
      return try_get_grid(l, first, from, dimensions, c);
    });
  }
  auto send_blocks(destination to, tag t,
                   std::span<const std::span<const std::byte>> blocks) const noexcept {
    return make<status>(
        [=](Lane& l, completion c) noexcept { return try_send_blocks(l, to, t, blocks, c); });
  }
  auto call_blocks(destination to, handler_id h, std::span<const std::byte> header,
                   std::span<const std::span<const std::byte>> payload) const noexcept {
    return make<status>([=](Lane& l, completion c) noexcept {
      return try_call_blocks(l, to, h, header, payload, c);
    });
  }
  /// An outcome, as of recv.
  auto recv_blocks(rank from, tag_match t,
                   std::span<const std::span<std::byte>> blocks) const noexcept {
    return make<outcome>(
        [=](Lane& l, completion c) noexcept { return try_recv_blocks(l, from, t, blocks, c); });
  }

 private:
  template <class Result, class Post>
  auto make(Post post) const noexcept {
    return operation<Result, Lane, Post>(*lane_, std::move(post));
  }
  Lane* lane_;
};

using async_lane = basic_async_lane<lane>;

}  // namespace heddle
