// SPDX-License-Identifier: BSD-3-Clause
#include "run/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

namespace heddle::tools {
namespace {

TEST(LineCutter, GivesOutWholeLinesEachWithThePrefix) {
  line_cutter cutter("[3] ");
  EXPECT_EQ(cutter.push("one\ntwo\nthr"), "[3] one\n[3] two\n");
  EXPECT_EQ(cutter.push("ee"), "");
  EXPECT_EQ(cutter.push("\n\n"), "[3] three\n[3] \n");
}

TEST(LineCutter, AnUnfinishedLastLineIsFinished) {
  line_cutter cutter("[3] ");
  EXPECT_EQ(cutter.push("a\nend"), "[3] a\n");
  EXPECT_EQ(cutter.finish(), "[3] end\n");
  EXPECT_EQ(cutter.finish(), "");
}

TEST(LineCutter, AnEndlessLineIsLetThroughInPiecesWithOnePrefix) {
  line_cutter cutter("[3] ");
  const std::string piece(600 * 1024, 'x');
  EXPECT_EQ(cutter.push(piece), "");
  EXPECT_EQ(cutter.push(piece), "[3] " + piece + piece);
  EXPECT_EQ(cutter.push("y"), "");
  EXPECT_EQ(cutter.push("z\nnext\n"), "yz\n[3] next\n");
}

TEST(Sink, KeepsWhatDoesNotFitUntilItIsRead) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const unique_fd reader(ends[0]), writer(ends[1]);
  event_loop loop;
  file_sink out(loop, writer.get());
  const std::string text(400 * 1024, 't');
  out.write(text);
  EXPECT_TRUE(out.full());
  std::string got;
  std::array<char, 65536> buffer;
  while (got.size() < text.size()) {
    if (!out.empty()) loop.run_once();
    const ssize_t count = read(reader.get(), buffer.data(), buffer.size());
    ASSERT_GT(count, 0);
    got.append(buffer.data(), static_cast<std::size_t>(count));
  }
  EXPECT_EQ(got, text);
  EXPECT_TRUE(out.empty());
}

TEST(Sink, WaitsWhenAnotherOneHasTakenTheRoomThatBothWereToldOf) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const unique_fd reader(ends[0]), writer(ends[1]), same(dup(ends[1]));
  const std::string page(4096, 'p');
  event_loop loop;
  file_sink out(loop, writer.get()), errors(loop, same.get());
  std::string got(page.size(), ' ');
  std::size_t filled = 0;
  for (pollfd room{writer.get(), POLLOUT, 0}; poll(&room, 1, 0) == 1; filled += page.size())
    ASSERT_EQ(write(writer.get(), page.data(), page.size()), 4096);
  out.write(page);
  errors.write(page);
  ASSERT_EQ(read(reader.get(), got.data(), got.size()), 4096);
  loop.run_once();
  EXPECT_NE(out.empty(), errors.empty());
  for (; filled > 0; filled -= page.size())
    ASSERT_EQ(read(reader.get(), got.data(), got.size()), 4096);
  loop.run_once();
  EXPECT_TRUE(out.empty() && errors.empty());
}

TEST(Sink, WritesWholeLines) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const unique_fd reader(ends[0]), writer(ends[1]);
  event_loop loop;
  file_sink out(loop, writer.get());
  out.write(std::string(3000, 'a') + '\n' + std::string(3000, 'b') + '\n');
  loop.run_once();
  std::string got(8192, ' ');
  EXPECT_EQ(read(reader.get(), got.data(), got.size()), 3001);
  EXPECT_FALSE(out.empty());
}

TEST(Sink, KnowsWhyItCannotBeWritten) {
  const auto before = signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const unique_fd writer(ends[1]), full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  close(ends[0]);
  event_loop loop;
  file_sink unread(loop, writer.get()), no_room(loop, full.get());
  EXPECT_EQ(unread.problem(), 0);
  unread.write("some\n");
  loop.run_once();
  EXPECT_EQ(unread.problem(), EPIPE);
  no_room.write("some\n");
  EXPECT_EQ(no_room.problem(), ENOSPC);
  EXPECT_TRUE(unread.closed() && no_room.closed());
  signal(SIGPIPE, before);
}

TEST(Sink, AFileIsWrittenAtOnce) {
  FILE* file = tmpfile();
  event_loop loop;
  file_sink out(loop, fileno(file));
  out.write("some\n");
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(lseek(fileno(file), 0, SEEK_END), 5);
  fclose(file);
}

}  // namespace
}  // namespace heddle::tools
