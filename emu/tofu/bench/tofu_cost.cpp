// tofu_cost - what one command and the polling of its completion cost on this device, in mode inline
// between two VCQs: of one process, or with `peer` of two. Nanoseconds, and under callgrind
// instructions.
//
//   tofu_cost [peer] [rounds]
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utofu.h>

#include <atomic>
#include <chrono>
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

template <class Command>
void measure(const char* name, const lane& from, long rounds, bool in_mrq, const Command& command) {
  const auto once = [&] {
    check(command(), name);
    void* cbdata = nullptr;
    utofu_mrq_notice notice;
    check(in_mrq ? utofu_poll_mrq(from.vcq, 0, &notice) : utofu_poll_tcq(from.vcq, 0, &cbdata),
          name);
    (void)(in_mrq ? utofu_poll_tcq(from.vcq, 0, &cbdata) : utofu_poll_mrq(from.vcq, 0, &notice));
  };
  for (long i = 0; i < rounds / 10; ++i) once();
  const auto start = std::chrono::steady_clock::now();
  for (long i = 0; i < rounds; ++i) once();
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  std::printf("%-28s %7.1f ns\n", name, took.count() / static_cast<double>(rounds));
}

}  // namespace

int main(int argc, char** argv) {
  const bool with_peer = argc > 1 && std::strcmp(argv[1], "peer") == 0;
  const long rounds = argc > (with_peer ? 2 : 1) ? std::atol(argv[argc - 1]) : 1000000;
  auto& there = *static_cast<published*>(mmap(nullptr, sizeof(published), PROT_READ | PROT_WRITE,
                                              MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const pid_t peer = with_peer ? start_peer(there) : 0;
  const lane from = open_lane(0);
  lane to = with_peer ? lane{} : open_lane(1);
  while (with_peer && !there.ready.load(std::memory_order_acquire)) usleep(100);
  if (with_peer) to.id = there.id, to.stadd = there.stadd;

  constexpr unsigned long tcq = UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
  constexpr unsigned long mrq = UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
  measure("put 8 B, TCQ", from, rounds, false, [&] {
    return utofu_put(from.vcq, to.id, from.stadd, to.stadd, 8, 0, tcq, nullptr);
  });
  measure("put 8 B, local MRQ", from, rounds, true, [&] {
    return utofu_put(from.vcq, to.id, from.stadd, to.stadd, 8, 0, mrq, nullptr);
  });
  measure("put_piggyback 8 B, TCQ", from, rounds, false, [&] {
    return utofu_put_piggyback8(from.vcq, to.id, 1, to.stadd, 8, 0, tcq, nullptr);
  });
  measure("put_piggyback 32 B, TCQ", from, rounds, false, [&] {
    char data[32] = {};
    return utofu_put_piggyback(from.vcq, to.id, data, to.stadd, 32, 0, tcq, nullptr);
  });
  measure("get 8 B, local MRQ", from, rounds, true, [&] {
    return utofu_get(from.vcq, to.id, from.stadd, to.stadd, 8, 0, mrq, nullptr);
  });
  measure("armw8 add, local MRQ", from, rounds, true, [&] {
    return utofu_armw8(from.vcq, to.id, UTOFU_ARMW_OP_ADD, 1, to.stadd, 0, mrq, nullptr);
  });
  measure("put 4 KiB, TCQ", from, rounds / 4, false, [&] {
    return utofu_put(from.vcq, to.id, from.stadd, to.stadd, 4096, 0, tcq, nullptr);
  });
  if (peer > 0) {
    kill(peer, SIGKILL);
    waitpid(peer, nullptr, 0);
  }
  return 0;
}
