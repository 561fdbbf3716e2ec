// SPDX-License-Identifier: BSD-3-Clause
// card_events_test.cpp - a card whose cable is pulled, and one that is removed: a software device.
#include "backends/verbs/card_events.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <softhca.h>

#include "backends/verbs/settings.h"
#include "base/settings.h"
#include "support/ranks_on_softhca.h"

namespace heddle::transport::verbs {
namespace {

using test::in_own_process;

bool is_readable(int fd) {
  pollfd look{fd, POLLIN, 0};
  return poll(&look, 1, 10'000) == 1;
}

struct events_of_first_port {
  options chosen{read_settings()};
  card_list all;
  card opened{all.ports(chosen.devices)[0].device, 1, chosen};
  card_events events{opened};
};

TEST(CardEvents, TellOfAPortAndDoNotTakeTheCardForLost) {
  in_own_process({}, [] {
    events_of_first_port port;
    port.events.read();  // nothing has come, and that does not wait
    for (const int up : {0, 1}) {
      ASSERT_EQ(softhca_set_port(port.opened.context(), 1, up), 0);
      EXPECT_TRUE(is_readable(port.events.fd()));
      port.events.read();
    }
    EXPECT_FALSE(port.events.card_is_down());
  });
}

TEST(CardEvents, TellThatTheCardHasGone) {
  in_own_process({}, [] {
    events_of_first_port port;
    softhca_remove_device(port.opened.context());
    EXPECT_TRUE(is_readable(port.events.fd()));
    EXPECT_FALSE(port.events.card_is_down()) << "nobody has read it";
    port.events.read();
    EXPECT_TRUE(port.events.card_is_down());
  });
}

}  // namespace
}  // namespace heddle::transport::verbs
