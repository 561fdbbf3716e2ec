// SPDX-License-Identifier: BSD-3-Clause
#include "run/relayed_output.h"

#include <gtest/gtest.h>

#include <string>

namespace heddle::tools {
namespace {

using agent_protocol::message;
using agent_protocol::message_kind;

struct scripted_sink final : sink {
  void write(std::string_view text) override { written += text; }
  [[nodiscard]] bool full() const noexcept override { return is_full; }
  [[nodiscard]] bool closed() const noexcept override { return is_closed; }

  std::string written;
  bool is_full = false, is_closed = false;
};

class RelayedOutput : public testing::Test {
 protected:
  void take(int stream, std::string_view text) {
    relay.take(stream, text, [this](const message& m) { answers.push_back(m); });
  }

  event_loop loop;
  scripted_sink output, errors;
  relayed_output relay{loop, {output, errors}};
  std::vector<message> answers;
};

TEST_F(RelayedOutput, WritesToTheStreamThatThePieceIsOfAndAnswersAtOnceWhereThereIsRoom) {
  take(1, "said\n");
  take(2, "failed\n");
  EXPECT_EQ(output.written, "said\n");
  EXPECT_EQ(errors.written, "failed\n");
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].kind, message_kind::taken);
  EXPECT_EQ(answers[0].numbers, (std::vector<std::int64_t>{1, 5}));
  EXPECT_EQ(answers[1].numbers, (std::vector<std::int64_t>{2, 7}));
}

TEST_F(RelayedOutput, AnswersWhatMetAFullStreamWhenThereIsRoomAgain) {
  output.is_full = true;
  take(1, "one");
  take(1, "more");
  loop.run_once();
  EXPECT_TRUE(answers.empty());
  output.is_full = false;
  loop.run_once();
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].numbers, (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(answers[1].numbers, (std::vector<std::int64_t>{1, 4}));
}

TEST_F(RelayedOutput, SaysThatNobodyReadsAStreamThatIsClosedAlsoWhenItIsFull) {
  errors.is_full = errors.is_closed = true;
  take(2, "lost");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].kind, message_kind::unread);
  EXPECT_EQ(answers[0].numbers, (std::vector<std::int64_t>{2}));
}

}  // namespace
}  // namespace heddle::tools
