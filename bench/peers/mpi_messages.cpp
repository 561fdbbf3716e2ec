// mpi_messages.cpp - tagged messages: there and back one at a time, or a window in flight one way.
#include "peers/mpi_party.h"

namespace heddle::peers {
namespace {

/// What both have: buffers, and the calls with everything filled in.
class message_exchange : public exchange {
 public:
  explicit message_exchange(const mpi_seat& s)
      : seat_(s),
        bytes_(static_cast<std::size_t>(s.what.bytes)),
        source_(bytes_),
        landings_(bytes_ * static_cast<std::size_t>(s.what.window)) {}

 protected:
  void send(mpi_seat::purpose p, std::size_t bytes) {
    require(MPI_Send(source_.data(), static_cast<int>(bytes), MPI_BYTE, seat_.peer,
                     seat_.tag_for(p), seat_.comm),
            "MPI_Send");
  }
  void isend(MPI_Request& request) {
    require(MPI_Isend(source_.data(), static_cast<int>(bytes_), MPI_BYTE, seat_.peer,
                      seat_.tag_for(mpi_seat::data), seat_.comm, &request),
            "MPI_Isend");
  }
  void irecv(mpi_seat::purpose p, std::size_t slot, MPI_Request& request) {
    require(MPI_Irecv(landings_.data() + slot * bytes_, static_cast<int>(bytes_), MPI_BYTE,
                      seat_.peer, seat_.tag_for(p), seat_.comm, &request),
            "MPI_Irecv");
  }
  static void wait(MPI_Request& request) {
    require(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }

  mpi_seat seat_;
  std::size_t bytes_;
  buffer source_;
  buffer landings_;  // one for each slot of the window
};

/// Every receive is posted before what it waits for is sent.
class tag_ping final : public message_exchange {
 public:
  using message_exchange::message_exchange;
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      irecv(mpi_seat::answer, 0, request_);
      send(mpi_seat::data, bytes_);
      wait(request_);
    }
  }
  void prepare() override { irecv(mpi_seat::data, 0, request_); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      wait(request_);
      if (i < count) irecv(mpi_seat::data, 0, request_);
      send(mpi_seat::answer, bytes_);
    }
  }

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// The target answers once, after the last.
class tag_flood final : public message_exchange {
 public:
  explicit tag_flood(const mpi_seat& s)
      : message_exchange(s), requests_(static_cast<std::size_t>(s.what.window), MPI_REQUEST_NULL) {}
  void initiate(std::uint64_t count) override {
    run(count, [this](std::size_t slot) { isend(requests_[slot]); });
    MPI_Request answered = MPI_REQUEST_NULL;
    irecv(mpi_seat::answer, 0, answered);
    wait(answered);
  }
  void respond(std::uint64_t count) override {
    run(count, [this](std::size_t slot) { irecv(mpi_seat::data, slot, requests_[slot]); });
    send(mpi_seat::answer, 0);
  }

 private:
  /// A slot is used again when its operation has ended.
  template <class F>
  void run(std::uint64_t count, F&& post) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t slot = i % requests_.size();
      wait(requests_[slot]);
      post(slot);
    }
    for (MPI_Request& request : requests_) wait(request);
  }
  std::vector<MPI_Request> requests_;
};

}  // namespace

std::unique_ptr<exchange> make_message_exchange(const mpi_seat& s) {
  if (s.what.what == kind::latency) return std::make_unique<tag_ping>(s);
  return std::make_unique<tag_flood>(s);
}

}  // namespace heddle::peers
