// SPDX-License-Identifier: BSD-3-Clause
// datagrams.cpp - unreliable datagrams.
#include <cstring>

#include "endpoint.h"

namespace conformance {

namespace {

constexpr std::size_t header = 40;  // room for a global route header, used or not

plan datagrams() {
  plan p;
  p.type = IBV_QPT_UD;
  return p;
}

struct route {
  explicit route(side& me, endpoint& e) : me_(me), to(e.route_to(e.peer())) {
    handle = ibv_create_ah(e.pd(), &to);
    me.require(handle != nullptr, "ibv_create_ah");
  }
  route(const route&) = delete;
  route& operator=(const route&) = delete;
  ~route() { me_.expect(ibv_destroy_ah(handle) == 0, "ibv_destroy_ah"); }
  side& me_;
  ibv_ah_attr to;
  ibv_ah* handle = nullptr;
};

ibv_send_wr datagram(endpoint& e, const route& to, ibv_sge& from, std::uint32_t key = qkey) {
  ibv_send_wr wr = e.request(IBV_WR_SEND, from);
  wr.wr.ud = {to.handle, e.peer().qpn, key};
  return wr;
}

void arrives_behind_a_header(side& me) {
  endpoint e(me, datagrams());
  e.post_receive(0, 4096, 5);
  e.connect();
  const route to(me, e);
  if (me.is_first()) {
    std::memset(e.data() + 8192, 0x5a, 16);
    ibv_sge from = e.piece(8192, 16);
    me.expect(e.carry_out(datagram(e, to, from)) == IBV_WC_SUCCESS, "a datagram");
  } else {
    const ibv_wc wc = e.wait();
    me.expect(wc.byte_len == header + 16, "%u bytes", wc.byte_len);
    me.expect(wc.src_qp == e.peer().qpn, "from QP %#x", wc.src_qp);
    me.expect(e.data()[header] == std::byte{0x5a}, "the data is behind the header");
  }
  me.meet();
}

void wrong_key_or_no_receive_loses(side& me) {
  endpoint e(me, datagrams());
  e.connect();
  const route to(me, e);
  ibv_sge from = e.piece(8192, 16);
  if (me.is_first()) {
    me.expect(e.carry_out(datagram(e, to, from)) == IBV_WC_SUCCESS, "nobody receives: no error");
    me.meet();
    me.expect(e.carry_out(datagram(e, to, from, 1)) == IBV_WC_SUCCESS, "wrong key: no error");
  } else {
    me.meet();
    e.post_receive(0, 4096, 5);
  }
  me.meet();
  if (!me.is_first()) me.expect(e.is_quiet(), "neither arrives");
  me.meet();
}

void answer_by_completion(side& me) {
  endpoint e(me, datagrams());
  e.post_receive(0, 4096, 5);
  e.connect();
  ibv_sge from = e.piece(8192, 8);
  if (me.is_first()) {
    const route to(me, e);
    me.expect(e.carry_out(datagram(e, to, from)) == IBV_WC_SUCCESS, "a datagram");
    me.expect(e.wait().opcode == IBV_WC_RECV, "its answer");
  } else {
    ibv_wc wc = e.wait();
    ibv_ah* const back = ibv_create_ah_from_wc(e.pd(), &wc, reinterpret_cast<ibv_grh*>(e.data()),
                                               static_cast<std::uint8_t>(me.how().port));
    me.require(back != nullptr, "ibv_create_ah_from_wc");
    ibv_send_wr wr = e.request(IBV_WR_SEND, from);
    wr.wr.ud = {back, wc.src_qp, qkey};
    me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "the answer");
    ibv_destroy_ah(back);
  }
  me.meet();
}

}  // namespace

test_list datagram_tests() {
  return {{"a datagram arrives behind forty bytes of header", arrives_behind_a_header},
          {"a datagram with the wrong key, or without a receive, is lost without an error",
           wrong_key_or_no_receive_loses},
          {"a completion says where to answer", answer_by_completion}};
}

}  // namespace conformance
