// kernels.cpp - semi, bi and uni. Nothing here but messages: it runs inside the timed part.
#include "linktest/kernels.h"

#include <array>

namespace heddle::linktest {
namespace {

status exchange_often(messenger& wire, const kernel_call& call, const kernel_buffers& buffers,
                      std::uint64_t count) {
  const tag t = tag_for(purpose::data, call.number);
  const auto slot = buffers.receive.first(buffers.send.size());
  status s = status::done;
  for (std::uint64_t i = 0; i < count && s == status::done; ++i)
    s = wire.exchange(call.peer, t, buffers.send, slot);
  return s;
}

/// The initiator sends and takes the answer, n times. The other side answers with its next receive
/// already posted, so that no message finds it unprepared.
status semi(messenger& wire, const kernel_call& call, const kernel_buffers& buffers) {
  if (call.initiator) return exchange_often(wire, call, buffers, call.messages);
  const tag t = tag_for(purpose::data, call.number);
  const auto slot = buffers.receive.first(buffers.send.size());
  status s = wire.recv(call.peer, t, slot, patience::usual);
  if (s == status::done) s = exchange_often(wire, call, buffers, call.messages - 1);
  return s == status::done ? wire.send(call.peer, t, buffers.send) : s;
}

/// Two messages bounce n times: each side sends 2n and receives 2n.
status bi(messenger& wire, const kernel_call& call, const kernel_buffers& buffers) {
  return exchange_often(wire, call, buffers, 2 * call.messages);
}

status uni(messenger& wire, const kernel_call& call, const kernel_buffers& buffers) {
  const tag data = tag_for(purpose::data, call.number);
  const tag receipt = tag_for(purpose::receipt, call.number);
  std::array<std::byte, 1> signature{};
  if (call.initiator) {
    const status s = wire.send_burst(call.peer, data, buffers.send, call.messages);
    return s == status::done ? wire.recv(call.peer, receipt, signature, patience::usual) : s;
  }
  const status s =
      wire.recv_burst(call.peer, data, buffers.receive, buffers.send.size(), call.messages);
  return s == status::done ? wire.send(call.peer, receipt, signature) : s;
}

}  // namespace

status run_kernel(messenger& wire, kernel k, const kernel_call& call,
                  const kernel_buffers& buffers) {
  switch (k) {
    case kernel::semi:
      return semi(wire, call, buffers);
    case kernel::bi:
      return bi(wire, call, buffers);
    case kernel::uni:
      return uni(wire, call, buffers);
  }
  return status::invalid;
}

}  // namespace heddle::linktest
