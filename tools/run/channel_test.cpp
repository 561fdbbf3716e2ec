// SPDX-License-Identifier: BSD-3-Clause
#include "run/channel.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

namespace heddle::tools {
namespace {

using agent_protocol::bytes_of;
using agent_protocol::message;
using agent_protocol::message_kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct pipe_ends {
  unique_fd read, write;
};

pipe_ends make_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}

/// A channel, and the bare pipes of whoever is at its other side.
class Channel : public testing::Test {
 protected:
  void open(bool scan) {
    pipe_ends to = make_pipe(), from = make_pipe();
    theirs_out_ = std::move(to.write);
    theirs_in_ = std::move(from.read);
    const channel::handlers handlers{
        .greeted = [this](const agent_protocol::greeting& g) { greetings_.push_back(g.build); },
        .take = [this](const message& m) { taken_.emplace_back(m.text()); },
        .ended = [this](const std::string& why) { ends_.push_back(why); }};
    ours_.emplace(loop_, std::move(to.read), std::move(from.write), handlers, scan);
  }
  void they_send(std::string_view bytes) {
    ASSERT_EQ(::write(theirs_out_.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  void they_send(const message& m) {
    const auto bytes = encode(m);
    they_send({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  /// What they have got, as messages.
  std::vector<message> received() {
    std::array<std::byte, 65536> buffer;
    const ssize_t got = ::read(theirs_in_.get(), buffer.data(), buffer.size());
    agent_protocol::message_parser parser;
    parser.push(std::span(buffer).first(static_cast<std::size_t>(std::max<ssize_t>(got, 0))));
    std::vector<message> all;
    while (auto m = parser.next()) all.push_back(std::move(*m));
    return all;
  }

  event_loop loop_;
  std::optional<channel> ours_;
  unique_fd theirs_in_, theirs_out_;
  std::vector<std::string> greetings_, taken_, ends_;
};

TEST_F(Channel, TakesMessagesBehindNoiseAndAGreeting) {
  open(true);
  they_send("Welcome!\n" + encode(agent_protocol::greeting{1, "0.9"}));
  they_send(message{message_kind::output, {1}, bytes_of("hello")});
  while (taken_.empty()) loop_.run_once();
  EXPECT_THAT(greetings_, ElementsAre("0.9"));
  EXPECT_THAT(taken_, ElementsAre("hello"));
  EXPECT_THAT(ends_, IsEmpty());
}

TEST_F(Channel, TellsOfTheEndOnce) {
  open(false);
  they_send(message{message_kind::output, {1}, bytes_of("last words")});
  theirs_out_.reset();
  while (ends_.empty()) loop_.run_once();
  EXPECT_THAT(taken_, ElementsAre("last words"));
  EXPECT_THAT(ends_, ElementsAre(""));
}

TEST_F(Channel, EndsWithAReasonWhenTheBytesAreNoMessages) {
  open(false);
  they_send("this is no message of ours");
  while (ends_.empty()) loop_.run_once();
  EXPECT_THAT(ends_, ElementsAre(HasSubstr("does not speak")));
  EXPECT_THAT(taken_, IsEmpty());
}

TEST_F(Channel, KeepsWhatDoesNotFitUntilItIsRead) {
  open(false);
  const std::vector<std::byte> body(1'000'000, std::byte{5});
  ours_->send(message{message_kind::input, {}, body});
  agent_protocol::message_parser parser;
  std::optional<message> got;
  fcntl(theirs_in_.get(), F_SETFL, O_NONBLOCK);
  for (std::array<std::byte, 65536> buffer; !got; got = parser.next()) {
    const ssize_t count = ::read(theirs_in_.get(), buffer.data(), buffer.size());
    if (count < 0)
      loop_.run_once();
    else
      parser.push(std::span(buffer).first(static_cast<std::size_t>(count)));
  }
  EXPECT_EQ(got->body, body);
}

TEST_F(Channel, SaysAndHearsNothingOnceItIsClosed) {
  open(false);
  they_send(message{message_kind::output, {1}, bytes_of("too late")});
  ours_->close();
  ours_->send(message{message_kind::input, {}, bytes_of("too late")});
  bool over = false;
  loop_.after(1, [&over] { over = true; });
  while (!over) loop_.run_once();
  EXPECT_THAT(taken_, IsEmpty());
  EXPECT_THAT(ends_, IsEmpty());
  EXPECT_THAT(received(), IsEmpty());
}

TEST_F(Channel, PingsAndTellsOfSilence) {
  open(false);
  bool silent = false;
  ours_->watch_silence(1, [&silent] { silent = true; });
  while (!silent) loop_.run_once();
  const auto pings = received();
  ASSERT_FALSE(pings.empty());
  EXPECT_EQ(pings.front().kind, message_kind::ping);
}

TEST_F(Channel, DoesNotCountSilenceOfASideThatIsStopped) {
  open(false);
  bool silent = false, over = false;
  ours_->watch_silence(1, [&silent] { silent = true; });
  ours_->pause_watch(true);
  loop_.after(2000, [&over] { over = true; });
  while (!over) loop_.run_once();
  EXPECT_FALSE(silent);
}

}  // namespace
}  // namespace heddle::tools
