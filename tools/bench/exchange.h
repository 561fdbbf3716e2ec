// exchange.h - one thread's part in one benchmark: what it does as initiator and as target.
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "bench/memory.h"
#include "bench/station.h"

namespace heddle::bench {

/// Takes the time of single operations when asked to, else does nothing.
class stopwatch {
 public:
  using clock = std::chrono::steady_clock;
  explicit stopwatch(std::vector<double>* seconds) noexcept : seconds_(seconds) {}
  void start() noexcept {
    if (seconds_ != nullptr) last_ = clock::now();
  }
  /// Ends one operation and begins the next.
  void lap() {
    if (seconds_ == nullptr) return;
    const clock::time_point now = clock::now();
    seconds_->push_back(std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

 private:
  std::vector<double>* seconds_;
  clock::time_point last_;
};

/// Where one thread sits.
struct seat {
  station& at;
  const equipment& gear;
  spec what;
  int thread;
  bool crowded;  ///< more threads than cores: give the core away when spinning on memory

  [[nodiscard]] lane& own_lane() const noexcept { return at.lane_of(what, thread); }
  /// The same, for what is measured.
  [[nodiscard]] locked_lane turns() const noexcept { return at.turns_of(what, thread); }
  [[nodiscard]] mailbox& box() const noexcept { return at.mailbox_of(thread); }
  [[nodiscard]] tag tag_for(purpose p) const noexcept { return tag_of(p, thread); }
};

/// Both sides make the same sequence of runs of the same `count`. Functions throw
/// std::runtime_error when an operation fails.
class exchange {
 public:
  virtual ~exchange() = default;
  /// Initiator, timed: `count` operations and whatever shows that they are complete.
  virtual void initiate(std::uint64_t count, stopwatch& watch) = 0;
  /// Initiator, after the time was taken: lets a passive target go on.
  virtual void conclude() {}
  /// Target, before the initiator starts.
  virtual void prepare() {}
  /// Target, meanwhile.
  virtual void respond(std::uint64_t count) = 0;
};

/// Ping-pongs and round trips.
[[nodiscard]] std::unique_ptr<exchange> make_latency(const seat& s);
/// Ping-pongs in which both sides only look at a flag of their own. am and tag.
[[nodiscard]] std::unique_ptr<exchange> make_background(const seat& s);
/// Many operations in flight one way.
[[nodiscard]] std::unique_ptr<exchange> make_flood(const seat& s);
[[nodiscard]] std::unique_ptr<exchange> make_exchange(const seat& s);

/// The target's part when it has nothing to do: it waits for word from the initiator, or computes
/// without a call to Heddle until the initiator has changed a word in its memory.
class passive_target : public exchange {
 public:
  explicit passive_target(const seat& s);
  void conclude() final;
  void respond(std::uint64_t count) final;

 protected:
  seat seat_;

 private:
  void compute_until_told();
  remote_address word_there_;
  std::uint64_t* word_here_;
  std::uint64_t runs_ = 0;
};

}  // namespace heddle::bench
