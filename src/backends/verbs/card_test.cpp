// SPDX-License-Identifier: BSD-3-Clause
// card_test.cpp - how a port is named to peers, and what its queue pairs are set to, by the
// settings. Each test runs on a software device of its own, in a process of its own.
#include "backends/verbs/card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "backends/verbs/handles.h"
#include "base/error.h"
#include "support/first_port.h"
#include "support/ranks_on_softhca.h"

namespace heddle::transport::verbs {
namespace {

using test::first_port;
using test::in_own_process;
using testing::AllOf;
using testing::HasSubstr;

std::string refusal() {
  try {
    const first_port port;
    return "none";
  } catch (const error& e) {
    return e.what();
  }
}

/// Two queue pairs of a port, connected to each other; what the first is set to.
struct connected_pair {
  explicit connected_pair(const card& on)
      : queue(ibv_create_cq(on.context(), 16, nullptr, nullptr, 0)),
        one(create(on)),
        other(create(on)) {
    EXPECT_EQ(on.prepare(one.get()), 0);
    EXPECT_EQ(on.prepare(other.get()), 0);
    EXPECT_EQ(on.connect(one.get(), on.place(), {other->qp_num, 7}, 9), 0);
    EXPECT_EQ(on.connect(other.get(), on.place(), {one->qp_num, 9}, 7), 0);
    ibv_qp_init_attr made{};
    EXPECT_EQ(ibv_query_qp(one.get(), &is, ~0, &made), 0);
  }

  const handle<ibv_cq> queue;
  const handle<ibv_qp> one, other;
  ibv_qp_attr is{};

 private:
  [[nodiscard]] handle<ibv_qp> create(const card& on) const {
    ibv_qp_init_attr how{};
    how.send_cq = how.recv_cq = queue.get();
    how.qp_type = IBV_QPT_RC;
    how.cap.max_send_wr = how.cap.max_recv_wr = 4;
    how.cap.max_send_sge = how.cap.max_recv_sge = 1;
    return handle<ibv_qp>(ibv_create_qp(on.domain(), &how));
  }
};

TEST(VerbsCard, IsNamedByItsLidOnInfiniBand) {
  in_own_process({}, [] {
    const first_port port;
    EXPECT_EQ(port.opened.place().by_gid, 0);
    EXPECT_NE(port.opened.place().lid, 0);
    EXPECT_THAT(port.opened.describe(), HasSubstr("LID"));
    const connected_pair pair(port.opened);
    EXPECT_EQ(pair.is.ah_attr.is_global, 0);
    EXPECT_EQ(pair.is.ah_attr.dlid, port.opened.place().lid);
  });
}

TEST(VerbsCard, IsNamedOnRoceByTheRowOfVersion2WithAnIpv4Address) {
  in_own_process({{"SOFTHCA_LINK", "roce"}}, [] {
    const first_port port;
    EXPECT_EQ(port.opened.place().by_gid, 1);
    EXPECT_THAT(port.opened.describe(), HasSubstr("GID row 3"));
    const connected_pair pair(port.opened);
    EXPECT_EQ(pair.is.ah_attr.is_global, 1);
    EXPECT_EQ(pair.is.ah_attr.grh.sgid_index, 3);
  });
}

TEST(VerbsCard, IsNamedByTheRowThatIsAskedFor) {
  in_own_process({{"SOFTHCA_LINK", "roce"}, {"HEDDLE_VERBS_GID_INDEX", "1"}}, [] {
    const first_port port;
    EXPECT_THAT(port.opened.describe(), HasSubstr("GID row 1"));
    EXPECT_EQ(connected_pair(port.opened).is.ah_attr.grh.sgid_index, 1);
  });
}

TEST(VerbsCard, RefusesARowThatItsPortDoesNotHaveOnEitherLink) {
  for (const char* link : {"ib", "roce"})
    in_own_process({{"SOFTHCA_LINK", link}, {"HEDDLE_VERBS_GID_INDEX", "7"}}, [] {
      EXPECT_THAT(refusal(), AllOf(HasSubstr("row 7"), HasSubstr("HEDDLE_VERBS_GID_INDEX")));
    });
}

TEST(VerbsCard, SendsPacketsAsLargeAsBothPortsTakeUnlessLessIsAskedFor) {
  in_own_process({}, [] {
    const first_port port;
    ibv_port_attr state{};
    ASSERT_EQ(ibv_query_port(port.opened.context(), 1, &state), 0);
    EXPECT_EQ(connected_pair(port.opened).is.path_mtu, state.active_mtu);
  });
  in_own_process({{"HEDDLE_VERBS_MTU", "512"}}, [] {
    const first_port port;
    EXPECT_EQ(connected_pair(port.opened).is.path_mtu, IBV_MTU_512);
  });
}

TEST(VerbsCard, SetsServiceLevelAndRetriesAsAskedFor) {
  in_own_process(
      {{"HEDDLE_VERBS_SL", "5"}, {"HEDDLE_VERBS_TIMEOUT", "17"}, {"HEDDLE_VERBS_RETRIES", "3"}},
      [] {
        const first_port port;
        const connected_pair pair(port.opened);
        EXPECT_EQ(pair.is.ah_attr.sl, 5);
        EXPECT_EQ(pair.is.timeout, 17);
        EXPECT_EQ(pair.is.retry_cnt, 3);
        EXPECT_EQ(pair.is.pkey_index, 0);
      });
}

TEST(VerbsCard, RefusesAPartitionThatItsPortIsNotIn) {
  in_own_process({{"HEDDLE_VERBS_PKEY_INDEX", "3"}}, [] {
    EXPECT_THAT(refusal(), AllOf(HasSubstr("HEDDLE_VERBS_PKEY_INDEX=3"), HasSubstr("1 rows")));
  });
}

TEST(VerbsCard, RefusesAPortThatIsNotThere) {
  in_own_process({{"HEDDLE_VERBS_DEVICES", "mlx5_0"}},
                 [] { EXPECT_THAT(refusal(), HasSubstr("HEDDLE_VERBS_DEVICES=mlx5_0")); });
}

}  // namespace
}  // namespace heddle::transport::verbs
