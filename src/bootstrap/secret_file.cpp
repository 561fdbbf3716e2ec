// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/secret_file.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "base/fd.h"

namespace heddle::bootstrap {
namespace {

constexpr std::size_t least_bytes = 32;
constexpr std::size_t most_bytes = 4096;

static_assert(std::tuple_size_v<secret_bytes> == crypto_generichash_BYTES);

const unsigned char* chars(const std::byte* bytes) {
  return reinterpret_cast<const unsigned char*>(bytes);
}

/// On the descriptor: the name may mean another file a moment later.
void check_owner_and_mode(int fd, const std::string& path) {
  struct stat file {};
  if (fstat(fd, &file) != 0) fail_errno(errno, "look at {}", path);
  if (!S_ISREG(file.st_mode)) fail("{} is no file", path);
  if ((file.st_mode & 077) != 0)
    fail("{} has mode {:o}, so others can read it: chmod 600 {}", path, file.st_mode & 07777, path);
  if (file.st_uid != geteuid())
    fail("{} belongs to user {}, and this is user {}: give each user a file of its own", path,
         file.st_uid, geteuid());
}

std::vector<std::byte> contents(int fd, const std::string& path) {
  std::vector<std::byte> bytes(most_bytes);
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = read(fd, bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_errno(errno, "read {}", path);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

}  // namespace

secret_bytes derived(const secret_bytes& key, std::span<const std::byte> text) {
  if (sodium_init() < 0) fail("libsodium finds no source of randomness");
  secret_bytes hash;
  crypto_generichash(reinterpret_cast<unsigned char*>(hash.data()), hash.size(), chars(text.data()),
                     text.size(), chars(key.data()), key.size());
  return hash;
}

secret_bytes read_secret_file(const std::string& path) {
  return in_context("read HEDDLE_SECRET_FILE", [&] {
    const unique_fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) fail_errno(errno, "open {}", path);
    check_owner_and_mode(file.get(), path);
    const auto bytes = contents(file.get(), path);
    if (bytes.size() < least_bytes)
      fail("{} holds {} bytes, and at least {} are needed: head -c 32 /dev/urandom >{}", path,
           bytes.size(), least_bytes, path);
    return derived({}, bytes);
  });
}

std::optional<secret_bytes> given_secret() {
  const char* path = std::getenv(secret_file_variable);
  if (path == nullptr || *path == '\0') return {};
  return read_secret_file(path);
}

secret_bytes mixed_with_file(const secret_bytes& secret) {
  const auto given = given_secret();
  return given ? derived(*given, secret) : secret;
}

}  // namespace heddle::bootstrap
