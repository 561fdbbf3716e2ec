// SPDX-License-Identifier: BSD-3-Clause
#include "run/agent_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "bootstrap/launcher_protocol.h"

namespace heddle::tools::agent_protocol {
namespace {

using testing::ElementsAre;

std::vector<std::byte> joined(const std::vector<message>& messages) {
  std::vector<std::byte> all;
  for (const auto& m : messages) {
    const auto bytes = encode(m);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

std::span<const std::byte> view(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(AgentMessages, ComeBackAsTheyWereHoweverTheStreamIsCut) {
  const message large{
      message_kind::reply, {3, 0, 1}, std::vector<std::byte>(200'000, std::byte{7})};
  const auto bytes = joined({{message_kind::ping},
                             {message_kind::output, {1}, bytes_of("hello\n")},
                             large,
                             {message_kind::ended, {5, 1234, -1}}});
  for (const std::size_t cut : {std::size_t{1}, std::size_t{1000}, bytes.size()}) {
    message_parser parser;
    std::vector<message> got;
    for (std::size_t at = 0; at < bytes.size(); at += cut) {
      parser.push(std::span(bytes).subspan(at, std::min(cut, bytes.size() - at)));
      while (auto m = parser.next()) got.push_back(std::move(*m));
    }
    ASSERT_EQ(got.size(), 4u);
    EXPECT_EQ(got[1].text(), "hello\n");
    EXPECT_EQ(got[2].numbers, large.numbers);
    EXPECT_EQ(got[2].body, large.body);
    EXPECT_THAT(got[3].numbers, ElementsAre(5, 1234, -1));
    EXPECT_FALSE(parser.broken());
  }
}

TEST(AgentMessages, WithTooFewNumbersBreakTheStream) {
  message_parser parser;
  parser.push(encode(message{message_kind::ended, {5, 1234}}));
  EXPECT_FALSE(parser.next());
  EXPECT_TRUE(parser.broken());
}

TEST(AgentMessages, ThatClaimMoreNumbersThanTheyHaveBreakTheStream) {
  auto bytes = encode(message{message_kind::signal, {2}});
  bytes[8] = std::byte{0xff};  // the count, behind the piece's header
  message_parser parser;
  parser.push(bytes);
  EXPECT_FALSE(parser.next());
  EXPECT_TRUE(parser.broken());
}

TEST(AgentMessages, WithPiecesOfAnotherMessageInBetweenBreakTheStream) {
  const auto large = encode(message{message_kind::input, {}, std::vector<std::byte>(100'000)});
  message_parser parser;
  parser.push(std::span(large).first(8 + 64 * 1024));  // the first piece
  EXPECT_FALSE(parser.next());
  EXPECT_FALSE(parser.broken());
  parser.push(encode(message{message_kind::ping}));
  EXPECT_FALSE(parser.next());
  EXPECT_TRUE(parser.broken());
}

TEST(AgentMessages, ThatNeverEndBreakTheStream) {
  std::vector<std::byte> piece(8 + 64 * 1024);
  piece[2] = std::byte{1};  // 64 KiB
  piece[4] = static_cast<std::byte>(message_kind::input);
  piece[5] = std::byte{1};  // more
  message_parser parser;
  for (int i = 0; i < 2000 && !parser.broken(); ++i) {
    parser.push(piece);
    EXPECT_FALSE(parser.next());
  }
  EXPECT_TRUE(parser.broken());
}

TEST(AgentMessages, MayBeAsLongAsTheJobsAnswersOnceItsSizeIsKnown) {
  const auto bytes =
      encode(message{message_kind::reply, {0, 1}, std::vector<std::byte>(80 << 20, std::byte{1})});
  message_parser stranger, member;
  member.expect_ranks(158'976);
  stranger.push(bytes);
  member.push(bytes);
  EXPECT_FALSE(stranger.next());
  EXPECT_TRUE(stranger.broken());
  const auto got = member.next();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body.size(), std::size_t{80} << 20);
}

TEST(AgentMessages, NoBytesAreTooHostile) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    auto bytes =
        joined({{message_kind::started, {1, 2}}, {message_kind::output, {2}, bytes_of("x")}});
    for (int flips = 0; flips < 3; ++flips)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    message_parser parser;
    parser.push(bytes);
    int messages = 0;
    while (const auto m = parser.next()) {
      ++messages;
      if (m->kind == message_kind::output) {
        EXPECT_GE(m->numbers.size(), 1u);
      }
    }
    EXPECT_LE(messages, 2);
  }
}

set_up example() {
  set_up s;
  s.job_size = 8;
  s.prefix = true;
  s.bind = {binding::unit::list, {0, 4, 5}, true};
  s.ranks = {2, 3};
  s.command_of = {1, 0};
  s.output_folder = "out";
  s.secret.fill(std::byte{9});
  s.host = "n1";
  s.directory = "/home/me";
  s.commands = {{"prog", "", "two words"}, {"other"}};
  s.environment = {"A=1", "B=\xff"};
  return s;
}

TEST(SetUp, ComesBackAsItWas) {
  const auto back = decode_set_up(encode(example()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->job_size, 8);
  EXPECT_TRUE(back->prefix);
  EXPECT_EQ(text_of(back->bind), "0,4,5");
  EXPECT_TRUE(back->bind.asked);
  EXPECT_THAT(back->ranks, ElementsAre(2, 3));
  EXPECT_EQ(back->secret, example().secret);
  EXPECT_EQ(back->host, "n1");
  EXPECT_EQ(back->directory, "/home/me");
  EXPECT_EQ(back->output_folder, "out");
  EXPECT_THAT(back->command_of, ElementsAre(1, 0));
  EXPECT_THAT(back->commands,
              ElementsAre(ElementsAre("prog", "", "two words"), ElementsAre("other")));
  EXPECT_THAT(back->environment, ElementsAre("A=1", "B=\xff"));
}

TEST(SetUp, OfAllRanksOfALargeMachineComesThrough) {
  set_up s = example();
  s.job_size = 158'976;
  s.ranks.resize(158'976);
  std::iota(s.ranks.begin(), s.ranks.end(), 0);
  s.command_of.assign(s.ranks.size(), 1);
  message_parser parser;
  parser.push(encode(encode(s)));
  const auto m = parser.next();
  ASSERT_TRUE(m);
  const auto back = decode_set_up(*m);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->ranks, s.ranks);
}

TEST(SetUp, OfAnImpossibleJobIsRefused) {
  const auto refused = [](auto change) {
    message m = encode(example());
    change(m);
    return !decode_set_up(m);
  };
  EXPECT_TRUE(refused([](message& m) { m.numbers[0] = 0; }));
  EXPECT_TRUE(refused([](message& m) { m.numbers[0] = bootstrap::protocol::max_ranks + 1; }));
  EXPECT_TRUE(refused([](message& m) { m.numbers[3] = 1; }));
  EXPECT_TRUE(refused([](message& m) { m.numbers[3] = std::int64_t{1} << 62; }));
  for (const std::int64_t commands : {0, 1, 3, 4, 1 << 30, -1})
    EXPECT_TRUE(refused([&](message& m) { m.numbers[4] = commands; })) << commands;
  EXPECT_TRUE(refused([](message& m) { m.numbers[5] = 0, m.numbers[6] = 4; }));  // no program
  EXPECT_TRUE(refused([](message& m) { m.numbers[7] = 8; }));
  EXPECT_TRUE(refused([](message& m) { m.numbers[7] = -1; }));
  EXPECT_TRUE(refused([](message& m) { m.numbers[8] = 2; }));
  EXPECT_TRUE(refused([](message& m) { m.numbers.resize(7); }));
  EXPECT_TRUE(refused([](message& m) { m.body.pop_back(); }));
  EXPECT_TRUE(refused([](message& m) { m.body.resize(31); }));
  EXPECT_TRUE(refused([](message& m) { m.kind = message_kind::reply; }));
}

TEST(Greeting, IsFoundBehindWhatLoginScriptsPrint) {
  const std::string all = "Welcome to n3!\nHEDDLE-AGENT x\nyour quota is full" +
                          encode(greeting{1, "0.1.0"}) + "\x01\x02";
  for (const std::size_t cut : {std::size_t{1}, std::size_t{7}, all.size()}) {
    greeting_scanner scanner;
    std::optional<greeting> found;
    std::size_t at = 0;
    for (; !found; at += cut) {
      ASSERT_LT(at, all.size());
      found = scanner.push(view(all.substr(at, cut)));
    }
    EXPECT_EQ(found->protocol, 1);
    EXPECT_EQ(found->build, "0.1.0");
    if (cut == all.size()) {
      EXPECT_EQ(scanner.rest().size(), 2u);
    }
  }
}

TEST(Greeting, IsNotHopedForInEndlessNoise) {
  greeting_scanner scanner;
  const std::string line(1000, 'x');
  for (int i = 0; i < 2000 && !scanner.hopeless(); ++i) EXPECT_FALSE(scanner.push(view(line)));
  EXPECT_TRUE(scanner.hopeless());
}

TEST(Greeting, TheLastLineOfNoiseIsKeptForPeople) {
  greeting_scanner scanner;
  EXPECT_EQ(scanner.noise(), "");
  EXPECT_FALSE(scanner.push(view("first\nThis account is \x1b[1mlocked\n")));
  EXPECT_EQ(scanner.noise(), "This account is ?[1mlocked");
}

subtree example_branch() {
  subtree s;
  s.way.starter = {"ssh", "-p", "2222"};
  s.way.heddle = "/opt/heddle";
  s.way.from = "n1";
  s.way.silence_s = 7;
  s.way.fanout = 2;
  s.hosts = {{"n2", {2, 3}}, {"me@n3", {4}}};
  return s;
}

TEST(Subtree, ComesBackAsItWas) {
  const auto back = decode_subtree(encode(example_branch()));
  ASSERT_TRUE(back);
  EXPECT_THAT(back->way.starter, ElementsAre("ssh", "-p", "2222"));
  EXPECT_EQ(back->way.heddle, "/opt/heddle");
  EXPECT_EQ(back->way.from, "n1");
  EXPECT_EQ(back->way.silence_s, 7);
  EXPECT_EQ(back->way.fanout, 2);
  ASSERT_EQ(back->hosts.size(), 2u);
  EXPECT_EQ(back->hosts[0].name, "n2");
  EXPECT_THAT(back->hosts[0].ranks, ElementsAre(2, 3));
  EXPECT_EQ(back->hosts[1].name, "me@n3");
  EXPECT_THAT(back->hosts[1].ranks, ElementsAre(4));
}

TEST(Subtree, OfAnAgentThatIsToStartNoneNamesNoHosts) {
  subtree none = example_branch();
  none.hosts.clear();
  const auto back = decode_subtree(encode(none));
  ASSERT_TRUE(back);
  EXPECT_TRUE(back->hosts.empty());
  EXPECT_EQ(back->way.silence_s, 7);
}

TEST(Subtree, WithMoreHostsOrRanksThanItNamesIsNone) {
  message m = encode(example_branch());
  m.numbers.insert(m.numbers.end(), {1, 5});
  EXPECT_FALSE(decode_subtree(m));
  m = encode(example_branch());
  m.numbers[3] = 100;  // ranks of the first host
  EXPECT_FALSE(decode_subtree(m));
  m = encode(example_branch());
  m.numbers[1] = 0;  // the fan-out
  EXPECT_FALSE(decode_subtree(m));
  m = encode(example_branch());
  m.numbers.back() = -1;
  EXPECT_FALSE(decode_subtree(m));
  EXPECT_FALSE(decode_subtree(encode(example())));
}

}  // namespace
}  // namespace heddle::tools::agent_protocol
