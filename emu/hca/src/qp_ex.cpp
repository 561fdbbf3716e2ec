// SPDX-License-Identifier: BSD-3-Clause
// qp_ex.cpp - the ibv_wr_* functions: a work request is put together by several calls, and all of
// them between start and complete are posted at once.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "capacity.h"
#include "qp.h"

namespace hca {

namespace {

/// What one thread is putting together; between start and complete it holds the queue pair's lock.
struct builder {
  ibv_send_wr wr{};
  std::array<ibv_sge, max_sge> sges{};
  std::array<std::byte, max_inline> inlined{};
  bool open = false;  ///< wr is begun
  int problem = 0;
};
thread_local builder current;

/// The work request that was begun is complete: it goes into the queue.
void close(ibv_qp_ex* api) noexcept {
  if (!current.open) return;
  current.open = false;
  if (current.problem == 0) current.problem = qp::of(api).add_to_list(current.wr);
}

ibv_send_wr& begin(ibv_qp_ex* api, ibv_wr_opcode opcode) noexcept {
  close(api);
  current.wr = {};
  current.wr.wr_id = api->wr_id;
  current.wr.send_flags = api->wr_flags;
  current.wr.opcode = opcode;
  current.wr.sg_list = current.sges.data();
  current.open = true;
  return current.wr;
}

void remote(ibv_qp_ex* api, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t at) noexcept {
  ibv_send_wr& wr = begin(api, opcode);
  wr.wr.rdma.rkey = rkey;
  wr.wr.rdma.remote_addr = at;
}

void atomic(ibv_qp_ex* api, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t at) noexcept {
  ibv_send_wr& wr = begin(api, opcode);
  wr.wr.atomic.rkey = rkey;
  wr.wr.atomic.remote_addr = at;
}

void set_sges(std::size_t count, const ibv_sge* list) noexcept {
  if (count > current.sges.size()) {
    current.problem = EINVAL;
    return;
  }
  std::copy_n(list, count, current.sges.begin());
  current.wr.num_sge = static_cast<int>(count);
}

/// The data is copied at once: the program may use its buffers again.
void set_inline(std::size_t count, const ibv_data_buf* list) noexcept {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (list[i].length > current.inlined.size() - bytes) {
      current.problem = EINVAL;
      return;
    }
    std::memcpy(current.inlined.data() + bytes, list[i].addr, list[i].length);
    bytes += list[i].length;
  }
  current.wr.send_flags |= IBV_SEND_INLINE;
  const ibv_sge whole{reinterpret_cast<std::uint64_t>(current.inlined.data()),
                      static_cast<std::uint32_t>(bytes), 0};
  set_sges(1, &whole);
}

void start(ibv_qp_ex* api) noexcept {
  qp::of(api).begin_list();
  current.open = false;
  current.problem = 0;
}

int complete(ibv_qp_ex* api) noexcept {
  close(api);
  const int problem = current.problem;
  qp::of(api).end_list(problem == 0);
  return problem;
}

void abort_list(ibv_qp_ex* api) noexcept {
  current.open = false;
  qp::of(api).end_list(false);
}

void set_requests(ibv_qp_ex& api) noexcept {
  api.wr_send = [](ibv_qp_ex* q) { begin(q, IBV_WR_SEND); };
  api.wr_send_imm = [](ibv_qp_ex* q, __be32 imm) { begin(q, IBV_WR_SEND_WITH_IMM).imm_data = imm; };
  api.wr_rdma_write = [](ibv_qp_ex* q, std::uint32_t rkey, std::uint64_t at) {
    remote(q, IBV_WR_RDMA_WRITE, rkey, at);
  };
  api.wr_rdma_write_imm = [](ibv_qp_ex* q, std::uint32_t rkey, std::uint64_t at, __be32 imm) {
    remote(q, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, at);
    current.wr.imm_data = imm;
  };
  api.wr_rdma_read = [](ibv_qp_ex* q, std::uint32_t rkey, std::uint64_t at) {
    remote(q, IBV_WR_RDMA_READ, rkey, at);
  };
  api.wr_atomic_cmp_swp = [](ibv_qp_ex* q, std::uint32_t rkey, std::uint64_t at,
                             std::uint64_t compare, std::uint64_t swap) {
    atomic(q, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, at);
    current.wr.wr.atomic.compare_add = compare;
    current.wr.wr.atomic.swap = swap;
  };
  api.wr_atomic_fetch_add = [](ibv_qp_ex* q, std::uint32_t rkey, std::uint64_t at,
                               std::uint64_t add) {
    atomic(q, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, at);
    current.wr.wr.atomic.compare_add = add;
  };
}

void set_data(ibv_qp_ex& api) noexcept {
  api.wr_set_ud_addr = [](ibv_qp_ex*, ibv_ah* to, std::uint32_t qpn, std::uint32_t qkey) {
    current.wr.wr.ud = {to, qpn, qkey};
  };
  api.wr_set_sge = [](ibv_qp_ex*, std::uint32_t lkey, std::uint64_t at, std::uint32_t bytes) {
    const ibv_sge one{at, bytes, lkey};
    set_sges(1, &one);
  };
  api.wr_set_sge_list = [](ibv_qp_ex*, std::size_t count, const ibv_sge* list) {
    set_sges(count, list);
  };
  api.wr_set_inline_data = [](ibv_qp_ex*, void* at, std::size_t bytes) {
    const ibv_data_buf one{at, bytes};
    set_inline(1, &one);
  };
  api.wr_set_inline_data_list = [](ibv_qp_ex*, std::size_t count, const ibv_data_buf* list) {
    set_inline(count, list);
  };
}

}  // namespace

void set_wr_functions(ibv_qp_ex& api) noexcept {
  set_requests(api);
  set_data(api);
  api.wr_start = start;
  api.wr_complete = complete;
  api.wr_abort = abort_list;
}

}  // namespace hca
