// SPDX-License-Identifier: BSD-3-Clause
// servant.h - what a process does that takes part in somebody else's test: as it is told.
#pragma once
#include <cstdint>
#include <vector>

#include "vcq.h"
#include "way.h"

namespace conformance {

/// What can be asked. Arguments and answers: see the functions of `peer`, which ask.
enum class verb : std::uint64_t {
  hello,
  open,
  close,
  allocate,
  enroll,
  strike,  // identity, VCQs, memory
  fill,
  set,
  mismatch,
  differs,
  word,  // bytes
  notice,
  count_notices,
  unread,  // queues
  rest,
  watch,
  glance,
  add,
  cpu_add,
  flood,  // things that take a while
  share,
  crowd,  // with several threads
  open_gates,
  set_gate,
  connect_gates,
  start_barrier,
  start_reduce,
  poll_gate,  // barriers
  leave,
  go_home,
  count  // the end of a test, of the run
};

struct request {
  verb what = verb::leave;
  std::uint64_t number = 0;
  std::uint64_t args[9] = {};
};

struct reply {
  std::int64_t code = 0;  ///< what uTofu said
  std::uint64_t values[8] = {};
  std::uint64_t number = 0;  ///< of the request
};

/// No component id asked for, no tag asked for.
inline constexpr std::uint64_t none = ~std::uint64_t{0};

class servant {
 public:
  /// Does as told and answers. Everything it opened is closed by the destructor.
  reply obey(const request& asked);

  /// Obeys what comes until told to leave. False: told to go home, or nothing came for that long.
  bool serve(way& to_master, double seconds_idle);

 private:
  using deed = reply (servant::*)(const request&);
  static deed deed_of(verb what);

  reply hello(const request&);
  reply open(const request&);
  reply close(const request&);
  reply allocate(const request&);
  reply enroll(const request&);
  reply strike(const request&);
  reply fill(const request&);
  reply set(const request&);
  reply mismatch(const request&);
  reply differs(const request&);
  reply word(const request&);
  reply notice(const request&);
  reply count_notices(const request&);
  reply unread(const request&);
  reply rest(const request&);
  reply watch(const request&);
  reply add(const request&);
  reply cpu_add(const request&);
  reply flood(const request&);
  reply glance(const request&);
  reply share(const request&);
  reply crowd(const request&);
  reply open_gates(const request&);
  reply set_gate(const request&);
  reply connect_gates(const request&);
  reply start_barrier(const request&);
  reply start_reduce(const request&);
  reply poll_gate(const request&);
  reply leave(const request&);

  std::vector<memory> memories_;  // first, so that it goes last
  std::vector<vcq> vcqs_;
  std::vector<registration> registrations_;
  struct gates {
    std::vector<utofu_vbg_id_t> ids;
    std::vector<utofu_vbg_setting> settings;
    ~gates();
  } gates_;
};

}  // namespace conformance
