// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/matched_messages.h"

#include <memory>
#include <utility>
#include <vector>

#include "support/scripted_world.h"

namespace heddle::protocols {
namespace {

using test::ending;

class MatchedMessages : public test::ScriptedWorld {
 protected:
  MatchedMessages() { ops_.collect_in(batch_); }
  /// From rank 1, of so many bytes.
  unexpected& message(tag t, std::uint64_t bytes) {
    unexpected& made = matcher_.messages.fresh();
    made.source = 1;
    made.from = peers_.reach(1);
    made.tag = t;
    made.bytes = bytes;
    return made;
  }

  const std::vector<std::unique_ptr<transport::endpoint>> endpoints_ = make_endpoints();
  const surroundings where_ = where();
  peer_table peers_{where_, endpoints_};
  operations ops_{1};
  matcher matcher_;
  matched_messages matched_{peers_, ops_, matcher_};
  delivery_batch batch_;
  detail::taken_message found_;
  ending taken_;
};

TEST_F(MatchedMessages, AreFoundByNobodyElseUntilTheyAreReleased) {
  matcher_.messages.keep(message(7, 10));
  ASSERT_EQ(matched_.take(1, 7, found_), status::done);
  EXPECT_EQ(found_.what.bytes, 10u);
  EXPECT_TRUE(found_.message->held);
  EXPECT_EQ(matcher_.messages.find(1, 7), nullptr);
  detail::taken_message other;
  EXPECT_EQ(matched_.take(any_source, any_tag, other), status::not_found);
  EXPECT_EQ(matched_.release(*found_.message).bytes, 10u);
}

TEST_F(MatchedMessages, EndWithWhatHoldsThem) {
  matcher_.messages.keep(message(7, 10));
  EXPECT_EQ(matched_.take(1, 7, found_), status::done);  // and nobody releases it: see asan
}

TEST_F(MatchedMessages, AreTakenAtOnceWhereThereAreSome) {
  matcher_.messages.keep(message(7, 10));
  ASSERT_EQ(matched_.take_or_wait(1, 7, found_, taken_), status::posted);
  batch_.run();
  EXPECT_EQ(taken_.count, 1);
  EXPECT_EQ(found_.what.tag, 7u);
  EXPECT_EQ(ops_.room().taken(), 0u);
}

TEST_F(MatchedMessages, AreGivenToWhoWaitsWhenTheyCome) {
  ASSERT_EQ(matched_.take_or_wait(any_source, 7, found_, taken_), status::posted);
  EXPECT_EQ(ops_.room().taken(), 1u) << "who waits is in flight";
  unexpected& another = message(8, 5);
  unexpected& wanted = message(7, 10);
  EXPECT_FALSE(matched_.give(another));
  ASSERT_FALSE(another.held) << "nobody wants it, so it is still the caller's";
  ASSERT_TRUE(matched_.give(wanted));
  batch_.run();
  EXPECT_EQ(taken_.count, 1);
  EXPECT_EQ(found_.what.bytes, 10u);
  EXPECT_EQ(ops_.room().taken(), 0u);
  unexpected& next = message(7, 11);
  EXPECT_FALSE(matched_.give(next)) << "it has got its message";
}

TEST_F(MatchedMessages, AreNotWaitedForInVain) {
  EXPECT_EQ(matched_.take_or_wait(2, 7, found_, taken_), status::invalid) << "there are two ranks";
  ops_.room().take();
  EXPECT_EQ(matched_.take_or_wait(1, 7, found_, taken_), status::busy_records);
  peers_.reach(1)->lost = true;
  EXPECT_EQ(matched_.take_or_wait(1, 7, found_, taken_), status::peer_lost);
}

}  // namespace
}  // namespace heddle::protocols
