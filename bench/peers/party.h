// party.h - what a rival's library must supply to be measured: one of two ranks, and its exchanges.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "bench/gups_stream.h"
#include "peers/task.h"

namespace heddle::peers {

/// One thread's part of a run. Every thread of a rank has one, also across runs.
class exchange {
 public:
  virtual ~exchange() = default;
  /// The timed part, at rank 0: `count` operations, until the last is known to be complete.
  virtual void initiate(std::uint64_t count) = 0;
  /// At rank 0 after the time was taken.
  virtual void conclude() {}
  /// At rank 1 before rank 0 may initiate().
  virtual void prepare() {}
  /// The other side of initiate() and conclude(), at rank 1.
  virtual void respond(std::uint64_t count) = 0;
};

/// One thread's random updates (GUPS).
class updater {
 public:
  virtual ~updater() = default;
  /// All that `plan` gives this thread of `rank`, until they are known to be complete.
  virtual void update(const bench::gups_plan& plan, int rank) = 0;
};

/// This process, as one of two that use a library.
class party {
 public:
  virtual ~party() = default;
  [[nodiscard]] virtual int rank() const = 0;
  /// Between the ranks, outside of what is timed; as many bytes as the other side hears.
  virtual void tell(std::span<const std::byte> bytes) = 0;
  virtual void hear(std::span<std::byte> bytes) = 0;
  /// Called in the order of threads, the same on both ranks.
  virtual std::unique_ptr<exchange> make_exchange(int thread) = 0;
  virtual std::unique_ptr<bench::overlap_side> make_side() = 0;
  /// Of GUPS: this rank's table, and who updates the other one's. By default there is no such
  /// thing.
  virtual std::span<std::uint64_t> words();
  virtual std::unique_ptr<updater> make_updater(int thread);
};

/// Rounds of random updates by both ranks, each verified afterwards; rank 0 prints.
void measure_gups(party& self, const task& t);

/// The whole of a peer program after it has become a party: measures and, at rank 0, prints.
void measure(party& self, const task& t);

/// Runs `body` and returns the exit status: 1, with the reason on stderr, when it throws.
int guarded(const char* program, const std::function<void()>& body);

}  // namespace heddle::peers
