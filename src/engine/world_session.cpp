// SPDX-License-Identifier: BSD-3-Clause
#include "engine/world_session.h"

#include <utility>

#include "base/error.h"
#include "bootstrap/secret_file.h"
#include "engine/world_core.h"

namespace heddle::engine {
namespace {

class world_session final : public bootstrap::session {
 public:
  explicit world_session(std::shared_ptr<world_core> first)
      : first_(std::move(first)),
        membership_(first_->membership()),
        job_{.rank = first_->self(), .size = first_->size()} {
    job_.local_ranks = first_->network().hosts().ranks_beside(job_.rank);
    job_.secret = fresh_secret();
  }

  [[nodiscard]] const bootstrap::job& info() const noexcept override { return job_; }
  bootstrap::gathered exchange(std::span<const std::byte> mine) override {
    return first_->assembly().exchange(mine);
  }
  void barrier() override { first_->assembly().barrier(); }
  /// The first world may have ended, or be about to.
  void abort(int status, std::string_view why) noexcept override {
    first_->write_trace();
    membership_->abort(status, why);
  }
  [[nodiscard]] bool meets_after_joining() const noexcept override { return false; }

 private:
  /// Of the first world's, and of what rank 0 says now: another one for each world.
  [[nodiscard]] bootstrap::secret_bytes fresh_secret() const {
    const bootstrap::secret_bytes mine = bootstrap::random_secret();
    return bootstrap::derived(first_->job_secret(), first_->assembly().exchange(mine)[0]);
  }

  const std::shared_ptr<world_core> first_;
  const std::shared_ptr<bootstrap::session> membership_;  // also behind the first one's end
  bootstrap::job job_;
};

}  // namespace

std::unique_ptr<bootstrap::session> session_over(std::shared_ptr<world_core> first) {
  return in_context("join beside another world",
                    [&] { return std::make_unique<world_session>(std::move(first)); });
}

}  // namespace heddle::engine
