// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "fuzz/board.h"
#include "fuzz/model.h"
#include "fuzz/plan_text.h"

namespace heddle::fuzz {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// Two messages from rank 0 to rank 1 with one tag, and their receives.
const std::string two_messages = R"(
ranks 2
lane 0 shared
phase 0
  0: 1.0 recv peer=0 bytes=100 tag=0x100
  1: 1.0 recv peer=any bytes=100 tag=0x100
  2: 0.0 send peer=1 bytes=10 tag=0x100
  3: 0.0 send peer=1 bytes=20 tag=0x100
)";

/// A plan's board, on which the tests write what ranks would.
class facts {
 public:
  explicit facts(const plan& p) : plan_(p), board_(file_, p, true) {}
  ~facts() { unlink(file_.c_str()); }

  record& ended(int id, status code) {
    const step& s = *plan_.find(id);
    record& r = board_.of(id, s.rank);
    r.at = stage::ended;
    r.answer = status::posted;
    r.code = code;
    r.ends = 1;
    return r;
  }
  /// Receive `id` got the message of step `message`.
  void got(int id, int message) {
    const step& m = *plan_.find(message);
    record& r = ended(id, status::done);
    r.peer = m.rank;
    r.lane = m.lane;
    r.tag = m.tag;
    r.bytes = m.bytes;
    r.value = digest_of(message, m.bytes);
  }
  std::vector<std::string> kinds() {
    std::vector<std::string> all;
    for (const finding& f : judge(plan_, board_)) all.push_back(f.kind);
    return all;
  }
  board& on() { return board_; }

 private:
  const std::string file_ = testing::TempDir() + "/board-" + std::to_string(getpid());
  const plan& plan_;
  board board_;
};

TEST(Verdict, MessagesInTheirOrderAreClean) {
  const plan p = read(two_messages);
  facts f(p);
  f.ended(2, status::done), f.ended(3, status::done);
  f.got(0, 2), f.got(1, 3);
  EXPECT_THAT(f.kinds(), IsEmpty());
}

TEST(Verdict, SwappedMessagesAreAFindingAndNamed) {
  const plan p = read(two_messages);
  facts f(p);
  f.ended(2, status::done), f.ended(3, status::done);
  f.got(0, 3), f.got(1, 2);
  EXPECT_THAT(f.kinds(), testing::ElementsAre("order"));
  EXPECT_THAT(judge(p, f.on())[0].text, HasSubstr("0: message 3; 1: message 2;"));
}

TEST(Verdict, AMessageThatIsDoneAndNeverCameIsLost) {
  const plan p = read(two_messages + "  4: 1.0 recv peer=0 bytes=100 tag=0x100\n");
  facts f(p);
  f.ended(2, status::done), f.ended(3, status::done);
  f.got(0, 2), f.ended(1, status::canceled), f.ended(4, status::canceled);
  EXPECT_THAT(f.kinds(), testing::ElementsAre("lost"));
}

TEST(Verdict, OneWrongByteIsNoMessageAnybodySent) {
  const plan p = read(two_messages);
  facts f(p);
  f.ended(2, status::done), f.ended(3, status::done);
  f.got(0, 2), f.got(1, 3);
  f.on().of(1, 1).value ^= 1;
  EXPECT_THAT(f.kinds(), testing::ElementsAre("order"));
}

TEST(Verdict, ACompletionThatComesTwiceIsFound) {
  const plan p = read(two_messages);
  facts f(p);
  f.ended(2, status::done), f.ended(3, status::done).ends = 2;
  f.got(0, 2), f.got(1, 3);
  EXPECT_THAT(f.kinds(), testing::ElementsAre("twice"));
}

TEST(Verdict, AFailureIsAFindingWhereNobodyIsLostAndNoneWhereTheyAre) {
  for (const bool killed : {false, true}) {
    const plan p = read(two_messages + (killed ? "  4: 1.0 kill\n" : ""));
    facts f(p);
    f.ended(2, status::done), f.ended(3, status::peer_lost);
    f.got(0, 2), f.got(1, 3);
    f.on().of_rank(1).gone = killed;
    EXPECT_EQ(f.kinds(), killed ? std::vector<std::string>{} : std::vector<std::string>{"ending"});
  }
}

TEST(Verdict, AMessageOfARankThatWillBeKilledStandsInForNoOtherOne) {
  const plan p = read(R"(
ranks 3
lane 0 shared
phase 0
  0: 1.0 recv peer=any bytes=100 tag=0x100
  1: 1.0 recv peer=any bytes=100 tag=0x100
  2: 0.0 send peer=1 bytes=10 tag=0x100
  3: 2.0 send peer=1 bytes=20 tag=0x100
  4: 2.0 kill
)");
  facts f(p);
  const auto all = groups(p);
  ASSERT_EQ(all.size(), 1u);
  f.ended(2, status::done), f.ended(3, status::done);
  f.got(0, 3);
  EXPECT_FALSE(nothing_is_left(p, f.on(), all[0]));
  f.got(1, 2);
  EXPECT_TRUE(nothing_is_left(p, f.on(), all[0]));
}

TEST(Verdict, MessagesToARankThatStarvedAndLostItsPeerNeedNotArrive) {
  for (const bool starves : {false, true}) {
    const plan p = read((starves ? "set 1 ulimit_megabytes=1\n" : "") + two_messages);
    facts f(p);
    const auto all = groups(p);
    f.ended(2, status::done), f.ended(3, status::done);
    f.got(0, 2);
    EXPECT_FALSE(nothing_is_left(p, f.on(), all[0]));
    f.on().of_rank(0).lost = 1U << 1;
    EXPECT_EQ(nothing_is_left(p, f.on(), all[0]), starves);
  }
}

TEST(Verdict, AMessageIsLeftWhereAStarvedRankWasRefusedAReceiveAndNoMore) {
  const plan p = read("set 1 ulimit_megabytes=1\n" + two_messages);
  facts f(p);
  f.ended(2, status::done), f.ended(3, status::done);
  f.ended(0, status::no_memory), f.got(1, 2);
  EXPECT_THAT(f.kinds(), IsEmpty());
  f.got(1, 3);
  EXPECT_THAT(f.kinds(), testing::ElementsAre("lost"));  // the first is not the one that is left
}

TEST(Verdict, NothingIsLeftOfARankThatStarvedAndCouldNotGoOn) {
  const plan p = read("set 0 ulimit_megabytes=1\n" + two_messages);
  facts f(p);
  f.ended(2, status::done);
  EXPECT_FALSE(nothing_is_left(p, f.on(), groups(p)[0]));
  f.on().of_rank(0).failure[0] = '!';
  EXPECT_TRUE(nothing_is_left(p, f.on(), groups(p)[0]));
}

TEST(Verdict, AMistakeMustBeAnsweredAsDocumented) {
  const plan p = read("ranks 2\nlane 0 shared\n0: 0.0 mistake op=send_reserved_tag peer=1\n");
  facts f(p);
  f.ended(0, status::invalid);
  EXPECT_THAT(f.kinds(), IsEmpty());
  f.ended(0, status::done);
  EXPECT_THAT(f.kinds(), testing::ElementsAre("mistake"));
}

TEST(Verdict, AWordThatNobodyTouchedKeepsItsValue) {
  const plan p =
      read("ranks 1\nlane 0 shared\narea 0 symmetric owner=all bytes=200\n0: 0.0 poll\n");
  facts f(p);
  f.ended(0, status::done).ends = 0;
  f.on().of_area(0, 0, 0).checked = true;
  EXPECT_THAT(f.kinds(), IsEmpty());
  f.on().of_area(0, 0, 0).words[3] = 1;
  EXPECT_THAT(f.kinds(), testing::ElementsAre("word"));
}

}  // namespace
}  // namespace heddle::fuzz
