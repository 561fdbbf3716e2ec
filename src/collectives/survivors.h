// SPDX-License-Identifier: BSD-3-Clause
// survivors.h - those who are alive agree on who they are: flooding with early stopping.
//
// In each round everyone tells everyone alive whom it holds for lost. Who has heard from all
// others, and found its own view with each of them, decides for that view: nobody can have decided
// for another one before, or hold another one and decide for it later, because it would have to
// hear it from all that are alive, among them who decided. In its next round it says "decided", and
// leaves; who hears that decides for the same and passes it on to those from whom it has not heard
// it. docs/design/collectives.md has the argument in full.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "collectives/exchange.h"
#include "collectives/split.h"

namespace heddle::collectives {

/// What a rank says in a round, and how that is written.
struct survivors_view {
  explicit survivors_view(int ranks) : lost(static_cast<std::size_t>(ranks)) {}

  [[nodiscard]] static std::size_t bytes_of(std::size_t ranks) noexcept {
    return 1 + sizeof number + (ranks + 7) / 8;
  }
  void write(bytes out) const noexcept {
    out[0] = std::byte{decided};
    std::memcpy(&out[1], &number, sizeof number);
    const bytes bits = out.subspan(1 + sizeof number);
    std::ranges::fill(bits, std::byte{0});
    for (std::size_t r = 0; r < lost.size(); ++r) {
      if (lost[r]) bits[r / 8] |= std::byte{1} << (r % 8);
    }
  }
  void read(const_bytes in) noexcept {
    decided = in[0] != std::byte{0};
    std::memcpy(&number, &in[1], sizeof number);
    const const_bytes bits = in.subspan(1 + sizeof number);
    for (std::size_t r = 0; r < lost.size(); ++r) {
      lost[r] = (bits[r / 8] >> (r % 8) & std::byte{1}) != std::byte{0};
    }
  }
  void merge(const survivors_view& other) noexcept {
    for (std::size_t r = 0; r < lost.size(); ++r) lost[r] = lost[r] || other.lost[r];
  }

  bool decided = false;
  std::uint64_t number = 0;  ///< its next group's; when decided, that of the first survivor
  std::vector<bool> lost;    ///< by rank
};

/// One rank's part, a round at a time.
template <class Lane>
class agreement {
 public:
  explicit agreement(basic_async_group<Lane> on)
      : all_(on), mine_(on.ranks()), finished_(mine_.lost), numbers_(mine_.lost.size()) {
    mine_.number = on.on()->next_group();
    number_of(on.self()) = mine_.number;
  }

  /// `done` when it has come to an end, posted when another round is needed; or why it failed.
  task<status> round(unsigned n) {
    const std::size_t size = survivors_view::bytes_of(mine_.lost.size());
    const std::vector<rank> others = those_who_talk();
    const scratch said(size);
    const scratch heard(size * others.size());
    mine_.write(said.all());
    std::vector<status> codes(others.size());
    std::vector<task<status>> transfers;
    for (std::size_t i = 0; i < others.size(); ++i) {
      transfers.push_back(speak(others[i], n, said.all()));
      transfers.push_back(hear(others[i], n, heard.all().subspan(i * size, size), codes[i]));
    }
    static_cast<void>(co_await when_all(transfers));  // `codes` say more
    const bool was_last = mine_.decided;
    const status taken = take_in(others, codes, heard.all(), size);
    if (taken != status::done) co_return taken;
    co_return was_last ? status::done : status::posted;
  }

  [[nodiscard]] std::uint64_t number() const noexcept { return mine_.number; }
  [[nodiscard]] std::vector<rank> alive() const {
    std::vector<rank> found;
    for (rank r = 0; r < all_.ranks(); ++r) {
      if (!has_lost(r)) found.push_back(r);
    }
    return found;
  }

 private:
  [[nodiscard]] bool has_lost(rank r) const { return mine_.lost[static_cast<std::size_t>(r)]; }
  [[nodiscard]] std::uint64_t& number_of(rank r) { return numbers_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] std::vector<rank> those_who_talk() const {
    std::vector<rank> found;
    for (int i = 1; i < all_.ranks(); ++i) {
      const rank r = all_.after(i);
      if (!has_lost(r) && !finished_[static_cast<std::size_t>(r)]) found.push_back(r);
    }
    return found;
  }

  task<status> speak(rank to, unsigned n, const_bytes what) {
    co_return co_await all_.send(to, n, what);
  }
  task<status> hear(rank from, unsigned n, bytes into, status& code) {
    code = judge(co_await all_.recv(from, n, into), into.size());
    co_return code;
  }

  /// What a round has brought. Not done: why this rank cannot go on.
  status take_in(const std::vector<rank>& others, const std::vector<status>& codes,
                 const_bytes heard, std::size_t size) {
    survivors_view next = mine_;
    survivors_view theirs(all_.ranks());
    bool unanimous = true, adopted = mine_.decided;
    for (std::size_t i = 0; i < others.size(); ++i) {
      const auto other = static_cast<std::size_t>(others[i]);
      if (codes[i] == status::peer_lost) {
        unanimous = false;
        if (!adopted) next.lost[other] = true;
        continue;
      }
      if (codes[i] != status::done) return codes[i];
      theirs.read(heard.subspan(i * size, size));
      finished_[other] = theirs.decided;
      if (!theirs.decided) numbers_[other] = theirs.number;
      if (adopted) continue;
      adopted = theirs.decided;
      unanimous = unanimous && theirs.lost == mine_.lost;
      if (adopted) {
        next = theirs;
      } else {
        next.merge(theirs);
      }
    }
    mine_ = next;
    if (has_lost(all_.self())) return status::peer_lost;  // others hold this rank for lost
    if (!adopted && unanimous) decide();
    return status::done;
  }
  void decide() {
    mine_.decided = true;
    mine_.number = number_of(alive().front());
  }

  exchange<Lane> all_;
  survivors_view mine_;
  std::vector<bool> finished_;  // have said "decided"
  std::vector<std::uint64_t> numbers_;
};

template <class Lane>
task<status> survivors(basic_async_group<Lane> on, std::unique_ptr<detail::membership>& into) {
  agreement<Lane> work(on);
  status code = status::posted;
  for (unsigned n = 0; code == status::posted; ++n) code = co_await work.round(n);
  if (code == status::done) into = made_of(on, work.alive(), work.number());
  co_return code;
}

}  // namespace heddle::collectives
