// SPDX-License-Identifier: BSD-3-Clause
// host_circle.h - ranks of a job that are on one host find each other, and one of them speaks for
// all.
//
// Whoever is the first to bind the circle's name, an abstract socket, leads; the others connect to
// it. Neither needs to know how many will come: when every rank of the job has entered, which a
// fence of the launcher's tells, or rank 0 at a meeting point, all that are to come are there.
//
//   member  join {rank, proof}      exchange {blob}
//   leader  welcome {rank, proof}   everything (+ file)  failed {why}
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/gathered.h"
#include "bootstrap/host_gifts.h"

namespace heddle::bootstrap {

class circle_link;

/// One thread. A rank that finds nobody, or cannot enter, is a circle of its own.
class host_circle {
 public:
  /// Enters the circle of the job of this name, which no other job has, and waits for nobody.
  /// `limit_ms` is join()'s.
  host_circle(const std::string& name, const job& mine, std::uint64_t limit_ms);
  ~host_circle();
  host_circle(const host_circle&) = delete;
  host_circle& operator=(const host_circle&) = delete;

  /// Readable when somebody enters; -1: nobody can, for another rank leads, or this one is alone.
  [[nodiscard]] int fd() const noexcept { return listener_.get(); }
  /// The leader's, as often as it likes: the ranks that have entered since the last time. A
  /// stranger has not, nor who says nothing for some seconds.
  [[nodiscard]] std::vector<int> admit(const secret_bytes& secret);
  /// Once all ranks of the job have entered and know its secret: settles who belongs to the circle.
  /// A member whose leader admits it meanwhile may call it sooner.
  void close(const secret_bytes& secret);

  /// The rank that speaks for this one; after close().
  [[nodiscard]] int leader() const noexcept { return leader_; }
  [[nodiscard]] bool leads() const noexcept { return leader_ == rank_; }

  // The leader's part of an exchange. Throws error: a member is gone, and which.
  using gifts = host_gifts::gifts;
  /// What the members give, by rank, `mine` among it.
  [[nodiscard]] gifts collect(std::span<const std::byte> mine);
  /// A file for gathered::map(); the descriptor stays the caller's.
  void hand_out(int table);
  /// The members' exchange fails, as `why` says.
  void give_up(const std::string& why) noexcept;

  // A member's part. Throws error: the leader is gone, or says why not.
  void give(std::span<const std::byte> mine);
  /// What all ranks of the job have given.
  [[nodiscard]] gathered take();

 private:
  void enter(const std::string& name);
  void join_leader(const secret_bytes& secret);

  const int rank_;
  const std::size_t size_;  // of the job
  const std::uint64_t limit_ms_;
  int leader_;
  unique_fd listener_;                      // the leader's, until close()
  std::unique_ptr<circle_link> to_leader_;  // a member's
  std::vector<std::pair<int, std::unique_ptr<circle_link>>> members_;  // the leader's, by rank
};

}  // namespace heddle::bootstrap
