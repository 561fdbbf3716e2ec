// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/port.h"

#include <utility>

namespace heddle::protocols {
namespace {

/// How long a message waits for credit: about as long as a thread waits awake. In mode inline it
/// does not: a thread that goes to sleep on one lane looks after no other, so nobody would announce
/// it; elsewhere the executor looks.
std::uint64_t patience_ns(const settings& config) noexcept {
  if (config.progress == "inline") return 0;
  return 1000 * (config.spin_us == automatic ? default_spin_us : config.spin_us);
}

/// Enters `owner` in a table by kinds.
template <class Table, class... Kinds>
void belong(Table& table, protocol& owner, Kinds... kinds) noexcept {
  ((table[index_of(kinds)] = &owner), ...);
}

}  // namespace

port::port(engine::lane_core& lane, const surroundings& where, endpoint_set::list endpoints)
    : where_(where),
      ops_(where.config->records),
      endpoints_(std::move(endpoints), arrivals_),
      peers_(where_, endpoints_.all()),
      path_(ops_, counters_, kinds_, liveness_),
      transfers_(where_, path_, ops_, counters_),
      rma_(path_, peers_, ops_, transfers_),
      rma_target_(where_, path_),
      rendezvous_(where_, path_, ops_, transfers_, counters_),
      flow_(path_, patience_ns(*where.config)),
      eager_(path_, peers_, ops_, rendezvous_, flow_, counters_),
      tagged_(path_, peers_, ops_, rendezvous_, flow_, where.config->unexpected_bytes, counters_),
      waits_(path_, peers_, ops_),
      dispatch_(path_, ops_, commands_, tagged_, rma_),
      calls_(lane, where_, path_, ops_, rendezvous_, tagged_.matched(), counters_),
      liveness_(where_, path_, peers_, ops_, tagged_, calls_, counters_),
      census_(where_, ops_, peers_, tagged_.matching(), counters_),
      kinds_([this] {
        using kind = message_kind;
        path::kind_table table{};
        belong(table, tagged_, kind::tag_eager, kind::tag_rts);
        belong(table, flow_, kind::credit);
        belong(table, calls_, kind::call_eager, kind::call_rts);
        belong(table, rendezvous_, kind::fin, kind::cts);
        belong(table, liveness_, kind::ping, kind::pong);
        belong(table, rma_target_, kind::rma_put, kind::rma_get, kind::rma_atomic);
        belong(table, transfers_.by_messages(), kind::rma_data, kind::rma_done, kind::rma_value);
        return table;
      }()),
      commands_([this] {
        using kind = command_kind;
        protocols::dispatch::command_table table{};
        belong(table, rma_, kind::put, kind::put_notify, kind::put_signal, kind::get, kind::atomic);
        belong(table, eager_, kind::send, kind::call);
        belong(table, tagged_, kind::recv, kind::match, kind::recv_taken);
        belong(table, waits_, kind::flush, kind::when_ready);
        return table;
      }()),
      arrivals_(where_, kinds_, path_, peers_, ops_, transfers_, tagged_, calls_, liveness_,
                counters_) {}

bool port::unsent() const noexcept {
  if (path_.blocked() || !transfers_.by_turns().none()) return true;
  const auto all = endpoints_.all();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (where_.devices[i]->describe().defers && !all[i]->idle()) return true;
  }
  return false;
}

bool port::quiet() const noexcept {
  return ops_.pool().in_use() == 0 && !path_.blocked() && endpoints_.idle();
}

void port::flush_blocked() {
  flow_.new_look();
  if (path_.blocked()) path_.flush_blocked();
}

/// Goes on with what waits for room or for its turn. Returns how many things happened.
std::size_t port::go_on() {
  flush_blocked();
  pieces& turns = transfers_.by_turns();
  const std::size_t moved = turns.none() ? 0 : turns.move_next();
  ops_.room().tell(ops_.out());
  return moved;
}

void port::maintain(std::uint64_t now_ns, delivery_batch& out) {
  ops_.collect_in(out);
  endpoints_.maintain();
  census_.stamp(now_ns);
  liveness_.look(now_ns);
  flush_blocked();
  // What ended with a lost peer has made room, and perhaps nobody polls.
  ops_.room().tell(ops_.out());
}

void port::abort(status code, delivery_batch& out) {
  ops_.collect_in(out);
  liveness_.abort(code);
}

void port::close() noexcept {
  peers_.clear();
  path_.close();
  endpoints_.close();
}

}  // namespace heddle::protocols
