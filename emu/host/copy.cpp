// SPDX-License-Identifier: BSD-3-Clause
// copy.cpp - see copy.h.
#include "copy.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace host {

namespace {

bool is_aligned(const void* p, std::size_t bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(p) % bytes == 0;
}

/// One word, whole. Release pairs with the acquire of the program that polls it.
template <class Word>
void copy_word(std::byte* to, const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  std::atomic_ref(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_release);
}

/// The same where the source, too, may be a word that a CPU is changing: a get.
template <class Word>
void copy_shared_word(std::byte* to, const std::byte* from) noexcept {
  Word* const source = const_cast<Word*>(reinterpret_cast<const Word*>(from));
  const Word word = std::atomic_ref(*source).load(std::memory_order_acquire);
  std::atomic_ref(*reinterpret_cast<Word*>(to)).store(word, std::memory_order_release);
}

template <class Word>
bool copy_if_word(std::byte* to, const std::byte* from) noexcept {
  if (!is_aligned(to, sizeof(Word))) return false;
  if (is_aligned(from, sizeof(Word))) {
    copy_shared_word<Word>(to, from);
  } else {
    copy_word<Word>(to, from);
  }
  return true;
}

bool copy_single(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  switch (bytes) {
    case 8:
      return copy_if_word<std::uint64_t>(to, from);
    case 4:
      return copy_if_word<std::uint32_t>(to, from);
    case 2:
      return copy_if_word<std::uint16_t>(to, from);
    case 1:
      return copy_if_word<std::uint8_t>(to, from);
    default:
      return false;
  }
}

}  // namespace

void copy_ascending(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  for (; bytes > 0 && !is_aligned(to, 8); ++to, ++from, --bytes) copy_word<std::uint8_t>(to, from);
  for (; bytes >= 8; to += 8, from += 8, bytes -= 8) copy_word<std::uint64_t>(to, from);
  if (bytes >= 4) {
    copy_word<std::uint32_t>(to, from);
    to += 4, from += 4, bytes -= 4;
  }
  for (; bytes > 0; ++to, ++from, --bytes) copy_word<std::uint8_t>(to, from);
}

void copy_any_order(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  if (!copy_single(to, from, bytes)) std::memmove(to, from, bytes);
}

namespace {

using mover = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                          unsigned long);

/// Room for `Bytes` at the place in a line at which they are, or go to, in another process. A
/// kernel that copies by `rep movsb` does so byte by byte on some CPUs where the destination begins
/// less than a line behind the source, counted within a page; who polls it would see half a word.
template <std::size_t Bytes>
class alignas(64) level_room {
 public:
  std::byte* beside(std::uint64_t there) noexcept { return room_.data() + there % 64; }

 private:
  std::array<std::byte, 64 + Bytes> room_;
};

int move(mover how, pid_t pid, std::byte* here, std::uint64_t there, std::size_t bytes) noexcept {
  while (bytes > 0) {
    const iovec local{here, bytes};
    const iovec remote{reinterpret_cast<void*>(there), bytes};  // NOLINT: another's address
    const ssize_t moved = how(pid, &local, 1, &remote, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    here += moved;
    there += static_cast<std::uint64_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

}  // namespace

int write_to_process(pid_t pid, std::uint64_t to, const std::byte* from,
                     std::size_t bytes) noexcept {
  level_room<8> room;
  if (bytes != 0 && bytes <= 8) {
    std::memcpy(room.beside(to), from, bytes);
    from = room.beside(to);
  }
  // iovec has one pointer type for both directions; it is only read from.
  return move(process_vm_writev, pid, const_cast<std::byte*>(from), to, bytes);
}

int write_to_process_ascending(pid_t pid, std::uint64_t to, const std::byte* from,
                               std::size_t bytes) noexcept {
  level_room<1024> room;
  std::array<iovec, 1024 / 8 + 1> words;  // the kernel copies one after the other
  while (bytes > 0) {
    const std::size_t batch = std::min<std::size_t>(bytes, 1024);
    std::byte* const source = room.beside(to);
    std::memcpy(source, from, batch);
    std::size_t count = 0;
    for (std::size_t at = 0; at < batch; at += words[count++].iov_len)
      words[count] = {source + at, std::min<std::size_t>(8 - (to + at) % 8, batch - at)};
    const iovec remote{reinterpret_cast<void*>(to), batch};  // NOLINT: another's address
    const ssize_t moved = process_vm_writev(pid, words.data(), count, &remote, 1, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    from += moved;
    to += static_cast<std::uint64_t>(moved);
    bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

int read_from_process(pid_t pid, std::byte* to, std::uint64_t from, std::size_t bytes) noexcept {
  if (bytes == 0 || bytes > 8) return move(process_vm_readv, pid, to, from, bytes);
  level_room<8> room;
  const int code = move(process_vm_readv, pid, room.beside(from), from, bytes);
  if (code == 0) std::memcpy(to, room.beside(from), bytes);
  return code;
}

}  // namespace host
