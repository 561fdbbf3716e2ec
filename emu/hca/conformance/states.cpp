// SPDX-License-Identifier: BSD-3-Clause
// states.cpp - a queue pair's states: which follow which, and what they allow.
#include <cerrno>

#include "endpoint.h"

namespace conformance {

namespace {

plan untouched() {
  plan p;
  p.init = false;
  return p;
}

void steps_in_order(side& me) {
  endpoint e(me, untouched());
  me.expect(e.state() == IBV_QPS_RESET, "a new one is in RESET");
  me.expect(e.to_rts() == EINVAL, "RESET does not go to RTS");
  me.expect(e.to_init() == 0 && e.state() == IBV_QPS_INIT, "INIT");
  me.expect(e.to_rts() == EINVAL, "INIT does not go to RTS");
  const card theirs = me.swap(e.mine());
  me.expect(e.to_rtr(theirs) == 0 && e.state() == IBV_QPS_RTR, "RTR");
  me.expect(e.to_rts() == 0 && e.state() == IBV_QPS_RTS, "RTS");
  me.meet();
}

void attributes_are_needed(side& me) {
  endpoint e(me, untouched());
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.port_num = static_cast<std::uint8_t>(me.how().port);
  me.expect(ibv_modify_qp(e.qp(), &a, IBV_QP_STATE | IBV_QP_PORT) == EINVAL,
            "INIT needs the pkey and the access rights too");
  a.port_num = 200;
  me.expect(
      ibv_modify_qp(e.qp(), &a,
                    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0,
      "there is no port 200");
}

void sends_need_rts(side& me) {
  endpoint e(me);
  ibv_sge from = e.piece(0, 8);
  ibv_send_wr wr = e.request(IBV_WR_SEND, from);
  me.expect(e.post(wr) != 0, "a queue pair in INIT takes no sends");
  e.post_receive(0, 64, 1);  // but receives it takes
}

void reset_and_again(side& me) {
  endpoint e(me);
  e.post_receive(0, 64, 1);
  e.connect();
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RESET;
  me.expect(ibv_modify_qp(e.qp(), &a, IBV_QP_STATE) == 0 && e.state() == IBV_QPS_RESET, "RESET");
  me.expect(e.is_quiet(), "what was posted is gone without a completion");
  me.meet();
  me.require(e.to_init() == 0, "INIT again");
  e.post_receive(0, 64, 2);
  e.connect();
  ibv_sge from = e.piece(4096, 8);
  ibv_send_wr wr = e.request(IBV_WR_SEND, from);
  me.require(e.post(wr) == 0, "ibv_post_send");
  for (int i = 0; i < 2; ++i) {
    const ibv_wc wc = e.wait();
    me.expect(wc.status == IBV_WC_SUCCESS && (wc.wr_id == 0 || wc.wr_id == 2), "completion %lu",
              wc.wr_id);
  }
  me.meet();
}

}  // namespace

test_list state_tests() {
  return {{"a queue pair goes through its states in order", steps_in_order},
          {"a state is not reached without its attributes", attributes_are_needed},
          {"sends are refused before the queue pair is ready to send", sends_need_rts},
          {"a queue pair can be reset and connected again", reset_and_again}};
}

}  // namespace conformance
