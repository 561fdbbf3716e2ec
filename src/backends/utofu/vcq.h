// SPDX-License-Identifier: BSD-3-Clause
// vcq.h - a virtual control queue: what a lane posts to and polls.
//
// A lane has a CQ to itself while they last; further lanes share one CQ per TNI, each with a VCQ
// of its own on it. The VCQs of one CQ are not to be driven at once, so those share a mutex; an
// exclusive one has none (emu/tofu/conformance/threads.cpp).
#pragma once
#include <utofu.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

namespace heddle::transport::utofu {

/// Where a VCQ is on its node.
struct place {
  utofu_tni_id_t tni = 0;
  utofu_cq_id_t cq = 0;
  utofu_cmp_id_t cmp = 0;
  friend bool operator==(const place&, const place&) = default;
};

/// What the VCQs of one CQ of this process have in common.
struct shared_cq {
  std::mutex driving;  ///< held by who posts or polls, unless the CQ has one VCQ only
  std::mutex tags;     ///< guards what follows
  /// Registrations that share a tag: the same pages get the same one again, and the first
  /// deregistration would end them all (emu/tofu/conformance/stadd.cpp). By the address without its
  /// offset.
  std::unordered_map<std::uint64_t, int> registrations;
};

class vcq {
 public:
  // Both return null when the TNI refuses; `code`, a utofu_return_code, says why.

  /// A CQ of its own on this TNI.
  [[nodiscard]] static std::unique_ptr<vcq> exclusive(utofu_tni_id_t tni, int& code);
  /// On the CQ that this process shares on this TNI.
  [[nodiscard]] static std::unique_ptr<vcq> sharing(utofu_tni_id_t tni, unsigned components,
                                                    int& code);
  ~vcq();
  vcq(const vcq&) = delete;
  vcq& operator=(const vcq&) = delete;

  [[nodiscard]] utofu_vcq_hdl_t handle() const noexcept { return handle_; }
  /// Without a path, as peers' notices name it.
  [[nodiscard]] utofu_vcq_id_t id() const noexcept { return id_; }
  [[nodiscard]] const place& where() const noexcept { return where_; }
  [[nodiscard]] bool is_exclusive() const noexcept { return exclusive_; }

  /// utofu_reg_mem and utofu_dereg_mem, each registration for itself also where the hardware gives
  /// the same tag twice. `flags`: as utofu_reg_mem. Any thread.
  [[nodiscard]] int register_memory(std::span<std::byte> memory, unsigned long flags,
                                    utofu_stadd_t& address) const;
  void deregister(utofu_stadd_t address) const noexcept;

  /// Held around every call that posts or polls. Costs a test when the CQ is exclusive.
  class use {
   public:
    explicit use(const vcq& of) : mutex_(of.exclusive_ ? nullptr : &of.shared_->driving) {
      if (mutex_ != nullptr) mutex_->lock();
    }
    ~use() {
      if (mutex_ != nullptr) mutex_->unlock();
    }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

   private:
    std::mutex* mutex_;
  };

 private:
  vcq(utofu_vcq_hdl_t handle, bool exclusive);

  const utofu_vcq_hdl_t handle_;
  const bool exclusive_;
  utofu_vcq_id_t id_ = 0;
  place where_;
  std::shared_ptr<shared_cq> shared_;
};

/// The node's TNIs that carry one-sided traffic. Throws error: no Tofu here.
[[nodiscard]] std::vector<utofu_tni_id_t> usable_tnis();

/// Up to `count` VCQs, spread over `tnis` in turn: exclusive ones, at most `cqs` per TNI, then
/// shared ones. Fewer when the node has no more; throws error when there is not one.
[[nodiscard]] std::vector<std::unique_ptr<vcq>> make_vcqs(const std::vector<utofu_tni_id_t>& tnis,
                                                          std::size_t count, std::size_t cqs);

}  // namespace heddle::transport::utofu
