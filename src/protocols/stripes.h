// SPDX-License-Identifier: BSD-3-Clause
// stripes.h - large transfers over all rails to a peer at once.
#pragma once
#include <cstdint>

#include "protocols/fragments.h"
#include "protocols/path.h"

namespace heddle::protocols {

/// Cuts a put or get into stripes, and gives each to the rail that the peer's strategy says. Owns
/// the stripes, not the transfers. Holder only.
class stripes final : public protocol {
 public:
  stripes(path& way, operations& ops, fragments& by_messages, port_counters& counters)
      : protocol(way), ops_(ops), fragments_(by_messages), counters_(counters) {}

  /// Whether `r`, which the wire does itself, is worth it.
  [[nodiscard]] static bool suit(const request& r) noexcept {
    return r.kind != transport::op_kind::atomic && r.with->several != nullptr &&
           r.local.size() >= r.with->several->least_bytes;
  }
  /// As protocol::start, for a whole transfer; busy_queue only while none of its stripes is under
  /// way. It stays in stage::striped until they have ended, whatever becomes of the peer.
  status carry(request& whole);

  status start(request& stripe) override;
  void ended(request& stripe, status code) override;

 private:
  status issue(request& whole, strategy::share next);
  request& cut(const request& whole, std::uint64_t bytes);
  status stand(request& whole);
  void note_end(const request& stripe, status code) noexcept;
  void go_on(request& whole);

  operations& ops_;
  fragments& fragments_;
  port_counters& counters_;
};

/// A rail beside the first is no way to the peer any more, and has nothing under way: its share
/// goes over the others. False: it is none of those.
bool give_up_rail(peer& p, const transport::remote_lane& to) noexcept;

}  // namespace heddle::protocols
