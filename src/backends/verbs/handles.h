// SPDX-License-Identifier: BSD-3-Clause
// handles.h - objects of libibverbs that go when their owner does.
#pragma once
#include <infiniband/verbs.h>

#include <memory>

namespace heddle::transport::verbs {

/// Calls the library's own function for the end of each kind. What an end answers helps nobody.
struct closer {
  void operator()(ibv_context* c) const noexcept { (void)ibv_close_device(c); }
  void operator()(ibv_pd* p) const noexcept { (void)ibv_dealloc_pd(p); }
  void operator()(ibv_td* t) const noexcept { (void)ibv_dealloc_td(t); }
  void operator()(ibv_mr* m) const noexcept { (void)ibv_dereg_mr(m); }
  void operator()(ibv_comp_channel* c) const noexcept { (void)ibv_destroy_comp_channel(c); }
  void operator()(ibv_cq* q) const noexcept { (void)ibv_destroy_cq(q); }
  void operator()(ibv_srq* q) const noexcept { (void)ibv_destroy_srq(q); }
  void operator()(ibv_qp* q) const noexcept { (void)ibv_destroy_qp(q); }
  void operator()(ibv_ah* a) const noexcept { (void)ibv_destroy_ah(a); }
};
template <class T>
using handle = std::unique_ptr<T, closer>;

}  // namespace heddle::transport::verbs
