// SPDX-License-Identifier: BSD-3-Clause
// ranks_on_softhca.h - for tests: ranks of one process over a software device of its own.
#pragma once
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backends/registry.h"
#include "base/error.h"
#include "contract/group.h"
#include "support/pattern.h"

namespace heddle::test {

struct knob {
  const char* name;
  const char* value;
};

/// The device decides by the environment of the process that opens it first.
inline void in_own_process(std::initializer_list<knob> knobs, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    setenv("SOFTHCA_JOB", ("verbs-" + std::to_string(getpid())).c_str(), 1);
    for (const knob& k : knobs) setenv(k.name, k.value, 1);
    try {
      body();
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
    std::exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "see above";
}

inline contract_case over_verbs() {
  contract_case made;
  made.name = "verbs";
  for (const transport::backend& b : transport::known_backends(read_settings()))
    if (b.name == made.name)
      made.open = [b](const transport::context& where) {
        const transport::factory& f = b.get();
        return std::move(f.open(f, where).at(0).device);
      };
  if (!made.open) throw error("the backend verbs is not built");
  return made;
}

/// Ranks that have all spoken to rank 0.
class verbs_ranks {
 public:
  explicit verbs_ranks(int size, settings config = {})
      : job(over_verbs(), size, std::move(config)) {
    memory = job[0].allocate(16 << 20).ref;
    for (rank r = 1; r < size; ++r) {
      std::vector hello{send_op(0, data(20)), put_op(0, memory, 0, data(8))};
      EXPECT_TRUE(job.run(job[r].lane(), hello));
    }
    EXPECT_TRUE(job.until([&] { return inbox().size() == static_cast<std::size_t>(size - 1); }));
    inbox().clear();
  }
  std::vector<received>& inbox() { return job[0].lane().inbox; }
  std::span<const std::byte> data(std::size_t bytes) { return std::span(bytes_).first(bytes); }
  std::vector<op> puts(std::size_t count) {
    return std::vector<op>(count, put_op(0, memory, 0, data(8)));
  }

  group job;
  memory::region_ref memory;

 private:
  std::vector<std::byte> bytes_ = pattern(2 << 20, 1);
};

}  // namespace heddle::test
