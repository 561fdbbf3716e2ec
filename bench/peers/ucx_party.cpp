// ucx_party.cpp - two processes, their workers, endpoints and tables.
#include "peers/ucx_party.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace heddle::peers {
namespace {

std::uint64_t features_for(const task& t) {
  if (t.overlap || t.what.op == operation::tag) return UCP_FEATURE_TAG;
  if (t.what.op == operation::am) return UCP_FEATURE_AM | UCP_FEATURE_TAG;
  if (t.what.op == operation::fetch_add) {
    return UCP_FEATURE_AMO64 | UCP_FEATURE_RMA | UCP_FEATURE_TAG;
  }
  return UCP_FEATURE_RMA | UCP_FEATURE_TAG;
}

ucp_context_h open_context(const task& t) {
  ucp_params_t params{};
  params.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  params.features = features_for(t);
  params.mt_workers_shared = t.what.threads > 1 ? 1 : 0;
  ucp_context_h context = nullptr;
  require(ucp_init(&params, nullptr, &context), "ucp_init");
  return context;
}

ucs_thread_mode_t mode_for(const task& t) {
  if (t.what.threads == 1) return UCS_THREAD_MODE_SINGLE;
  return t.paths < t.what.threads ? UCS_THREAD_MODE_MULTI : UCS_THREAD_MODE_SERIALIZED;
}

std::vector<std::byte> bytes_of(const void* from, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(from);
  return {begin, begin + size};
}

}  // namespace

void require(ucs_status_t status, const char* what) {
  if (status != UCS_OK) {
    throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
  }
}

ucx_path::ucx_path(ucp_context_h context, ucs_thread_mode_t mode) {
  ucp_worker_params_t params{};
  params.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  params.thread_mode = mode;
  require(ucp_worker_create(context, &params, &worker_), "ucp_worker_create");
  ucp_worker_attr_t got{};
  got.field_mask = UCP_WORKER_ATTR_FIELD_THREAD_MODE;
  require(ucp_worker_query(worker_, &got), "ucp_worker_query");
  if (mode == UCS_THREAD_MODE_MULTI && got.thread_mode != mode) {
    throw std::runtime_error("this UCX can not share a worker between threads");
  }
}

ucx_path::~ucx_path() {
  if (key_ != nullptr) ucp_rkey_destroy(key_);
  if (endpoint_ != nullptr) {
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_EP_CLOSE_FLAG_FORCE;
    const ucx_request closing = ucp_ep_close_nbx(endpoint_, &params);
    while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS) {
      ucp_worker_progress(worker_);
    }
    if (UCS_PTR_IS_PTR(closing)) ucp_request_free(closing);
  }
  ucp_worker_destroy(worker_);
}

std::vector<std::byte> ucx_path::address() const {
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  require(ucp_worker_get_address(worker_, &address, &size), "ucp_worker_get_address");
  std::vector<std::byte> copy = bytes_of(address, size);
  ucp_worker_release_address(worker_, address);
  return copy;
}

void ucx_path::connect(const std::vector<std::byte>& address) {
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  require(ucp_ep_create(worker_, &params, &endpoint_), "ucp_ep_create");
}

void ucx_path::import(const std::vector<std::byte>& key) {
  require(ucp_ep_rkey_unpack(endpoint_, key.data(), &key_), "ucp_ep_rkey_unpack");
}

ucx_table::ucx_table(ucp_context_h context, std::size_t bytes) : context_(context) {
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS;
  params.length = bytes;
  params.flags = UCP_MEM_MAP_ALLOCATE;
  require(ucp_mem_map(context, &params, &memory_), "ucp_mem_map");
  ucp_mem_attr_t got{};
  got.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
  require(ucp_mem_query(memory_, &got), "ucp_mem_query");
  data_ = static_cast<std::byte*>(got.address);
  std::fill_n(data_, bytes, std::byte{0});  // every page is there before timing
}

ucx_table::~ucx_table() {
  ucp_mem_unmap(context_, memory_);
}

std::vector<std::byte> ucx_table::key() const {
  void* packed = nullptr;
  std::size_t size = 0;
  require(ucp_rkey_pack(context_, memory_, &packed, &size), "ucp_rkey_pack");
  std::vector<std::byte> copy = bytes_of(packed, size);
  ucp_rkey_buffer_release(packed);
  return copy;
}

ucx_party::ucx_party(const process_pair& both, const task& t)
    : both_(both), task_(t), context_(open_context(t)) {
  open_paths();
  if (!t.overlap && t.what.op != operation::tag && t.what.op != operation::am) open_table();
}

ucx_party::~ucx_party() {
  paths_.clear();
  table_.reset();
  ucp_cleanup(context_);
}

void ucx_party::open_paths() {
  for (int i = 0; i < task_.paths; ++i) {
    paths_.push_back(std::make_unique<ucx_path>(context_, mode_for(task_)));
    paths_.back()->connect(swap(paths_.back()->address()));
  }
}

void ucx_party::open_table() {
  table_ = std::make_unique<ucx_table>(context_, layout_for(task_.what).bytes());
  const auto mine = reinterpret_cast<std::uint64_t>(table_->data());
  std::memcpy(&their_table_, swap(bytes_of(&mine, sizeof mine)).data(), sizeof their_table_);
  const std::vector<std::byte> key = swap(table_->key());
  for (const auto& path : paths_) path->import(key);
}

std::vector<std::byte> ucx_party::swap(const std::vector<std::byte>& mine) {
  const std::size_t my_size = mine.size();
  tell(std::as_bytes(std::span(&my_size, 1)));
  tell(mine);
  std::size_t their_size = 0;
  hear(std::as_writable_bytes(std::span(&their_size, 1)));
  std::vector<std::byte> theirs(their_size);
  hear(theirs);
  return theirs;
}

void ucx_party::tell(std::span<const std::byte> bytes) {
  both_.tell(bytes);
}

/// UCX moves only when it is called, and the other rank may wait for that.
void ucx_party::hear(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    bytes = both_.hear_some(bytes);
    for (const auto& path : paths_) ucp_worker_progress(path->worker());
  }
}

ucx_seat ucx_party::seat_of(int thread) {
  ucx_path& path = *paths_[static_cast<std::size_t>(task_.path_of(thread))];
  return {task_, path, thread, table_ ? table_->data() : nullptr, their_table_};
}

std::unique_ptr<exchange> ucx_party::make_exchange(int thread) {
  if (task_.what.op == operation::tag) return make_tag_exchange(seat_of(thread));
  if (task_.what.op == operation::am) return make_call_exchange(seat_of(thread));
  return make_memory_exchange(seat_of(thread));
}

std::unique_ptr<bench::overlap_side> ucx_party::make_side() {
  return make_tag_side(seat_of(0), rank() == 0);
}

}  // namespace heddle::peers
