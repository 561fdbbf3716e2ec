// SPDX-License-Identifier: BSD-3-Clause
// connection.cpp - what a reliable connection carries: sends, writes, reads and atomics.
#include <arpa/inet.h>

#include <cstring>

#include "endpoint.h"

namespace conformance {

namespace {

void send_arrives(side& me) {
  endpoint e(me);
  e.post_receive(0, 4096, 7);
  e.connect();
  if (me.is_first()) {
    std::memset(e.data() + 8192, 0x5a, 100);
    ibv_sge from = e.piece(8192, 100);
    const auto status = e.carry_out(e.request(IBV_WR_SEND, from));
    me.expect(status == IBV_WC_SUCCESS, "status %d", status);
  } else {
    const ibv_wc wc = e.wait();
    me.expect(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV, "a receive completes");
    me.expect(wc.wr_id == 7 && wc.byte_len == 100, "id %lu, %u bytes", wc.wr_id, wc.byte_len);
    me.expect(wc.qp_num == e.qp()->qp_num, "QP number %#x", wc.qp_num);
    me.expect(e.data()[99] == std::byte{0x5a} && e.data()[100] == std::byte{0}, "100 bytes");
  }
  me.meet();
}

void immediate_arrives(side& me) {
  endpoint e(me);
  for (std::uint64_t id = 0; id < 2; ++id) e.post_receive(0, 64, id);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(4096, 8);
    for (const auto opcode : {IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM}) {
      ibv_send_wr wr = e.request(opcode, from, 1024);
      wr.imm_data = htonl(0x1234'5678);
      me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "opcode %d", opcode);
    }
  } else {
    for (const auto opcode : {IBV_WC_RECV, IBV_WC_RECV_RDMA_WITH_IMM}) {
      const ibv_wc wc = e.wait();
      me.expect(wc.opcode == opcode && wc.byte_len == 8, "opcode %d", wc.opcode);
      me.expect((wc.wc_flags & IBV_WC_WITH_IMM) != 0 && wc.imm_data == htonl(0x1234'5678),
                "immediate %#x", ntohl(wc.imm_data));
    }
  }
  me.meet();
}

/// A send behind them tells the other side that writes have arrived: hardware says so too.
void writes_are_seen_with_a_later_send(side& me) {
  endpoint e(me);
  e.post_receive(60000, 64, 1);
  e.connect();
  if (me.is_first()) {
    for (std::uint64_t i = 0; i < 1024; ++i) e.words()[i] = i + 1;
    ibv_sge all = e.piece(0, 8192), none = e.piece(0, 8);
    ibv_send_wr write = e.request(IBV_WR_RDMA_WRITE, all, 0);
    ibv_send_wr send = e.request(IBV_WR_SEND, none);
    write.send_flags = 0;
    write.next = &send;
    me.expect(e.carry_out(write) == IBV_WC_SUCCESS, "the list ends well");
    me.expect(e.is_quiet(), "an unsignalled write that ends well has no completion");
  } else {
    e.wait();
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < 1024; ++i) right += e.words()[i] == i + 1 ? 1 : 0;
    me.expect(right == 1024, "%lu of 1024 words are there", right);
  }
  me.meet();
}

void read_fetches(side& me) {
  endpoint e(me);
  e.words()[512] = 4711 + static_cast<std::uint64_t>(me.rank());
  e.connect();
  ibv_sge into = e.piece(0, 8);
  me.expect(e.carry_out(e.request(IBV_WR_RDMA_READ, into, 4096)) == IBV_WC_SUCCESS, "a read");
  me.expect(e.words()[0] == 4711 + 1U - static_cast<std::uint64_t>(me.rank()), "got %lu",
            e.words()[0]);
  me.meet();
}

void pieces_are_joined(side& me) {
  endpoint e(me);
  e.post_receive(0, 64, 1);
  e.connect();
  if (me.is_first()) {
    std::memcpy(e.data() + 4096, "hed", 3);
    std::memcpy(e.data() + 5000, "dle", 3);
    ibv_sge two[2] = {e.piece(4096, 3), e.piece(5000, 3)};
    ibv_send_wr wr = e.request(IBV_WR_SEND, two[0]);
    wr.num_sge = 2;
    me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "a send of two pieces");
  } else {
    me.expect(e.wait().byte_len == 6, "six bytes");
    me.expect(std::memcmp(e.data(), "heddle", 6) == 0, "in order");
  }
  me.meet();
}

/// Both sides add to the first one's word; each sum is given out once.
void additions_are_atomic(side& me) {
  constexpr std::uint64_t each = 500;
  endpoint e(me);
  e.connect();
  // The first side reaches its own word through the second one's connection only by asking it to
  // add: atomics are atomic among those that go through the device, not with its CPU.
  if (!me.is_first()) {
    std::uint64_t before = 0;
    for (std::uint64_t i = 0; i < each; ++i) {
      ibv_sge result = e.piece(0, 8);
      ibv_send_wr wr = e.request(IBV_WR_ATOMIC_FETCH_AND_ADD, result, 64);
      wr.wr.atomic.compare_add = 3;
      me.require(e.carry_out(wr) == IBV_WC_SUCCESS, "an addition");
      me.require(e.words()[0] == before, "gave %lu, not %lu", e.words()[0], before);
      before += 3;
    }
  }
  me.meet();
  if (me.is_first()) me.expect(e.words()[8] == 3 * each, "the sum is %lu", e.words()[8]);
  me.meet();
}

void compare_and_swap_swaps_what_is_equal(side& me) {
  endpoint e(me);
  e.words()[8] = 10;
  e.connect();
  if (me.is_first()) {
    for (const std::uint64_t compare : {std::uint64_t{9}, std::uint64_t{10}}) {
      ibv_sge result = e.piece(0, 8);
      ibv_send_wr wr = e.request(IBV_WR_ATOMIC_CMP_AND_SWP, result, 64);
      wr.wr.atomic.compare_add = compare;
      wr.wr.atomic.swap = 77;
      me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "a swap");
      me.expect(e.words()[0] == 10, "the word was %lu", e.words()[0]);
    }
  }
  me.meet();
  if (!me.is_first()) me.expect(e.words()[8] == 77, "the word is %lu", e.words()[8]);
  me.meet();
}

void nothing_travels_too(side& me) {
  endpoint e(me);
  e.post_receive(0, 0, 9);
  e.connect();
  if (me.is_first()) {
    ibv_sge none{};
    for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND}) {
      ibv_send_wr wr = e.request(opcode, none);
      wr.num_sge = 0;
      wr.wr.rdma.rkey = 0;  // not looked at
      me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "opcode %d", opcode);
    }
  } else {
    const ibv_wc wc = e.wait();
    me.expect(wc.status == IBV_WC_SUCCESS && wc.byte_len == 0, "an empty message");
  }
  me.meet();
}

void sends_wait_for_receives(side& me) {
  endpoint e(me);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    ibv_send_wr wr = e.request(IBV_WR_SEND, from);
    me.require(e.post(wr) == 0, "ibv_post_send");
    me.expect(e.is_quiet(), "nobody receives yet");
    me.meet();
    me.expect(e.wait().status == IBV_WC_SUCCESS, "now somebody does");
  } else {
    me.meet();
    e.post_receive(0, 64, 1);
    me.expect(e.wait().status == IBV_WC_SUCCESS, "it arrives");
  }
  me.meet();
}

void messages_stay_in_order(side& me) {
  constexpr std::uint64_t messages = 400;
  endpoint e(me);
  for (std::uint64_t i = 0; i < 64; ++i) e.post_receive(8 * i, 8, i);
  e.connect();
  for (std::uint64_t i = 0; i < messages; ++i) {
    if (me.is_first()) {
      e.words()[1000] = i;
      ibv_sge from = e.piece(8000, 8);
      me.require(e.carry_out(e.request(IBV_WR_SEND, from)) == IBV_WC_SUCCESS, "message %lu", i);
    } else {
      const ibv_wc wc = e.wait();
      me.require(wc.wr_id == i % 64 && e.words()[wc.wr_id] == i, "message %lu", i);
      e.post_receive(8 * wc.wr_id, 8, wc.wr_id);
    }
  }
  me.meet();
}

}  // namespace

test_list connection_tests() {
  return {{"a send arrives in the oldest receive", send_arrives},
          {"an immediate value arrives with a send and with a write", immediate_arrives},
          {"writes are seen with a later send", writes_are_seen_with_a_later_send},
          {"a read fetches the other side's memory", read_fetches},
          {"the pieces of a send are joined", pieces_are_joined},
          {"additions give out each sum once", additions_are_atomic},
          {"compare and swap swaps what is equal", compare_and_swap_swaps_what_is_equal},
          {"requests of no bytes need no key", nothing_travels_too},
          {"a send waits for a receive", sends_wait_for_receives},
          {"messages stay in order", messages_stay_in_order}};
}

}  // namespace conformance
