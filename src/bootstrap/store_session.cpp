// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/store_session.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "bootstrap/host_circle.h"
#include "bootstrap/host_gifts.h"
#include "bootstrap/meeting_session.h"
#include "bootstrap/secret.h"
#include "bootstrap/secret_file.h"
#include "bootstrap/store_tree.h"

namespace heddle::bootstrap {
namespace {

class store_session final : public meeting_session {
 public:
  store_session(std::unique_ptr<key_store> store, const job& mine, std::uint64_t limit_ms,
                int group)
      : meeting_session(mine),
        store_(std::move(store)),
        owner_(getpid()),
        circle_(store_->name(), mine, limit_ms),
        tree_(for_tree(), mine.size, group) {
    secret_bytes& secret = known().secret;
    if (mine.rank == 0) {
      secret = random_secret();
      put(gifts_key(0), secret);
    }
    store_->fence();
    const blob first = get(0, gifts_key(0));
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
    if (round_ == 1) put(gifts_key(round_), host_gifts::encode_leader(circle_.leader()));
    for (int fence = 0; fence < tree_.fences(); ++fence) store_->fence();
    return circle_.take();
  }

  gathered lead(std::span<const std::byte> mine) {
    try {
      const unique_fd table = tree_.exchange(round_, circle_.collect(mine));
      auto everything = gathered::map(table.get(), static_cast<std::size_t>(info().size));
      if (!everything) fail("what all ranks have given came malformed");
      circle_.hand_out(table.get());
      return std::move(*everything);
    } catch (const error& why) {
      circle_.give_up(why.what());
      throw;
    }
  }

  void put(const std::string& key, std::span<const std::byte> given) {
    blob value;
    value.reserve(1 + given.size());
    value.push_back(store_version);
    value.insert(value.end(), given.begin(), given.end());
    store_->put(key, value);
  }

  blob get(int rank, const std::string& key) {
    blob value = store_->get(rank, key);
    if (value.empty() || value.front() != store_version)
      fail("rank {} speaks another version of Heddle: install the same one on every host", rank);
    value.erase(value.begin());
    return value;
  }

  store_tree::access for_tree() {
    return {[this](const std::string& key, auto value) { put(key, value); },
            [this](int rank, const std::string& key) { return get(rank, key); },
            [this] { store_->fence(); }};
  }

  std::unique_ptr<key_store> store_;
  pid_t owner_;
  host_circle circle_;
  store_tree tree_;
  int round_ = 0;       // stores keep the first value of a key
  bool failed_ = true;  // for as long as a meeting has not come to its end
};

}  // namespace

std::unique_ptr<session> join_by_store(std::unique_ptr<key_store> store, const job& known,
                                       std::uint64_t limit_ms, int group) {
  return std::make_unique<store_session>(std::move(store), known, limit_ms, group);
}

}  // namespace heddle::bootstrap
