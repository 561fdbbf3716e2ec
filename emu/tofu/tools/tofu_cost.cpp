// SPDX-License-Identifier: BSD-3-Clause
// tofu_cost - what one command and the polls of its TCQ entry and its MRQ notice cost on this
// device, between two VCQs: of one process, or with `peer` of two.
//
//   tofu_cost [peer] [rounds]
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utofu.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

struct lane {
  utofu_vcq_hdl_t vcq = 0;
  utofu_vcq_id_t id = 0;
  utofu_stadd_t stadd = 0;
};

void check(int rc, const char* what) {
  if (rc == UTOFU_SUCCESS) return;
  std::fprintf(stderr, "tofu_cost: %s: %d\n", what, rc);
  std::exit(1);
}

lane open_lane(utofu_tni_id_t tni) {
  constexpr std::size_t bytes = 1 << 20;
  const int fd = memfd_create("tofu_cost", MFD_CLOEXEC);
  check(ftruncate(fd, bytes), "ftruncate");
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  lane l;
  check(utofu_create_vcq(tni, UTOFU_VCQ_FLAG_EXCLUSIVE, &l.vcq), "create_vcq");
  check(utofu_query_vcq_id(l.vcq, &l.id), "query_vcq_id");
  check(utofu_reg_mem(l.vcq, memory, bytes, 0, &l.stadd), "reg_mem");
  return l;
}

struct published {
  std::atomic<bool> ready;
  utofu_vcq_id_t id;
  utofu_stadd_t stadd;
};

/// A process that only holds the target.
pid_t start_peer(published& here) {
  const pid_t child = fork();
  if (child != 0) return child;
  const lane l = open_lane(1);
  here.id = l.id;
  here.stadd = l.stadd;
  here.ready.store(true, std::memory_order_release);
  for (;;) pause();
}

/// Time on the processor: others may want it, too.
double processor_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

/// What `command` costs alone, and the polls of both queues per command.
template <class Command>
void measure(const char* name, const lane& from, long rounds, const Command& command) {
  constexpr long batch = 500;
  double posting = 0, polling_tcq = 0, polling_mrq = 0;
  for (long done = -batch; done < rounds; done += batch) {
    const double start = processor_ns();
    for (long i = 0; i < batch; ++i) check(command(), name);
    const double posted = processor_ns();
    void* cbdata = nullptr;
    for (long i = 0; i < batch; ++i) check(utofu_poll_tcq(from.vcq, 0, &cbdata), name);
    const double polled = processor_ns();
    utofu_mrq_notice notice;
    for (long i = 0; i < batch; ++i) check(utofu_poll_mrq(from.vcq, 0, &notice), name);
    if (done < 0) continue;  // the first one touches everything for the first time
    posting += posted - start;
    polling_tcq += polled - posted;
    polling_mrq += processor_ns() - polled;
  }
  const auto each = static_cast<double>(rounds);
  std::printf("%-22s %7.1f  %7.1f  %7.1f\n", name, posting / each, polling_tcq / each,
              polling_mrq / each);
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_peer = argc > 1 && std::strcmp(argv[1], "peer") == 0;
  const long rounds = argc > (with_peer ? 2 : 1) ? std::atol(argv[argc - 1]) / 500 * 500 : 1000000;
  auto& there = *static_cast<published*>(
      mmap(nullptr, sizeof(published), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t peer = with_peer ? start_peer(there) : 0;
  const lane from = open_lane(0);
  lane to = with_peer ? lane{} : open_lane(1);
  while (with_peer && !there.ready.load(std::memory_order_acquire)) usleep(100);
  if (with_peer) to.id = there.id, to.stadd = there.stadd;

  constexpr unsigned long flags =
      UTOFU_ONESIDED_FLAG_TCQ_NOTICE | UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
  std::printf("%-22s %7s  %7s  %7s\n", "ns per", "post", "TCQ", "MRQ");
  measure("put 8 B", from, rounds,
          [&] { return utofu_put(from.vcq, to.id, from.stadd, to.stadd, 8, 0, flags, nullptr); });
  measure("put_piggyback8 8 B", from, rounds,
          [&] { return utofu_put_piggyback8(from.vcq, to.id, 1, to.stadd, 8, 0, flags, nullptr); });
  measure("put_piggyback 32 B", from, rounds, [&] {
    char data[32] = {};
    return utofu_put_piggyback(from.vcq, to.id, data, to.stadd, 32, 0, flags, nullptr);
  });
  measure("get 8 B", from, rounds,
          [&] { return utofu_get(from.vcq, to.id, from.stadd, to.stadd, 8, 0, flags, nullptr); });
  measure("armw8 add", from, rounds, [&] {
    return utofu_armw8(from.vcq, to.id, UTOFU_ARMW_OP_ADD, 1, to.stadd, 0, flags, nullptr);
  });
  measure("put 4 KiB", from, rounds, [&] {
    return utofu_put(from.vcq, to.id, from.stadd, to.stadd, 4096, 0, flags, nullptr);
  });
  if (peer > 0) {
    kill(peer, SIGKILL);
    waitpid(peer, nullptr, 0);
  }
  return 0;
}
