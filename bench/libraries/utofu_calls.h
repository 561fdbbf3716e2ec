// SPDX-License-Identifier: BSD-3-Clause
// utofu_calls.h - uTofu by its calls and nothing else: a VCQ and registered memory that free
// themselves, the other rank's VCQ of the same number, and one thread's use of them.
//
// A put has ended when the notice of its response is there: the bytes are in the other rank's
// memory, which is what Heddle's completion of a put says. A completion of the TCQ would come
// earlier and say less. There are no tagged messages; a call is a put that the partner is told of.
#pragma once
#include <sched.h>
#include <utofu.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/slots.h"
#include "libraries/rival.h"
#include "parts/system.h"

namespace heddle::bench {

/// Throws std::runtime_error naming `what` and the return code.
inline void require_utofu(int code, const char* what) {
  if (code == UTOFU_SUCCESS) return;
  throw std::runtime_error(std::string(what) + ": uTofu's error " + std::to_string(code));
}

/// A VCQ that has its CQ to itself, and which several threads may use at once if they are to.
class utofu_queue {
 public:
  /// On the n-th TNI, going round when there are fewer.
  utofu_queue(std::size_t n, bool several) {
    const unsigned long flags =
        UTOFU_VCQ_FLAG_EXCLUSIVE | (several ? UTOFU_VCQ_FLAG_THREAD_SAFE : 0);
    require_utofu(utofu_create_vcq(nth_tni(n), flags, &handle_),
                  "utofu_create_vcq (is there a CQ left?)");
  }
  utofu_queue(const utofu_queue&) = delete;
  utofu_queue& operator=(const utofu_queue&) = delete;
  ~utofu_queue() { utofu_free_vcq(handle_); }
  [[nodiscard]] utofu_vcq_hdl_t handle() const noexcept { return handle_; }
  /// As peers address it, by the default path.
  [[nodiscard]] utofu_vcq_id_t id() const {
    utofu_vcq_id_t id = 0;
    require_utofu(utofu_query_vcq_id(handle_, &id), "utofu_query_vcq_id");
    return id;
  }

 private:
  static utofu_tni_id_t nth_tni(std::size_t n) {
    utofu_tni_id_t* ids = nullptr;
    std::size_t count = 0;
    require_utofu(utofu_get_onesided_tnis(&ids, &count), "utofu_get_onesided_tnis");
    const std::unique_ptr<utofu_tni_id_t[], decltype(&std::free)> owned(ids, std::free);
    if (count == 0) throw std::runtime_error("this process has no TNI");
    return ids[n % count];
  }

  utofu_vcq_hdl_t handle_ = 0;
};

/// Zeroed memory of this process, in pages of its own that are there already: by pages of 64 KiB it
/// is registered, and two registrations that share one would be the same.
class utofu_memory {
 public:
  explicit utofu_memory(std::size_t bytes)
      : mapping_((std::max<std::size_t>(bytes, 1) + 2 * page_bytes - 1) / page_bytes * page_bytes) {
    void* at = mapping_.data();
    std::size_t room = mapping_.bytes();
    std::align(page_bytes, std::max<std::size_t>(bytes, 1), at, room);
    bytes_ = {static_cast<std::byte*>(at), room / page_bytes * page_bytes};
  }
  [[nodiscard]] std::byte* data() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  static constexpr std::size_t page_bytes = 64 * 1024;
  bare::shared_mapping mapping_;
  std::span<std::byte> bytes_;
};

/// Memory as a VCQ addresses it. Both must outlive this.
class utofu_registration {
 public:
  utofu_registration(const utofu_queue& by, const utofu_memory& memory) : queue_(by) {
    const auto bytes = memory.bytes();
    require_utofu(utofu_reg_mem(by.handle(), bytes.data(), bytes.size(), 0, &stadd_),
                  "utofu_reg_mem");
  }
  utofu_registration(const utofu_registration&) = delete;
  utofu_registration& operator=(const utofu_registration&) = delete;
  ~utofu_registration() { utofu_dereg_mem(queue_.handle(), stadd_, 0); }
  /// Of the first byte; the others follow.
  [[nodiscard]] utofu_stadd_t stadd() const noexcept { return stadd_; }

 private:
  const utofu_queue& queue_;
  utofu_stadd_t stadd_ = 0;
};

/// What one rank must know of the other's path: its VCQ, and the table as that VCQ addresses it.
struct utofu_target {
  utofu_vcq_id_t vcq = 0;
  utofu_stadd_t table = 0;
};

/// What the notices of one thread's operations have said. With several threads on a path any of
/// them takes the notices of all; the operation's edata tells whose they are.
struct alignas(128) utofu_account {
  std::atomic<std::uint64_t> ended{0};    ///< own puts, gets and armws, known to be complete
  std::atomic<std::uint64_t> arrived{0};  ///< puts of the partner thread that ask for a notice
};

class utofu_path {
 public:
  static constexpr int most_threads = 256;  ///< edata has 8 bits

  /// The `n`-th path, of `threads` threads.
  utofu_path(std::size_t n, int threads, const utofu_memory& table)
      : threads_(threads), queue_(n, threads > 1), table_(queue_, table) {}
  [[nodiscard]] utofu_target mine() const { return {queue_.id(), table_.stadd()}; }
  void connect(const utofu_target& theirs) { theirs_ = theirs; }

  [[nodiscard]] const utofu_queue& queue() const noexcept { return queue_; }
  [[nodiscard]] const utofu_target& theirs() const noexcept { return theirs_; }
  [[nodiscard]] int threads() const noexcept { return threads_; }
  [[nodiscard]] const utofu_account& account(std::uint64_t thread) const noexcept {
    return accounts_[thread];
  }
  /// One notice; false: there is none.
  bool take_notice() {
    utofu_mrq_notice notice;
    const int code = utofu_poll_mrq(queue_.handle(), 0, &notice);
    if (code == UTOFU_ERR_NOT_FOUND) return false;
    require_utofu(code, "utofu_poll_mrq");
    utofu_account& of = accounts_[notice.edata % most_threads];
    count(notice.notice_type == UTOFU_MRQ_TYPE_RMT_PUT ? of.arrived : of.ended);
    return true;
  }
  /// Makes room for more commands.
  void reclaim() {
    void* which = nullptr;
    int code = UTOFU_SUCCESS;
    while ((code = utofu_poll_tcq(queue_.handle(), 0, &which)) != UTOFU_ERR_NOT_FOUND)
      require_utofu(code, "utofu_poll_tcq");
  }

 private:
  /// A thread that has the path to itself counts without an atomic read-modify-write.
  void count(std::atomic<std::uint64_t>& of) const noexcept {
    if (threads_ > 1) {
      of.fetch_add(1, std::memory_order_release);  // R1
    } else {
      of.store(of.load(std::memory_order_relaxed) + 1, std::memory_order_release);  // R1
    }
  }

  const int threads_;
  const utofu_queue queue_;
  const utofu_registration table_;
  utofu_target theirs_;
  const std::unique_ptr<utofu_account[]> accounts_ =
      std::make_unique<utofu_account[]>(most_threads);
};

/// Acquire pairs with R1 in utofu_path::count(): what the operation has written is there.
[[nodiscard]] inline std::uint64_t seen(const std::atomic<std::uint64_t>& count) noexcept {
  return count.load(std::memory_order_acquire);
}

/// One thread's commands on a path: at most a window of those that end with a notice is in flight.
class utofu_flight {
 public:
  static constexpr unsigned long noticed = UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;

  /// `number` on its path. `crowded`: others need the core while this one waits.
  utofu_flight(utofu_path& path, std::uint64_t number, int window, bool crowded)
      : path_(path),
        account_(path.account(number)),
        window_(static_cast<std::uint64_t>(window)),
        crowded_(crowded) {}

  /// Posts the command that `attempt()` tries to.
  template <class F>
  void post(unsigned long flags, F&& attempt) {
    if ((flags & noticed) == 0) {
      if (++silent_ % sweep_interval == 0) sweep();
    } else if (posted_++ - ended_ >= window_) {
      await_ended(posted_ - 1 - window_ / 2);
      path_.reclaim();
    }
    int code = attempt();
    for (; code == UTOFU_ERR_BUSY; code = attempt()) sweep();
    if (code != UTOFU_SUCCESS) require_utofu(code, "post a command");
  }
  /// Waits until all that ends with a notice has ended.
  void drain() { await_ended(posted_); }
  /// Waits until `done()`, and looks after the path meanwhile: a command that fails at this end
  /// gets no notice, only a completion that says so.
  template <class F>
  void await(F&& done) {
    for (unsigned idle = 0; !done();) {
      if (path_.take_notice() || ++idle % patience != 0) continue;
      path_.reclaim();
      if (crowded_) sched_yield();
    }
  }
  /// Puts of the partner thread that asked for a notice.
  [[nodiscard]] std::uint64_t arrived() const { return seen(account_.arrived); }

 private:
  static constexpr unsigned patience = 64;
  /// Commands without a notice take their places in the queues nevertheless.
  static constexpr std::uint64_t sweep_interval = 256;

  /// Takes all notices, also those nobody asked for, and makes room for commands.
  void sweep() {
    while (path_.take_notice()) {
    }
    path_.reclaim();
  }
  void await_ended(std::uint64_t count) {
    await([&] { return (ended_ = seen(account_.ended)) >= count; });
  }

  utofu_path& path_;
  const utofu_account& account_;
  const std::uint64_t window_;
  const bool crowded_;
  std::uint64_t posted_ = 0, ended_ = 0;  ///< with a notice, and of these, as last seen
  std::uint64_t silent_ = 0;              ///< without
};

using all_paths = std::vector<std::unique_ptr<utofu_path>>;

/// The words of kernels/library.h. Each operation ends with a notice, unless nobody needs one.
class tofu_path : public rival_thread {
 public:
  using place = std::uint64_t;  ///< an offset
  static constexpr bool handler_answers = false;

  tofu_path(const task& t, const all_paths& paths, const utofu_memory& table, int thread)
      : rival_thread(t, thread, table.bytes()),
        paths_(paths),
        path_(*paths[static_cast<std::size_t>(t.path_of(thread))]),
        number_(number_on_path(t, thread)),
        flight_(path_, number_, t.what.window, t.crowded()),
        window_(static_cast<std::uint64_t>(t.what.window)),
        memory_(std::max(bytes_ * window_, sizeof(std::uint64_t))),
        registered_(path_.queue(), memory_),
        taken_(table_layout::for_spec(t.what).line_of(thread)),
        slot_(table_layout::for_spec(t.what).slot_of(thread)),
        // In a ping-pong the partner's answer says that a put has arrived.
        word_flags_(t.what.what == kind::latency && !t.gups() ? 0 : noticed),
        most_untaken_(notices / static_cast<std::uint64_t>(path_.threads())) {}

  [[nodiscard]] place at(std::size_t offset) const noexcept { return offset; }

  void put_word(std::uint64_t value, place to, std::uint64_t bytes = sizeof(std::uint64_t)) {
    put_word_with(word_flags_, value, to, bytes);
  }
  void put(place to) { put_with(noticed, to); }
  void put_told(place to) { put_with(told, to); }
  /// Operations of one VCQ on another end in their order, so a slot is free when the window is.
  void get(place from) {
    if (++slot_of_get_ == window_) slot_of_get_ = 0;
    get_into(slot_of_get_, from, bytes_);
  }
  void fetch_add(place at) { armw(UTOFU_ARMW_OP_ADD, 1, path_.theirs(), at); }
  /// Armws are atomic with those that go to the same VCQ, so each word has one.
  void exclusive_or(std::uint64_t value, place at) {
    armw(UTOFU_ARMW_OP_XOR, value, paths_[at / sizeof value % paths_.size()]->theirs(), at);
  }
  [[nodiscard]] std::uint64_t get_word(place from) {
    std::uint64_t value = 0;
    get_into(0, from, sizeof value);
    drain();
    std::memcpy(&value, memory_.data(), sizeof value);
    return value;
  }

  /// The partner says now and then how many it has taken, so that its queue is never full.
  void call(message) {
    if (sent_ - known_ >= most_untaken_) await_taken();
    put_with(told, slot_);
    ++sent_;
  }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }  ///< calls
  [[nodiscard]] std::uint64_t arrived() const { return flight_.arrived(); }
  void await_arrived(std::uint64_t count) {
    const auto until = [this](std::uint64_t some) {
      flight_.await([&] { return arrived() >= some; });
    };
    while (count - said_ > most_untaken_ / 4) {
      said_ += most_untaken_ / 4;
      until(said_);
      put_word_with(0, said_, taken_);
    }
    until(count);
  }

  void drain() { flight_.drain(); }
  void flush() {}  // drain() has
  void progress() {}
  void notify() { put_word_with(told, 0, slot_, 1); }
  void await_notice() { await_arrived(++heard_); }

 private:
  static constexpr unsigned long noticed = utofu_flight::noticed;
  static constexpr unsigned long told = UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE;
  static constexpr std::uint64_t notices = 1 << 15;  // of a path, in the target's queue
  static constexpr std::size_t most_piggyback = 32;

  static std::uint64_t number_on_path(const task& t, int thread) {
    int first = thread;
    while (first > 0 && t.path_of(first - 1) == t.path_of(thread)) --first;
    return static_cast<std::uint64_t>(thread - first);
  }

  /// Up to 32 bytes travel in the command itself.
  void put_with(unsigned long flags, place to) {
    if (bytes_ <= sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, memory_.data(), bytes_);
      return put_word_with(flags, word, to, bytes_);
    }
    const utofu_stadd_t there = path_.theirs().table + to;
    if (bytes_ <= most_piggyback)
      return flight_.post(flags, [&] {
        return utofu_put_piggyback(handle_, vcq(), memory_.data(), there, bytes_, number_, flags,
                                   nullptr);
      });
    flight_.post(flags, [&] {
      return utofu_put(handle_, vcq(), registered_.stadd(), there, bytes_, number_, flags, nullptr);
    });
  }
  void put_word_with(unsigned long flags, std::uint64_t word, place to,
                     std::size_t bytes = sizeof(std::uint64_t)) {
    const utofu_stadd_t there = path_.theirs().table + to;
    flight_.post(flags, [&] {
      return utofu_put_piggyback8(handle_, vcq(), word, there, bytes, number_, flags, nullptr);
    });
  }
  void get_into(std::uint64_t slot, place from, std::size_t bytes) {
    const utofu_stadd_t local = registered_.stadd() + slot * bytes_;
    const utofu_stadd_t there = path_.theirs().table + from;
    flight_.post(noticed, [&] {
      return utofu_get(handle_, vcq(), local, there, bytes, number_, noticed, nullptr);
    });
  }
  /// `at`: the VCQ that the word is addressed by may be another than this path's.
  void armw(utofu_armw_op op, std::uint64_t operand, const utofu_target& at, place to) {
    flight_.post(noticed, [&] {
      return utofu_armw8(handle_, at.vcq, op, operand, at.table + to, number_, noticed, nullptr);
    });
  }
  void await_taken() {
    auto& taken = *reinterpret_cast<std::uint64_t*>(here(taken_));
    flight_.await([&] {
      // Acquire pairs with however uTofu publishes a put.
      known_ = std::atomic_ref(taken).load(std::memory_order_acquire);
      return sent_ - known_ < most_untaken_;
    });
  }
  [[nodiscard]] utofu_vcq_id_t vcq() const noexcept { return path_.theirs().vcq; }

  const all_paths& paths_;
  utofu_path& path_;
  const utofu_vcq_hdl_t handle_ = path_.queue().handle();
  const std::uint64_t number_;  ///< on the path
  utofu_flight flight_;
  const std::uint64_t window_;
  const utofu_memory memory_;  ///< what is sent, and a landing for each slot of the window
  const utofu_registration registered_;
  const place taken_, slot_;  ///< how many calls the partner has taken; what this thread writes
  const unsigned long word_flags_;
  const std::uint64_t most_untaken_;
  std::uint64_t slot_of_get_ = 0, heard_ = 0;
  std::uint64_t sent_ = 0, known_ = 0;  ///< calls, and of these taken by the partner
  std::uint64_t said_ = 0;              ///< how many we have taken, as the partner was told
};

}  // namespace heddle::bench
