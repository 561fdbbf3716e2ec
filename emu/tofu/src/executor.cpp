// SPDX-License-Identifier: BSD-3-Clause
// executor.cpp - see executor.h.
#include "executor.h"

#include <utofu.h>

#include <cerrno>
#include <cstring>

#include "host/copy.h"
#include "host/words.h"

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

std::unique_ptr<virtual_network> make_network(const machine& m, const settings& set,
                                              std::uint64_t id) {
  if (set.choice<timing_model>(knob::model) != timing_model::virtual_clock) return nullptr;
  return std::make_unique<virtual_network>(m, set, place_of_vcq(id).tni);
}

}  // namespace

void kill_cq(shared_cq& cq, std::uint64_t vcq_id) noexcept {
  // Relaxed: nothing is published with it.
  if (cq.dead.exchange(1, std::memory_order_relaxed) != 0) return;
  const place p = place_of_vcq(vcq_id);
  host::say("the MRQ of CQ %u of TNI %u at %u,%u,%u,%u,%u,%u has overflowed; the CQ is dead",
            p.number, p.tni, p.at[0], p.at[1], p.at[2], p.at[3], p.at[4], p.at[5]);
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
      get_errors_in_mrq_(set.on(knob::get_errors)),
      notices_per_block_(!set.on(knob::stride_notices)),
      chaotic_(set.choice<mode>(knob::mode) == mode::chaos),
      armw_rules_{set.choice<atomics>(knob::atomics) == atomics::cpu,
                  set.choice<armw_scope>(knob::armw_scope), chaotic_},
      network_(make_network(m, set, id)) {}

int executor::execute(const operation& op) {
  if (op.what == command::nop) return UTOFU_SUCCESS;
  if (!op.edata_fits || !op.length_fits) return UTOFU_ERR_TCQ_LENGTH;
  if (op.is_arithmetic()) return execute_armw(op);
  for (std::uint64_t block = 0; block < op.blocks; ++block) {
    const int code = move(op, {block, 0, op.length});
    if (is_tcq_error(code)) return code;
    finish_block(op, block, code);
    if (code != UTOFU_SUCCESS) break;
  }
  return UTOFU_SUCCESS;
}

int executor::check_locally(const operation& op) const noexcept {
  if (op.what == command::nop) return UTOFU_SUCCESS;
  if (!op.edata_fits || !op.length_fits) return UTOFU_ERR_TCQ_LENGTH;
  const bool get = op.what == command::get;
  if ((op.what != command::put && !get) || (get && get_errors_in_mrq_)) return UTOFU_SUCCESS;
  int error = 0;
  stag_visit visit;
  const bool found = steering_.find(op.lcl_stadd, op.extent(), get, visit, error) != nullptr;
  return found ? UTOFU_SUCCESS : error;
}

const std::byte* executor::source(const operation& op, stag_visit& visit) const noexcept {
  int error = 0;
  return steering_.find(op.lcl_stadd, op.extent(), false, visit, error);
}

int executor::move(const operation& op, const piece& p, const std::byte* data) {
  const bool get = op.what == command::get;
  // Of a put it is only read.
  auto* local = const_cast<std::byte*>(data);
  stag_visit visit;
  if (op.what == command::piggyback) {
    local = reinterpret_cast<std::byte*>(const_cast<std::uint64_t*>(op.words.data())) + p.offset;
  } else if (data == nullptr) {
    int error = 0;
    const std::uint64_t at = op.lcl_stadd + p.block * op.stride + p.offset;
    local = steering_.find(at, p.length, get, visit, error);
    if (local == nullptr) return get && get_errors_in_mrq_ ? arrival_code(error) : error;
  }
  target* const to = targets_.find(op.vcq_id);
  return to == nullptr ? UTOFU_ERR_MRQ_PEER : move_between(op, p, local, *to);
}

int executor::move_between(const operation& op, const piece& p, std::byte* local, target& to) {
  remote_place remote;
  int error = 0;
  const std::uint64_t at = op.rmt_stadd + p.block * op.stride + p.offset;
  if (!to.find(at, p.length, op.what != command::get, remote, error)) return error;
  return to.is_dead() ? UTOFU_SUCCESS : copy(op, local, remote, p.length, to);
}

int executor::copy(const operation& op, std::byte* local, const remote_place& remote,
                   std::uint32_t length, const target& to) const noexcept {
  const bool get = op.what == command::get;
  const bool in_order = op.has(UTOFU_ONESIDED_FLAG_STRONG_ORDER);
  if (remote.here == nullptr && !get && in_order) {
    return mrq_code(host::write_to_process_ascending(to.pid(), remote.there, local, length));
  }
  if (remote.here == nullptr) {
    return mrq_code(get ? host::read_from_process(to.pid(), local, remote.there, length)
                        : host::write_to_process(to.pid(), remote.there, local, length));
  }
  std::byte* const into = get ? local : remote.here;
  const std::byte* const from = get ? remote.here : local;
  if (in_order) {
    host::copy_ascending(into, from, length);
  } else {
    host::copy_any_order(into, from, length);
  }
  return UTOFU_SUCCESS;
}

void executor::finish_block(const operation& op, std::uint64_t block, int code) {
  const std::uint64_t end = block * op.stride + op.length;
  const bool with_notices = notices_per_block_ || block + 1 == op.blocks || code != UTOFU_SUCCESS;
  const bool at_target = network_ != nullptr || op.has(UTOFU_ONESIDED_FLAG_PADDING |
                                                       UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE);
  if (code == UTOFU_SUCCESS && at_target) {
    target* const to = targets_.find(op.vcq_id);
    if (to == nullptr) code = UTOFU_ERR_MRQ_PEER;
    if (to != nullptr) take_time(op, *to);
    if (to != nullptr && op.has(UTOFU_ONESIDED_FLAG_PADDING)) pad(op, end, *to);
    if (to != nullptr && with_notices) notify_target(op, end, *to);
  }
  if (!with_notices) return;
  mrq_message notice = notice_of(op, code);
  if (op.what == command::get) {
    notice.lcl_stadd = op.lcl_stadd + end;
    notice.rmt_stadd = op.rmt_stadd + end;
  }
  notify(notice);
}

void executor::take_time(const operation& op, const target& to) noexcept {
  if (network_ != nullptr) when_ = network_->carry(op, op.length, to.node(), to.tni());
}

/// The rest of the data's last cache line, as far as it is registered.
void executor::pad(const operation& op, std::uint64_t end, target& to) const {
  constexpr std::uint64_t line = 256;
  const std::uint64_t at = op.rmt_stadd + end;
  const std::uint64_t rest = (line - at % line) % line;
  std::array<std::byte, line> filler;
  filler.fill(chaotic_ ? std::byte{0xa5} : std::byte{0});
  remote_place remote;
  int error = 0;
  if (rest == 0 || op.what == command::get || to.is_dead()) return;
  if (!to.find(at, rest, true, remote, error)) return;
  operation plain;
  plain.what = command::put;
  // A peer that is gone shows with the next command.
  (void)copy(plain, filler.data(), remote, static_cast<std::uint32_t>(rest), to);
}

int executor::execute_armw(const operation& op) {
  remote_place remote;
  int code = UTOFU_ERR_MRQ_PEER;
  std::uint64_t old = 0;
  if (target* const to = targets_.find(op.vcq_id)) {
    if (to->find(op.rmt_stadd, op.width, true, remote, code)) {
      code = to->is_dead()
                 ? UTOFU_SUCCESS
                 : mrq_code(tofu::execute_armw(machine_, armw_rules_, op, *to, remote, old));
    }
    take_time(op, *to);
    if (code == UTOFU_SUCCESS) notify_target(op, 0, *to);
  }
  mrq_message notice = notice_of(op, code);
  notice.rmt_value = old;
  notify(notice);
  return UTOFU_SUCCESS;
}

/// `end`: offset of the byte behind the data.
void executor::notify_target(const operation& op, std::uint64_t end, target& to) {
  if (!op.has(UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE) || to.is_dead()) return;
  mrq_message notice;
  notice.vcq_id = id_ | std::uint64_t{op.cmp} << cmp_shift;
  notice.type = remote_type(op.what);
  notice.edata = op.edata;
  notice.cmp = static_cast<std::uint8_t>(to.cmp());
  notice.shown = true;
  notice.moment = when_.arrived;
  notice.rmt_stadd = op.rmt_stadd + end;
  if (op.is_arithmetic()) notice.rmt_value = op.rmt_stadd;
  if (!to.mrq().try_push(notice)) kill_cq(to.cq(), op.vcq_id);
}

mrq_message executor::notice_of(const operation& op, int code) const noexcept {
  mrq_message notice;
  notice.vcq_id = op.vcq_id;
  notice.type = local_type(op.what);
  notice.edata = op.edata;
  notice.cmp = op.cmp;
  notice.error = static_cast<std::int16_t>(code);
  notice.moment = when_.answered;
  notice.shown = code != UTOFU_SUCCESS || op.has(UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE);
  return notice;
}

/// The initiator's own entry. One that nobody asked for takes its place all the same.
void executor::notify(const mrq_message& notice) {
  bool pushed = true;
  if (notice.shown) {
    pushed = own_mrq_.try_push(notice);
  } else if (hidden_) {
    pushed = own_mrq_.try_push_hidden();
  }
  if (!pushed) kill_cq(own_, id_);
}

}  // namespace tofu
