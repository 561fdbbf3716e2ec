// SPDX-License-Identifier: BSD-3-Clause
// mpi.cpp - MPI by its calls and nothing else. Compiled once for each MPI library that is there.
#define OMPI_SKIP_MPICXX 1  // the C++ bindings that both libraries have given up
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>
#include <unistd.h>

#include <stdexcept>
#include <string>

#include "harness/slots.h"
#include "libraries/rival.h"

namespace heddle::bench {
namespace {

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " +
                           std::string(text, static_cast<std::size_t>(length)));
}

/// MPI from its start, with MPI_THREAD_MULTIPLE, to its end.
class mpi_job {
 public:
  mpi_job() {
    int provided = MPI_THREAD_SINGLE;
    require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    if (provided != MPI_THREAD_MULTIPLE)
      throw std::runtime_error("this MPI does not support MPI_THREAD_MULTIPLE");
    int ranks = 0;
    require(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
    require(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
    if (ranks != 2) throw std::runtime_error("start this with two ranks: mpirun -n 2 ...");
  }
  mpi_job(const mpi_job&) = delete;
  mpi_job& operator=(const mpi_job&) = delete;
  // MPICH over UCX's tcp at times never leaves MPI_Finalize. By then everything has been printed.
  ~mpi_job() {
    constexpr unsigned patience_s = 2;
    MPI_Barrier(MPI_COMM_WORLD);
    alarm(patience_s);
    MPI_Finalize();
  }
  [[nodiscard]] int rank() const noexcept { return rank_; }
  /// The other rank would wait for ever.
  void abandon() const { MPI_Abort(MPI_COMM_WORLD, 1); }

 private:
  int rank_ = 0;
};

class communicator {
 public:
  communicator() { require(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup"); }
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator() { MPI_Comm_free(&comm_); }
  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// A table at each rank that the other one may address at any time.
class window {
 public:
  window(std::size_t bytes, MPI_Comm comm) : bytes_(bytes) {
    require(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &data_, &win_),
            "MPI_Win_allocate");
    std::fill_n(data_, bytes, std::byte{0});  // every page is there before timing
    require(MPI_Win_lock_all(MPI_MODE_NOCHECK, win_), "MPI_Win_lock_all");
  }
  window(const window&) = delete;
  window& operator=(const window&) = delete;
  ~window() {
    MPI_Win_unlock_all(win_);
    MPI_Win_free(&win_);
  }
  [[nodiscard]] MPI_Win get() const noexcept { return win_; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, bytes_}; }

 private:
  std::size_t bytes_;
  MPI_Win win_ = MPI_WIN_NULL;
  std::byte* data_ = nullptr;
};

/// The words of kernels/library.h. MPI knows no end of a single put, get or fetch-add, so a window
/// of them ends with a flush; of messages the oldest is waited for. No active messages.
class mpi_path : public windowed_thread<mpi_path, MPI_Request, page_buffer> {
 public:
  using place = MPI_Aint;  ///< an offset

  mpi_path(const task& t, int rank, MPI_Comm comm, const window* table, int thread)
      // In a ping-pong each is flushed at once: the partner waits for it.
      : windowed_thread(t, thread, table != nullptr ? table->bytes() : std::span<std::byte>(),
                        t.what.what == kind::latency ? 1 : t.what.window),
        peer_(1 - rank),
        comm_(comm),
        table_(table) {}

  [[nodiscard]] place at(std::size_t offset) const noexcept {
    return static_cast<MPI_Aint>(offset);
  }

  void put_word(std::uint64_t value, place to, std::uint64_t bytes = sizeof(std::uint64_t)) {
    words_[begun_] = value;
    put_bytes(&words_[begun_], to, bytes);
    end_access();
  }
  void put(place to) {
    put_bytes(source_.data(), to, bytes_);
    end_access();
  }
  /// MPI promises no order of two puts without a flush between them.
  void put_told(place to) {
    put_bytes(source_.data(), to, bytes_);
    flush_window();
    words_[0] = ++told_;
    put_bytes(words_.data(), at(line_), sizeof told_);
    flush_window();
  }
  void get(place from) {
    get_bytes(landing(begun_), from, bytes_);
    end_access();
  }
  void fetch_add(place at) {
    require(
        MPI_Fetch_and_op(&one_, &words_[begun_], MPI_UINT64_T, peer_, at, MPI_SUM, table_->get()),
        "MPI_Fetch_and_op");
    end_access();
  }
  void exclusive_or(std::uint64_t value, place at) {
    words_[begun_] = value;
    require(MPI_Accumulate(&words_[begun_], 1, MPI_UINT64_T, peer_, at, 1, MPI_UINT64_T, MPI_BXOR,
                           table_->get()),
            "MPI_Accumulate");
    end_access();
  }
  [[nodiscard]] std::uint64_t get_word(place from) {
    std::uint64_t value = 0;
    get_bytes(&value, from, sizeof value);
    flush_window();
    return value;
  }

  void deliver(message m) {
    require(MPI_Send(source_.data(), static_cast<int>(bytes_), MPI_BYTE, peer_,
                     static_cast<int>(tag_for(m)), comm_),
            "MPI_Send");
  }
  [[nodiscard]] std::uint64_t arrived() const { return told_of(); }
  void await_arrived(std::uint64_t count) {
    for (; arrived() < count; rest()) progress();
  }

  void drain() {
    if (begun_ > 0) flush_window();
    windowed_thread::drain();
  }
  void flush() {}  // drain() has
  /// Where MPI needs to be called for puts to arrive, it is.
  void progress() {
    if (++looks_ % 16 != 0) return;
    int waiting = 0;
    require(MPI_Win_sync(table_->get()), "MPI_Win_sync");
    require(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &waiting, MPI_STATUS_IGNORE),
            "MPI_Iprobe");
  }

 private:
  friend windowed_thread;
  void start_send(std::uint64_t tag, std::size_t bytes, MPI_Request& r) {
    require(MPI_Isend(source_.data(), static_cast<int>(bytes), MPI_BYTE, peer_,
                      static_cast<int>(tag), comm_, &r),
            "MPI_Isend");
  }
  void start_recv(std::uint64_t tag, std::byte* into, std::size_t bytes, MPI_Request& r) {
    require(
        MPI_Irecv(into, static_cast<int>(bytes), MPI_BYTE, peer_, static_cast<int>(tag), comm_, &r),
        "MPI_Irecv");
  }
  static bool is_over(MPI_Request r) { return r == MPI_REQUEST_NULL; }
  static void finish(MPI_Request& r) { require(MPI_Wait(&r, MPI_STATUS_IGNORE), "MPI_Wait"); }
  void put_bytes(const void* from, MPI_Aint to, std::uint64_t bytes) {
    const int count = static_cast<int>(bytes);
    require(MPI_Put(from, count, MPI_BYTE, peer_, to, count, MPI_BYTE, table_->get()), "MPI_Put");
  }
  void get_bytes(void* into, MPI_Aint from, std::uint64_t bytes) {
    const int count = static_cast<int>(bytes);
    require(MPI_Get(into, count, MPI_BYTE, peer_, from, count, MPI_BYTE, table_->get()), "MPI_Get");
  }
  void end_access() {
    if (++begun_ == size_) flush_window();
  }
  void flush_window() {
    begun_ = 0;
    require(MPI_Win_flush(peer_, table_->get()), "MPI_Win_flush");
  }

  const int peer_;
  const MPI_Comm comm_;
  const window* const table_;
  std::size_t begun_ = 0;  // accesses since the last flush
  std::uint64_t told_ = 0;
  const std::uint64_t one_ = 1;
  unsigned looks_ = 0;
};

class mpi_library final : public partner {
 public:
  using pair = mpi_job;
  using path = mpi_path;

  mpi_library(const mpi_job& job, const task& t) : job_(job), task_(t) {
    if (!t.overlap() && !t.gups() && t.what.op == operation::am) throw not_offered();
    for (int i = 0; i < t.paths(); ++i) {
      paths_.push_back(std::make_unique<communicator>());
      if (t.gups() && i > 0) continue;  // one table
      if (t.needs_table())
        tables_.push_back(std::make_unique<window>(t.table_bytes(), paths_.back()->get()));
    }
  }
  [[nodiscard]] std::unique_ptr<mpi_path> make_path(int thread) {
    const auto n = static_cast<std::size_t>(task_.path_of(thread));
    const window* const table = tables_.empty()      ? nullptr
                                : n < tables_.size() ? tables_[n].get()
                                                     : tables_.front().get();
    return std::make_unique<mpi_path>(task_, job_.rank(), paths_[n]->get(), table, thread);
  }
  [[nodiscard]] std::span<std::byte> table() const { return tables_.front()->bytes(); }
  void tell(std::span<const std::byte> bytes) override {
    require(MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 1 - job_.rank(), 0,
                     control_.get()),
            "MPI_Send");
  }
  void hear(std::span<std::byte> bytes) override {
    require(MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 1 - job_.rank(), 0,
                     control_.get(), MPI_STATUS_IGNORE),
            "MPI_Recv");
  }

 private:
  const mpi_job& job_;
  const task& task_;
  const communicator control_;
  std::vector<std::unique_ptr<communicator>> paths_;
  std::vector<std::unique_ptr<window>> tables_;  // one per path, or none
};

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  return heddle::bench::rival_main<heddle::bench::mpi_library>(argc, argv);
}
