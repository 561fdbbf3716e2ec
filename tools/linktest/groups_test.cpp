// SPDX-License-Identifier: BSD-3-Clause
// groups_test.cpp - files of groups are read, and refused with file, line and cure.
#include "linktest/groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <cstdio>
#include <fstream>

namespace heddle::linktest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

struct groups_file {
  std::string path = testing::TempDir() + "groups.txt";
  explicit groups_file(const std::string& text) { std::ofstream(path) << text; }
  ~groups_file() { std::remove(path.c_str()); }
  groups_file(const groups_file&) = delete;
  groups_file& operator=(const groups_file&) = delete;
};

std::string refusal_of(const std::string& text) {
  const groups_file file(text);
  try {
    (void)read_groups(file.path);
  } catch (const error& why) {
    return why.what();
  }
  return {};
}

TEST(Groups, AreReadFromLinesWithHostListsAndComments) {
  const groups_file file("# the hall\n\nrack1: n[01-03],login  # by the door\n rack-2 :n04\r\n");
  const std::vector<host_group> groups = read_groups(file.path);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].name, "rack1");
  EXPECT_THAT(groups[0].hosts, ElementsAre("n01", "n02", "n03", "login"));
  EXPECT_EQ(groups[1].name, "rack-2");
  EXPECT_THAT(groups[1].hosts, ElementsAre("n04"));
}

TEST(Groups, TextOfOneIsReadAsTheSameGroup) {
  const host_group first = parse_group("rack1: n[01-03],login");
  const host_group again = parse_group(text_of(first));
  EXPECT_EQ(again.name, first.name);
  EXPECT_EQ(again.hosts, first.hosts);
}

TEST(Groups, RefusesALineThatIsNoneWithItsNumberAndTheCure) {
  for (const char* bad :
       {"rack1 n1", "rack1:", ": n1", "-rack: n1", "rack 1: n1", "r: n[1-", "r: n1 n2", "r: n1,"})
    EXPECT_THAT(
        refusal_of(std::string("a: x\n") + bad + '\n'),
        AllOf(HasSubstr("groups.txt:2: "), ::testing::AnyOf(HasSubstr("a line is 'NAME: HOSTS'"),
                                                            HasSubstr("give letters, digits"))))
        << bad;
  EXPECT_THAT(refusal_of("r: n1:4\n"), HasSubstr("name it once, alone"));
  EXPECT_THAT(refusal_of("r: n1,n1\n"), HasSubstr("name it once, alone"));
  EXPECT_THAT(refusal_of("# nothing\n"), HasSubstr("there is no group in this file"));
}

TEST(Groups, RefusesAHostInTwoGroupsAndAGroupOnTwoLines) {
  EXPECT_THAT(
      refusal_of("a: n[1-4]\nb: n5,n3\n"),
      AllOf(HasSubstr("groups.txt:2: "), HasSubstr("host 'n3' is in the group of line 1 already")));
  EXPECT_THAT(refusal_of("a: n1\nb: n2\na: n3\n"),
              AllOf(HasSubstr("groups.txt:3: "), HasSubstr("group 'a' stands on line 1 already")));
}

TEST(Groups, RefusesAFileThatCannotBeReadByName) {
  try {
    (void)read_groups("/no/such/groups");
    ADD_FAILURE() << "read what is not there";
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("/no/such/groups"));
  }
}

TEST(Groups, AreFoundForHostsAndMinusOneForThoseInNone) {
  const std::vector<host_group> groups{parse_group("a: n[1-2]"), parse_group("b: n3")};
  EXPECT_THAT(group_of_each(groups, {"n3", "n1", "n9", "n2"}), ElementsAre(1, 0, -1, 0));
}

}  // namespace
}  // namespace heddle::linktest
