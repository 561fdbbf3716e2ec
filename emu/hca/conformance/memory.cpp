// SPDX-License-Identifier: BSD-3-Clause
// memory.cpp - registering memory, and keys.
#include <cerrno>

#include "endpoint.h"

namespace conformance {

namespace {

void remote_write_needs_local_write(side& me) {
  endpoint e(me);
  errno = 0;
  ibv_mr* const mr = ibv_reg_mr(e.pd(), e.data(), 4096, IBV_ACCESS_REMOTE_WRITE);
  me.expect(mr == nullptr && errno == EINVAL, "errno %d", errno);
  if (mr != nullptr) ibv_dereg_mr(mr);
}

void own_addresses(side& me) {
  endpoint e(me);
  constexpr std::uint64_t iova = 0x7000'0000;
  ibv_mr* const mr = ibv_reg_mr_iova(e.pd(), e.data() + 4096, 4096, iova,
                                     IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  if (mr == nullptr) me.skip("ibv_reg_mr_iova: errno %d", errno);
  e.words()[512 + 3] = 99;
  const std::uint32_t theirs = me.swap(mr->rkey);
  e.connect();
  ibv_sge into = e.piece(0, 8);
  ibv_send_wr wr = e.request(IBV_WR_RDMA_READ, into);
  wr.wr.rdma.remote_addr = iova + 24;
  wr.wr.rdma.rkey = theirs;
  me.expect(e.carry_out(wr) == IBV_WC_SUCCESS && e.words()[0] == 99, "read %lu", e.words()[0]);
  me.meet();
  ibv_dereg_mr(mr);
}

void overlapping_regions(side& me) {
  endpoint e(me);
  ibv_mr* const again = ibv_reg_mr(e.pd(), e.data(), 4096, IBV_ACCESS_LOCAL_WRITE);
  me.require(again != nullptr, "the same memory a second time");
  me.expect(again->lkey != e.mr()->lkey && again->rkey != e.mr()->rkey, "keys of its own");
  me.expect(ibv_dereg_mr(again) == 0, "ibv_dereg_mr");
}

void registered_anew(side& me) {
  endpoint e(me);
  if (ibv_rereg_mr(e.mr(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ) != 0)
    me.skip("ibv_rereg_mr: errno %d", errno);
  const std::uint32_t theirs = me.swap(e.mr()->rkey);
  e.connect();
  if (me.is_first()) {
    ibv_sge piece = e.piece(0, 8);
    ibv_send_wr read = e.request(IBV_WR_RDMA_READ, piece),
                write = e.request(IBV_WR_RDMA_WRITE, piece);
    read.wr.rdma.rkey = write.wr.rdma.rkey = theirs;
    me.expect(e.carry_out(read) == IBV_WC_SUCCESS, "it may be read");
    me.expect(e.carry_out(write) == IBV_WC_REM_ACCESS_ERR, "and not written");
  }
  me.meet();
}

void busy_domain(side& me) {
  endpoint e(me);
  me.expect(ibv_dealloc_pd(e.pd()) == EBUSY, "a domain with memory and queues is busy");
}

}  // namespace

test_list memory_tests() {
  return {{"memory that peers may write must be writable here", remote_write_needs_local_write},
          {"memory can be known by addresses of one's own", own_addresses},
          {"memory can be registered twice, with keys of its own", overlapping_regions},
          {"memory that is registered anew has the new rights", registered_anew},
          {"a protection domain that is in use stays", busy_domain}};
}

}  // namespace conformance
