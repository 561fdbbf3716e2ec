// SPDX-License-Identifier: BSD-3-Clause
// utofu.cpp - uTofu as a library that kernels measure: what Heddle's utofu backend could reach at
// best.
#include <stdexcept>

#include "libraries/rival.h"
#include "libraries/utofu_calls.h"

namespace heddle::bench {
namespace {

/// Forked before the first call of uTofu, which does not survive one.
class tofu_library final : public forked_library {
 public:
  using path = tofu_path;

  tofu_library(const process_pair& both, const task& t)
      : forked_library(both, checked(t)), table_(t.table_bytes()) {
    for (int i = 0; i < t.paths(); ++i) {
      paths_.push_back(
          std::make_unique<utofu_path>(static_cast<std::size_t>(i), threads_on(i), table_));
      paths_.back()->connect(swap(*this, paths_.back()->mine()));
    }
  }
  [[nodiscard]] std::unique_ptr<tofu_path> make_path(int thread) {
    return std::make_unique<tofu_path>(task_, paths_, table_, thread);
  }
  [[nodiscard]] std::span<std::byte> table() const { return table_.bytes(); }

 private:
  static const task& checked(const task& t) {
    constexpr std::uint64_t most_bytes = (1 << 24) - 1;
    if (t.what.bytes == 0 || t.what.bytes > most_bytes)
      throw std::runtime_error("uTofu moves 1 to 16777215 bytes at once");
    return t;
  }
  [[nodiscard]] int threads_on(int number) const {
    int count = 0;
    for (int thread = 0; thread < task_.what.threads; ++thread)
      count += task_.path_of(thread) == number;
    return count;
  }

  const utofu_memory table_;
  all_paths paths_;
};

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  return heddle::bench::rival_main<heddle::bench::tofu_library>(argc, argv);
}
