// SPDX-License-Identifier: BSD-3-Clause
// verbs.cpp - libibverbs by its calls and nothing else: what Heddle's verbs backend could reach at
// best. A queue pair for each thread, whose requests end in their order: of a flood every fourth
// part of the window tells of its end, as perftest's does. A call is a message that the partner
// counts; there are no tags.
#include <array>
#include <stdexcept>
#include <string>

#include "harness/slots.h"
#include "libraries/rival.h"
#include "libraries/verbs_calls.h"

namespace heddle::bench {
namespace {

constexpr std::uint32_t notice = 1;  ///< what comes with a message that is no call

/// Receives that a thread's partner may use up before new ones are offered, 16 at a time.
class inbox {
 public:
  static constexpr std::size_t per_list = 16;

  inbox(const verbs_card& card, std::size_t bytes)
      : bytes_(bytes),
        slots_(bytes <= 4096 ? 512 : 64),
        memory_(slots_ * bytes),
        known_(card.know({memory_.data(), std::max<std::size_t>(slots_ * bytes, 1)})),
        receives_(card.make_srq(static_cast<unsigned>(slots_))) {
    for (std::size_t slot = 0; slot < slots_; ++slot) give_back(slot);
  }
  [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
  [[nodiscard]] ibv_srq* receives() const noexcept { return receives_; }
  /// What a receive named `slot` brought has been seen.
  void give_back(std::uint64_t slot) {
    const auto at = reinterpret_cast<std::uint64_t>(memory_.data() + slot * bytes_);
    parts_[free_] = {at, static_cast<std::uint32_t>(bytes_), known_->lkey};
    works_[free_] = {slot, nullptr, &parts_[free_], 1};
    if (free_ != 0) works_[free_ - 1].next = &works_[free_];
    if (++free_ < per_list) return;
    free_ = 0;
    post(receives_, works_.front());
  }

 private:
  const std::size_t bytes_, slots_;
  page_buffer memory_;
  ibv_mr* const known_;
  ibv_srq* const receives_;
  std::array<ibv_sge, per_list> parts_{};
  std::array<ibv_recv_wr, per_list> works_{};
  std::size_t free_ = 0;
};

/// What the other rank's table is for us.
struct place_there {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
};

/// The words of kernels/library.h.
class verbs_path : public rival_thread {
 public:
  using place = std::uint64_t;  ///< an address at the other rank
  static constexpr bool handler_answers = false;

  verbs_path(const task& t, const verbs_card& card, partner& other, int thread,
             std::span<std::byte> here, const place_there& there)
      : rival_thread(t, thread, here),
        window_(static_cast<std::uint64_t>(t.what.window)),
        tells_each_(t.what.what == kind::latency ? 1 : std::max<std::uint64_t>(window_ / 4, 1)),
        there_(there),
        stride_(std::max<std::size_t>((bytes_ + 7) / 8 * 8, sizeof(std::uint64_t))),
        memory_((1 + window_) * stride_),
        known_(card.know({memory_.data(), (1 + window_) * stride_})),
        inbox_(card, bytes_),
        ends_(card.make_cq(static_cast<int>(depth() + inbox_.slots()))),
        qp_(card.make_qp(ends_, inbox_.receives(), static_cast<unsigned>(depth()))) {
    connect(card, qp_, swap(other, address_of(card, qp_)));
    (void)swap(other, true);  // the partner is connected too
  }

  [[nodiscard]] place at(std::size_t offset) const noexcept { return there_.address + offset; }

  void put_word(std::uint64_t value, place to, std::uint64_t bytes = sizeof(std::uint64_t)) {
    const auto length = static_cast<std::uint32_t>(bytes);
    begin(IBV_WR_RDMA_WRITE, {reinterpret_cast<std::uint64_t>(&value), length, 0}, to);
  }
  void put(place to) { begin(IBV_WR_RDMA_WRITE, source(), to); }
  void put_told(place to) { begin(IBV_WR_RDMA_WRITE_WITH_IMM, source(), to); }
  void get(place from) { begin(IBV_WR_RDMA_READ, landing(bytes_), from); }
  void fetch_add(place at) { begin(IBV_WR_ATOMIC_FETCH_AND_ADD, landing(sizeof at), at); }
  void call(message) { begin(IBV_WR_SEND_WITH_IMM, source(), 0); }

  [[nodiscard]] std::uint64_t arrived() const noexcept { return arrived_; }
  void await_arrived(std::uint64_t count) {
    while (arrived_ < count) look_after();
  }
  void drain() {
    if (begun_ != told_of_) request_end();
    while (ended_ != begun_) look_after();
  }
  /// The end of a write says that the other rank's card has carried it out.
  void flush() {}
  void progress() { look(); }
  void notify() {
    begin(IBV_WR_SEND_WITH_IMM, {0, 0, 0}, 0, notice);
    drain();
  }
  void await_notice() {
    while (notices_ == 0) look_after();
    --notices_;
  }

 private:
  /// One more than the window for what only asks for an end.
  [[nodiscard]] std::uint64_t depth() const noexcept { return window_ + 1; }
  [[nodiscard]] ibv_sge part(std::size_t offset, std::size_t bytes) const {
    return {reinterpret_cast<std::uint64_t>(memory_.data() + offset),
            static_cast<std::uint32_t>(bytes), known_->lkey};
  }
  [[nodiscard]] ibv_sge source() const { return part(0, bytes_); }
  [[nodiscard]] ibv_sge landing(std::size_t bytes) const {
    return part((1 + begun_ % window_) * stride_, bytes);
  }

  void begin(ibv_wr_opcode opcode, ibv_sge local, place at, std::uint32_t word = 0) {
    while (begun_ - ended_ >= window_) look_after();
    ibv_send_wr w = request_of(opcode, local, at, there_.key);
    w.imm_data = word;
    ++begun_;
    if (begun_ - told_of_ >= tells_each_) tell_of_end(w);
    post(qp_, w);
  }
  /// The end of `w` is that of all before it.
  void tell_of_end(ibv_send_wr& w) {
    w.send_flags |= IBV_SEND_SIGNALED;
    w.wr_id = told_of_ = begun_;
  }
  /// Nothing, written, behind what was begun without telling of its end.
  void request_end() {
    ibv_send_wr w{};
    w.opcode = IBV_WR_RDMA_WRITE;
    tell_of_end(w);
    post(qp_, w);
  }

  /// Whether something has come or ended.
  bool look() {
    std::array<ibv_wc, inbox::per_list> news;
    const int count = ibv_poll_cq(ends_, static_cast<int>(news.size()), news.data());
    if (count < 0) throw std::runtime_error("ibv_poll_cq failed");
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) take(news[i]);
    return count != 0;
  }
  void take(const ibv_wc& c) {
    if (c.status != IBV_WC_SUCCESS)
      throw std::runtime_error(std::string("a request: ") + ibv_wc_status_str(c.status));
    if ((c.opcode & IBV_WC_RECV) == 0) {
      ended_ = c.wr_id;
      return;
    }
    ++(c.imm_data == notice ? notices_ : arrived_);
    inbox_.give_back(c.wr_id);
  }
  void look_after() {
    if (!look()) rest();
  }

  const std::uint64_t window_;
  const std::uint64_t tells_each_;  ///< of so many requests one has its end told
  const place_there there_;
  const std::size_t stride_;
  page_buffer memory_;  ///< a source, and a landing for each slot of the window
  ibv_mr* const known_;
  inbox inbox_;
  ibv_cq* const ends_;
  ibv_qp* const qp_;
  std::uint64_t begun_ = 0, told_of_ = 0, ended_ = 0;  ///< requests, counted from the first
  std::uint64_t arrived_ = 0, notices_ = 0;
};

class verbs_library final : public forked_library {
 public:
  using path = verbs_path;

  verbs_library(const process_pair& both, const task& t)
      : forked_library(both, t), table_(t.table_bytes()) {
    if (t.paths() < t.what.threads)
      throw std::runtime_error("threads that share a queue pair are not measured: no --lanes");
    const ibv_mr* const known = card_.know(table());
    there_ = swap(*this, place_there{reinterpret_cast<std::uint64_t>(known->addr), known->rkey});
  }
  [[nodiscard]] std::unique_ptr<verbs_path> make_path(int thread) {
    return std::make_unique<verbs_path>(task_, card_, *this, thread, table(), there_);
  }
  [[nodiscard]] std::span<std::byte> table() const { return {table_.data(), task_.table_bytes()}; }

 private:
  const verbs_card card_;
  const page_buffer table_;
  place_there there_;
};

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  return heddle::bench::rival_main<heddle::bench::verbs_library>(argc, argv);
}
