// peer_list.h - peers for whom something is to be done, each once. Takes no memory: the links are
// the peers'.
#pragma once
#include <utility>

namespace heddle::transport::utofu {

struct peer_state;

struct peer_link {
  peer_state* next = nullptr;
  bool listed = false;
};

template <peer_link peer_state::*Link>
class peer_list {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  void add(peer_state& p) noexcept {
    if (std::exchange((p.*Link).listed, true)) return;
    (p.*Link).next = std::exchange(first_, &p);
  }
  /// Calls function(peer) for those that are in the list now; each has left it by then, and may be
  /// added again.
  template <class F>
  void take_all(F function) noexcept {
    peer_state* at = std::exchange(first_, nullptr);
    while (at != nullptr) {
      peer_state& each = *at;
      at = std::exchange(each.*Link, {}).next;
      function(each);
    }
  }

 private:
  peer_state* first_ = nullptr;
};

}  // namespace heddle::transport::utofu
