#include "bootstrap/store_session.h"

#include <unistd.h>

#include <algorithm>

#include "base/error.h"
#include "bootstrap/meeting_session.h"
#include "bootstrap/secret.h"
#include "bootstrap/secret_file.h"

namespace heddle::bootstrap {
namespace {

/// Two programs of different versions in one job find each other out.
constexpr std::byte store_version{1};

class store_session final : public meeting_session {
 public:
  store_session(std::unique_ptr<key_store> store, const job& mine)
      : meeting_session(mine), store_(std::move(store)), owner_(getpid()) {
    secret_bytes& secret = known().secret;
    if (mine.rank == 0) secret = random_secret();
    const std::string key = publish(mine.rank == 0 ? secret : std::span<const std::byte>());
    const blob first = checked(0, key);
    if (first.size() != secret.size()) fail("rank 0 has given no secret for the job");
    std::ranges::copy(first, secret.begin());
    secret = mixed_with_file(secret);
    failed_ = false;
  }
  ~store_session() override {
    const bool here = getpid() == owner_;  // a forked child must not leave for its parent
    if (here && !failed_) store_->leave();
  }

 private:
  /// A meeting ends by what the others have given: there are stores whose fence is no barrier.
  std::vector<blob> meet(std::span<const std::byte> mine) override {
    const std::string key = publish(mine);
    std::vector<blob> all;
    for (int rank = 0; rank < info().size; ++rank) all.push_back(checked(rank, key));
    failed_ = false;
    return all;
  }

  /// Returns the key under which every rank's value can be got now.
  std::string publish(std::span<const std::byte> mine) {
    failed_ = true;  // unless the meeting comes to its end
    std::string key = fmt::format("heddle-{}", rounds_++);
    blob value{store_version};
    value.insert(value.end(), mine.begin(), mine.end());
    store_->put(key, value);
    store_->fence();
    return key;
  }

  blob checked(int rank, const std::string& key) {
    blob value = store_->get(rank, key);
    if (value.empty() || value.front() != store_version)
      fail("rank {} speaks another version of Heddle: install the same one on every host", rank);
    value.erase(value.begin());
    return value;
  }

  std::unique_ptr<key_store> store_;
  pid_t owner_;
  int rounds_ = 0;  // stores keep the first value of a key
  bool failed_ = false;
};

}  // namespace

std::unique_ptr<session> join_by_store(std::unique_ptr<key_store> store, const job& known) {
  return std::make_unique<store_session>(std::move(store), known);
}

}  // namespace heddle::bootstrap
