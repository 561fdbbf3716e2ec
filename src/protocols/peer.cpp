#include "protocols/peer.h"

#include <algorithm>

#include "protocols/surroundings.h"

namespace heddle::protocols {

peer_table::peer_table(const surroundings& where,
                       std::span<const std::unique_ptr<transport::endpoint>> endpoints)
    : where_(where), endpoints_(endpoints), size_(static_cast<std::size_t>(where.size)) {}

peer& peer_table::make(rank r) {
  peer& p = by_rank_.insert(static_cast<std::size_t>(r), std::make_unique<peer>());
  const settings& config = *where_.config;
  const std::uint8_t device = where_.route[static_cast<std::size_t>(r)];
  const transport::traits& traits = where_.devices[device]->describe();
  p.number = r;
  p.device = device;
  p.wire = endpoints_[device].get();
  const std::uint8_t atomics = where_.atomic_route[static_cast<std::size_t>(r)];
  p.no_atomics = atomics == no_route;
  if (atomics != device && atomics != no_route) p.atomics = endpoints_[atomics].get();
  p.copies_in_post = traits.copies_in_post;
  p.refuses_late = traits.refuses_late;
  p.native = transport::usable_ops(traits);
  const bool on_wire = atomics == device && p.takes(transport::op_kind::atomic);
  p.native_atomics = on_wire ? traits.atomics : transport::atomic_set::none();
  p.max_op = traits.max_op;
  p.max_payload = traits.max_message - max_overhead;
  p.eager_bytes =
      config.eager_bytes == 0 ? p.max_payload : std::min(config.eager_bytes, p.max_payload);
  p.credit_limit = p.credit = config.credit_bytes;
  all_.push_back(&p);
  return p;
}

void peer_table::clear() noexcept {
  all_.clear();
  size_ = 0;
  by_rank_.clear();
}

}  // namespace heddle::protocols
