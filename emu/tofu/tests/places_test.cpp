// SPDX-License-Identifier: BSD-3-Clause
// Where a process is, which VCQs it may have, and what their ids say.
#include <gmock/gmock.h>

#include "nodes.h"

using namespace nodes;
using testing::ElementsAre;

namespace {

using coordinates = std::array<std::uint8_t, 6>;

coordinates my_coordinates() {
  coordinates at{};
  EXPECT_EQ(utofu_query_my_coords(at.data()), UTOFU_SUCCESS);
  return at;
}

utofu_vcq_hdl_t must_create(utofu_tni_id_t tni, unsigned long flags) {
  utofu_vcq_hdl_t vcq = 0;
  EXPECT_EQ(utofu_create_vcq(tni, flags, &vcq), UTOFU_SUCCESS);
  return vcq;
}

utofu_vcq_id_t id_of(utofu_vcq_hdl_t vcq) {
  utofu_vcq_id_t id = 0;
  EXPECT_EQ(utofu_query_vcq_id(vcq, &id), UTOFU_SUCCESS);
  return id;
}

struct info {
  coordinates at{};
  utofu_tni_id_t tni = 0;
  utofu_cq_id_t cq = 0;
  uint16_t cmp = 0;
};
info info_of(utofu_vcq_id_t id) {
  info found;
  EXPECT_EQ(utofu_query_vcq_info(id, found.at.data(), &found.tni, &found.cq, &found.cmp),
            UTOFU_SUCCESS);
  return found;
}

constexpr unsigned long exclusive = UTOFU_VCQ_FLAG_EXCLUSIVE;

TEST(Places, ListsOfTnisHaveSixThatTheCallerFrees) {
  utofu_tni_id_t* ids = nullptr;
  size_t count = 0;
  ASSERT_EQ(utofu_get_onesided_tnis(&ids, &count), UTOFU_SUCCESS);
  EXPECT_THAT(std::vector(ids, ids + count), ElementsAre(0, 1, 2, 3, 4, 5));
  std::free(ids);
}

TEST(Places, CapabilitiesAreThoseOfFugaku) {
  utofu_onesided_caps* caps = nullptr;
  ASSERT_EQ(utofu_query_onesided_caps(5, &caps), UTOFU_SUCCESS);
  EXPECT_NE(caps->flags & UTOFU_ONESIDED_CAP_FLAG_ARMW, 0u);
  EXPECT_EQ(caps->armw_ops, 0x3fu);
  EXPECT_EQ(caps->num_cmp_ids, 8u);
  EXPECT_EQ(caps->num_reserved_stags, 256u);
  EXPECT_EQ(caps->cache_line_size, 256u);
  EXPECT_EQ(caps->max_toq_desc_size, 64u);
  EXPECT_EQ(caps->max_putget_size, 16777215u);
  EXPECT_EQ(caps->max_piggyback_size, 32u);
  EXPECT_EQ(caps->max_edata_size, 1u);
  EXPECT_EQ(caps->max_mtu, 1920u);
  EXPECT_EQ(utofu_query_onesided_caps(6, &caps), UTOFU_ERR_INVALID_TNI_ID);
}

TEST(Places, ProcessesTakeTheNodesOneByOneAndThenShareThem) {
  run(3, {{"NODE", "any"}, {"SHAPE", "2x1x1x1x1x1"}}, [](unsigned me, board& all) {
    const coordinates at = my_coordinates();
    all.words[me] = at[0] + 1u;
    all.meet(3);
    EXPECT_EQ(all.words[0] + all.words[1] + all.words[2], 1u + 2u + 1u);  // 0, 1 and 0 again
    EXPECT_THAT(at, ElementsAre(at[0], 0, 0, 0, 0, 0));
  });
}

TEST(Places, SeveralProcessesPerNodeFillANodeFirst) {
  run(4, {{"NODE", "any"}, {"PPN", "2"}, {"SHAPE", "1x1x1x2x1x2"}}, [](unsigned, board& all) {
    const coordinates at = my_coordinates();
    all.words[at[3] * 2u + at[5]]++;
    all.meet(4);
    EXPECT_EQ(all.words[0], 2u);
    EXPECT_EQ(all.words[1], 2u);
  });
}

TEST(Places, AnIdTellsWhatItWasMadeOf) {
  alone({{"SHAPE", "3x4x5x2x3x2"}, {"NODE", "719"}}, [] {
    const coordinates at = my_coordinates();
    EXPECT_THAT(at, ElementsAre(2, 3, 4, 1, 2, 1)) << "the last";
  });
  alone({{"SHAPE", "3x4x5x2x3x2"}, {"NODE", "100"}}, [] {
    utofu_vcq_hdl_t vcq = 0;
    ASSERT_EQ(utofu_create_vcq_with_cmp_id(4, 7, 0, &vcq), UTOFU_SUCCESS);
    const info found = info_of(id_of(vcq));
    EXPECT_EQ(found.at, my_coordinates());
    EXPECT_EQ(found.tni, 4);
    EXPECT_EQ(found.cmp, 7);
    coordinates at = found.at;
    utofu_vcq_id_t made = 0;
    ASSERT_EQ(utofu_construct_vcq_id(at.data(), 4, found.cq, 7, &made), UTOFU_SUCCESS);
    EXPECT_EQ(made, id_of(vcq));
    utofu_vcq_id_t with_path = made;
    std::array<std::uint8_t, 3> path{1, 2, 0};
    ASSERT_EQ(utofu_set_vcq_id_path(&with_path, path.data()), UTOFU_SUCCESS);
    EXPECT_NE(with_path, made);
    EXPECT_EQ(info_of(with_path).at, found.at);
    ASSERT_EQ(utofu_set_vcq_id_path(&with_path, nullptr), UTOFU_SUCCESS);
    EXPECT_EQ(with_path, made);
  });
}

TEST(Places, APathIdNamesItsCoordinates) {
  alone({}, [] {
    const utofu_vcq_id_t id = id_of(must_create(0, 0));
    for (std::uint8_t b = 0; b < 3; ++b) {
      std::array<std::uint8_t, 3> path{1, b, 1}, again{};
      utofu_path_id_t number = 0;
      ASSERT_EQ(utofu_get_path_id(id, path.data(), &number), UTOFU_SUCCESS);
      ASSERT_EQ(utofu_get_path_coords(id, number, again.data()), UTOFU_SUCCESS);
      EXPECT_EQ(again, path);
    }
    std::array<std::uint8_t, 3> nowhere{0, 3, 0};
    utofu_path_id_t number = 0;
    EXPECT_EQ(utofu_get_path_id(id, nowhere.data(), &number), UTOFU_ERR_INVALID_PATH);
  });
}

TEST(Places, WrongArgumentsHaveTheirOwnCodes) {
  alone({}, [] {
    utofu_vcq_hdl_t vcq = 0;
    utofu_vcq_id_t id = 0;
    coordinates outside{1, 0, 0, 0, 0, 0}, here = my_coordinates();
    EXPECT_EQ(utofu_create_vcq(6, 0, &vcq), UTOFU_ERR_INVALID_TNI_ID);
    EXPECT_EQ(utofu_create_vcq(0, 8, &vcq), UTOFU_ERR_INVALID_FLAGS);
    EXPECT_EQ(utofu_create_vcq(0, 0, nullptr), UTOFU_ERR_INVALID_POINTER);
    EXPECT_EQ(utofu_create_vcq_with_cmp_id(0, 8, 0, &vcq), UTOFU_ERR_INVALID_CMP_ID);
    EXPECT_EQ(utofu_free_vcq(12345), UTOFU_ERR_INVALID_VCQ_HDL);
    EXPECT_EQ(utofu_construct_vcq_id(outside.data(), 0, 0, 0, &id), UTOFU_ERR_INVALID_COORDS);
    EXPECT_EQ(utofu_construct_vcq_id(here.data(), 0, 12, 0, &id), UTOFU_ERR_INVALID_CQ_ID);
    EXPECT_EQ(utofu_construct_vcq_id(here.data(), 0, 0, 8, &id), UTOFU_ERR_INVALID_CMP_ID);
    EXPECT_EQ(utofu_set_vcq_id_path(&(id = 17), nullptr), UTOFU_ERR_INVALID_VCQ_ID);
  });
}

TEST(Vcqs, EightShareACqAndTheNinthOpensAnother) {
  alone({}, [] {
    for (unsigned i = 0; i < 9; ++i) {
      const info found = info_of(id_of(must_create(2, 0)));
      EXPECT_EQ(found.cq, i / 8);
      EXPECT_EQ(found.cmp, i % 8);
    }
  });
}

TEST(Vcqs, ATniHasNineExclusiveCqsAndThenIsFull) {
  alone({}, [] {
    std::vector<utofu_vcq_hdl_t> all;
    for (unsigned i = 0; i < 9; ++i) {
      all.push_back(must_create(1, exclusive));
      EXPECT_EQ(info_of(id_of(all.back())).cq, i);
    }
    utofu_vcq_hdl_t vcq = 0;
    EXPECT_EQ(utofu_create_vcq(1, exclusive, &vcq), UTOFU_ERR_FULL);
    EXPECT_EQ(utofu_create_vcq(1, 0, &vcq), UTOFU_ERR_FULL);
    EXPECT_EQ(utofu_create_vcq(0, exclusive, &vcq), UTOFU_SUCCESS) << "another TNI";
    EXPECT_EQ(utofu_free_vcq(all[4]), UTOFU_SUCCESS);
    EXPECT_EQ(info_of(id_of(must_create(1, exclusive))).cq, 4);
  });
}

TEST(Vcqs, WhereOnlyASharedCqHasRoomExclusiveIsNotAvailable) {
  alone({{"CQS", "2"}}, [] {
    must_create(0, 0);
    must_create(0, exclusive);
    utofu_vcq_hdl_t vcq = 0;
    EXPECT_EQ(utofu_create_vcq(0, exclusive, &vcq), UTOFU_ERR_NOT_AVAILABLE);
    EXPECT_EQ(utofu_create_vcq(0, 0, &vcq), UTOFU_SUCCESS);
  });
}

TEST(Vcqs, ProcessesOfANodeCompeteForItsCqs) {
  run(2, {{"NODE", "3"}, {"CQS", "2"}}, [](unsigned me, board& all) {
    if (me == 0) must_create(0, 0);
    all.meet(2);
    if (me == 1) {
      EXPECT_EQ(info_of(id_of(must_create(0, exclusive))).cq, 1);
      utofu_vcq_hdl_t vcq = 0;
      EXPECT_EQ(utofu_create_vcq(0, 0, &vcq), UTOFU_ERR_FULL)
          << "the other process's CQ is not ours";
    }
    all.meet(2);
  });
}

TEST(Vcqs, ACmpIdCanBeUsedOnceAndIsOnTheSharedCq) {
  alone({}, [] {
    utofu_vcq_hdl_t first = 0, second = 0, again = 0;
    ASSERT_EQ(utofu_create_vcq_with_cmp_id(0, 3, 0, &first), UTOFU_SUCCESS);
    ASSERT_EQ(utofu_create_vcq_with_cmp_id(0, 5, 0, &second), UTOFU_SUCCESS);
    EXPECT_EQ(info_of(id_of(first)).cq, info_of(id_of(second)).cq);
    EXPECT_EQ(utofu_create_vcq_with_cmp_id(0, 3, 0, &again), UTOFU_ERR_USED);
    EXPECT_EQ(utofu_free_vcq(first), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_create_vcq_with_cmp_id(0, 3, 0, &again), UTOFU_SUCCESS);
  });
}

TEST(Vcqs, AFreedHandleIsNotOne) {
  alone({}, [] {
    const utofu_vcq_hdl_t vcq = must_create(0, 0);
    EXPECT_EQ(utofu_free_vcq(vcq), UTOFU_SUCCESS);
    utofu_vcq_id_t id = 0;
    EXPECT_EQ(utofu_query_vcq_id(vcq, &id), UTOFU_ERR_INVALID_VCQ_HDL);
    must_create(0, 0);
    EXPECT_EQ(utofu_free_vcq(vcq), UTOFU_ERR_INVALID_VCQ_HDL);
  });
}

TEST(Processes, AForkedChildJoinsAnewAndDoesNotKnowTheParentsHandles) {
  alone({{"NODE", "any"}}, [] {
    const utofu_vcq_hdl_t vcq = must_create(0, 0);
    const coordinates mine = my_coordinates();
    EXPECT_EQ(outcome(start([&] {
                utofu_vcq_id_t id = 0;
                EXPECT_EQ(utofu_query_vcq_id(vcq, &id), UTOFU_ERR_INVALID_VCQ_HDL);
                EXPECT_NE(my_coordinates(), mine);
                must_create(0, 0);
              })),
              0);
    EXPECT_EQ(info_of(id_of(vcq)).at, mine) << "the parent's goes on";
  });
}

TEST(Processes, AKilledProcessLosesItsCqs) {
  run(1, {{"CQS", "1"}}, [](unsigned, board& all) {
    const pid_t other = start([&] {
      must_create(0, exclusive);
      all.words[0] = 1;
      for (;;) pause();
    });
    while (all.words[0] == 0) sched_yield();
    utofu_vcq_hdl_t vcq = 0;
    EXPECT_EQ(utofu_create_vcq(0, exclusive, &vcq), UTOFU_ERR_FULL);
    kill(other, SIGKILL);
    EXPECT_EQ(outcome(other), -SIGKILL);
    EXPECT_EQ(utofu_create_vcq(0, exclusive, &vcq), UTOFU_SUCCESS);
  });
}

TEST(Processes, TheLastOneRemovesTheMachine) {
  const std::string job = fresh_job();
  EXPECT_EQ(outcome(start([&] {
              set_knobs(job, {});
              my_coordinates();
              EXPECT_EQ(machine_files(job).size(), 1u);
            })),
            0);
  EXPECT_TRUE(machine_files(job).empty());
}

TEST(Processes, AMachineOfTheDeadIsNotJoinedButReplaced) {
  const std::string job = fresh_job();
  EXPECT_EQ(outcome(start([&] {
              set_knobs(job, {{"SHAPE", "2x2x2x1x1x1"}});
              my_coordinates();
              raise(SIGKILL);
            })),
            -SIGKILL);
  EXPECT_EQ(outcome(start([&] {
              set_knobs(job, {{"SHAPE", "3x1x1x1x1x1"}, {"NODE", "2"}});
              EXPECT_THAT(my_coordinates(), ElementsAre(2, 0, 0, 0, 0, 0));
            })),
            0);
}

TEST(Processes, AskingForAnotherShapeThanTheMachineHasIsFatal) {
  run(2, {}, [](unsigned me, board& all) {
    if (me == 0) my_coordinates();
    all.meet(2);
    if (me == 1) {
      setenv("SOFTTOFU_SHAPE", "4x1x1x1x1x1", 1);
      std::array<std::uint8_t, 6> at{};
      EXPECT_EQ(utofu_query_my_coords(at.data()), UTOFU_ERR_FATAL);
    }
    all.meet(2);
  });
}

TEST(Processes, AKnobThatMakesNoSenseIsFatal) {
  for (const auto& [name, value] : knobs{{"MODE", "fast"}, {"TOQ", "3"}, {"SHAPE", "1x2"}}) {
    alone({{name, value}}, [] {
      utofu_vcq_hdl_t vcq = 0;
      EXPECT_EQ(utofu_create_vcq(0, 0, &vcq), UTOFU_ERR_FATAL);
    });
  }
}

}  // namespace
