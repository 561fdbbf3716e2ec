// mpi_memory.cpp - put, get and fetch-add on the other rank's window.
#include <sched.h>

#include <atomic>

#include "parts/random_slots.h"
#include "peers/mpi_party.h"

namespace heddle::peers {
namespace {

/// The calls with everything filled in, and a place at the target for each.
class memory_exchange : public exchange {
 public:
  explicit memory_exchange(const mpi_seat& s)
      : seat_(s),
        layout_(layout_for(s.what)),
        bytes_(static_cast<std::size_t>(s.what.bytes)),
        buffers_(bytes_ * static_cast<std::size_t>(s.what.window)),
        fetched_(static_cast<std::size_t>(s.what.window)) {}

 protected:
  [[nodiscard]] MPI_Win window() const { return seat_.table->get(); }
  [[nodiscard]] std::byte* local(std::size_t slot) { return buffers_.data() + slot * bytes_; }
  void put(std::size_t from, MPI_Aint to) {
    const int bytes = static_cast<int>(bytes_);
    require(MPI_Put(local(from), bytes, MPI_BYTE, seat_.peer, to, bytes, MPI_BYTE, window()),
            "MPI_Put");
  }
  /// put, get or fetch-add, with the local buffer of `slot`.
  void start(std::size_t slot, MPI_Aint there) {
    const int bytes = static_cast<int>(bytes_);
    switch (seat_.what.op) {
      case operation::get:
        return require(
            MPI_Get(local(slot), bytes, MPI_BYTE, seat_.peer, there, bytes, MPI_BYTE, window()),
            "MPI_Get");
      case operation::fetch_add:
        return require(MPI_Fetch_and_op(&one_, &fetched_[slot], MPI_UINT64_T, seat_.peer, there,
                                        MPI_SUM, window()),
                       "MPI_Fetch_and_op");
      default:
        return put(slot, there);
    }
  }
  void flush() { require(MPI_Win_flush(seat_.peer, window()), "MPI_Win_flush"); }
  [[nodiscard]] MPI_Aint place_of_thread() const {
    return static_cast<MPI_Aint>(static_cast<std::size_t>(seat_.thread) * layout_.stride);
  }

  mpi_seat seat_;
  table_layout layout_;
  std::size_t bytes_;

 private:
  buffer buffers_;  // one for each slot of the window
  std::vector<std::uint64_t> fetched_;
  const std::uint64_t one_ = 1;
};

/// The target takes no part, but waits inside MPI, which then serves the requests.
class passive_target : public memory_exchange {
 public:
  using memory_exchange::memory_exchange;
  void conclude() final {
    require(
        MPI_Send(nullptr, 0, MPI_BYTE, seat_.peer, seat_.tag_for(mpi_seat::finished), seat_.comm),
        "MPI_Send");
  }
  void respond(std::uint64_t) final {
    require(MPI_Recv(nullptr, 0, MPI_BYTE, seat_.peer, seat_.tag_for(mpi_seat::finished),
                     seat_.comm, MPI_STATUS_IGNORE),
            "MPI_Recv");
  }
};

/// MPI has no completion of a single put, so a window ends with a flush.
class table_flood final : public passive_target {
 public:
  using passive_target::passive_target;
  void initiate(std::uint64_t count) override {
    bare::random_slots slots(layout_.part, static_cast<std::uint64_t>(seat_.thread) + 1);
    const std::size_t first = layout_.part_of(seat_.thread);
    const auto window = static_cast<std::uint64_t>(seat_.what.window);
    for (std::uint64_t i = 0; i < count; ++i) {
      start(i % window, static_cast<MPI_Aint>(first + slots.next() * layout_.stride));
      if (i % window == window - 1) flush();
    }
    flush();
  }
};

class round_trip final : public passive_target {
 public:
  using passive_target::passive_target;
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      start(0, place_of_thread());
      flush();
    }
  }
};

/// A put whose last byte the partner polls, and back.
class put_ping final : public memory_exchange {
 public:
  explicit put_ping(const mpi_seat& s)
      : memory_exchange(s),
        here_(reinterpret_cast<unsigned char*>(s.table->data() + place_of_thread()) + bytes_ - 1) {}
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      put_turn(++turn_);
      await(turn_);
    }
  }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      await(++turn_);
      put_turn(turn_);
    }
  }

 private:
  void put_turn(unsigned char turn) {
    local(0)[bytes_ - 1] = static_cast<std::byte>(turn);
    put(0, place_of_thread());
    flush();
  }
  /// Where MPI needs to be called for puts to arrive, it is.
  void await(unsigned char turn) {
    // Acquire pairs with however this MPI publishes a put.
    for (unsigned spins = 1; std::atomic_ref(*here_).load(std::memory_order_acquire) != turn;
         ++spins) {
      if (spins % 16 != 0) continue;
      int waiting = 0;
      require(MPI_Win_sync(window()), "MPI_Win_sync");
      require(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, seat_.comm, &waiting, MPI_STATUS_IGNORE),
              "MPI_Iprobe");
      if (seat_.crowded && spins % 64 == 0) sched_yield();
    }
  }

  unsigned char* here_;
  unsigned char turn_ = 0;
};

}  // namespace

std::unique_ptr<exchange> make_memory_exchange(const mpi_seat& s) {
  if (s.what.what != kind::latency) return std::make_unique<table_flood>(s);
  if (s.what.op == operation::put) return std::make_unique<put_ping>(s);
  return std::make_unique<round_trip>(s);
}

}  // namespace heddle::peers
