// SPDX-License-Identifier: BSD-3-Clause
// ucx.cpp - UCX's protocol layer, UCP, by its calls and nothing else.
#include <ucp/api/ucp.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "harness/slots.h"
#include "libraries/rival.h"

namespace heddle::bench {
namespace {

void require(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

std::vector<std::byte> bytes_of(const void* from, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(from);
  return {begin, begin + size};
}

/// The program's memory, or UCX's, which UCX knows then. The other rank may address what UCX knows.
/// Every page is there before timing.
class ucx_buffer {
 public:
  ucx_buffer(std::size_t bytes, ucp_context_h context, buffer_kind where, bool addressable = false)
      : context_(context), bytes_(bytes) {
    const bool is_ours = where == buffer_kind::plain;
    if (is_ours) ours_ = std::make_unique<page_buffer>(bytes);
    if (is_ours) data_ = ours_->data();
    if (!is_ours || addressable) map(is_ours ? 0U : unsigned{UCP_MEM_MAP_ALLOCATE});
    std::fill_n(data_, bytes, std::byte{0});
  }
  ucx_buffer(const ucx_buffer&) = delete;
  ucx_buffer& operator=(const ucx_buffer&) = delete;
  ~ucx_buffer() {
    if (known_ != nullptr) ucp_mem_unmap(context_, known_);
  }
  /// Only when addressable.
  [[nodiscard]] std::vector<std::byte> key() const {
    void* packed = nullptr;
    std::size_t size = 0;
    require(ucp_rkey_pack(context_, known_, &packed, &size), "ucp_rkey_pack");
    std::vector<std::byte> copy = bytes_of(packed, size);
    ucp_rkey_buffer_release(packed);
    return copy;
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, bytes_}; }

 private:
  void map(unsigned flags) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.address = data_;
    params.length = std::max<std::size_t>(bytes_, 1);
    params.flags = flags;
    require(ucp_mem_map(context_, &params, &known_), "ucp_mem_map");
    ucp_mem_attr_t got{};
    got.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    require(ucp_mem_query(known_, &got), "ucp_mem_query");
    data_ = static_cast<std::byte*>(got.address);
  }
  ucp_context_h context_;
  std::size_t bytes_;
  std::unique_ptr<page_buffer> ours_;
  ucp_mem_h known_ = nullptr;
  std::byte* data_ = nullptr;
};

/// Runs until the operation is over; a request of null already is.
using request = ucs_status_ptr_t;

std::uint64_t features_for(const task& t) {
  if (t.what.op == operation::tag && !t.gups()) return UCP_FEATURE_TAG;
  if (t.what.op == operation::am && !t.gups()) return UCP_FEATURE_AM | UCP_FEATURE_TAG;
  const bool atomic = t.gups() || t.what.op == operation::fetch_add;
  return UCP_FEATURE_RMA | UCP_FEATURE_TAG | (atomic ? UCP_FEATURE_AMO64 : 0);
}

struct clean_up {
  void operator()(ucp_context_h c) const noexcept { ucp_cleanup(c); }
};
using owned_context = std::unique_ptr<std::remove_pointer_t<ucp_context_h>, clean_up>;

owned_context make_context(const task& t) {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = features_for(t);
  params.mt_workers_shared = t.what.threads > 1 ? 1 : 0;
  ucp_context_h made = nullptr;
  require(ucp_init(&params, nullptr, &made), "ucp_init");
  return owned_context(made);
}

/// A worker and its endpoint at the other rank's worker of the same number.
class worker {
 public:
  worker(ucp_context_h context, ucs_thread_mode_t mode) {
    ucp_worker_params_t params{};
    params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    params.thread_mode = mode;
    require(ucp_worker_create(context, &params, &worker_), "ucp_worker_create");
    ucp_worker_attr_t got{};
    got.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
    require(ucp_worker_query(worker_, &got), "ucp_worker_query");
    if (mode == UCS_THREAD_MODE_MULTI && got.thread_mode != mode)
      throw std::runtime_error("this UCX can not share a worker between threads");
  }
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker() {
    if (key_ != nullptr) ucp_rkey_destroy(key_);
    if (endpoint_ != nullptr) close();
    ucp_worker_destroy(worker_);
  }
  [[nodiscard]] std::vector<std::byte> address() const {
    ucp_address_t* address = nullptr;
    std::size_t size = 0;
    require(ucp_worker_get_address(worker_, &address, &size), "ucp_worker_get_address");
    std::vector<std::byte> copy = bytes_of(address, size);
    ucp_worker_release_address(worker_, address);
    return copy;
  }
  void connect(const std::vector<std::byte>& address) {
    ucp_ep_params_t params{};
    params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
    params.address = reinterpret_cast<const ucp_address_t*>(address.data());
    require(ucp_ep_create(worker_, &params, &endpoint_), "ucp_ep_create");
  }
  void import(const std::vector<std::byte>& key) {
    require(ucp_ep_rkey_unpack(endpoint_, key.data(), &key_), "ucp_ep_rkey_unpack");
  }
  [[nodiscard]] ucp_worker_h get() const noexcept { return worker_; }
  [[nodiscard]] ucp_ep_h endpoint() const noexcept { return endpoint_; }
  [[nodiscard]] ucp_rkey_h key() const noexcept { return key_; }

 private:
  void close() {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const request closing = ucp_ep_close_nbx(endpoint_, &params);
    while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS)
      ucp_worker_progress(worker_);
    if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
  }
  ucp_worker_h worker_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_rkey_h key_ = nullptr;
};

/// Counts the active messages of one thread. With a shared worker any thread may run the handler.
class arrivals {
 public:
  arrivals(ucp_worker_h on, unsigned number, std::size_t bytes, const ucx_buffer& landings)
      : worker_(on), bytes_(bytes), landings_(landings) {
    ucp_am_handler_param_t params{};
    params.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                        UCP_AM_HANDLER_PARAM_FIELD_ARG;
    params.id = number;
    params.cb = handle;
    params.arg = this;
    require(ucp_worker_set_am_recv_handler(on, &params), "ucp_worker_set_am_recv_handler");
  }
  arrivals(const arrivals&) = delete;
  arrivals& operator=(const arrivals&) = delete;
  /// Acquire pairs with add()'s release: what a handler did is done.
  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(std::memory_order_acquire);
  }

 private:
  /// Of one worker only one thread at a time runs handlers, so that no locked instruction is
  /// needed. Release pairs with count(); relaxed: what this worker's handlers wrote before.
  void add() noexcept {
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

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
    const std::size_t slot = next_++ % (landings_.bytes().size() / bytes_);
    const request r =
        ucp_am_recv_data_nbx(worker_, announced, landings_.data() + slot * bytes_, bytes, &params);
    return UCS_PTR_IS_ERR(r) ? UCS_PTR_STATUS(r) : UCS_OK;
  }
  static void fetched(void* r, ucs_status_t, std::size_t, void* context) {
    static_cast<arrivals*>(context)->add();
    ucp_request_free(r);
  }

  ucp_worker_h worker_;
  std::size_t bytes_;
  const ucx_buffer& landings_;  // one for each slot of the window
  std::size_t next_ = 0;
  std::atomic<std::uint64_t> count_{0};
};

/// The words of kernels/library.h.
class ucx_path : public windowed_thread<ucx_path, request, ucx_buffer> {
 public:
  using place = std::uint64_t;                    ///< an address at the other rank
  static constexpr bool handler_answers = false;  // a handler must not send and wait

  ucx_path(const task& t, ucp_context_h context, worker& on, int thread, std::span<std::byte> here,
           std::uint64_t there)
      : windowed_thread(t, thread, here, t.what.window, context, t.what.buffers),
        on_(on),
        there_(there) {
    if (t.what.op == operation::am && !t.gups())
      calls_ =
          std::make_unique<arrivals>(on.get(), static_cast<unsigned>(thread), bytes_, landings_);
  }

  [[nodiscard]] place at(std::size_t offset) const noexcept { return there_ + offset; }

  void put_word(std::uint64_t value, place to, std::uint64_t bytes = sizeof(std::uint64_t)) {
    begin([&](std::size_t slot, request& r) {
      words_[slot] = value;
      r = ucp_put_nbx(on_.endpoint(), &words_[slot], bytes, to, on_.key(), &none_);
    });
  }
  void put(place to) {
    begin([&](std::size_t, request& r) {
      r = ucp_put_nbx(on_.endpoint(), source_.data(), bytes_, to, on_.key(), &none_);
    });
  }
  /// UCX promises no order of the bytes, but by a fence that of two puts.
  void put_told(place to) {
    put(to);
    require(ucp_worker_fence(on_.get()), "ucp_worker_fence");
    put_word(++told_, at(line_), sizeof told_);
  }
  void get(place from) {
    begin([&](std::size_t slot, request& r) {
      r = ucp_get_nbx(on_.endpoint(), landing(slot), bytes_, from, on_.key(), &none_);
    });
  }
  void fetch_add(place at) {
    begin([&](std::size_t slot, request& r) {
      ucp_request_param_t params = word_;
      params.op_attr_mask |= UCP_OP_ATTR_FIELD_REPLY_BUFFER;
      params.reply_buffer = &words_[slot];
      r = ucp_atomic_op_nbx(on_.endpoint(), UCP_ATOMIC_OP_ADD, &one_, 1, at, on_.key(), &params);
    });
  }
  void exclusive_or(std::uint64_t value, place at) {
    begin([&](std::size_t slot, request& r) {
      words_[slot] = value;
      r = ucp_atomic_op_nbx(on_.endpoint(), UCP_ATOMIC_OP_XOR, &words_[slot], 1, at, on_.key(),
                            &word_);
    });
  }
  [[nodiscard]] std::uint64_t get_word(place from) {
    std::uint64_t value = 0;
    apart([&](request& r) {
      r = ucp_get_nbx(on_.endpoint(), &value, sizeof value, from, on_.key(), &none_);
    });
    return value;
  }
  void call(message) {
    begin([&](std::size_t, request& r) {
      r = ucp_am_send_nbx(on_.endpoint(), static_cast<unsigned>(thread_), nullptr, 0,
                          source_.data(), bytes_, &none_);
    });
  }
  [[nodiscard]] std::uint64_t arrived() const { return calls_ ? calls_->count() : told_of(); }
  void flush() {
    apart([&](request& r) { r = ucp_ep_flush_nbx(on_.endpoint(), &none_); });
  }

 private:
  friend windowed_thread;
  void start_send(ucp_tag_t tag, std::size_t bytes, request& r) {
    r = ucp_tag_send_nbx(on_.endpoint(), source_.data(), bytes, tag, &none_);
  }
  void start_recv(ucp_tag_t tag, std::byte* into, std::size_t bytes, request& r) {
    r = ucp_tag_recv_nbx(on_.get(), into, bytes, tag, ~ucp_tag_t{0}, &none_);
  }
  static bool is_over(const request& r) { return r == nullptr; }
  void finish(request& r) {
    if (r == nullptr) return;
    if (UCS_PTR_IS_ERR(r)) require(UCS_PTR_STATUS(r), "an operation");
    ucs_status_t end = ucp_request_check_status(r);
    for (; end == UCS_INPROGRESS; end = ucp_request_check_status(r)) look_after();
    ucp_request_free(r);
    r = nullptr;
    require(end, "an operation");
  }
  bool look() { return ucp_worker_progress(on_.get()) != 0; }
  static ucp_request_param_t of_a_word() {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    params.datatype = ucp_dt_make_contig(sizeof(std::uint64_t));
    return params;
  }

  worker& on_;
  const std::uint64_t there_;
  std::uint64_t told_ = 0;
  const std::uint64_t one_ = 1;
  const ucp_request_param_t none_{}, word_ = of_a_word();
  std::unique_ptr<arrivals> calls_;
};

class ucx_library final : public forked_library {
 public:
  using path = ucx_path;

  ucx_library(const process_pair& both, const task& t)
      : forked_library(both, t), context_(make_context(t)) {
    for (int i = 0; i < t.paths(); ++i) {
      workers_.push_back(std::make_unique<worker>(context_.get(), mode()));
      workers_.back()->connect(swap_bytes(*this, workers_.back()->address()));
    }
    if (!t.needs_table()) return;
    table_ = std::make_unique<ucx_buffer>(t.table_bytes(), context_.get(), t.what.buffers, true);
    there_ = swap<std::uint64_t>(*this, reinterpret_cast<std::uint64_t>(table_->bytes().data()));
    const std::vector<std::byte> key = swap_bytes(*this, table_->key());
    for (const auto& w : workers_) w->import(key);
  }
  [[nodiscard]] std::unique_ptr<ucx_path> make_path(int thread) {
    worker& on = *workers_[static_cast<std::size_t>(task_.path_of(thread))];
    return std::make_unique<ucx_path>(task_, context_.get(), on, thread, table(), there_);
  }
  [[nodiscard]] std::span<std::byte> table() const {
    return table_ ? table_->bytes() : std::span<std::byte>();
  }
  void hear(std::span<std::byte> bytes) override {
    hear_beside(bytes, [this] {
      for (const auto& w : workers_) ucp_worker_progress(w->get());
    });
  }

 private:
  [[nodiscard]] ucs_thread_mode_t mode() const {
    if (task_.what.threads == 1) return UCS_THREAD_MODE_SINGLE;
    return task_.paths() < task_.what.threads ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SERIALIZED;
  }

  const owned_context context_;
  std::unique_ptr<ucx_buffer> table_;
  std::vector<std::unique_ptr<worker>> workers_;  // end before the table and the context
  std::uint64_t there_ = 0;
};

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  return heddle::bench::rival_main<heddle::bench::ucx_library>(argc, argv);
}
