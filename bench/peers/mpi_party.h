// mpi_party.h - one of two MPI ranks. Compiled once for each MPI library that is there.
#pragma once
#define OMPI_SKIP_MPICXX 1  // the C++ bindings that both libraries have given up
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <memory>
#include <vector>

#include "peers/memory.h"
#include "peers/party.h"
#include "peers/table.h"

namespace heddle::peers {

/// Throws std::runtime_error naming `what` and MPI's reason.
void require(int code, const char* what);

/// MPI from its start, with MPI_THREAD_MULTIPLE, to its end.
class mpi_job {
 public:
  mpi_job(int& argc, char**& argv);
  mpi_job(const mpi_job&) = delete;
  mpi_job& operator=(const mpi_job&) = delete;
  ~mpi_job();
  [[nodiscard]] int rank() const noexcept { return rank_; }

 private:
  int rank_ = 0;
};

/// A communicator of the two ranks.
class communicator {
 public:
  communicator();
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator();
  [[nodiscard]] MPI_Comm get() const noexcept { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// A table at each rank that the other one may address at any time.
class shared_table {
 public:
  explicit shared_table(std::size_t bytes, MPI_Comm comm);
  shared_table(const shared_table&) = delete;
  shared_table& operator=(const shared_table&) = delete;
  ~shared_table();
  [[nodiscard]] MPI_Win get() const noexcept { return window_; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  std::byte* data_ = nullptr;
};

/// What one thread's exchange works with; valid as long as its party.
struct mpi_seat {
  const spec& what;
  MPI_Comm comm;
  const shared_table* table;  ///< null for messages
  int peer;
  int thread;
  bool crowded;  ///< more threads than cores: loops of our own let others have the core

  /// Messages of a thread: the data, what answers it, what says that a run is over.
  enum purpose { data, answer, finished };
  [[nodiscard]] int tag_for(purpose p) const noexcept { return thread * 4 + p; }
};

class mpi_party final : public party {
 public:
  mpi_party(const mpi_job& job, const task& t);
  [[nodiscard]] int rank() const override { return job_.rank(); }
  void tell(std::span<const std::byte> bytes) override;
  void hear(std::span<std::byte> bytes) override;
  std::unique_ptr<exchange> make_exchange(int thread) override;
  std::unique_ptr<bench::overlap_side> make_side() override;

 private:
  [[nodiscard]] int peer() const { return 1 - job_.rank(); }

  const mpi_job& job_;
  const task& task_;
  communicator control_;
  std::vector<std::unique_ptr<communicator>> paths_;
  std::vector<std::unique_ptr<shared_table>> tables_;  // one per path, or none
};

/// For tag: mpi_messages.cpp. For put, get and fetch-add: mpi_memory.cpp.
[[nodiscard]] std::unique_ptr<exchange> make_message_exchange(const mpi_seat& s);
[[nodiscard]] std::unique_ptr<exchange> make_memory_exchange(const mpi_seat& s);

}  // namespace heddle::peers
