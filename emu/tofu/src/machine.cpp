// machine.cpp - see machine.h.
#include "machine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "machine_lock.h"

namespace tofu {

namespace {

unsigned nodes_of(const settings& set) noexcept {
  std::uint64_t nodes = 1;
  for (unsigned i = 0; i < 6; ++i) nodes *= set[knob::shape] >> (8 * i) & 0xff;
  return static_cast<unsigned>(nodes);
}

std::size_t bytes_of(const settings& set) noexcept {
  return offsetof(machine_file, nodes) + nodes_of(set) * sizeof(node_entry);
}

std::string path_of_job() {
  std::string name = job_name();
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  // Libraries that lay the file out differently do not meet.
  const std::string layout = std::to_string(sizeof(machine_file) + sizeof(node_entry));
  return "/dev/shm/softtofu." + std::to_string(geteuid()) + "." + name + "." + layout;
}

bool init_robust(pthread_mutex_t& lock) noexcept {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  const int rc = pthread_mutex_init(&lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
  return rc == 0;
}

/// A complete, empty machine without a name, which then gets the one that all look for: so nobody
/// ever sees half of one. False: there is one already, or no room.
bool create_file(const std::string& path, const settings& set) {
  const owned_fd fd(open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(bytes_of(set))) != 0) return false;
  const mapping map(fd.get(), bytes_of(set));
  if (!map) return false;
  auto& file = *reinterpret_cast<machine_file*>(map.data());
  file.magic = machine_magic;
  file.bytes = map.size();
  file.set = set;
  const std::string open_file = "/proc/self/fd/" + std::to_string(fd.get());
  return init_robust(file.lock) &&
         linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

/// The file at `path` if it is a machine of ours. Empty: none there, or a foreign file.
mapping open_file(const std::string& path) {
  const owned_fd fd(open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat about {};
  if (!fd || fstat(fd.get(), &about) != 0 || about.st_uid != geteuid()) return {};
  const auto bytes = static_cast<std::size_t>(about.st_size);
  if (bytes < sizeof(machine_file)) return {};
  mapping map(fd.get(), bytes);
  if (!map) return {};
  const auto& file = *reinterpret_cast<const machine_file*>(map.data());
  if (file.magic != machine_magic || file.bytes != bytes || bytes_of(file.set) != bytes) return {};
  return map;
}

}  // namespace

machine::machine(std::string path, mapping map) : path_(std::move(path)), map_(std::move(map)) {
  nodes_ = nodes_of(file().set);
}

std::optional<machine> machine::open_or_create(const asked_settings& asked) {
  const std::string path = path_of_job();
  for (int attempt = 0; attempt < 100; ++attempt) {
    mapping map = open_file(path);
    if (map) return machine(path, std::move(map));
    if (!create_file(path, asked.now) && access(path.c_str(), F_OK) == 0 && attempt > 50) break;
  }
  say("%s is not a machine of this version, or cannot be created", path.c_str());
  return std::nullopt;
}

std::optional<machine> machine::look() {
  mapping map = open_file(path_of_job());
  if (!map) return std::nullopt;
  return machine(path_of_job(), std::move(map));
}

std::optional<machine> machine::join(asked_settings& asked) {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    auto m = open_or_create(asked);
    if (!m) return std::nullopt;
    const entering how = enter(*m, asked);
    if (how == entering::entered) return m;
    if (how == entering::failed) return std::nullopt;
  }
  say("cannot join the machine \"%s\": it comes and goes", job_name().c_str());
  return std::nullopt;
}

machine::entering machine::enter(machine& m, asked_settings& asked) {
  const guard held(m.file());
  // Relaxed: only ever changed under the lock.
  if (m.file().closed.load(std::memory_order_relaxed) != 0) return entering::try_again;
  const bool had_processes = m.anybody();
  m.clean_locked();
  if (had_processes && !m.anybody()) {  // left by processes that were killed: not our settings
    m.close_locked();
    return entering::try_again;
  }
  if (!adopt(asked, m.file().set)) return entering::failed;
  return m.settle(asked.now) ? entering::entered : entering::failed;
}

std::optional<unsigned> machine::free_slot() const noexcept {
  for (unsigned slot = 0; slot < max_processes; ++slot) {
    if (process(slot).start_time == 0) return slot;
  }
  return std::nullopt;
}

bool machine::settle(const settings& now) {
  const auto slot = free_slot();
  if (!slot) {
    say("the machine \"%s\" has no room for another process", job_name().c_str());
    return false;
  }
  const std::uint64_t wanted = now[knob::node];
  if (wanted != any_node && wanted >= nodes_) {
    say("SOFTTOFU_NODE=%lu, but the machine has %u nodes", wanted, nodes_);
    return false;
  }
  slot_ = *slot;
  node_ = wanted == any_node ? slot_ / static_cast<unsigned>(now[knob::ppn]) % nodes_
                             : static_cast<unsigned>(wanted);
  process_entry& mine = process(slot_);
  mine.pid = getpid();
  mine.node = node_;
  mine.start_time = start_time_of(mine.pid);
  // Relaxed: those who meet our stamp got it from memory we published later.
  const std::uint32_t generation = mine.generation.fetch_add(1, std::memory_order_relaxed) + 1;
  stamp_ = stamp_of(slot_, generation);
  life_ = begin_life(mine.life);
  if (life_ != 0 && mine.start_time != 0) return true;
  mine.start_time = 0;
  say("cannot watch over this process: no thread, or no /proc");
  return false;
}

void machine::leave() noexcept {
  const guard held(file());
  release_all_of(slot_);
  end_life(process(slot_).life);
  process(slot_).start_time = 0;
  clean_locked();
  if (!anybody()) close_locked();
}

void machine::close_locked() noexcept {
  file().closed.store(1, std::memory_order_relaxed);  // relaxed: only read under the lock
  unlink(path_.c_str());
}

bool machine::anybody() const noexcept {
  for (unsigned slot = 0; slot < max_processes; ++slot) {
    if (process(slot).start_time != 0) return true;
  }
  return false;
}

void machine::clean() {
  const guard held(file());
  clean_locked();
}

void machine::clean_locked() {
  for (unsigned slot = 0; slot < max_processes; ++slot) {
    process_entry& p = process(slot);
    if (p.start_time == 0) continue;
    // A process that died before its life began has a word that says nothing; and after exec the
    // word says that the program before it is gone, which is right.
    const std::uint32_t life = p.life.load(std::memory_order_relaxed);  // relaxed: see lives()
    if ((life & life_ended) == 0 && start_time_of(p.pid) == p.start_time) continue;
    release_all_of(slot);
    end_life(p.life);
    p.start_time = 0;
  }
}

void machine::release_all_of(unsigned slot) noexcept {
  for (tni_entry& tni : at(process(slot).node).tnis) {
    for (cq_entry& e : tni.cqs) {
      // Relaxed: only changed under the lock, which we hold.
      const std::uint64_t claim = e.claim.load(std::memory_order_relaxed);
      if ((claim & claim_used) == 0 || e.process.load(std::memory_order_relaxed) != slot) continue;
      e.claim.store(claim_generation(claim) << 32, std::memory_order_release);  // R1, see A1
    }
  }
  release_gates(*this, process(slot).node, slot);
}

std::optional<unsigned> machine::claim_cq(unsigned tni, unsigned cmp, int fd) {
  const guard held(file());
  clean_locked();
  const auto cqs = static_cast<unsigned>(file().set[knob::cqs]);
  for (unsigned cq = 0; cq < cqs; ++cq) {
    cq_entry& e = entry(node_, tni, cq);
    const std::uint64_t claim = e.claim.load(std::memory_order_relaxed);  // relaxed: as above
    if ((claim & claim_used) != 0) continue;
    e.process.store(slot_, std::memory_order_relaxed);  // relaxed, both: published by R1
    e.fd.store(fd, std::memory_order_relaxed);
    const std::uint64_t next = (claim_generation(claim) + 1) << 32 | claim_used | 1u << cmp;
    e.claim.store(next, std::memory_order_release);  // R1 pairs with A1 in resolve()
    return cq;
  }
  return std::nullopt;
}

void machine::set_cmp_ids(unsigned tni, unsigned cq, unsigned cmp_mask) {
  const guard held(file());
  cq_entry& e = entry(node_, tni, cq);
  const std::uint64_t claim = e.claim.load(std::memory_order_relaxed);  // relaxed: as above
  const std::uint64_t users = cmp_mask == 0 ? 0 : claim_used | cmp_mask;
  e.claim.store(claim_generation(claim) << 32 | users, std::memory_order_release);  // R1
}

coordinates machine::lengths() const noexcept {
  coordinates lengths{};
  for (unsigned i = 0; i < 6; ++i) {
    lengths[i] = static_cast<std::uint8_t>(file().set[knob::shape] >> (8 * i));
  }
  return lengths;
}

coordinates machine::coordinates_of(unsigned node) const noexcept {
  const coordinates length = lengths();
  coordinates at{};
  for (unsigned i = 6; i-- > 0;) {  // c runs fastest: neighbours in a unit come first
    at[i] = static_cast<std::uint8_t>(node % length[i]);
    node /= length[i];
  }
  return at;
}

std::optional<unsigned> machine::node_at(const coordinates& at) const noexcept {
  const coordinates length = lengths();
  unsigned node = 0;
  for (unsigned i = 0; i < 6; ++i) {
    if (at[i] >= length[i]) return std::nullopt;
    node = node * length[i] + at[i];
  }
  return node;
}

bool machine::has_path(const std::uint8_t* abc) const noexcept {
  const coordinates length = lengths();
  return abc[0] < length[3] && abc[1] < length[4] && abc[2] < length[5];
}

bool machine::is_alive(process_stamp who) const noexcept {
  const unsigned slot = (who & 0xfff) - 1;
  if (slot >= max_processes) return false;
  const process_entry& p = process(slot);
  // Relaxed, both: nothing is published by dying.
  if (stamp_of(slot, p.generation.load(std::memory_order_relaxed)) != who) return false;
  const std::uint32_t life = p.life.load(std::memory_order_relaxed);
  return life != 0 && (life & life_ended) == 0;
}

}  // namespace tofu
