// ucx_party.h - one of two processes that talk by UCX's protocol layer, UCP.
#pragma once
#include <ucp/api/ucp.h>

#include <memory>
#include <vector>

#include "peers/memory.h"
#include "peers/party.h"
#include "peers/process_pair.h"
#include "peers/table.h"

namespace heddle::peers {

/// Throws std::runtime_error naming `what` and UCX's reason.
void require(ucs_status_t status, const char* what);

/// Runs until the operation is over; a request of null already is.
using ucx_request = ucs_status_ptr_t;

/// A worker and its endpoint at the other rank's worker of the same number.
class ucx_path {
 public:
  ucx_path(ucp_context_h context, ucs_thread_mode_t mode);
  ucx_path(const ucx_path&) = delete;
  ucx_path& operator=(const ucx_path&) = delete;
  ~ucx_path();

  [[nodiscard]] std::vector<std::byte> address() const;
  void connect(const std::vector<std::byte>& address);
  /// The other rank's table, by this endpoint.
  void import(const std::vector<std::byte>& key);

  [[nodiscard]] ucp_worker_h worker() const noexcept { return worker_; }
  [[nodiscard]] ucp_ep_h endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] ucp_rkey_h key() const noexcept { return key_; }

 private:
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_rkey_h key_ = nullptr;
};

/// Memory of this rank's that the other one may address.
class ucx_table {
 public:
  ucx_table(ucp_context_h context, std::size_t bytes);
  ucx_table(const ucx_table&) = delete;
  ucx_table& operator=(const ucx_table&) = delete;
  ~ucx_table();
  [[nodiscard]] std::vector<std::byte> key() const;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  ucp_context_h context_;
  ucp_mem_h memory_ = nullptr;
  std::byte* data_ = nullptr;
};

/// What one thread works with.
struct ucx_seat {
  const task& what;
  ucx_path& path;
  int thread;
  std::byte* here = nullptr;  ///< this rank's table
  std::uint64_t there = 0;    ///< the other's
};

/// The calls of one thread with everything filled in.
class ucx_thread {
 public:
  explicit ucx_thread(const ucx_seat& s) : seat_(s) {}
  /// Messages of a thread: the data, what answers it, what says that a run is over.
  enum purpose : std::uint64_t { data, answer, finished };

  [[nodiscard]] ucx_request send(purpose p, const std::byte* from, std::size_t bytes);
  [[nodiscard]] ucx_request receive(purpose p, std::byte* into, std::size_t bytes);
  /// Everything sent is with the other rank, as far as UCX can tell.
  void flush();
  /// Makes UCX move, and lets others have the core when there are too few.
  void progress();
  void finish(ucx_request& request, const char* what);
  [[nodiscard]] const ucx_seat& seat() const noexcept { return seat_; }

 private:
  [[nodiscard]] ucp_tag_t tag_for(purpose p) const noexcept;
  ucx_seat seat_;
  unsigned idle_ = 0;
};

class ucx_party final : public party {
 public:
  ucx_party(const process_pair& both, const task& t);
  ~ucx_party() override;
  [[nodiscard]] int rank() const override { return both_.rank(); }
  void tell(std::span<const std::byte> bytes) override;
  void hear(std::span<std::byte> bytes) override;
  std::unique_ptr<exchange> make_exchange(int thread) override;
  std::unique_ptr<bench::overlap_side> make_side() override;

 private:
  [[nodiscard]] std::vector<std::byte> swap(const std::vector<std::byte>& mine);
  [[nodiscard]] ucx_seat seat_of(int thread);
  void open_paths();
  void open_table();

  const process_pair& both_;
  const task& task_;
  ucp_context_h context_ = nullptr;
  std::unique_ptr<ucx_table> table_;  // null for messages
  std::uint64_t their_table_ = 0;
  std::vector<std::unique_ptr<ucx_path>> paths_;
};

/// For tag, for am, and for put, get and fetch-add: the file of that name.
[[nodiscard]] std::unique_ptr<exchange> make_tag_exchange(const ucx_seat& s);
[[nodiscard]] std::unique_ptr<exchange> make_call_exchange(const ucx_seat& s);
[[nodiscard]] std::unique_ptr<exchange> make_memory_exchange(const ucx_seat& s);
[[nodiscard]] std::unique_ptr<bench::overlap_side> make_tag_side(const ucx_seat& s, bool sends);

}  // namespace heddle::peers
