// SPDX-License-Identifier: BSD-3-Clause
// hello.cpp - joins the job, says who is here, and checks that everybody is.
//   heddle run -n 4 -- hello
#include <heddle/heddle.h>

#include <cstdio>
#include <span>
#include <string>
#include <vector>

int main() try {
  heddle::world world;
  heddle::lane lane(world);
  std::printf("hello from rank %d of %d on %s\n", world.rank(), world.size(),
              world.host(world.rank()).c_str());

  const int mine = world.rank();
  std::vector<int> present(static_cast<std::size_t>(world.size()), -1);
  const auto answer = heddle::allgather(lane, std::span(&mine, 1), std::span(present));
  if (answer != heddle::status::done) {
    std::fprintf(stderr, "allgather: %s\n", std::string(heddle::name_of(answer)).c_str());
    return 1;
  }
  for (int rank = 0; rank < world.size(); ++rank) {
    if (present[static_cast<std::size_t>(rank)] != rank) return 1;
  }
  return 0;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "hello: %s\n", reason.what());
  return 1;
}
