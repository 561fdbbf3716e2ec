// SPDX-License-Identifier: BSD-3-Clause
// heddle.h - Heddle as a library that kernels measure: two ranks of a job, and their threads.
#pragma once
#include <heddle/heddle.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/partner.h"
#include "harness/slots.h"
#include "kernels/library.h"
#include "libraries/station.h"
#include "libraries/window.h"

namespace heddle::bench {

/// Bytes that are plain memory or Heddle's own, and registered when peers shall address them.
class buffer {
 public:
  /// Throws heddle::error.
  buffer(world& job, std::size_t bytes, buffer_kind where, bool addressable) {
    if (where == buffer_kind::exposed) {
      region_ = job.allocate(std::max<std::size_t>(bytes, 1));  // so that it has an address
      bytes_ = region_.memory();
    } else {
      plain_ = std::make_unique<page_buffer>(bytes);
      bytes_ = {plain_->data(), bytes};
      if (addressable) region_ = job.expose(bytes_);
    }
    std::fill(bytes_.begin(), bytes_.end(), std::byte{0});  // every page is there before timing
  }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Only when addressable.
  [[nodiscard]] const heddle::key& key() const noexcept { return region_.key(); }

 private:
  std::unique_ptr<page_buffer> plain_;
  region region_;
  std::span<std::byte> bytes_;
};

/// Where one thread sits, and what it sends and receives.
struct seat {
  station& at;
  spec what;
  int thread;
  std::span<const std::byte> source = {};  ///< spec's bytes
  std::span<std::byte> landings = {};      ///< as many for each slot of the window
  std::byte* table = nullptr;              ///< this rank's
  remote_region their_table = {};
  bool aside = false;  ///< never drives its lane

  [[nodiscard]] mailbox& box() const noexcept { return at.mailbox_of(thread); }
  [[nodiscard]] tag tag_for(purpose p) const noexcept { return tag_of(p, thread); }
  [[nodiscard]] tag tag_for(message m) const noexcept {
    return tag_for(m == message::data ? purpose::data : purpose::answer);
  }
  [[nodiscard]] handler_id handler(handler_id first) const noexcept {
    return static_cast<handler_id>(first + thread);
  }
  [[nodiscard]] std::span<std::byte> landing(std::size_t slot) const noexcept {
    return landings.subspan(slot * source.size(), source.size());
  }
};

/// One end of large tagged messages, one after the other, beside what is measured. An empty one is
/// the last. One thread.
class heddle_stream {
 public:
  explicit heddle_stream(const seat& s)
      : lane_(s.at.lane_of(s.what, s.thread)),
        turns_(s.at.turns_of(s.what, s.thread)),
        peer_(s.at.peer()),
        tag_(s.tag_for(purpose::beside)),
        memory_(s.what.beside_bytes) {}

  void send() {
    begin([this](const completion& c) { return lane_.try_send(peer_, tag_, memory_, c); });
  }
  void end_sending() {
    finish();
    require(turns_.send(peer_, tag_, {}), "end a stream");
  }
  void receive() {
    begin([this](const completion& c) { return lane_.try_recv(peer_, tag_, memory_, c); });
  }
  void end_receiving() {
    do {
      receive();
      finish();
    } while (ended_.result().bytes != 0);
  }

 private:
  /// The next one, when the one before has ended.
  template <class F>
  void begin(F&& attempt) {
    if (moving_ && !ended_.ready()) return;
    finish();
    ended_.reset();
    const auto once = [&] { return turns_.turn([&] { return attempt(completion(ended_)); }); };
    status s = once();
    for (; is_busy(s); s = once()) turns_.poll();
    require(s, "post");
    moving_ = s == status::posted;
  }
  void finish() {
    if (std::exchange(moving_, false)) require(turns_.wait(ended_), "complete");
  }

  lane& lane_;
  const lane_use turns_;
  const rank peer_;
  const tag tag_;
  std::vector<std::byte> memory_;
  flag ended_;
  bool moving_ = false;
};

/// The words of kernels/library.h, between a thread and its partner; those of single words and
/// updates at any rank, for which a seat needs no buffers. Aside, a thread begins, and then only
/// looks at a counter of its own: Heddle's executor moves the messages, or a post that finds
/// something to do.
class heddle_path {
 public:
  using place = remote_address;
  static constexpr bool handler_answers = true;

  explicit heddle_path(const seat& s) : seat_(s) {}

  [[nodiscard]] place at(std::size_t offset) const noexcept { return table_.at(offset); }
  [[nodiscard]] std::byte* here(std::size_t offset) const { return seat_.table + offset; }

  /// The low 1 to 8 bytes of it, of which a copy is kept.
  [[gnu::always_inline]] void put_word(std::uint64_t value, place to,
                                       std::uint64_t bytes = sizeof(std::uint64_t)) {
    window_.post([this, value, to, bytes](const completion& c, std::size_t slot) {
      std::uint64_t& word = words_[slot] = value;
      if (bytes == sizeof word) return lane_.try_put(word, remote_ptr<std::uint64_t>{to}, c);
      return lane_.try_put(std::as_bytes(std::span(&word, 1)).first(bytes), to, c);
    });
  }
  [[gnu::always_inline]] void fetch_add(place at) {
    if (waits_for_each_)
      return require(turns_.fetch_add(remote_ptr<std::uint64_t>{at}, words_[0]), "fetch_add");
    window_.post([this, at](const completion& c, std::size_t slot) {
      return lane_.try_fetch_add(remote_ptr<std::uint64_t>{at}, std::uint64_t{1}, words_[slot], c);
    });
  }
  void exclusive_or(std::uint64_t value, place at) {
    window_.post([&](const completion& c, std::size_t) {
      return lane_.try_atomic<std::uint64_t>(atomic_op::bit_xor, remote_ptr<std::uint64_t>{at},
                                             value, nullptr, c);
    });
  }
  [[nodiscard]] std::uint64_t get_word(place from) {
    std::uint64_t value = 0;
    require(turns_.get(value, remote_ptr<std::uint64_t>{from}), "get");
    return value;
  }
  /// Of 8 bytes as a word, which is how a program would put them.
  [[gnu::always_inline]] void put(place to) {
    window_.post([this, to](const completion& c, std::size_t) {
      if (source_.size() != sizeof(std::uint64_t)) return lane_.try_put(source_, to, c);
      const auto& word = *reinterpret_cast<const std::uint64_t*>(source_.data());
      return lane_.try_put(word, remote_ptr<std::uint64_t>{to}, c);
    });
  }
  void put_told(place to) {
    window_.post([&](const completion& c, std::size_t) {
      return lane_.try_put_notify(source_, to, seat_.handler(count_handlers), 0, c);
    });
  }
  [[gnu::always_inline]] void get(place from) {
    if (waits_for_each_) return require(turns_.get(seat_.landing(0), from), "get");
    window_.post([this, from](const completion& c, std::size_t slot) {
      return lane_.try_get(seat_.landing(slot), from, c);
    });
  }

  void send(message m) {
    window_.post([&](const completion& c, std::size_t) {
      return lane_.try_send(peer_, seat_.tag_for(m), source_, c);
    });
  }
  void recv(message m) {
    window_.post([&](const completion& c, std::size_t slot) {
      return lane_.try_recv(peer_, seat_.tag_for(m), seat_.landing(slot), c);
    });
  }
  void deliver(message m) {
    if (seat_.aside) return send(m);
    require(turns_.send(peer_, seat_.tag_for(m), source_), "send");
  }
  /// In a ping-pong the handler answers, otherwise, and aside, it counts.
  void call(message) {
    const bool fits = source_.size() <= max_call_header;
    const std::span<const std::byte> none;
    window_.post([&](const completion& c, std::size_t) {
      return lane_.try_call(peer_, called_, fits ? source_ : none, fits ? none : source_, c);
    });
  }
  [[nodiscard]] std::uint64_t arrived() const { return seat_.box().arrived.count(); }
  void await_arrived(std::uint64_t count) {
    require(turns_.wait(seat_.box().arrived, count), "wait for an arrival");
  }

  void drain() { window_.drain(); }
  void flush() { require(turns_.flush(peer_), "flush"); }
  /// Where puts come by message, Heddle is kept moving.
  void progress() {
    if (!table_.mapped() || ++looks_ % 1024 == 0) turns_.poll();
  }
  void notify() { require(lane_.send(peer_, seat_.tag_for(purpose::finished), {}), "notify"); }
  void await_notice() {
    require(lane_.recv(peer_, seat_.tag_for(purpose::finished), {}).code, "wait for a notice");
  }

 private:
  const seat seat_;
  lane& lane_ = seat_.at.lane_of(seat_.what, seat_.thread);
  const lane_use turns_ =
      seat_.aside ? lane_use(lane_, nullptr, false) : seat_.at.turns_of(seat_.what, seat_.thread);
  window window_{turns_, seat_.what.window};
  /// By slot: what puts read and fetch-adds write.
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(window_.slots());
  const rank peer_ = seat_.at.peer();
  const remote_region table_ = seat_.their_table;
  /// As a program does that needs each value before it goes on, by the forms that wait. What is
  /// mapped here ends with its call, whichever it is.
  const bool waits_for_each_ = seat_.what.what == kind::latency && !table_.mapped();
  const std::span<const std::byte> source_ = seat_.source;
  const handler_id called_ = seat_.handler(
      seat_.what.what == kind::latency && !seat_.aside ? ping_handlers : count_handlers);
  unsigned looks_ = 0;
};

/// This rank and its partner in one benchmark: the buffers of their threads. Collective between
/// them.
class heddle_pair final : public partner {
 public:
  using path = heddle_path;

  /// `at` must outlive this. Throws heddle::error.
  heddle_pair(station& at, const spec& s)
      : at_(at),
        spec_(s),
        table_(at.job(), table_layout::for_spec(s).bytes(), s.buffers, true),
        sources_(at.job(), threads() * bytes(), s.buffers, false),
        landings_(at.job(), threads() * bytes() * window(), s.buffers, false),
        their_table_(at.job().import(swap(*this, table_.key()))) {}
  [[nodiscard]] std::unique_ptr<path> make_path(int thread) {
    return std::make_unique<path>(seat_of(thread));
  }
  [[nodiscard]] std::unique_ptr<path> make_aside(int thread) {
    seat own = seat_of(thread);
    own.aside = true;
    return std::make_unique<path>(own);
  }
  [[nodiscard]] std::unique_ptr<heddle_stream> make_stream(int thread) {
    return std::make_unique<heddle_stream>(seat_of(thread));
  }
  [[nodiscard]] seat seat_of(int thread) {
    const std::size_t first = static_cast<std::size_t>(thread) * bytes();
    return {.at = at_,
            .what = spec_,
            .thread = thread,
            .source = sources_.bytes().subspan(first, bytes()),
            .landings = landings_.bytes().subspan(first * window(), bytes() * window()),
            .table = table_.bytes().data(),
            .their_table = their_table_};
  }
  /// Whether the partner's table is mapped here, so that puts and gets are copies.
  [[nodiscard]] bool mapped() const noexcept { return their_table_.mapped(); }
  void tell(std::span<const std::byte> bytes) override {
    require(at_.first_lane().send(at_.peer(), tag_of(purpose::count, 0), bytes), "tell");
  }
  void hear(std::span<std::byte> bytes) override {
    require(at_.first_lane().recv(at_.peer(), tag_of(purpose::count, 0), bytes).code, "hear");
  }

 private:
  [[nodiscard]] std::size_t threads() const { return static_cast<std::size_t>(spec_.threads); }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(spec_.bytes); }
  [[nodiscard]] std::size_t window() const { return static_cast<std::size_t>(spec_.window); }

  station& at_;
  const spec spec_;
  const buffer table_, sources_, landings_;
  const remote_region their_table_;
};

}  // namespace heddle::bench
