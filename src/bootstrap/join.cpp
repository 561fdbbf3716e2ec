// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>

#include "base/log.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/launched.h"
#include "bootstrap/launcher_protocol.h"
#include "bootstrap/meeting_point.h"
#include "bootstrap/pmi1.h"
#include "bootstrap/pmix.h"
#include "bootstrap/secret.h"
#include "bootstrap/ways.h"

namespace heddle::bootstrap {
namespace {

class alone final : public session {
 public:
  alone() { job_.secret = random_secret(); }
  [[nodiscard]] const job& info() const noexcept override { return job_; }
  gathered exchange(std::span<const std::byte> mine) override {
    return gathered(std::vector<blob>{blob(mine.begin(), mine.end())});
  }
  void barrier() override {}
  void abort(int, std::string_view) noexcept override {}

 private:
  job job_;
};

}  // namespace

std::unique_ptr<session> join(std::uint64_t limit_ms) {
  switch (way_to_join()) {
    case way::run:
      return join_launched(std::getenv(protocol::fd_variable), limit_ms);
    case way::meeting_point:
      return join_at_meeting_point(limit_ms);
    case way::pmix:
      return join_pmix(limit_ms);
    case way::pmi1:
      return join_pmi1(limit_ms);
    case way::alone:
      break;
  }
  log::info(log::subsystem::job, "no launcher has started this process as a rank: a world of one");
  return std::make_unique<alone>();
}

}  // namespace heddle::bootstrap
