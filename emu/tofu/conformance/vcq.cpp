// SPDX-License-Identifier: BSD-3-Clause
#include "vcq.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <string>

namespace conformance {
namespace {

unsigned char pattern(std::uint64_t seed, std::size_t index) {
  const std::uint64_t mixed = (seed + 1) * 0x9E3779B97F4A7C15u + index * 0xD1B54A32D192ED03u;
  return static_cast<unsigned char>(mixed >> 37);
}

/// A file in memory without a name.
int shared_file(std::size_t bytes) {
  static int number = 0;
  const std::string name =
      "/tofu_conformance." + std::to_string(getpid()) + "." + std::to_string(++number);
  const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
  shm_unlink(name.c_str());
  // Not ftruncate: where the file system is full, the first touch would be a SIGBUS.
  if (file < 0 || posix_fallocate(file, 0, off_t(bytes)) != 0) throw std::bad_alloc();
  return file;
}

}  // namespace

std::uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::uint64_t(now.tv_sec) * 1000000000u + std::uint64_t(now.tv_nsec);
}

bool has_passed(std::uint64_t end_ns) {
  return now_ns() >= end_ns;
}

void breathe(unsigned& looks) {
  if (++looks % 64 == 0) sched_yield();
}

tni_list all_tnis() {
  tni_list list;
  utofu_tni_id_t* ids = nullptr;
  std::size_t count = 0;
  if (utofu_get_onesided_tnis(&ids, &count) != UTOFU_SUCCESS) return list;
  for (std::size_t i = 0; i < count && i < 32; ++i) list.ids[list.count++] = ids[i];
  std::free(ids);
  return list;
}

vcq::vcq(utofu_tni_id_t tni, unsigned long flags) : made_(utofu_create_vcq(tni, flags, &hdl_)) {
  learn_id();
}

vcq vcq::with_cmp_id(utofu_tni_id_t tni, utofu_cmp_id_t cmp, unsigned long flags) {
  vcq made;
  made.made_ = utofu_create_vcq_with_cmp_id(tni, cmp, flags, &made.hdl_);
  made.learn_id();
  return made;
}

vcq& vcq::operator=(vcq&& other) noexcept {
  close();
  made_ = std::exchange(other.made_, UTOFU_ERR_NOT_PROCESSED);
  hdl_ = other.hdl_;
  id_ = other.id_;
  return *this;
}

void vcq::learn_id() {
  if (ok()) utofu_query_vcq_id(hdl_, &id_);
}

int vcq::close() {
  if (!ok()) return UTOFU_SUCCESS;
  made_ = UTOFU_ERR_NOT_PROCESSED;
  return utofu_free_vcq(hdl_);
}

int vcq::cq() const {
  std::uint8_t coords[6];
  utofu_tni_id_t tni = 0;
  utofu_cq_id_t cq = 0;
  std::uint16_t extra = 0;
  if (utofu_query_vcq_info(id_, coords, &tni, &cq, &extra) != UTOFU_SUCCESS) return -1;
  return cq;
}

int vcq::tni() const {
  std::uint8_t coords[6];
  utofu_tni_id_t tni = 0;
  utofu_cq_id_t cq = 0;
  std::uint16_t extra = 0;
  if (utofu_query_vcq_info(id_, coords, &tni, &cq, &extra) != UTOFU_SUCCESS) return -1;
  return tni;
}

sent vcq::next_sent(double seconds) {
  const std::uint64_t end = now_ns() + std::uint64_t(seconds * 1e9);
  unsigned looks = 0;
  for (;;) {
    sent entry;
    entry.code = utofu_poll_tcq(hdl_, 0, &entry.cbdata);
    // Users of the real library were seen to tolerate BUSY here.
    if (entry.code != UTOFU_ERR_NOT_FOUND && entry.code != UTOFU_ERR_BUSY) return entry;
    if (has_passed(end)) return {};
    breathe(looks);
  }
}

noticed vcq::next_notice(double seconds) {
  const std::uint64_t end = now_ns() + std::uint64_t(seconds * 1e9);
  unsigned looks = 0;
  for (;;) {
    noticed entry;
    entry.code = utofu_poll_mrq(hdl_, 0, &entry.notice);
    if (entry.code != UTOFU_ERR_NOT_FOUND && entry.code != UTOFU_ERR_BUSY) return entry;
    if (has_passed(end)) return {};
    breathe(looks);
  }
}

void vcq::sweep_sent() {
  void* cbdata = nullptr;
  while (utofu_poll_tcq(hdl_, 0, &cbdata) == UTOFU_SUCCESS) ++swept_;
}

void vcq::sweep() {
  sweep_sent();
  utofu_mrq_notice notice{};
  while (utofu_poll_mrq(hdl_, 0, &notice) == UTOFU_SUCCESS) continue;
}

memory::memory(std::size_t bytes, origin from) : size_(bytes), mapped_(bytes + 2 * page) {
  if (from == origin::shared) file_ = shared_file(mapped_);
  const int kind = from == origin::shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, kind, file_, 0);
  if (mapping_ == MAP_FAILED) throw std::bad_alloc();
  const auto first = reinterpret_cast<std::uintptr_t>(mapping_);
  start_ = static_cast<unsigned char*>(mapping_) + ((first + page - 1) / page * page - first);
}

memory& memory::operator=(memory&& other) noexcept {
  give_back();
  start_ = other.start_;
  file_ = std::exchange(other.file_, -1);
  size_ = other.size_;
  mapped_ = other.mapped_;
  mapping_ = std::exchange(other.mapping_, nullptr);
  return *this;
}

void memory::give_back() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
  if (file_ >= 0) ::close(file_);
}

void memory::fill(std::size_t offset, std::size_t bytes, std::uint64_t seed) const {
  for (std::size_t i = 0; i < bytes; ++i) start_[offset + i] = pattern(seed, i);
}

std::size_t memory::mismatch(std::size_t offset, std::size_t bytes, std::uint64_t seed) const {
  std::size_t i = 0;
  while (i < bytes && start_[offset + i] == pattern(seed, i)) ++i;
  return i;
}

std::size_t memory::differs_from(std::size_t offset, std::size_t bytes, int value) const {
  std::size_t i = 0;
  while (i < bytes && start_[offset + i] == value) ++i;
  return i;
}

void memory::set(std::size_t offset, std::size_t bytes, int value) const {
  std::memset(start_ + offset, value, bytes);
}

std::uint64_t memory::word(std::size_t offset) const {
  return __atomic_load_n(reinterpret_cast<std::uint64_t*>(start_ + offset), __ATOMIC_ACQUIRE);
}

void memory::set_word(std::size_t offset, std::uint64_t value) const {
  __atomic_store_n(reinterpret_cast<std::uint64_t*>(start_ + offset), value, __ATOMIC_RELEASE);
}

registration::registration(const vcq& with, void* address, std::size_t bytes, unsigned long flags)
    : hdl_(with.hdl()), made_(utofu_reg_mem(with.hdl(), address, bytes, flags, &stadd_)) {}

registration registration::tagged(const vcq& with, void* address, std::size_t bytes, unsigned tag,
                                  unsigned long flags) {
  registration made;
  made.hdl_ = with.hdl();
  made.made_ = utofu_reg_mem_with_stag(with.hdl(), address, bytes, tag, flags, &made.stadd_);
  return made;
}

registration& registration::operator=(registration&& other) noexcept {
  close();
  made_ = std::exchange(other.made_, UTOFU_ERR_NOT_PROCESSED);
  hdl_ = other.hdl_;
  stadd_ = other.stadd_;
  return *this;
}

int registration::close() {
  if (!ok()) return UTOFU_SUCCESS;
  made_ = UTOFU_ERR_NOT_PROCESSED;
  return utofu_dereg_mem(hdl_, stadd_, 0);
}

}  // namespace conformance
