// SPDX-License-Identifier: BSD-3-Clause
// ofi.cpp - libfabric by its calls and nothing else: reliable datagrams, RMA, tags and atomics.
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "harness/slots.h"
#include "libraries/rival.h"

namespace heddle::bench {
namespace {

void require(ssize_t code, const char* what) {
  if (code < 0)
    throw std::runtime_error(std::string(what) + ": " + fi_strerror(static_cast<int>(-code)));
}

template <class T>
struct close_fid {
  void operator()(T* object) const noexcept { fi_close(&object->fid); }
};
template <class T>
using owned = std::unique_ptr<T, close_fid<T>>;

/// Before the first endpoint: libfabric names its shared memory by process, leaves that of one that
/// was killed, and finds it busy when the process has the same number again.
void remove_memory_of_an_earlier_process() {
  std::error_code none;
  const std::string mine = std::to_string(getpid()) + ':';
  for (const auto& each : std::filesystem::directory_iterator("/dev/shm", none))
    if (each.path().filename().string().starts_with(mine))
      std::filesystem::remove(each.path(), none);
}

/// The provider that FI_PROVIDER names, and its domain. Several threads may use it.
class fabric {
 public:
  explicit fabric(const task& t) {
    remove_memory_of_an_earlier_process();
    fi_info* const hints = fi_allocinfo();
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = capabilities(t);
    hints->mode = FI_CONTEXT;
    hints->domain_attr->threading = t.paths() < t.what.threads ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
    hints->tx_attr->msg_order =
        t.needs_table() && t.what.op == operation::put ? FI_ORDER_RAW : FI_ORDER_NONE;  // flush()
    hints->rx_attr->msg_order = hints->tx_attr->msg_order;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    const char* const provider = std::getenv("FI_PROVIDER");
    const bool tcp = provider != nullptr && std::string(provider).starts_with("tcp");
    fi_info* found = nullptr;
    const int code = fi_getinfo(FI_VERSION(1, 15), tcp ? "127.0.0.1" : nullptr, nullptr,
                                tcp ? FI_SOURCE : 0, hints, &found);
    fi_freeinfo(hints);
    require(code, "this provider does not offer the operation: fi_getinfo");
    info_.reset(found);
    fid_fabric* f = nullptr;
    require(fi_fabric(info_->fabric_attr, &f, nullptr), "fi_fabric");
    fabric_.reset(f);
    fid_domain* d = nullptr;
    require(fi_domain(f, info_.get(), &d, nullptr), "fi_domain");
    domain_.reset(d);
  }
  [[nodiscard]] fi_info* info() const noexcept { return info_.get(); }
  [[nodiscard]] fid_domain* domain() const noexcept { return domain_.get(); }

 private:
  /// What the operations need and no more: providers have different ways for more.
  static std::uint64_t capabilities(const task& t) {
    if (!t.needs_table()) return FI_TAGGED;
    const bool atomic = t.what.op == operation::fetch_add;
    const bool told = t.what.what == kind::latency && t.what.bytes > sizeof(std::uint64_t);
    return FI_TAGGED | FI_RMA | (atomic ? FI_ATOMIC : 0) | (told ? FI_RMA_EVENT : 0);
  }
  struct free_info {
    void operator()(fi_info* i) const noexcept { fi_freeinfo(i); }
  };
  std::unique_ptr<fi_info, free_info> info_;
  owned<fid_fabric> fabric_;
  owned<fid_domain> domain_;
};

/// An operation under way; libfabric keeps what it needs in the first member, which must stay.
struct operation_slot {
  fi_context context{};
  std::atomic<bool> busy{false};
};

/// An endpoint and its queue, which the threads of a path share.
class endpoint {
 public:
  explicit endpoint(const fabric& on) {
    fi_cq_attr queue_attr{};
    queue_attr.format = FI_CQ_FORMAT_DATA;
    fid_cq* queue = nullptr;
    require(fi_cq_open(on.domain(), &queue_attr, &queue, nullptr), "fi_cq_open");
    queue_.reset(queue);
    fi_av_attr addresses_attr{};
    fid_av* addresses = nullptr;
    require(fi_av_open(on.domain(), &addresses_attr, &addresses, nullptr), "fi_av_open");
    addresses_.reset(addresses);
    fid_ep* e = nullptr;
    require(fi_endpoint(on.domain(), on.info(), &e, nullptr), "fi_endpoint");
    endpoint_.reset(e);
    require(fi_ep_bind(e, &queue->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    require(fi_ep_bind(e, &addresses->fid, 0), "fi_ep_bind");
    require(fi_enable(e), "fi_enable");
  }
  [[nodiscard]] std::vector<std::byte> name() const {
    std::vector<std::byte> text(512);
    std::size_t size = text.size();
    require(fi_getname(&endpoint_->fid, text.data(), &size), "fi_getname");
    text.resize(size);
    return text;
  }
  void connect(const std::vector<std::byte>& name) {
    require(fi_av_insert(addresses_.get(), name.data(), 1, &peer_, 0, nullptr), "fi_av_insert");
  }
  [[nodiscard]] fid_ep* get() const noexcept { return endpoint_.get(); }
  [[nodiscard]] fi_addr_t peer() const noexcept { return peer_; }

  /// Puts of the partner thread that told of themselves. Acquire pairs with progress()'s release.
  [[nodiscard]] std::uint64_t told(std::uint64_t thread) const noexcept {
    return told_[thread].load(std::memory_order_acquire);
  }
  /// Whether something has ended.
  bool progress() {
    std::array<fi_cq_data_entry, 16> ended;
    const ssize_t count = fi_cq_read(queue_.get(), ended.data(), ended.size());
    if (count == -FI_EAGAIN) return false;
    if (count < 0) complain();
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      if ((ended[i].flags & FI_REMOTE_CQ_DATA) != 0) {
        told_[ended[i].data % told_.size()].fetch_add(1, std::memory_order_release);
      } else if (ended[i].op_context != nullptr) {
        // Release: what the operation wrote is there for the thread that sees its end.
        static_cast<operation_slot*>(ended[i].op_context)
            ->busy.store(false, std::memory_order_release);
      }
    }
    return true;
  }

 private:
  [[noreturn]] void complain() {
    fi_cq_err_entry failed{};
    (void)fi_cq_readerr(queue_.get(), &failed, 0);
    throw std::runtime_error(std::string("an operation: ") + fi_strerror(failed.err));
  }
  owned<fid_cq> queue_;
  owned<fid_av> addresses_;
  owned<fid_ep> endpoint_;
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  std::array<std::atomic<std::uint64_t>, 256> told_{};  // by thread
};

/// Memory of this rank's that the other one may address.
class table {
 public:
  /// Where it is for the other rank.
  struct place {
    std::uint64_t address = 0, key = 0;
  };
  table(const fabric& on, std::size_t bytes)
      : memory_(bytes),
        bytes_(bytes),
        virtual_((on.info()->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0) {
    fid_mr* m = nullptr;
    require(fi_mr_reg(on.domain(), memory_.data(), bytes, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 1, 0,
                      &m, nullptr),
            "fi_mr_reg");
    registered_.reset(m);
  }
  [[nodiscard]] place mine() const {
    return {virtual_ ? reinterpret_cast<std::uint64_t>(memory_.data()) : 0,
            fi_mr_key(registered_.get())};
  }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {memory_.data(), bytes_}; }

 private:
  page_buffer memory_;
  std::size_t bytes_;
  bool virtual_;
  owned<fid_mr> registered_;
};

/// The words of kernels/library.h. libfabric has no active messages, and a put's end does not say
/// that it has arrived, which random updates need of each.
class ofi_path : public windowed_thread<ofi_path, operation_slot, page_buffer> {
 public:
  using place = std::uint64_t;  ///< an address at the other rank

  ofi_path(const task& t, endpoint& on, int thread, std::span<std::byte> here, table::place there)
      : windowed_thread(t, thread, here, t.what.window), on_(on), there_(there) {}

  [[nodiscard]] place at(std::size_t offset) const noexcept { return there_.address + offset; }

  void put_word(std::uint64_t value, place to, std::uint64_t bytes = sizeof(std::uint64_t)) {
    begin([&](std::size_t slot, operation_slot& r) {
      words_[slot] = value;
      start(r, [&] {
        return fi_write(on_.get(), &words_[slot], bytes, nullptr, on_.peer(), to, there_.key, &r);
      });
    });
  }
  void put(place to) {
    begin([&](std::size_t, operation_slot& r) {
      start(r, [&] {
        return fi_write(on_.get(), source_.data(), bytes_, nullptr, on_.peer(), to, there_.key, &r);
      });
    });
  }
  void put_told(place to) {
    begin([&](std::size_t, operation_slot& r) {
      start(r, [&] {
        return fi_writedata(on_.get(), source_.data(), bytes_, nullptr, thread_, on_.peer(), to,
                            there_.key, &r);
      });
    });
  }
  void get(place from) {
    begin([&](std::size_t slot, operation_slot& r) { start_get(landing(slot), bytes_, from, r); });
  }
  void fetch_add(place at) {
    begin([&](std::size_t slot, operation_slot& r) {
      start(r, [&] {
        return fi_fetch_atomic(on_.get(), &one_, 1, nullptr, &words_[slot], nullptr, on_.peer(), at,
                               there_.key, FI_UINT64, FI_SUM, &r);
      });
    });
  }
  [[nodiscard]] std::uint64_t arrived() const { return on_.told(thread_); }
  /// A put ends when its source is free; what a read finds at the end of an ordered queue is behind
  /// all that was put.
  void flush() {
    std::uint64_t last = 0;
    apart([&](operation_slot& r) { start_get(&last, 1, there_.address, r); });
  }

 private:
  friend windowed_thread;
  /// Until accepted.
  template <class F>
  void start(operation_slot& r, F&& attempt) {
    // Relaxed: the end comes back through the queue, which orders it behind this.
    r.busy.store(true, std::memory_order_relaxed);
    ssize_t code = attempt();
    for (; code == -FI_EAGAIN; code = attempt()) look_after();
    require(code, "begin an operation");
  }
  void start_get(void* into, std::size_t bytes, place from, operation_slot& r) {
    start(r, [&] {
      return fi_read(on_.get(), into, bytes, nullptr, on_.peer(), from, there_.key, &r);
    });
  }
  void start_send(std::uint64_t tag, std::size_t bytes, operation_slot& r) {
    start(r,
          [&] { return fi_tsend(on_.get(), source_.data(), bytes, nullptr, on_.peer(), tag, &r); });
  }
  void start_recv(std::uint64_t tag, std::byte* into, std::size_t bytes, operation_slot& r) {
    start(r, [&] { return fi_trecv(on_.get(), into, bytes, nullptr, on_.peer(), tag, 0, &r); });
  }
  /// Acquire pairs with endpoint::progress().
  static bool is_over(const operation_slot& r) { return !r.busy.load(std::memory_order_acquire); }
  void finish(const operation_slot& r) {
    while (!is_over(r)) look_after();
  }
  bool look() { return on_.progress(); }

  endpoint& on_;
  const table::place there_;
  const std::uint64_t one_ = 1;
};

class ofi_library final : public forked_library {
 public:
  using path = ofi_path;

  ofi_library(const process_pair& both, const task& t) : forked_library(both, t), fabric_(t) {
    for (int i = 0; i < t.paths(); ++i) {
      endpoints_.push_back(std::make_unique<endpoint>(fabric_));
      endpoints_.back()->connect(swap_bytes(*this, endpoints_.back()->name()));
    }
    if (!t.needs_table()) return;
    table_ = std::make_unique<class table>(fabric_, t.table_bytes());
    there_ = swap(*this, table_->mine());
  }
  [[nodiscard]] std::unique_ptr<ofi_path> make_path(int thread) {
    endpoint& on = *endpoints_[static_cast<std::size_t>(task_.path_of(thread))];
    return std::make_unique<ofi_path>(task_, on, thread, table(), there_);
  }
  [[nodiscard]] std::span<std::byte> table() const {
    return table_ ? table_->bytes() : std::span<std::byte>();
  }
  void hear(std::span<std::byte> bytes) override {
    hear_beside(bytes, [this] {
      for (const auto& e : endpoints_) e->progress();
    });
  }

 private:
  const fabric fabric_;
  std::unique_ptr<class table> table_;
  std::vector<std::unique_ptr<endpoint>> endpoints_;
  table::place there_;
};

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  return heddle::bench::rival_main<heddle::bench::ofi_library>(argc, argv);
}
