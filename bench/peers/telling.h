// telling.h - values between the ranks outside of what is timed, and the line that tells a round.
#pragma once
#include <fmt/core.h>

#include <cstdio>
#include <span>
#include <type_traits>

#include "bench/peer_line.h"
#include "peers/party.h"

namespace heddle::peers {

template <class T>
void tell(party& self, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  self.tell(std::as_bytes(std::span(&value, 1)));
}

template <class T>
T hear(party& self) {
  T value{};
  self.hear(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// The other rank's value; neither goes on before the other has come here.
template <class T>
T swap(party& self, const T& mine) {
  tell(self, mine);
  return hear<T>(self);
}

inline void print(const bench::peer_line& round) {
  fmt::print("{}\n", to_line(round));
  std::fflush(stdout);
}

}  // namespace heddle::peers
