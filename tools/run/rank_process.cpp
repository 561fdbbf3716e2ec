// SPDX-License-Identifier: BSD-3-Clause
#include "run/rank_process.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "run/failure.h"

namespace heddle::tools {
namespace {

constexpr int max_cpus = 8192;

struct cpu_set_free {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};
using cpu_set_ptr = std::unique_ptr<cpu_set_t, cpu_set_free>;

cpu_set_ptr empty_cpu_set() {
  cpu_set_ptr set(CPU_ALLOC(max_cpus));
  if (set == nullptr) fail_errno(ENOMEM, "make a CPU set");
  CPU_ZERO_S(CPU_ALLOC_SIZE(max_cpus), set.get());
  return set;
}

std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  // exec does not write to them, its signature is from before const.
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

void stand_in_for(int fd, int standard) noexcept {
  if (fd >= 0) dup2(fd, standard);
}

int runnable(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return errno;
  if (S_ISDIR(found.st_mode)) return EISDIR;
  return access(path.c_str(), X_OK) == 0 ? 0 : errno;
}

/// Everything between fork and exec, where only async-signal-safe calls are allowed.
struct newborn {
  const command& what;
  const placement& where;
  const surroundings& around;
  std::vector<char*> argv, envp;
  cpu_set_ptr cpus;
  pid_t launcher;
  int report;  ///< closes at exec; gets errno when exec fails

  [[noreturn]] void become_rank() const noexcept {
    if (where.own_session)
      setsid();
    else
      setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != launcher) _exit(127);  // it died before prctl could take effect
    around.guard.watch(getpid());
    if (cpus != nullptr) sched_setaffinity(0, CPU_ALLOC_SIZE(max_cpus), cpus.get());
    stand_in_for(where.input, STDIN_FILENO);
    stand_in_for(where.output, STDOUT_FILENO);
    stand_in_for(where.errors, STDERR_FILENO);
    fcntl(where.boot, F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &around.open_files);
    around.signals.restore();
    execvpe(what.path.c_str(), argv.data(), envp.data());
    const int problem = errno;
    while (write(report, &problem, sizeof problem) < 0 && errno == EINTR) continue;
    _exit(127);
  }
};

// Waits until exec has closed the pipe or said why it failed.
int read_report(int pipe) noexcept {
  int problem = 0;
  ssize_t got = 0;
  do {
    got = read(pipe, &problem, sizeof problem);
  } while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof problem) ? problem : 0;
}

}  // namespace

started start_rank(const command& what, const placement& where, const surroundings& around) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno(errno, "make a pipe");
  const unique_fd reports(ends[0]);
  unique_fd report(ends[1]);
  newborn child{
      what,    where,    around,      pointers_to(what.arguments), pointers_to(what.environment),
      nullptr, getpid(), report.get()};
  if (!where.cpus.empty()) child.cpus = empty_cpu_set();
  for (const int cpu : where.cpus)
    CPU_SET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(max_cpus), child.cpus.get());
  const pid_t pid = fork();
  if (pid < 0) fail_errno(errno, "start a process");
  if (pid == 0) child.become_rank();
  if (!where.own_session)
    setpgid(pid, pid);  // both sides do it: whoever comes first, the group exists from here on
  report.reset();
  const int problem = read_report(reports.get());
  if (problem != 0)
    while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) continue;
  return {pid, problem};
}

std::vector<ended_child> reap_children() {
  std::vector<ended_child> ended;
  for (;;) {
    int wait_status = 0;
    const pid_t process = waitpid(-1, &wait_status, WNOHANG);
    if (process < 0 && errno == EINTR) continue;
    if (process <= 0) return ended;
    ended.push_back({process, wait_status});
  }
}

std::string find_program(const std::string& program, const std::string& path, int& problem) {
  if (program.find('/') != std::string::npos) {
    problem = runnable(program);
    return problem == 0 ? program : "";
  }
  problem = ENOENT;
  for (std::string_view rest = path; !program.empty();) {
    const std::size_t end = rest.find(':');
    const std::string folder(rest.substr(0, end));
    std::string candidate = (folder.empty() ? "." : folder) + "/" + program;
    const int found = runnable(candidate);
    if (found == 0) return problem = 0, candidate;
    if (found == EACCES) problem = EACCES;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return "";
}

std::string describe_end(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("exited with status {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const char* name = sigabbrev_np(signal);
  const char* core = WCOREDUMP(wait_status) ? ", core dumped" : "";
  if (name == nullptr) return fmt::format("was killed by signal {}{}", signal, core);
  return fmt::format("was killed by signal {} (SIG{}{})", signal, name, core);
}

int shell_status(int wait_status) noexcept {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

std::vector<int> allowed_cpus() {
  const cpu_set_ptr set = empty_cpu_set();
  if (sched_getaffinity(0, CPU_ALLOC_SIZE(max_cpus), set.get()) != 0)
    fail_errno(errno, "find out which CPUs may be used");
  std::vector<int> cpus;
  for (int cpu = 0; cpu < max_cpus; ++cpu)
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(max_cpus), set.get()))
      cpus.push_back(cpu);
  return cpus;
}

}  // namespace heddle::tools
