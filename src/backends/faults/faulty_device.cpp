// SPDX-License-Identifier: BSD-3-Clause
// faulty_device.cpp - a device whose endpoints are faulty; all else it leaves to the inner one.
#include <utility>

#include "backends/faults/faults.h"
#include "backends/faults/faulty_endpoint.h"

namespace heddle::transport {
namespace {

class faulty_device final : public device {
 public:
  faulty_device(std::unique_ptr<device> inner, const fault_plan& plan)
      : inner_(std::move(inner)), plan_(plan) {
    describe_again();
  }

  [[nodiscard]] const traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return inner_->address(); }
  std::string add_peer(rank peer, std::span<const std::byte> address, bool same_host) override {
    std::string why = inner_->add_peer(peer, address, same_host);
    describe_again();  // a peer may take something out of what is native
    return why;
  }
  std::unique_ptr<endpoint> make_endpoint(int lane) override {
    return std::make_unique<faulty_endpoint>(inner_->make_endpoint(lane), plan_,
                                             describe().send_after_put, lane);
  }
  void expose(const memory::local_region& region) noexcept override { inner_->expose(region); }
  void withdraw(const memory::local_region& region) noexcept override { inner_->withdraw(region); }
  void revoke(const memory::local_region& region) noexcept override { inner_->revoke(region); }
  [[nodiscard]] region_place place_of(memory::region_ref region) const noexcept override {
    return inner_->place_of(region);
  }
  std::shared_ptr<void> import(rank peer, memory::region_ref region,
                               detail::remote_target& out) override {
    return plan_.map ? inner_->import(peer, region, out) : nullptr;
  }
  [[nodiscard]] int fd() const noexcept override { return inner_->fd(); }
  int serve() noexcept override { return inner_->serve(); }

 private:
  void describe_again() {
    traits_ = inner_->describe();
    traits_.defers = traits_.defers || plan_.delay != 0 || !plan_.late.empty();
    traits_.refuses_late = true;  // ops that are held have not been asked of the inner one yet
    traits_.put_after_put = false;
    traits_.maps_files = traits_.maps_files && plan_.map;
    traits_.max_inline = 0;
    traits_.depth = SIZE_MAX;  // those that are held come on top
  }

  const std::unique_ptr<device> inner_;
  const fault_plan plan_;
  traits traits_;  // constant once the peers are known
};

}  // namespace

std::unique_ptr<device> make_faulty(std::unique_ptr<device> inner, const fault_plan& plan) {
  return std::make_unique<faulty_device>(std::move(inner), plan);
}

}  // namespace heddle::transport
