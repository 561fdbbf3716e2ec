// SPDX-License-Identifier: BSD-3-Clause
// verbs_conformance: does a device behave as libibverbs' manual pages and the InfiniBand
// specification say? Two processes of one host ask it; nothing in it knows which device it is.
#include <infiniband/verbs.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "side.h"

namespace conformance {

namespace {

test_list all_tests() {
  test_list all;
  for (const auto& part : {state_tests(), connection_tests(), memory_tests(), queue_tests(),
                           datagram_tests(), event_tests(), error_tests()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

int usage() {
  std::puts(
      "verbs_conformance [--device NAME] [--port N] [--gid INDEX] [--seconds S] [--list] [WORDS]\n"
      "Runs the tests whose names hold WORDS, or all. RoCE needs --gid; see ibv_devinfo -v.\n"
      "Ends with 0 when none failed.");
  return 2;
}

const char* name_of(verdict v) {
  return v == verdict::ok ? "ok" : (v == verdict::failed ? "FAILED" : "skipped");
}

int run_all(const settings& how, std::string_view words, bool list) {
  int failed = 0, ran = 0;
  for (const test_case& one : all_tests()) {
    if (std::string_view(one.name).find(words) == std::string_view::npos) continue;
    if (list) {
      std::puts(one.name);
      continue;
    }
    const verdict v = run(one, how);
    std::printf("%-8s %s\n", name_of(v), one.name);
    failed += v == verdict::failed ? 1 : 0;
    ++ran;
  }
  if (!list) std::printf("%d of %d tests failed\n", failed, ran);
  return failed == 0 && (list || ran > 0) ? 0 : 1;
}

}  // namespace

}  // namespace conformance

int main(int count, char** words) {
  conformance::settings how;
  bool list = false;
  std::string wanted;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_value = i + 1 < count;
    if (word == "--list") {
      list = true;
    } else if (word == "--device" && has_value) {
      how.device = words[++i];
    } else if (word == "--port" && has_value) {
      how.port = static_cast<unsigned>(std::atoi(words[++i]));
    } else if (word == "--gid" && has_value) {
      how.gid = std::atoi(words[++i]);
    } else if (word == "--seconds" && has_value) {
      how.seconds = std::atof(words[++i]);
    } else if (word.starts_with("--") || !wanted.empty()) {
      return conformance::usage();
    } else {
      wanted = word;
    }
  }
  return conformance::run_all(how, wanted, list);
}
