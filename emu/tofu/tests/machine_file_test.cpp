// SPDX-License-Identifier: BSD-3-Clause
// The machine's file: what happens where /dev/shm has no room for it, and that nothing stays of it.
#include "machine_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mount.h>

#include "nodes.h"

using namespace nodes;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

constexpr int no_rights = 77;

/// Puts a tmpfs of its own with these mount options in the place of this process's /dev/shm.
void replace_dev_shm(unsigned long flags, const char* options) {
  const bool done = unshare(CLONE_NEWNS) == 0 &&
                    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                    mount("none", "/dev/shm", "tmpfs", flags, options) == 0;
  if (!done) _exit(no_rights);
}

/// Runs `f` in a process with such a /dev/shm, or skips the test.
void with_dev_shm(unsigned long flags, const char* options, const std::function<void()>& f) {
  const int how = outcome(start([&] {
    replace_dev_shm(flags, options);
    set_knobs(fresh_job(), {});
    f();
  }));
  if (how == no_rights) GTEST_SKIP() << "only root may mount";
  EXPECT_EQ(how, 0);
}

int create_vcq() {
  utofu_vcq_hdl_t vcq = 0;
  return utofu_create_vcq(0, 0, &vcq);
}

/// What stderr says when no VCQ can be had because the machine cannot be made.
std::string words_of_refusal() {
  testing::internal::CaptureStderr();
  EXPECT_EQ(create_vcq(), UTOFU_ERR_FATAL);
  return testing::internal::GetCapturedStderr();
}

TEST(MachineFile, WhereDevShmIsFullItsSizeAndTheCureAreTold) {
  with_dev_shm(0, "size=64k", [] {
    EXPECT_THAT(words_of_refusal(), AllOf(HasSubstr("/dev/shm, which has 64 of 64 KiB left"),
                                          HasSubstr("mount -o remount,size=")));
    EXPECT_THAT(machine_files("*"), IsEmpty());
  });
}

TEST(MachineFile, AReadOnlyDevShmIsToldAsTheCause) {
  with_dev_shm(MS_RDONLY, "", [] {
    EXPECT_THAT(words_of_refusal(), HasSubstr("/dev/shm: Read-only file system"));
  });
}

TEST(MachineFile, BarrierGatesTakeMemoryOnlyWhenAskedForAndSayWhenThereIsNone) {
  with_dev_shm(0, "size=512k", [] {
    EXPECT_EQ(create_vcq(), UTOFU_SUCCESS);
    testing::internal::CaptureStderr();
    utofu_vbg_id_t gate = 0;
    EXPECT_EQ(utofu_alloc_vbg(0, 1, 0, &gate), UTOFU_ERR_OUT_OF_MEMORY);
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("of 512 KiB left"));
  });
}

TEST(MachineFile, OfAProcessThatFindsNoPlaceNothingStays) {
  const std::string job = fresh_job();
  EXPECT_EQ(outcome(start([&] {
              set_knobs(job, {{"NODE", "99"}});
              EXPECT_EQ(create_vcq(), UTOFU_ERR_FATAL);
            })),
            0);
  EXPECT_THAT(machine_files(job), IsEmpty());
}

/// A process of `job` that has a VCQ, until it is killed.
pid_t start_member(const std::string& job, board& all) {
  all.words[0] = 0;
  const pid_t member = start([&] {
    set_knobs(job, {});
    EXPECT_EQ(create_vcq(), UTOFU_SUCCESS);
    all.words[0] = 1;
    for (;;) pause();
  });
  while (all.words[0] == 0) sched_yield();
  return member;
}

void join_and_leave(const std::string& job) {
  EXPECT_EQ(outcome(start([&] {
              set_knobs(job, {});
              EXPECT_EQ(create_vcq(), UTOFU_SUCCESS);
            })),
            0);
}

// Where no other test can come first and remove it.
TEST(MachineFile, WhoJoinsAnyMachineRemovesThoseOfTheDead) {
  with_dev_shm(0, "size=16m", [] {
    board& all = make_board();
    const std::string job = fresh_job();
    const pid_t member = start_member(job, all);
    kill(member, SIGKILL);
    EXPECT_EQ(outcome(member), -SIGKILL);
    EXPECT_THAT(machine_files(job), SizeIs(1)) << "nobody was there to do it";
    join_and_leave(fresh_job());
    EXPECT_THAT(machine_files(job), IsEmpty());
  });
}

TEST(MachineFile, WhoJoinsAnotherMachineLeavesThoseOfTheLiving) {
  board& all = make_board();
  const std::string job = fresh_job();
  const pid_t member = start_member(job, all);
  join_and_leave(fresh_job());
  EXPECT_THAT(machine_files(job), SizeIs(1));
  kill(member, SIGKILL);
  EXPECT_EQ(outcome(member), -SIGKILL);
  remove_machine(job);
}

/// Holds the lock of the machine in the file until it is killed.
pid_t start_holder(const std::string& file, board& all) {
  all.words[1] = 0;
  const pid_t holder = start([&] {
    const int fd = open(file.c_str(), O_RDWR);
    void* const at =
        mmap(nullptr, sizeof(tofu::machine_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    pthread_mutex_lock(&static_cast<tofu::machine_file*>(at)->lock);
    all.words[1] = 1;
    for (;;) pause();
  });
  while (all.words[1] == 0) sched_yield();
  return holder;
}

TEST(MachineFile, WhoWaitsForALockThatAStoppedProcessHoldsSaysSo) {
  board& all = make_board();
  const std::string job = fresh_job();
  const pid_t member = start_member(job, all);
  const pid_t holder = start_holder(machine_files(job).at(0), all);
  int words[2];
  ASSERT_EQ(pipe(words), 0);
  const pid_t waiter = start([&] {
    dup2(words[1], STDERR_FILENO);
    set_knobs(job, {});
    EXPECT_EQ(create_vcq(), UTOFU_SUCCESS);
  });
  std::array<char, 200> said{};
  EXPECT_GT(read(words[0], said.data(), said.size() - 1), 0);
  EXPECT_THAT(said.data(), HasSubstr("waiting for the lock of the machine"));
  kill(holder, SIGKILL);
  EXPECT_EQ(outcome(holder), -SIGKILL);
  EXPECT_EQ(outcome(waiter), 0);
  kill(member, SIGKILL);
  EXPECT_EQ(outcome(member), -SIGKILL);
  remove_machine(job);
}

}  // namespace
