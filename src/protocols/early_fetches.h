// SPDX-License-Identifier: BSD-3-Clause
// early_fetches.h - small messages that were announced for lack of credit are fetched before
// anybody asks for them, so that their senders need not wait.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocols/matcher.h"
#include "protocols/rendezvous.h"

namespace heddle::protocols {

/// Owns these fetches, as long as there is memory for what they bring. Holder only.
class early_fetches final : public protocol {
 public:
  /// `most`: bytes of such messages that nobody has asked for, at one time.
  early_fetches(path& way, operations& ops, rendezvous& large, matcher& matching, std::size_t most)
      : protocol(way), ops_(ops), rendezvous_(large), matcher_(matching), most_(most) {}

  /// Fetches an announced message, if it is small and there is room. It stays filed where it is, so
  /// it is found in the order in which it was announced.
  void begin(unexpected& filed);
  /// Somebody asks for the message while it is on its way.
  static void take(request& fetch, std::span<std::byte> into, const completion& done) noexcept {
    fetch.early = nullptr;
    fetch.delivered = into;
    fetch.done = done;
  }
  /// The message was given to who asked for it after it had come.
  void note_taken(const unexpected& message) noexcept { bytes_ -= message.early; }

  status start(request& r) override { return rendezvous_.start_fetch(r); }
  void ended(request& r, status code) override;

 private:
  void keep(request& r, status code);
  void deliver(request& r, status code);

  operations& ops_;
  rendezvous& rendezvous_;
  matcher& matcher_;
  const std::uint64_t most_;
  std::uint64_t bytes_ = 0;  // of messages on their way, or here and not asked for
};

}  // namespace heddle::protocols
