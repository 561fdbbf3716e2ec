// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/vcq.h"

#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "backends/utofu/names.h"
#include "base/error.h"

namespace heddle::transport::utofu {
namespace {

/// Of the CQ of a place, which this process may share between VCQs of several devices.
std::shared_ptr<shared_cq> shared_at(const place& where) {
  static std::mutex guard;
  static std::map<std::pair<utofu_tni_id_t, utofu_cq_id_t>, std::weak_ptr<shared_cq>> known;
  const std::scoped_lock lock(guard);
  std::weak_ptr<shared_cq>& entry = known[{where.tni, where.cq}];
  auto found = entry.lock();
  if (found == nullptr) entry = found = std::make_shared<shared_cq>();
  return found;
}

/// A steering address is an offset of 40 bits under the tag and the CQ, which is not documented
/// (docs/design/utofu.md).
std::uint64_t without_offset(utofu_stadd_t address) noexcept {
  return address >> 40;
}

/// What is to be said where not one could be made, `code` being the last refusal.
[[noreturn]] void fail_without_vcq(int code) {
  if (code == UTOFU_ERR_FULL || code == UTOFU_ERR_NOT_AVAILABLE || code == UTOFU_ERR_USED)
    fail(
        "no control queue (VCQ) is left on this node: other processes of this job or of others "
        "hold them; start fewer processes per node or set HEDDLE_UTOFU_LANES lower");
  fail("create a control queue (VCQ): {}; what the uTofu library says of it is on stderr",
       name_of_code(code));
}

}  // namespace

vcq::vcq(utofu_vcq_hdl_t handle, bool exclusive) : handle_(handle), exclusive_(exclusive) {
  std::array<std::uint8_t, 6> coords{};
  check(utofu_query_vcq_id(handle_, &id_), "ask for the id of a VCQ");
  id_ = without_path(id_);
  check(utofu_query_vcq_info(id_, coords.data(), &where_.tni, &where_.cq, &where_.cmp),
        "ask where a VCQ is");
  shared_ = shared_at(where_);
}

vcq::~vcq() {
  const use alone(*this);
  (void)utofu_free_vcq(handle_);
}

std::unique_ptr<vcq> vcq::exclusive(utofu_tni_id_t tni, int& code) {
  utofu_vcq_hdl_t handle = 0;
  code = utofu_create_vcq(tni, UTOFU_VCQ_FLAG_EXCLUSIVE, &handle);
  if (code != UTOFU_SUCCESS) return nullptr;
  return std::unique_ptr<vcq>(new vcq(handle, true));
}

std::unique_ptr<vcq> vcq::sharing(utofu_tni_id_t tni, unsigned components, int& code) {
  utofu_vcq_hdl_t handle = 0;
  code = UTOFU_ERR_USED;
  for (unsigned i = 0; i < components && code == UTOFU_ERR_USED; ++i) {
    code = utofu_create_vcq_with_cmp_id(tni, static_cast<utofu_cmp_id_t>(i), 0, &handle);
  }
  if (code != UTOFU_SUCCESS) return nullptr;
  return std::unique_ptr<vcq>(new vcq(handle, false));
}

int vcq::register_memory(std::span<std::byte> memory, unsigned long flags,
                         utofu_stadd_t& address) const {
  const std::scoped_lock lock(shared_->tags);
  const int code = utofu_reg_mem(handle_, memory.data(), memory.size(), flags, &address);
  if (code == UTOFU_SUCCESS) ++shared_->registrations[without_offset(address)];
  return code;
}

void vcq::deregister(utofu_stadd_t address) const noexcept {
  const std::scoped_lock lock(shared_->tags);
  const auto found = shared_->registrations.find(without_offset(address));
  if (found == shared_->registrations.end() || --found->second != 0) return;
  shared_->registrations.erase(found);
  (void)utofu_dereg_mem(handle_, address, 0);
}

std::vector<utofu_tni_id_t> usable_tnis() {
  utofu_tni_id_t* ids = nullptr;
  std::size_t count = 0;
  const int code = utofu_get_onesided_tnis(&ids, &count);
  const std::unique_ptr<utofu_tni_id_t, decltype(&std::free)> owned(ids, &std::free);
  check(code, "ask for the network interfaces (TNIs)", "is this a node of a Tofu machine?");
  if (count == 0) fail("this process has no network interface (TNI) for one-sided traffic");
  return {ids, ids + count};
}

std::vector<std::unique_ptr<vcq>> make_vcqs(const std::vector<utofu_tni_id_t>& tnis,
                                            std::size_t count, std::size_t cqs) {
  utofu_onesided_caps* caps = nullptr;
  check(utofu_query_onesided_caps(tnis[0], &caps), "ask what a TNI can do");
  std::vector<std::unique_ptr<vcq>> made;
  int code = UTOFU_SUCCESS;
  // In turn over the TNIs, until each of them has refused, or one for all.
  const auto make_all = [&](auto&& make) {
    for (std::size_t i = 0, refused = 0;
         made.size() < count && refused < tnis.size() && code != UTOFU_ERR_FATAL; ++i) {
      auto next = make(tnis[i % tnis.size()]);
      refused = next != nullptr ? 0 : refused + 1;
      if (next != nullptr) made.push_back(std::move(next));
    }
  };
  std::map<utofu_tni_id_t, std::size_t> taken;
  make_all(
      [&](utofu_tni_id_t tni) { return taken[tni]++ < cqs ? vcq::exclusive(tni, code) : nullptr; });
  make_all([&](utofu_tni_id_t tni) { return vcq::sharing(tni, caps->num_cmp_ids, code); });
  if (made.empty()) fail_without_vcq(code);
  return made;
}

}  // namespace heddle::transport::utofu
