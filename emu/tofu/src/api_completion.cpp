// SPDX-License-Identifier: BSD-3-Clause
// api_completion.cpp - polling, and what the library says about itself.
#include <cstring>

#include "api.h"
#include "host/words.h"

namespace {
using namespace tofu;
}

TOFU_API int utofu_poll_tcq(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, void** cbdata) {
  if (cbdata == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (flags != 0) return UTOFU_ERR_INVALID_FLAGS;
  return with_vcq(vcq_hdl, [&](vcq& of) { return of.queue->poll_tcq(of, cbdata); });
}

TOFU_API int utofu_poll_mrq(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags,
                            struct utofu_mrq_notice* notice) {
  if (notice == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (flags != 0) return UTOFU_ERR_INVALID_FLAGS;
  return with_vcq(vcq_hdl, [&](vcq& of) { return of.queue->poll_mrq(of, notice); });
}

TOFU_API int utofu_query_num_unread_tcq(utofu_vcq_hdl_t vcq_hdl, size_t* count) {
  if (count == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_vcq(vcq_hdl, [&](vcq& of) { return of.queue->count_tcq(of, count); });
}

TOFU_API int utofu_query_num_unread_mrq(utofu_vcq_hdl_t vcq_hdl, size_t* count) {
  if (count == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_vcq(vcq_hdl, [&](vcq& of) { return of.queue->count_mrq(of, count); });
}

/// The vendor's library has it, no header declares it: the text of this thread's last message, of
/// at most 119 characters, into the caller's buffer. The pointer is to const there, too.
TOFU_API void utofu_get_last_error(const char* message);
TOFU_API void utofu_get_last_error(const char* message) {
  if (message != nullptr) std::strcpy(const_cast<char*>(message), host::last_words());
}
