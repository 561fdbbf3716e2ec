// SPDX-License-Identifier: BSD-3-Clause
// bare.cpp - the machine itself, by the words of a library: memory that two processes share, and
// one TCP connection over loopback, whose ends spin. What a library over them could reach at best.
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "harness/slots.h"
#include "libraries/rival.h"
#include "parts/system.h"

namespace heddle::bench {
namespace {

using bare::checked;

/// This rank's end of a connection without Nagle's delay, non-blocking; the first rank listens.
bare::unique_fd connect_loopback(partner& other, bool listens, int buffer_bytes) {
  bare::unique_fd own(checked(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "open a TCP socket"));
  const auto set = [&own](int level, int name, int value) {
    checked(setsockopt(own.get(), level, name, &value, sizeof value), "set a socket option");
  };
  for (const int name : {SO_RCVBUF, SO_SNDBUF})  // before connecting, so that the window fits
    if (buffer_bytes > 0) set(SOL_SOCKET, name, buffer_bytes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  if (listens) {
    checked(bind(own.get(), generic, size), "bind to 127.0.0.1");
    checked(listen(own.get(), 1), "listen on 127.0.0.1");
    checked(getsockname(own.get(), generic, &size), "learn the port");
    tell(other, address.sin_port);
    own = bare::unique_fd(checked(accept4(own.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept"));
  } else {
    address.sin_port = hear<in_port_t>(other);
    checked(connect(own.get(), generic, size), "connect over loopback");
  }
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  checked(fcntl(own.get(), F_SETFL, O_NONBLOCK), "set O_NONBLOCK");
  return own;
}

/// A file that the first rank makes and the second one opens.
bare::unique_fd shared_file(partner& other, int rank) {
  struct {
    pid_t process = 0;
    int number = -1;
  } made;
  if (rank == 0) {
    bare::unique_fd file(checked(memfd_create("heddle-bare", MFD_CLOEXEC), "memfd_create"));
    made = {getpid(), file.get()};
    tell(other, made);
    return file;
  }
  made = hear<decltype(made)>(other);
  const std::string name = fmt::format("/proc/{}/fd/{}", made.process, made.number);
  return bare::unique_fd(
      checked(open(name.c_str(), O_RDWR | O_CLOEXEC), "open the other rank's memory"));
}

/// Bytes through a connection. Throws std::system_error when the other side is gone.
class wire {
 public:
  explicit wire(bare::unique_fd fd) : fd_(std::move(fd)) {}
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  /// Sends everything, so many bytes at once, spinning while the connection is full.
  void send(std::span<const std::byte> bytes) const {
    while (!bytes.empty())
      bytes = bytes.subspan(
          moved(::send(fd(), bytes.data(), std::min(bytes.size(), most_written), MSG_NOSIGNAL)));
  }
  /// Spins until all of it is there.
  void receive(std::span<std::byte> into) const {
    while (!into.empty()) into = into.subspan(receive_some(into));
  }
  /// Takes what has come, at most a full span; how much.
  [[nodiscard]] std::size_t receive_some(std::span<std::byte> into) const {
    const ssize_t got = recv(fd(), into.data(), into.size(), 0);
    return got == 0 ? throw std::runtime_error("the other rank has hung up") : moved(got);
  }

 private:
  static constexpr std::size_t most_written = 256 * 1024;  // quickest with reads of 64 KiB

  static std::size_t moved(ssize_t bytes) {
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    return static_cast<std::size_t>(checked(bytes, "a loopback connection"));
  }
  bare::unique_fd fd_;
};

/// The least that a message has around it: how long it is, and one word of whose it is.
struct frame_head {
  std::uint64_t bytes, whose;
};

/// Messages framed one by one, and written 64 KiB at a time; each is looked at by who takes it.
class frames {
 public:
  static constexpr std::size_t batch = 64 * 1024;

  frames(const wire& over, std::size_t bytes)
      : wire_(over),
        out_(std::max(batch, framed(bytes))),
        in_(std::max(batch, 2 * framed(bytes))) {}
  void put(std::span<const std::byte> message) {
    if (filled_ + framed(message.size()) > out_.size()) flush();
    const frame_head head{message.size(), number_++};
    std::memcpy(&out_[filled_], &head, sizeof head);
    std::memcpy(&out_[filled_ + sizeof head], message.data(), message.size());
    filled_ += framed(message.size());
  }
  void flush() { wire_.send(std::span(out_).first(std::exchange(filled_, 0))); }
  /// Takes whole frames out of what has come, and counts them; the rest of one waits for its end.
  std::uint64_t take() {
    const std::size_t end = kept_ + wire_.receive_some(std::span(in_).subspan(kept_));
    std::size_t at = 0;
    std::uint64_t count = 0;
    for (frame_head head; end - at >= sizeof head; at += framed(head.bytes), ++count) {
      std::memcpy(&head, &in_[at], sizeof head);
      if (end - at < framed(head.bytes)) break;
      seen_ = seen_ + head.whose + static_cast<std::uint64_t>(in_[at + sizeof head]);
    }
    kept_ = end - at;
    std::memmove(in_.data(), &in_[at], kept_);
    return count;
  }

 private:
  static std::size_t framed(std::size_t bytes) noexcept { return sizeof(frame_head) + bytes; }

  const wire& wire_;
  std::vector<std::byte> out_, in_;
  std::size_t filled_ = 0, kept_ = 0;
  std::uint64_t number_ = 0;
  volatile std::uint64_t seen_ = 0;  // as of a program that looks at its messages
};

/// The table as the other rank's process has it, both of them the same memory.
struct table_elsewhere {
  pid_t process = 0;
  std::byte* address = nullptr;
};

/// The words of kernels/library.h: puts and fetch-adds are a program's own accesses to what is
/// mapped, or copies; a get is the kernel's copy, or a question over the connection. Words that the
/// two ranks put for each other lie side by side: a ping-pong is that of one cache line.
class bare_path : public rival_thread {
 public:
  using place = std::size_t;  ///< an offset
  static constexpr bool handler_answers = false;

  /// `over` is null without a connection. `aside`: gets are answered by a thread that sleeps until
  /// one comes.
  bare_path(const task& t, int rank, std::span<std::byte> table, const table_elsewhere& theirs,
            const wire* over, bool aside)
      : rival_thread(t, 0, table.subspan(rank == 0 ? 0 : sizeof(std::uint64_t))),
        notices_(table_layout::for_spec(t.what).line_of(0) + line_bytes / 2),
        table_(table.data()),
        words_there_(table_ + (rank == 0 ? sizeof(std::uint64_t) : 0)),
        theirs_(theirs),
        wire_(over),
        source_(bytes_),
        landing_(std::max(bytes_, most_read)) {
    if (over != nullptr) messages_ = std::make_unique<frames>(*over, bytes_);
    if (aside) aside_ = std::jthread([this] { answer_all(); });
  }

  [[nodiscard]] place at(std::size_t offset) const noexcept { return offset; }

  void put_word(std::uint64_t value, place to, std::uint64_t = sizeof(std::uint64_t)) {
    // Release pairs with whoever looks at it: a kernel, or await_notice().
    std::atomic_ref(word(words_there_ + to)).store(value, std::memory_order_release);
  }
  void put(place to) {
    if (bytes_ == sizeof(std::uint64_t)) {
      static_cast<volatile std::uint64_t&>(word(table_ + to)) = to;
    } else {
      std::memcpy(table_ + to, source_.data(), bytes_);
      asm volatile("" : : "r"(table_) : "memory");  // the copy counts as read
    }
  }
  void fetch_add(place at) {
    // The order Heddle's atomics have; nothing else touches the word.
    std::atomic_ref(word(table_ + at)).fetch_add(1, std::memory_order_acq_rel);
  }
  void get(place from) {
    if (wire_ != nullptr) {
      wire_->send(source());
      return wire_->receive(landing());
    }
    iovec into{landing_.data(), bytes_}, there{theirs_.address + from, bytes_};
    checked(process_vm_readv(theirs_.process, &into, 1, &there, 1, 0), "process_vm_readv");
  }

  void send(message) { wire_->send(source()); }
  void recv(message) { expected_ += bytes_; }
  void deliver(message m) { send(m); }
  void call(message) { messages_->put(source()); }
  [[nodiscard]] std::uint64_t arrived() const noexcept { return arrived_; }
  void await_arrived(std::uint64_t count) {
    while (arrived_ < count) arrived_ += messages_->take();
  }

  /// Of what is received as much at once as has come: where messages end in it is known.
  void drain() {
    if (messages_) messages_->flush();
    while (expected_ > 0)
      expected_ -= wire_->receive_some({landing_.data(), std::min(expected_, most_read)});
  }
  void flush() {}
  void progress() {}
  void notify() { put_word(++told_, notices_); }
  void await_notice() {
    // Acquire pairs with notify().
    for (++heard_; std::atomic_ref(word(here(notices_))).load(std::memory_order_acquire) < heard_;)
      if (!answer()) rest();
  }

 private:
  static constexpr std::size_t most_read = 64 * 1024;

  static std::uint64_t& word(std::byte* at) noexcept {
    return *reinterpret_cast<std::uint64_t*>(at);
  }
  [[nodiscard]] std::span<const std::byte> source() const { return {source_.data(), bytes_}; }
  [[nodiscard]] std::span<std::byte> landing() const { return {landing_.data(), bytes_}; }
  /// To a get over the connection; false: there was none.
  bool answer() const {
    const std::size_t begun = wire_ != nullptr ? wire_->receive_some(landing()) : 0;
    if (begun == 0) return false;
    wire_->receive(landing().subspan(begun));
    wire_->send(landing());
    return true;
  }
  /// Like a progress thread that has nothing else to do, until the other rank hangs up.
  void answer_all() const {
    try {
      for (;; answer()) {
        pollfd readable{wire_->fd(), POLLIN, 0};
        (void)poll(&readable, 1, -1);
      }
    } catch (const std::exception&) {
    }
  }

  const place notices_;  ///< behind the words by which kernels end
  std::byte* const table_;
  std::byte* const words_there_;  ///< its first byte for words put for the other rank
  const table_elsewhere theirs_;
  const wire* const wire_;
  const page_buffer source_, landing_;
  std::unique_ptr<frames> messages_;
  std::size_t expected_ = 0;
  std::uint64_t arrived_ = 0, told_ = 0, heard_ = 0;
  std::jthread aside_;
};

/// Over tcp by a connection, otherwise by memory.
class bare_library final : public forked_library {
 public:
  using path = bare_path;

  bare_library(const process_pair& both, const task& t)
      : forked_library(both, t),
        rank_(both.rank()),
        table_(shared_file(*this, rank_), t.table_bytes()),
        theirs_(swap(*this, table_elsewhere{getpid(), table_.data()})) {
    constexpr int stream_buffer_bytes = 1 << 20;  // keeps both sides busy; more leaves the caches
    if (t.what.threads != 1) throw std::runtime_error("bare limits are those of one thread");
    if (t.backend == "tcp")
      wire_ = std::make_unique<wire>(connect_loopback(
          *this, rank_ == 0, t.what.what == kind::latency ? 0 : stream_buffer_bytes));
    else if (!t.needs_table())
      throw not_offered();
  }
  [[nodiscard]] std::unique_ptr<bare_path> make_path(int) {
    const bool aside =
        rank_ == 1 && wire_ != nullptr && task_.what.target == target_mode::computing;
    return std::make_unique<bare_path>(task_, rank_, table(), theirs_, wire_.get(), aside);
  }
  [[nodiscard]] std::span<std::byte> table() const { return {table_.data(), table_.bytes()}; }

 private:
  const int rank_;
  const bare::shared_mapping table_;
  const table_elsewhere theirs_;
  std::unique_ptr<wire> wire_;
};

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  return heddle::bench::rival_main<heddle::bench::bare_library>(argc, argv);
}
