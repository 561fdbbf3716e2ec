// SPDX-License-Identifier: BSD-3-Clause
// ways.cpp - the list of ways.
#include "stress/ways.h"

#include <cstdlib>
#include <string>

namespace heddle::test {

std::vector<way> all_ways() {
  std::vector<way> ways{
      way{"shm", "shm", "auto", ""},
      way{"shm_messages", "shm", "off", "map=off"},
      way{"shm_faults", "shm", "auto", "seed=11,delay=4,reorder=30,busy=20,split=30,map=off"},
      way{"tcp", "tcp", "auto", ""},
      way{"tcp_faults", "tcp", "auto", "seed=12,delay=4,reorder=30,busy=20,split=30"},
      way{"tcp_late", "tcp", "auto", "seed=13,delay=12"},
      way{"shm_inline", "shm", "off", "", "inline"},
      way{"tcp_inline", "tcp", "auto", "", "inline"},
      way{"shm_dedicated", "shm", "off", "", "dedicated"},
      way{"tcp_dedicated", "tcp", "auto", "", "dedicated"},
      way{"tcp_dedicated_faults", "tcp", "auto", "seed=14,delay=4,reorder=30,busy=20,split=30",
          "dedicated"},
      way{"shm_idle", "shm", "off", "", "idle"},
      way{"tcp_idle", "tcp", "auto", "", "idle"}};
#ifdef HEDDLE_TESTS_UTOFU
  ways.insert(ways.end(), {way{"utofu", "utofu", "auto", ""}});
  if (!sanitized)  // they take long, and go the same ways through the backend
    ways.insert(ways.end(), {way{"utofu_faults", "utofu", "auto",
                                 "seed=15,delay=4,reorder=30,busy=20,split=30"},
                             way{"utofu_inline", "utofu", "auto", "", "inline"},
                             way{"utofu_dedicated", "utofu", "auto", "", "dedicated"}});
  // Told what the receive queues of the device hold, which break when more comes.
  if (const char* const mrq = std::getenv("SOFTTOFU_MRQ"); mrq != nullptr)
    ways.push_back({"utofu_shallow", "utofu", "auto", "", "adaptive", mrq});
#endif
  if (has_card())
    ways.insert(ways.end(), {way{"verbs", "verbs", "auto", ""},
                             way{"verbs_faults", "verbs", "auto",
                                 "seed=16,delay=4,reorder=30,busy=20,split=30"},
                             way{"verbs_inline", "verbs", "auto", "", "inline"},
                             way{"verbs_dedicated", "verbs", "auto", "", "dedicated"}});
  return ways;
}

}  // namespace heddle::test
