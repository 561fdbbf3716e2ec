// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi1.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>

#include "base/error.h"
#include "base/fd.h"
#include "base/log.h"
#include "bootstrap/launcher_protocol.h"
#include "bootstrap/patience.h"
#include "bootstrap/pmi1_wire.h"
#include "bootstrap/send_all.h"
#include "bootstrap/store_session.h"

namespace heddle::bootstrap {
namespace {

constexpr int encoding = sodium_base64_VARIANT_URLSAFE_NO_PADDING;
/// For a launcher that is about to go as well.
constexpr std::uint64_t goodbye_ms = 2000;

int number_of(const char* what, std::string_view text) {
  int number = -1;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc{} || stop != text.data() + text.size() || number < 0)
    fail("{}={} is no number: it is for mpiexec to set; HEDDLE_BOOT=alone makes a world of one",
         what, text);
  return number;
}

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) fail("{} is not set, though PMI_FD is: has a script unset it?", variable);
  return number_of(variable, text);
}

/// The socket to the launcher's process on this host: a line out, a line in.
class launcher_lines {
 public:
  launcher_lines(int fd, std::uint64_t limit_ms) : fd_(fd), limit_ms_(limit_ms) {
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_STREAM)
      fail(
          "PMI_FD={} is not the launcher's socket: was it closed, or set for another process? "
          "HEDDLE_BOOT=alone makes a world of one",
          fd);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);  // programs that this one starts are not the rank
  }

  /// What the launcher answers to `request`. Throws error unless it is of `kind` and says success.
  pmi1::words ask(const std::string& request, std::string_view kind) {
    send(request + '\n');
    pmi1::words answer = receive(patience(limit_ms_));
    if (answer.find("cmd")->second != kind) fail("the launcher answered out of turn");
    const auto code = answer.find("rc");
    if (code != answer.end() && code->second != "0")
      fail("the launcher (PMI) refused '{}': {}", request.substr(0, request.find(" value=")),
           answer.contains("msg") ? answer.find("msg")->second : "without a reason");
    return answer;
  }

  /// Is not answered: the launcher ends this process.
  void abort(int status) noexcept {
    try {
      send(fmt::format("cmd=abort exitcode={}\n", status));
    } catch (const std::exception&) {
      return;  // it has gone, and so will its ranks
    }
  }

  void say_goodbye() noexcept {
    try {
      send("cmd=finalize\n");
      (void)receive(patience(goodbye_ms));
    } catch (const std::exception&) {
      return;  // it has gone already
    }
  }

 private:
  void send(std::string_view text) const {
    if (!send_all(fd_, std::as_bytes(std::span(text))))
      fail_errno(errno, "the launcher (PMI) went away");
  }

  pmi1::words receive(patience limit) {
    for (;;) {
      if (const auto line = cutter_.next()) {
        if (auto answer = pmi1::parse(*line)) return *answer;
        fail("the launcher's answer is not PMI-1: {}", line->substr(0, 80));
      }
      if (cutter_.broken()) fail("the launcher's answer is not PMI-1: a line without end");
      read_more(limit);
    }
  }

  void read_more(patience& limit) {
    std::array<pollfd, 1> answer{{{fd_, POLLIN, 0}}};
    while (!limit.wait(answer))
      if (limit.over())
        fail(
            "waited {} s in vain (HEDDLE_JOIN_TIMEOUT_MS): some ranks have not come, or the "
            "launcher is stopped. Do all ranks make a world?",
            limit.waited_s());
    std::array<char, 4096> buffer;
    const ssize_t got = recv(fd_, buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) return;
    if (got <= 0) fail("the launcher (PMI) went away");
    cutter_.push({buffer.data(), static_cast<std::size_t>(got)});
  }

  int fd_;  // stays open: it is the launcher's sign that this process lives
  std::uint64_t limit_ms_;
  pmi1::line_cutter cutter_;
};

/// How many pieces the longest value is cut into, which is the table of all ranks or its like.
std::size_t most_pieces(int size) {
  constexpr std::size_t ahead = 64;  // what goes before a table or its like: versions, counts
  const std::size_t bytes = protocol::max_everything(static_cast<std::size_t>(size)) + ahead;
  return sodium_base64_ENCODED_LEN(bytes, encoding) / pmi1::piece_bytes(pmi1::min_value_bytes) + 1;
}

/// A value is cut into pieces that the launcher accepts; each begins with how many there are.
class pmi1_store final : public key_store {
 public:
  pmi1_store(launcher_lines launcher, const job& known)
      : launcher_(std::move(launcher)), rank_(known.rank), size_(known.size) {
    launcher_.ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    const auto most = launcher_.ask("cmd=get_maxes", "maxes");
    const auto longest = most.find("vallen_max");
    if (longest == most.end()) fail("the launcher (PMI) does not say how long values may be");
    const auto bytes = static_cast<std::size_t>(number_of("vallen_max", longest->second));
    if (bytes < pmi1::min_value_bytes)
      fail("the launcher (PMI) takes values of {} bytes only", bytes);
    piece_bytes_ = pmi1::piece_bytes(bytes);
    const auto named = launcher_.ask("cmd=get_my_kvsname", "my_kvsname");
    const auto name = named.find("kvsname");
    if (name == named.end()) fail("the launcher (PMI) names no store");
    name_ = name->second;
  }

  [[nodiscard]] std::string name() const override { return "pmi1 " + name_; }

  void put(const std::string& key, std::span<const std::byte> value) override {
    const std::string text = encoded(value);
    const std::size_t pieces = (text.size() + piece_bytes_ - 1) / piece_bytes_;
    for (std::size_t i = 0; i < pieces; ++i)
      launcher_.ask(
          fmt::format("cmd=put kvsname={} key={} value={}:{}", name_, piece_key(key, rank_, i),
                      pieces, text.substr(i * piece_bytes_, piece_bytes_)),
          "put_result");
  }
  void fence() override { launcher_.ask("cmd=barrier_in", "barrier_out"); }
  blob get(int rank, const std::string& key) override {
    std::string text;
    std::size_t pieces = 1;
    for (std::size_t i = 0; i < pieces; ++i) {
      const std::string piece = look_up(piece_key(key, rank, i));
      const std::size_t colon = piece.find(':');
      if (colon == std::string::npos) fail("rank {} has given a malformed value", rank);
      pieces = static_cast<std::size_t>(number_of("pieces", piece.substr(0, colon)));
      if (pieces > most_pieces(size_))
        fail(
            "what rank {} has given has {} pieces by the launcher's (PMI) word, and of {} ranks {} "
            "at most: its store is spoilt. Start the job anew, or join without it "
            "(HEDDLE_RENDEZVOUS)",
            rank, pieces, size_, most_pieces(size_));
      text += piece.substr(colon + 1);
    }
    return decoded(text, rank);
  }

  void abort(int status, std::string_view) noexcept override { launcher_.abort(status); }
  void leave() noexcept override { launcher_.say_goodbye(); }

  std::string look_up(const std::string& key) {
    const auto answer =
        launcher_.ask(fmt::format("cmd=get kvsname={} key={}", name_, key), "get_result");
    const auto value = answer.find("value");
    return value == answer.end() ? "" : value->second;
  }

 private:
  static std::string piece_key(const std::string& key, int rank, std::size_t piece) {
    return fmt::format("{}-{}-{}", key, rank, piece);
  }
  static std::string encoded(std::span<const std::byte> value) {
    std::string text(sodium_base64_ENCODED_LEN(value.size(), encoding), '\0');
    sodium_bin2base64(text.data(), text.size(),
                      reinterpret_cast<const unsigned char*>(value.data()), value.size(), encoding);
    text.pop_back();  // the end of a C string
    return text;
  }
  static blob decoded(const std::string& text, int rank) {
    blob value(text.size());
    std::size_t bytes = 0;
    const char* end = nullptr;
    if (sodium_base642bin(reinterpret_cast<unsigned char*>(value.data()), value.size(), text.data(),
                          text.size(), nullptr, &bytes, &end, encoding) != 0 ||
        end != text.data() + text.size())
      fail("rank {} has given a malformed value", rank);
    value.resize(bytes);
    return value;
  }

  launcher_lines launcher_;
  int rank_, size_;
  std::string name_;
  std::size_t piece_bytes_ = 0;
};

/// The launcher's socket ends with the first session.
void refuse_twice() {
  static bool joined = false;
  if (std::exchange(joined, true))
    fail("this process has been in the job before, and PMI-1 lets it join once: keep the world");
}

int ranks_here(pmi1_store& store, const job& known) {
  std::string mapping;
  try {
    mapping = store.look_up("PMI_process_mapping");
  } catch (const error& unknown) {
    log::info(log::subsystem::job, "the launcher does not tell where ranks are: {}",
              unknown.what());
  }
  return pmi1::ranks_beside(mapping, known.rank, known.size).value_or(1);
}

}  // namespace

std::unique_ptr<session> join_pmi1(std::uint64_t limit_ms) {
  return in_context("join the job of mpiexec or srun (PMI-1)", [&] {
    launcher_lines launcher(number_in("PMI_FD"), limit_ms);
    job known;
    known.rank = number_in("PMI_RANK");
    known.size = number_in("PMI_SIZE");
    if (known.rank >= known.size)
      fail("PMI_RANK={} in a job of PMI_SIZE={}", known.rank, known.size);
    if (known.size > protocol::max_ranks)
      fail("PMI_SIZE={}: a job has {} ranks at most", known.size, protocol::max_ranks);
    refuse_twice();
    auto store = std::make_unique<pmi1_store>(std::move(launcher), known);
    known.local_ranks = ranks_here(*store, known);
    return join_by_store(std::move(store), known, limit_ms);
  });
}

}  // namespace heddle::bootstrap
