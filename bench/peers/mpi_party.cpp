// mpi_party.cpp - starting MPI, its communicators and windows, and the overlap of one message.
#include "peers/mpi_party.h"

#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace heddle::peers {
namespace {

/// One tagged message at a time, both ways of progress left to MPI.
class mpi_side final : public bench::overlap_side {
 public:
  mpi_side(const mpi_seat& s, bool sends)
      : seat_(s), sends_(sends), memory_(static_cast<std::size_t>(s.what.bytes)) {}
  void prepare() override {
    if (!sends_) return;
    require(MPI_Recv(nullptr, 0, MPI_BYTE, seat_.peer, ready_, seat_.comm, MPI_STATUS_IGNORE),
            "hear of the receive");
  }
  void post() override {
    const int bytes = static_cast<int>(seat_.what.bytes);
    const int data = seat_.tag_for(mpi_seat::data);
    if (sends_) {
      require(MPI_Isend(memory_.data(), bytes, MPI_BYTE, seat_.peer, data, seat_.comm, &request_),
              "MPI_Isend");
      return;
    }
    require(MPI_Irecv(memory_.data(), bytes, MPI_BYTE, seat_.peer, data, seat_.comm, &request_),
            "MPI_Irecv");
    require(MPI_Send(nullptr, 0, MPI_BYTE, seat_.peer, ready_, seat_.comm), "tell of the receive");
  }
  void wait() override { require(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

 private:
  mpi_seat seat_;
  bool sends_;
  int ready_ = seat_.tag_for(mpi_seat::answer);
  buffer memory_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

void require(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " +
                           std::string(text, static_cast<std::size_t>(length)));
}

mpi_job::mpi_job(int& argc, char**& argv) {
  int provided = MPI_THREAD_SINGLE;
  require(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  if (provided != MPI_THREAD_MULTIPLE) {
    throw std::runtime_error("this MPI does not support MPI_THREAD_MULTIPLE");
  }
  int ranks = 0;
  require(MPI_Comm_size(MPI_COMM_WORLD, &ranks), "MPI_Comm_size");
  require(MPI_Comm_rank(MPI_COMM_WORLD, &rank_), "MPI_Comm_rank");
  if (ranks != 2) throw std::runtime_error("start this with two ranks: mpirun -n 2 ...");
}

// MPICH over UCX's tcp at times never leaves MPI_Finalize. By then everything has been printed.
mpi_job::~mpi_job() {
  constexpr unsigned patience_s = 2;
  MPI_Barrier(MPI_COMM_WORLD);
  alarm(patience_s);
  MPI_Finalize();
}

communicator::communicator() {
  require(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
}
communicator::~communicator() {
  MPI_Comm_free(&comm_);
}

shared_table::shared_table(std::size_t bytes, MPI_Comm comm) {
  require(MPI_Win_allocate(static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm, &data_, &window_),
          "MPI_Win_allocate");
  std::fill_n(data_, bytes, std::byte{0});  // every page is there before timing
  require(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
}
shared_table::~shared_table() {
  MPI_Win_unlock_all(window_);
  MPI_Win_free(&window_);
}

mpi_party::mpi_party(const mpi_job& job, const task& t) : job_(job), task_(t) {
  const bool messages = t.overlap || t.what.op == operation::tag;
  if (t.what.op == operation::am) throw std::runtime_error("MPI has no active messages");
  for (int i = 0; i < t.paths; ++i) {
    paths_.push_back(std::make_unique<communicator>());
    if (messages) continue;
    tables_.push_back(
        std::make_unique<shared_table>(layout_for(t.what).bytes(), paths_.back()->get()));
  }
}

void mpi_party::tell(std::span<const std::byte> bytes) {
  require(
      MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer(), 0, control_.get()),
      "MPI_Send");
}

void mpi_party::hear(std::span<std::byte> bytes) {
  require(MPI_Recv(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, peer(), 0,
                   control_.get(), MPI_STATUS_IGNORE),
          "MPI_Recv");
}

std::unique_ptr<exchange> mpi_party::make_exchange(int thread) {
  const auto path = static_cast<std::size_t>(task_.path_of(thread));
  const shared_table* const table = tables_.empty() ? nullptr : tables_[path].get();
  const mpi_seat seat{task_.what, paths_[path]->get(), table, peer(), thread, task_.crowded()};
  return table == nullptr ? make_message_exchange(seat) : make_memory_exchange(seat);
}

std::unique_ptr<bench::overlap_side> mpi_party::make_side() {
  const mpi_seat seat{task_.what, paths_.front()->get(), nullptr, peer(), 0, task_.crowded()};
  return std::make_unique<mpi_side>(seat, rank() == 0);
}

}  // namespace heddle::peers
