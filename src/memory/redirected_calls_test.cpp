// SPDX-License-Identifier: BSD-3-Clause
#include "memory/redirected_calls.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace heddle::memory {
namespace {

int asked = 0;
pid_t nobodys_child() noexcept {
  ++asked;
  return -7;
}

const std::array<redirected_call, 1> calls{{{"getppid", reinterpret_cast<void*>(&nobodys_child)}}};

TEST(RedirectedCalls, GoElsewhereInTheProgramAndInWhatIsLoadedBeforeTheNextTime) {
  const pid_t parent = getppid();
  redirect_calls(calls);
  EXPECT_EQ(getppid(), -7);

  void* const late = dlopen(LATE_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(late, nullptr) << dlerror();
  auto* const ask = reinterpret_cast<pid_t (*)()>(dlsym(late, "parent_asked_late"));
  ASSERT_NE(ask, nullptr);
  EXPECT_EQ(ask(), parent);
  redirect_calls(calls);
  EXPECT_EQ(ask(), -7);
  EXPECT_GE(asked, 2);
  dlclose(late);
}

TEST(RedirectedCalls, LeaveTheFunctionItselfWithinReach) {
  using function = pid_t();
  auto* const before = reinterpret_cast<function*>(unredirected("getppid"));
  ASSERT_NE(before, nullptr);
  redirect_calls(calls);
  EXPECT_EQ(unredirected("getppid"), reinterpret_cast<void*>(before));
  EXPECT_NE(before(), -7);
}

TEST(RedirectedCalls, KnowNoFunctionThatNobodyHas) {
  EXPECT_EQ(unredirected("heddle_no_such_function"), nullptr);
}

TEST(RedirectedCalls, CanTellThatSomethingWasLoaded) {
  const std::size_t before = objects_ever_loaded();
  void* const late = dlopen(LATE_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(late, nullptr) << dlerror();
  EXPECT_GT(objects_ever_loaded(), before);
  dlclose(late);
}

}  // namespace
}  // namespace heddle::memory
