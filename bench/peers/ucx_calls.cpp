// ucx_calls.cpp - active messages: their handlers count, the threads wait for the counts.
#include <atomic>

#include "peers/ucx_party.h"

namespace heddle::peers {
namespace {

/// Counts the messages of one number. With a shared worker any thread may run the handler.
class arrivals {
 public:
  arrivals(ucp_worker_h worker, unsigned number, std::size_t bytes, std::size_t slots)
      : worker_(worker), bytes_(bytes), slots_(slots), landings_(bytes * slots) {
    ucp_am_handler_param_t params{};
    params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                        UCP_AM_HANDLER_PARAM_FIELD_ARG;
    params.id = number;
    params.cb = handle;
    params.arg = this;
    require(ucp_worker_set_am_recv_handler(worker, &params), "ucp_worker_set_am_recv_handler");
  }
  arrivals(const arrivals&) = delete;
  arrivals& operator=(const arrivals&) = delete;
  /// Acquire pairs with add()'s release: what a handler did is done.
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(std::memory_order_acquire);
  }

 private:
  void add() noexcept { count_.fetch_add(1, std::memory_order_release); }  // pairs with count()

  static ucs_status_t handle(void* context, const void*, std::size_t, void* data, std::size_t bytes,
                             const ucp_am_recv_param_t* params) {
    auto& self = *static_cast<arrivals*>(context);
    if ((params->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return self.fetch(data, bytes);
    self.add();
    return UCS_OK;
  }
  /// Large messages announce themselves and are then fetched.
  ucs_status_t fetch(void* announced, std::size_t bytes) {
    ucp_request_param_t params{};
    params.op_attr_mask =
        UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    params.cb.recv_am = fetched;
    params.user_data = this;
    // Relaxed: a slot is only to be another one than those before.
    const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed) % slots_;
    const ucx_request request =
        ucp_am_recv_data_nbx(worker_, announced, landings_.data() + slot * bytes_, bytes, &params);
    return UCS_PTR_IS_ERR(request) ? UCS_PTR_STATUS(request) : UCS_OK;
  }
  static void fetched(void* request, ucs_status_t, std::size_t, void* context) {
    static_cast<arrivals*>(context)->add();
    ucp_request_free(request);
  }

  ucp_worker_h worker_;
  std::size_t bytes_;
  std::size_t slots_;
  buffer landings_;
  std::atomic<std::uint64_t> next_{0};
  std::atomic<std::uint64_t> count_{0};
};

class call_exchange : public exchange {
 public:
  explicit call_exchange(const ucx_seat& s)
      : own_(s),
        bytes_(static_cast<std::size_t>(s.what.what.bytes)),
        source_(bytes_),
        data_(s.path.worker(), number(ucx_thread::data), bytes_, slots()),
        answers_(s.path.worker(), number(ucx_thread::answer), bytes_, slots()) {}
  void prepare() final { before_ = data_.count(); }

 protected:
  [[nodiscard]] std::size_t slots() const {
    return static_cast<std::size_t>(own_.seat().what.what.window);
  }
  [[nodiscard]] unsigned number(ucx_thread::purpose p) const {
    return static_cast<unsigned>(own_.seat().thread) * 2 + static_cast<unsigned>(p);
  }
  ucx_request call(ucx_thread::purpose p, std::size_t bytes) {
    ucp_request_param_t params{};
    return ucp_am_send_nbx(own_.seat().path.endpoint(), number(p), nullptr, 0, source_.data(),
                           bytes, &params);
  }
  void await(const arrivals& of, std::uint64_t count) {
    while (of.count() < count) own_.progress();
  }
  void finish(ucx_request& request) { own_.finish(request, "ucp_am_send_nbx"); }

  ucx_thread own_;
  std::size_t bytes_;
  buffer source_;
  arrivals data_;
  arrivals answers_;
  std::uint64_t before_ = 0;
};

class call_ping final : public call_exchange {
 public:
  using call_exchange::call_exchange;
  void initiate(std::uint64_t count) override {
    std::uint64_t answered = answers_.count();
    for (std::uint64_t i = 0; i < count; ++i) {
      ucx_request sent = call(ucx_thread::data, bytes_);
      await(answers_, ++answered);
      finish(sent);
    }
  }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      await(data_, before_ + i);
      ucx_request sent = call(ucx_thread::answer, bytes_);
      finish(sent);
    }
  }
};

/// The target answers once, after the last.
class call_flood final : public call_exchange {
 public:
  explicit call_flood(const ucx_seat& s) : call_exchange(s), requests_(slots(), nullptr) {}
  void initiate(std::uint64_t count) override {
    const std::uint64_t answered = answers_.count();
    for (std::uint64_t i = 0; i < count; ++i) {
      ucx_request& slot = requests_[i % requests_.size()];
      finish(slot);
      slot = call(ucx_thread::data, bytes_);
    }
    for (ucx_request& request : requests_) finish(request);
    await(answers_, answered + 1);
  }
  void respond(std::uint64_t count) override {
    await(data_, before_ + count);
    ucx_request sent = call(ucx_thread::answer, 0);
    finish(sent);
  }

 private:
  std::vector<ucx_request> requests_;
};

}  // namespace

std::unique_ptr<exchange> make_call_exchange(const ucx_seat& s) {
  if (s.what.what.what == kind::latency) return std::make_unique<call_ping>(s);
  return std::make_unique<call_flood>(s);
}

}  // namespace heddle::peers
