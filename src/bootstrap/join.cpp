#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "bootstrap/bootstrap.h"
#include "bootstrap/launched.h"
#include "bootstrap/launcher_protocol.h"
#include "bootstrap/secret.h"

namespace heddle::bootstrap {
namespace {

class alone final : public session {
 public:
  alone() { job_.secret = random_secret(); }
  [[nodiscard]] const job& info() const noexcept override { return job_; }
  std::vector<blob> exchange(std::span<const std::byte> mine) override {
    return {blob(mine.begin(), mine.end())};
  }
  void barrier() override {}

 private:
  job job_;
};

/// Ranks another launcher says there are, or 0.
int size_by(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  const std::string_view value(text);
  int size = 0;
  (void)std::from_chars(value.data(), value.data() + value.size(), size);
  return size;
}

void refuse_other_launchers() {
  struct launcher {
    const char *variable, *name;
  };
  static constexpr std::array<launcher, 3> others{{{"SLURM_NTASKS", "Slurm"},
                                                   {"OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"},
                                                   {"PMI_SIZE", "a PMI launcher"}}};
  for (const auto& [variable, name] : others) {
    const int size = size_by(variable);
    if (size <= 1) continue;
    fail(
        "this looks like one of {0} processes of {1} ({2}={0}), and Heddle cannot join its jobs: "
        "start with `heddle run -n {0} -- program`, or unset {2} to run alone",
        size, name, variable);
  }
}

}  // namespace

std::unique_ptr<session> join(std::uint64_t limit_ms) {
  if (const char* fd = std::getenv(protocol::fd_variable)) return join_launched(fd, limit_ms);
  refuse_other_launchers();
  log::info("not started by `heddle run`: a world of one");
  return std::make_unique<alone>();
}

}  // namespace heddle::bootstrap
