// ucx_thread.cpp - tagged messages, waiting and progress as one thread does them.
#include <sched.h>

#include <stdexcept>
#include <string>

#include "peers/ucx_party.h"

namespace heddle::peers {

ucp_tag_t ucx_thread::tag_for(purpose p) const noexcept {
  return static_cast<ucp_tag_t>(seat_.thread) * 4 + p;
}

ucx_request ucx_thread::send(purpose p, const std::byte* from, std::size_t bytes) {
  ucp_request_param_t params{};
  return ucp_tag_send_nbx(seat_.path.endpoint(), from, bytes, tag_for(p), &params);
}

ucx_request ucx_thread::receive(purpose p, std::byte* into, std::size_t bytes) {
  constexpr ucp_tag_t whole_tag = ~ucp_tag_t{0};
  ucp_request_param_t params{};
  return ucp_tag_recv_nbx(seat_.path.worker(), into, bytes, tag_for(p), whole_tag, &params);
}

void ucx_thread::flush() {
  ucp_request_param_t params{};
  ucx_request request = ucp_ep_flush_nbx(seat_.path.endpoint(), &params);
  finish(request, "ucp_ep_flush_nbx");
}

void ucx_thread::progress() {
  constexpr unsigned patience = 64;
  if (ucp_worker_progress(seat_.path.worker()) != 0) {
    idle_ = 0;
  } else if (seat_.what.crowded() && ++idle_ % patience == 0) {
    sched_yield();
  }
}

void ucx_thread::finish(ucx_request& request, const char* what) {
  if (request == nullptr) return;
  if (UCS_PTR_IS_ERR(request)) require(UCS_PTR_STATUS(request), what);
  while (ucp_request_check_status(request) == UCS_INPROGRESS) progress();
  const ucs_status_t end = ucp_request_check_status(request);
  ucp_request_free(request);
  request = nullptr;
  require(end, what);
}

}  // namespace heddle::peers
