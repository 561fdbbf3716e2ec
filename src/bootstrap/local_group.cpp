// SPDX-License-Identifier: BSD-3-Clause
#include <condition_variable>
#include <mutex>

#include "base/error.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/secret.h"

namespace heddle::bootstrap {
namespace {

/// Where the threads of a group meet. All members are guarded by mutex_.
class local_meeting {
 public:
  explicit local_meeting(std::size_t size) : given_(size) {}

  gathered meet(int rank, const char* call, blob mine) {
    std::unique_lock lock(mutex_);
    if (arrived_ == 0) call_ = call;
    if (std::string_view(call_) != call)
      break_up(fmt::format("rank {} called {} while others called {}", rank, call, call_));
    if (!broken_.empty()) fail("{}: {}", call, broken_);
    given_[static_cast<std::size_t>(rank)] = std::move(mine);
    const std::uint64_t round = round_;
    if (++arrived_ == given_.size()) finish_round();
    changed_.wait(lock, [&] { return round_ != round || !broken_.empty(); });
    if (round_ == round) fail("{}: {}", call, broken_);
    return gathered(
        met_);  // the next round cannot end, and replace it, before this rank takes part
  }

  void leave(int rank) {
    const std::lock_guard lock(mutex_);
    if (broken_.empty()) break_up(fmt::format("rank {} has left", rank));
  }

 private:
  void finish_round() {
    met_ = std::exchange(given_, std::vector<blob>(given_.size()));
    arrived_ = 0;
    ++round_;
    changed_.notify_all();
  }
  void break_up(std::string why) {
    broken_ = std::move(why);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<blob> given_, met_;
  std::size_t arrived_ = 0;
  std::uint64_t round_ = 0;
  const char* call_ = "";
  std::string broken_;  ///< why no round can end any more
};

class local_session final : public session {
 public:
  local_session(std::shared_ptr<local_meeting> where, const job& mine, bool meets_after_joining)
      : where_(std::move(where)), job_(mine), meets_after_joining_(meets_after_joining) {}
  ~local_session() override { where_->leave(job_.rank); }

  [[nodiscard]] const job& info() const noexcept override { return job_; }
  gathered exchange(std::span<const std::byte> mine) override {
    check();
    return where_->meet(job_.rank, "exchange", blob(mine.begin(), mine.end()));
  }
  void barrier() override {
    check();
    (void)where_->meet(job_.rank, "barrier", {});
  }
  void joined() override { joined_ = true; }
  void abort(int, std::string_view) noexcept override {}
  [[nodiscard]] bool meets_after_joining() const noexcept override { return meets_after_joining_; }

 private:
  void check() const {
    if (joined_ && !meets_after_joining_) fail("this session was for joining only");
  }

  std::shared_ptr<local_meeting> where_;
  job job_;
  bool meets_after_joining_, joined_ = false;
};

}  // namespace

std::vector<std::unique_ptr<session>> local_group(int size, bool meets_after_joining) {
  if (size < 1) fail("a group needs at least one rank, not {}", size);
  const auto where = std::make_shared<local_meeting>(static_cast<std::size_t>(size));
  const auto secret = random_secret();
  std::vector<std::unique_ptr<session>> group;
  for (int rank = 0; rank < size; ++rank)
    group.push_back(
        std::make_unique<local_session>(where, job{rank, size, size, secret}, meets_after_joining));
  return group;
}

}  // namespace heddle::bootstrap
