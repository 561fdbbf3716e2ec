// executor.cpp - see executor.h.
#include "executor.h"

#include <utofu.h>

#include <cerrno>
#include <cstring>

#include "arithmetic.h"
#include "copy.h"

namespace tofu {

namespace {

std::uint8_t local_type(command what) noexcept {
  switch (what) {
    case command::get:
      return UTOFU_MRQ_TYPE_LCL_GET;
    case command::armw:
    case command::cswap:
      return UTOFU_MRQ_TYPE_LCL_ARMW;
    default:
      return UTOFU_MRQ_TYPE_LCL_PUT;
  }
}

/// The kinds come in pairs: what the initiator sees, what the target sees.
std::uint8_t remote_type(command what) noexcept {
  return static_cast<std::uint8_t>(local_type(what) + 1);
}

/// What a failed access to another process's memory means.
int mrq_code(int error) noexcept {
  if (error == 0) return UTOFU_SUCCESS;
  return error == ESRCH ? UTOFU_ERR_MRQ_PEER : UTOFU_ERR_MRQ_RMT_MEMORY;
}

/// A get's local errors, as they look when found on arrival.
int arrival_code(int tcq_error) noexcept {
  return tcq_error == UTOFU_ERR_TCQ_STADD ? UTOFU_ERR_MRQ_LCL_STADD : UTOFU_ERR_MRQ_LCL_MEMORY;
}

bool is_arithmetic(const operation& op) noexcept {
  return op.what == command::armw || op.what == command::cswap;
}

}  // namespace

void kill_cq(shared_cq& cq, std::uint64_t vcq_id) noexcept {
  // Relaxed: nothing is published with it.
  if (cq.dead.exchange(1, std::memory_order_relaxed) != 0) return;
  const place p = place_of_vcq(vcq_id);
  say("the MRQ of CQ %u of TNI %u at %u,%u,%u,%u,%u,%u has overflowed; the CQ is dead", p.number,
      p.tni, p.at[0], p.at[1], p.at[2], p.at[3], p.at[4], p.at[5]);
}

executor::executor(const machine& m, const settings& set, std::uint64_t id, shared_cq& own,
                   const steering_table& steering)
    : machine_(m),
      id_(id),
      own_(own),
      steering_(steering),
      targets_(m),
      own_mrq_(own.mrq, mrq_slots(own, set), set[knob::mrq], m.stamp()),
      hidden_(set.on(knob::hidden)),
      get_errors_in_mrq_(set.on(knob::get_errors)) {}

int executor::execute(const operation& op) {
  if (op.what == command::nop) return UTOFU_SUCCESS;
  if (!op.edata_fits || !op.length_fits) return UTOFU_ERR_TCQ_LENGTH;
  mrq_message notice;
  const int code = carry_out(op, notice);
  if (code == UTOFU_SUCCESS) notify(op, notice);
  return code;
}

/// Returns what the TCQ is told; what the MRQ is told is in `notice`.
int executor::carry_out(const operation& op, mrq_message& notice) {
  notice.vcq_id = op.vcq_id;
  notice.type = local_type(op.what);
  notice.edata = op.edata;
  notice.cmp = op.cmp;
  target* const to = targets_.find(op.vcq_id);
  if (to == nullptr) {
    notice.error = UTOFU_ERR_MRQ_PEER;
    return UTOFU_SUCCESS;
  }
  if (is_arithmetic(op)) return arithmetic(op, *to, notice);
  return move_data(op, *to, notice);
}

int executor::move_data(const operation& op, target& to, mrq_message& notice) {
  const bool get = op.what == command::get;
  // The descriptor's own bytes: only read.
  auto* local = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(op.words.data()));
  int error = 0;
  if (op.what != command::piggyback) {
    local = steering_.find(op.lcl_stadd, op.extent(), get, error);
    if (local == nullptr && !(get && get_errors_in_mrq_)) return error;
  }
  remote_place remote;
  if (local == nullptr) {
    error = arrival_code(error);
  } else if (to.find(op.rmt_stadd, op.extent(), !get, remote, error)) {
    error = to.is_dead() ? 0 : move_block(op, to, local, remote);
  }
  notice.error = static_cast<std::int16_t>(error);
  if (get) {
    notice.lcl_stadd = op.lcl_stadd + op.extent();
    notice.rmt_stadd = op.rmt_stadd + op.extent();
  }
  if (error == 0) notify_target(op, to);
  return UTOFU_SUCCESS;
}

int executor::move_block(const operation& op, target& to, std::byte* local,
                         const remote_place& remote) {
  const bool get = op.what == command::get;
  if (remote.here == nullptr) {
    return mrq_code(get ? read_from_process(to.pid(), local, remote.there, op.length)
                        : write_to_process(to.pid(), remote.there, local, op.length));
  }
  std::byte* const into = get ? local : remote.here;
  const std::byte* const from = get ? remote.here : local;
  if (op.has(UTOFU_ONESIDED_FLAG_STRONG_ORDER)) {
    copy_ascending(into, from, op.length);
  } else {
    copy_any_order(into, from, op.length);
  }
  return UTOFU_SUCCESS;
}

int executor::arithmetic(const operation& op, target& to, mrq_message& notice) {
  remote_place remote;
  int error = 0;
  if (to.find(op.rmt_stadd, op.width, true, remote, error)) {
    error = to.is_dead() ? 0 : mrq_code(execute_armw(machine_, op, to, remote, notice.rmt_value));
  }
  notice.error = static_cast<std::int16_t>(error);
  if (error == 0) notify_target(op, to);
  return UTOFU_SUCCESS;
}

void executor::notify_target(const operation& op, target& to) {
  if (!op.has(UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE) || to.is_dead()) return;
  mrq_message notice;
  notice.vcq_id = id_ | std::uint64_t{op.cmp} << cmp_shift;
  notice.type = remote_type(op.what);
  notice.edata = op.edata;
  notice.cmp = static_cast<std::uint8_t>(to.cmp());
  notice.shown = true;
  notice.rmt_stadd = is_arithmetic(op) ? op.rmt_stadd : op.rmt_stadd + op.extent();
  if (is_arithmetic(op)) notice.rmt_value = op.rmt_stadd;
  if (!to.mrq().try_push(notice)) kill_cq(to.cq(), op.vcq_id);
}

/// The initiator's own entry. One that nobody asked for takes its place all the same.
void executor::notify(const operation& op, const mrq_message& notice) {
  bool pushed = true;
  if (notice.error != 0 || op.has(UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE)) {
    mrq_message shown = notice;
    shown.shown = true;
    pushed = own_mrq_.try_push(shown);
  } else if (hidden_) {
    pushed = own_mrq_.try_push_hidden();
  }
  if (!pushed) kill_cq(own_, id_);
}

}  // namespace tofu
