// SPDX-License-Identifier: BSD-3-Clause
// api.h - what the files that implement utofu.h share.
#pragma once
#include <utofu.h>

#include "process.h"

// Every function of utofu.h, and nothing else, leaves the library.
#define TOFU_API extern "C" __attribute__((visibility("default")))

namespace tofu {

/// Runs `f(vcq)` if `handle` is a VCQ's.
template <class F>
int with_vcq(utofu_vcq_hdl_t handle, const F& f) noexcept {
  vcq* const one = handles.find(handle);
  if (one == nullptr) return UTOFU_ERR_INVALID_VCQ_HDL;
  return guarded([&] { return f(*one); });
}

/// Runs `f(process)` as a member of the machine.
template <class F>
int in_machine(const F& f) noexcept {
  return guarded([&]() -> int {
    process& p = process::get();
    return p.join() ? f(p) : UTOFU_ERR_FATAL;
  });
}

}  // namespace tofu
