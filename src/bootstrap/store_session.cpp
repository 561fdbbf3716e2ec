#include "bootstrap/store_session.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "bootstrap/host_circle.h"
#include "bootstrap/host_gifts.h"
#include "bootstrap/meeting_session.h"
#include "bootstrap/secret.h"
#include "bootstrap/secret_file.h"

namespace heddle::bootstrap {
namespace {

class store_session final : public meeting_session {
 public:
  store_session(std::unique_ptr<key_store> store, const job& mine, std::uint64_t limit_ms)
      : meeting_session(mine),
        store_(std::move(store)),
        owner_(getpid()),
        circle_(store_->name(), mine, limit_ms) {
    secret_bytes& secret = known().secret;
    if (mine.rank == 0) {
      secret = random_secret();
      put(secret);
    }
    store_->fence();
    const blob first = get(0);
    if (first.size() != secret.size()) fail("rank 0 has given no secret for the job");
    std::ranges::copy(first, secret.begin());
    secret = mixed_with_file(secret);
    circle_.close(secret);
    failed_ = false;
  }
  ~store_session() override {
    const bool here = getpid() == owner_;  // a forked child must not leave for its parent
    if (here && !failed_) store_->leave();
  }
  void abort(int status, std::string_view why) noexcept override { store_->abort(status, why); }

 private:
  /// A meeting ends by what the others have given: there are stores whose fence is no barrier.
  gathered meet(std::span<const std::byte> mine) override {
    failed_ = true;  // unless it comes to its end
    ++round_;
    auto all = circle_.leads() ? lead(mine) : follow(mine);
    failed_ = false;
    return all;
  }

  gathered follow(std::span<const std::byte> mine) {
    circle_.give(mine);
    if (round_ == 1) put(host_gifts::encode_leader(circle_.leader()));
    store_->fence();
    return circle_.take();
  }

  gathered lead(std::span<const std::byte> mine) {
    try {
      const host_circle::gifts here = circle_.collect(mine);
      put(host_gifts::encode(here));
      store_->fence();
      host_gifts all(info().size);
      all.add(here);
      if (round_ == 1) find_leaders(all);
      for (const int leader : leaders_) add_gifts_of(leader, all);
      gathered everything = all.take();
      circle_.hand_out(everything);
      return everything;
    } catch (const error& why) {
      circle_.give_up(why.what());
      throw;
    }
  }

  /// Of the other hosts, by asking one rank of each, or two: it need not be the leader.
  void find_leaders(host_gifts& all) {
    for (int rank = 0; rank < info().size; ++rank) {
      if (all.has(rank)) continue;
      const auto leader = host_gifts::decode_leader(get(rank));
      leaders_.push_back(leader.value_or(rank));
      add_gifts_of(leaders_.back(), all);
      if (!all.has(rank)) fail("rank {} does not speak for rank {}", leaders_.back(), rank);
    }
  }

  void add_gifts_of(int leader, host_gifts& all) {
    if (all.has(leader)) return;
    if (!all.add(get(leader))) fail("what rank {} has given for its host is malformed", leader);
  }

  void put(std::span<const std::byte> given) {
    blob value{store_version};
    value.insert(value.end(), given.begin(), given.end());
    store_->put(key(), value);
  }

  blob get(int rank) {
    blob value = store_->get(rank, key());
    if (value.empty() || value.front() != store_version)
      fail("rank {} speaks another version of Heddle: install the same one on every host", rank);
    value.erase(value.begin());
    return value;
  }
  [[nodiscard]] std::string key() const { return fmt::format("heddle-{}", round_); }

  std::unique_ptr<key_store> store_;
  pid_t owner_;
  host_circle circle_;
  std::vector<int> leaders_;  // of the other hosts
  int round_ = 0;             // stores keep the first value of a key
  bool failed_ = true;        // for as long as a meeting has not come to its end
};

}  // namespace

std::unique_ptr<session> join_by_store(std::unique_ptr<key_store> store, const job& known,
                                       std::uint64_t limit_ms) {
  return std::make_unique<store_session>(std::move(store), known, limit_ms);
}

}  // namespace heddle::bootstrap
