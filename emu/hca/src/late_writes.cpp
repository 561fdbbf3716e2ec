// SPDX-License-Identifier: BSD-3-Clause
// late_writes.cpp - requester's part of chaos: a write may be complete for its initiator before the
// target's memory shows it, until something of the same queue pair that comes after it.
#include <cstring>

#include "requester.h"

namespace hca {

/// Whether the front's data was put aside. The key was found good.
bool requester::write_later(std::uint64_t address) noexcept {
  constexpr std::uint64_t most = 65536;
  if (!us_.is_chaos() || data_.bytes() == 0 || data_.bytes() > most || us_.random(2) == 0)
    return false;
  late_write later{qp_.sends_.front().rkey, address, std::vector<std::byte>(data_.bytes())};
  pieces copy;
  copy.add(reinterpret_cast<std::uint64_t>(later.data.data()), later.data.size());
  (void)write_far({0, true}, copy, data_);
  qp_.late_.push_back(std::move(later));
  return true;
}

void requester::write_late() noexcept {
  if (qp_.late_.empty()) return;
  const target found = find(qp_.attr_.dest_qp_num);
  if (found.qp != nullptr) {
    delivery to(us_, *found.who, *found.qp);
    for (late_write& one : qp_.late_) {
      const std::uint64_t bytes = one.data.size();
      const std::uint64_t at = to.translate(one.rkey, IBV_ACCESS_REMOTE_WRITE, one.address, bytes);
      if (at == 0 || !is_connected(to.to())) continue;  // withdrawn since
      pieces far, here;
      far.add(at, bytes);
      here.add(reinterpret_cast<std::uint64_t>(one.data.data()), bytes);
      (void)write_far(to.memory(), far, here);  // the peer may have died: it is told by the next
    }
  }
  qp_.late_.clear();
}

}  // namespace hca
