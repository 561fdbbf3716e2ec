// machine.cpp - see machine.h.
#include "machine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>

#include "host/words.h"
#include "machine_lock.h"

namespace tofu {

namespace {

unsigned nodes_of(const settings& set) noexcept {
  std::uint64_t nodes = 1;
  for (unsigned i = 0; i < 6; ++i) nodes *= set[knob::shape] >> (8 * i) & 0xff;
  return static_cast<unsigned>(nodes);
}

/// Where the gates of node 0 begin, which is what has memory from the start.
std::size_t gates_at(unsigned nodes) noexcept {
  const std::size_t end = offsetof(machine_file, nodes) + nodes * sizeof(node_entry);
  return (end + alignof(node_gates) - 1) / alignof(node_gates) * alignof(node_gates);
}

std::size_t bytes_of(unsigned nodes) noexcept {
  return gates_at(nodes) + nodes * sizeof(node_gates);
}

constexpr const char* folder = "/dev/shm";

/// What the files of all our machines begin and end with.
std::string name_begin() {
  return "softtofu." + std::to_string(geteuid()) + ".";
}
std::string name_end() {
  // Libraries that lay the file out differently do not meet.
  return "." + std::to_string(sizeof(machine_file) + sizeof(node_entry) + sizeof(node_gates));
}

std::string path_of_job() {
  std::string name = job_name();
  for (char& c : name) {
    if (c == '/') c = '_';
  }
  return std::string(folder) + "/" + name_begin() + name + name_end();
}

/// Takes memory for a part of a file: without it the first touch could end the process by SIGBUS.
/// Returns 0 or the reason.
int reserve(int fd, std::size_t at, std::size_t bytes) noexcept {
  int problem = 0;
  do {
    problem = posix_fallocate(fd, static_cast<off_t>(at), static_cast<off_t>(bytes));
  } while (problem == EINTR);
  return problem;
}

void say_no_room(const char* what, std::size_t bytes, int problem) noexcept {
  struct statvfs about {};
  if (problem != ENOSPC || statvfs(folder, &about) != 0) {
    host::say("cannot make %s in %s: %s", what, folder, strerrordesc_np(problem));
    return;
  }
  const unsigned long left = about.f_bavail * about.f_frsize / 1024;
  const unsigned long size = about.f_blocks * about.f_frsize / 1024;
  host::say(
      "cannot make %s: %zu KiB are needed in %s, which has %lu of %lu KiB left; remove files "
      "there, "
      "or enlarge it (mount -o remount,size=64m %s, docker run --shm-size)",
      what, bytes / 1024, folder, left, size, folder);
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
/// ever sees half of one. Returns 0, or the reason; EEXIST: there is one already.
int create_file(const std::string& path, const settings& set) {
  const unsigned nodes = nodes_of(set);
  const host::owned_fd fd(open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!fd || ftruncate(fd.get(), static_cast<off_t>(bytes_of(nodes))) != 0) return errno;
  if (const int problem = reserve(fd.get(), 0, gates_at(nodes)); problem != 0) return problem;
  const host::mapping map(fd.get(), bytes_of(nodes));
  if (!map) return errno;
  auto& file = *reinterpret_cast<machine_file*>(map.data());
  file.magic = machine_magic;
  file.bytes = map.size();
  file.set = set;
  const std::string open_file = "/proc/self/fd/" + std::to_string(fd.get());
  if (!init_robust(file.lock)) return ENOTSUP;
  const int rc = linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW);
  return rc == 0 ? 0 : errno;
}

}  // namespace

machine::machine(std::string path, host::owned_fd fd, host::mapping map)
    : path_(std::move(path)), fd_(std::move(fd)), map_(std::move(map)) {
  nodes_ = nodes_of(file().set);
}

std::optional<machine> machine::open(const std::string& path) {
  host::owned_fd fd(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  struct stat about {};
  if (!fd || fstat(fd.get(), &about) != 0 || about.st_uid != geteuid()) return std::nullopt;
  const auto bytes = static_cast<std::size_t>(about.st_size);
  if (bytes < sizeof(machine_file)) return std::nullopt;
  host::mapping map(fd.get(), bytes);
  if (!map) return std::nullopt;
  const auto& file = *reinterpret_cast<const machine_file*>(map.data());
  if (file.magic != machine_magic || file.bytes != bytes || bytes_of(nodes_of(file.set)) != bytes)
    return std::nullopt;
  return machine(path, std::move(fd), std::move(map));
}

std::optional<machine> machine::open_or_create(const asked_settings& asked) {
  const std::string path = path_of_job();
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (auto found = open(path)) return found;
    const int problem = create_file(path, asked.now);
    if (problem == 0 || (problem == EEXIST && attempt < 50)) continue;
    if (problem == EEXIST) break;
    say_no_room("the machine's file", gates_at(nodes_of(asked.now)), problem);
    return std::nullopt;
  }
  host::say("%s is not a machine of this version", path.c_str());
  return std::nullopt;
}

std::optional<machine> machine::look() {
  return open(path_of_job());
}

std::optional<machine> machine::join(asked_settings& asked) {
  sweep();
  for (int attempt = 0; attempt < 1000; ++attempt) {
    auto m = open_or_create(asked);
    if (!m) return std::nullopt;
    const entering how = enter(*m, asked);
    if (how == entering::entered) return m;
    if (how == entering::failed) return std::nullopt;
  }
  host::say("cannot join the machine \"%s\": it comes and goes", job_name().c_str());
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
  if (m.settle(asked.now)) return entering::entered;
  if (!m.anybody()) m.close_locked();  // we have made it, and leave nothing behind
  return entering::failed;
}

/// Removes the machines, of whatever job, all of whose processes were killed: who would have been
/// the last to leave could not do it.
void machine::sweep() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(name_begin()) || !name.ends_with(name_end())) continue;
    auto m = open(entry.path());
    if (!m) continue;
    const guard held(m->file(), std::try_to_lock);
    if (held && m->is_abandoned()) m->close_locked();
  }
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
    host::say("the machine \"%s\" has no room for another process", job_name().c_str());
    return false;
  }
  const std::uint64_t wanted = now[knob::node];
  if (wanted != any_node && wanted >= nodes_) {
    host::say("SOFTTOFU_NODE=%lu, but the machine has %u nodes", wanted, nodes_);
    return false;
  }
  slot_ = *slot;
  node_ = wanted == any_node ? slot_ / static_cast<unsigned>(now[knob::ppn]) % nodes_
                             : static_cast<unsigned>(wanted);
  process_entry& mine = process(slot_);
  mine.pid = getpid();
  mine.node = node_;
  mine.start_time = host::start_time_of(mine.pid);
  // Relaxed: those who meet our stamp got it from memory we published later.
  const std::uint32_t generation = mine.generation.fetch_add(1, std::memory_order_relaxed) + 1;
  stamp_ = stamp_of(slot_, generation);
  life_ = host::begin_life(mine.life);
  if (life_ != 0 && mine.start_time != 0) return true;
  mine.start_time = 0;
  host::say("cannot watch over this process: no thread, or no /proc");
  return false;
}

void machine::leave() noexcept {
  const guard held(file());
  release_all_of(slot_);
  host::end_life(process(slot_).life);
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

/// Whether all that are here have died, or nobody is. Holding the lock. Only the words count that
/// the kernel marks: process numbers may be those of another namespace.
bool machine::is_abandoned() const noexcept {
  for (unsigned slot = 0; slot < max_processes; ++slot) {
    const process_entry& p = process(slot);
    const std::uint32_t life = p.life.load(std::memory_order_relaxed);  // relaxed: see lives()
    if (p.start_time != 0 && life != 0 && (life & host::life_ended) == 0) return false;
  }
  // Relaxed: only changed under the lock.
  return file().closed.load(std::memory_order_relaxed) == 0;
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
    if ((life & host::life_ended) == 0 && host::start_time_of(p.pid) == p.start_time) continue;
    release_all_of(slot);
    host::end_life(p.life);
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

node_gates* machine::gates_of(unsigned node) const noexcept {
  // A2 pairs with R2: the gates have memory.
  if (at(node).has_gates.load(std::memory_order_acquire) == 0) return nullptr;
  return reinterpret_cast<node_gates*>(map_.data() + gates_at(nodes_)) + node;
}

node_gates* machine::make_gates() const noexcept {
  if (node_gates* const there = gates_of(node_)) return there;
  const std::size_t begin = gates_at(nodes_) + node_ * sizeof(node_gates);
  if (const int problem = reserve(fd_.get(), begin, sizeof(node_gates)); problem != 0) {
    say_no_room("this node's barrier gates", sizeof(node_gates), problem);
    return nullptr;
  }
  at(node_).has_gates.store(1, std::memory_order_release);  // R2 pairs with A2
  return gates_of(node_);
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
  return life != 0 && (life & host::life_ended) == 0;
}

}  // namespace tofu
