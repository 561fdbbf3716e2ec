// SPDX-License-Identifier: BSD-3-Clause
// events.cpp - completion events, asynchronous events, and the order of notify and poll.
#include <fcntl.h>
#include <poll.h>

#include <cerrno>

#include "endpoint.h"

namespace conformance {

namespace {

plan with_events() {
  plan p;
  p.events = true;
  return p;
}

bool is_readable(int fd, int milliseconds) {
  pollfd one{fd, POLLIN, 0};
  return poll(&one, 1, milliseconds) == 1;
}

/// Gets one event, which is of this endpoint's CQ, and acknowledges it.
void take_event(side& me, endpoint& e) {
  ibv_cq* which = nullptr;
  void* given = nullptr;
  me.require(ibv_get_cq_event(e.channel(), &which, &given) == 0, "ibv_get_cq_event");
  me.expect(which == e.cq() && given == &e, "the event is of the CQ");
  ibv_ack_cq_events(which, 1);
}

void one_event_for_one_request(side& me) {
  endpoint e(me, with_events());
  e.post_receive(0, 64, 1);
  e.post_receive(0, 64, 2);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    me.meet();
    for (int i = 0; i < 2; ++i)
      me.expect(e.carry_out(e.request(IBV_WR_SEND, from)) == IBV_WC_SUCCESS, "a send");
    me.meet();
  } else {
    me.require(ibv_req_notify_cq(e.cq(), 0) == 0, "ibv_req_notify_cq");
    me.meet();
    me.meet();
    me.expect(is_readable(e.channel()->fd, 5000), "poll() sees the event");
    take_event(me, e);
    e.wait();
    e.wait();
  }
  me.meet();
}

void nothing_without_request(side& me) {
  endpoint e(me, with_events());
  e.post_receive(0, 64, 1);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    me.expect(e.carry_out(e.request(IBV_WR_SEND, from)) == IBV_WC_SUCCESS, "a send");
  } else {
    e.wait();
    me.expect(!is_readable(e.channel()->fd, 10), "no event was asked for");
  }
  me.meet();
}

void solicited_only(side& me) {
  endpoint e(me, with_events());
  e.post_receive(0, 64, 1);
  e.post_receive(0, 64, 2);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    me.meet();
    ibv_send_wr wr = e.request(IBV_WR_SEND, from);
    me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "a plain send");
    me.meet();
    me.meet();
    wr.send_flags |= IBV_SEND_SOLICITED;
    me.expect(e.carry_out(wr) == IBV_WC_SUCCESS, "a solicited one");
  } else {
    me.require(ibv_req_notify_cq(e.cq(), 1) == 0, "ibv_req_notify_cq");
    me.meet();
    me.meet();
    e.wait();
    me.expect(!is_readable(e.channel()->fd, 10), "the plain one wakes nobody");
    me.meet();
    me.expect(is_readable(e.channel()->fd, 5000), "the solicited one does");
    take_event(me, e);
  }
  me.meet();
}

void non_blocking_channel(side& me) {
  endpoint e(me, with_events());
  const int fd = e.channel()->fd;
  me.require(fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) == 0, "O_NONBLOCK");
  ibv_cq* which = nullptr;
  void* given = nullptr;
  me.expect(ibv_get_cq_event(e.channel(), &which, &given) != 0 && errno == EAGAIN,
            "an empty channel says EAGAIN");
  me.meet();
}

/// Takes the next asynchronous event.
ibv_event_type next_async(side& me, endpoint& e) {
  me.require(is_readable(e.device()->async_fd, 5000), "an asynchronous event comes");
  ibv_async_event event{};
  me.require(ibv_get_async_event(e.device(), &event) == 0, "ibv_get_async_event");
  ibv_ack_async_event(&event);
  return event.event_type;
}

void access_error_is_told(side& me) {
  endpoint e(me);
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    ibv_send_wr wr = e.request(IBV_WR_RDMA_WRITE, from, 0);
    wr.wr.rdma.rkey ^= 0x100;
    e.carry_out(wr);
  } else {
    const auto type = next_async(me, e);
    me.expect(type == IBV_EVENT_QP_ACCESS_ERR, "event %d", type);
  }
  me.meet();
}

void low_srq_is_told(side& me) {
  plan p;
  p.srq = true;
  endpoint e(me, p);
  for (std::uint64_t id = 0; id < 4; ++id) e.post_receive(0, 64, id);
  ibv_srq_attr limit{};
  limit.srq_limit = 3;
  me.require(ibv_modify_srq(e.srq(), &limit, IBV_SRQ_LIMIT) == 0, "a limit of 3");
  e.connect();
  if (me.is_first()) {
    ibv_sge from = e.piece(0, 8);
    for (int i = 0; i < 2; ++i)
      me.expect(e.carry_out(e.request(IBV_WR_SEND, from)) == IBV_WC_SUCCESS, "a send");
  } else {
    const auto type = next_async(me, e);
    me.expect(type == IBV_EVENT_SRQ_LIMIT_REACHED, "event %d", type);
    ibv_srq_attr now{};
    me.expect(ibv_query_srq(e.srq(), &now) == 0 && now.srq_limit == 0, "the limit is disarmed");
  }
  me.meet();
}

}  // namespace

test_list event_tests() {
  return {{"one event comes for one request, however many completions", one_event_for_one_request},
          {"no event comes that was not asked for", nothing_without_request},
          {"a request for solicited events is not woken by others", solicited_only},
          {"a channel that must not block says that it is empty", non_blocking_channel},
          {"whose memory was asked for wrongly hears of it", access_error_is_told},
          {"a shared receive queue says once that it runs low", low_srq_is_told}};
}

}  // namespace conformance
