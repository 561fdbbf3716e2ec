// SPDX-License-Identifier: BSD-3-Clause
#include "system/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

#include "system/job_processes.h"

namespace heddle::test {
namespace {

struct pipe_ends {
  int read, write;
};

pipe_ends make_pipe() {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {ends[0], ends[1]};
}

std::string make_mark() {
  static int count = 0;
  return fmt::format("LAUNCHER_TEST_MARK={}.{}", getpid(), ++count);
}

[[noreturn]] void become(const std::vector<std::string>& command, const std::string& mark,
                         const std::array<int, 3>& standard) {
  for (int fd = 0; fd < 3; ++fd) dup2(standard[static_cast<std::size_t>(fd)], fd);
  putenv(const_cast<char*>(mark.c_str()));
  std::vector<char*> words;
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(99);
}

bool carries(const std::filesystem::path& process, const std::string& mark) {
  std::ifstream file(process / "environ", std::ios::binary);
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  return (std::string(1, '\0') + all).find(std::string(1, '\0') + mark + '\0') != std::string::npos;
}

void append_from(int& fd, std::string& to) {
  std::array<char, 65536> buffer;
  const ssize_t got = read(fd, buffer.data(), buffer.size());
  if (got > 0) {
    to.append(buffer.data(), static_cast<std::size_t>(got));
  } else {
    close(fd);
    fd = -1;
  }
}

int count_of(const std::string& text, const std::string& all) {
  int count = 0;
  for (std::size_t at = all.find(text); at != std::string::npos; at = all.find(text, at + 1))
    ++count;
  return count;
}

}  // namespace

child::child(const std::vector<std::string>& command) : mark_(make_mark()) {
  signal(SIGPIPE, SIG_IGN);
  const pipe_ends in = make_pipe(), out = make_pipe(), err = make_pipe();
  pid_ = fork();
  if (pid_ == 0) {
    signal(SIGPIPE, SIG_DFL);
    become(command, mark_, {in.read, out.write, err.write});
  }
  for (const int theirs : {in.read, out.write, err.write}) close(theirs);
  input_ = in.write;
  output_ = out.read;
  errors_ = err.read;
}

child::~child() {
  for (const int fd : {input_, output_, errors_})
    if (fd >= 0) close(fd);
  for (const pid_t left : marked()) kill(left, SIGKILL);
  if (so_far_.status < 0) (void)wait();
}

void child::send_signal(int signal) const {
  EXPECT_EQ(kill(pid_, signal), 0);
}

void child::type(const std::string& text) const {
  EXPECT_EQ(write(input_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

void child::end_input() {
  if (input_ >= 0) close(input_);
  input_ = -1;
}

bool child::read_some() {
  std::array<pollfd, 2> both{{{output_, POLLIN, 0}, {errors_, POLLIN, 0}}};
  if (output_ < 0 && errors_ < 0) return false;
  poll(both.data(), both.size(), -1);
  if (both[0].revents != 0) append_from(output_, so_far_.out);
  if (both[1].revents != 0) append_from(errors_, so_far_.err);
  return true;
}

void child::read_until(const std::string& text, int times) {
  while (count_of(text, so_far_.out) < times)
    if (!read_some()) {
      ADD_FAILURE() << "'" << text << "' did not come " << times << " times:\n"
                    << so_far_.out << so_far_.err;
      return;
    }
}

int child::wait() {
  int how = 0;
  while (waitpid(pid_, &how, 0) < 0 && errno == EINTR) continue;
  so_far_.status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
  return so_far_.status;
}

outcome child::finish() {
  end_input();
  while (read_some()) continue;
  (void)wait();
  return so_far_;
}

std::vector<pid_t> child::marked() const {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename();
    const bool number = std::all_of(name.begin(), name.end(), [](char c) { return isdigit(c); });
    if (number && carries(entry.path(), mark_)) found.push_back(std::stoi(name));
  }
  return found;
}

void child::wait_for_none_marked() const {
  while (!marked().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

outcome run(const std::vector<std::string>& command, const std::string& input) {
  child program(command);
  if (!input.empty()) program.type(input);
  outcome how = program.finish();
  // Agents on hosts far down end when their channel does, a moment after the launcher.
  for (int tries = 0; tries < 1000 && !program.marked().empty(); ++tries) usleep(5000);
  for (const pid_t left : program.marked())
    ADD_FAILURE() << "left behind: " << contents("/proc/" + std::to_string(left) + "/cmdline");
  return how;
}

std::vector<std::string> heddle_run(const std::vector<std::string>& options,
                                    const std::vector<std::string>& program) {
  std::vector<std::string> words{HEDDLE, "run"};
  words.insert(words.end(), options.begin(), options.end());
  words.emplace_back("--");
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

std::vector<std::string> heddle_probe(const std::vector<std::string>& options,
                                      const std::vector<std::string>& steps) {
  std::vector<std::string> words = heddle_run(options, {BOOT_PROBE});
  words.insert(words.end(), steps.begin(), steps.end());
  return words;
}

std::vector<std::string> run_on_hosts(const std::string& hosts,
                                      const std::vector<std::string>& options,
                                      const std::vector<std::string>& program) {
  std::vector<std::string> all{"--starter", PRETENDED_SSH, "--hosts", hosts};
  all.insert(all.end(), options.begin(), options.end());
  return heddle_run(all, program);
}

std::vector<std::string> probe_on_hosts(const std::string& hosts,
                                        const std::vector<std::string>& options,
                                        const std::vector<std::string>& steps) {
  std::vector<std::string> words = run_on_hosts(hosts, options, {BOOT_PROBE});
  words.insert(words.end(), steps.begin(), steps.end());
  return words;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace heddle::test
