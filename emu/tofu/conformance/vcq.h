// SPDX-License-Identifier: BSD-3-Clause
// vcq.h - a VCQ, memory and its registration as objects that give back what they hold.
#pragma once
#include <utofu.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace conformance {

// The flags of operations, short.
inline constexpr unsigned long tcq_notice = UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
inline constexpr unsigned long lcl_notice = UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
inline constexpr unsigned long rmt_notice = UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE;
inline constexpr unsigned long strong = UTOFU_ONESIDED_FLAG_STRONG_ORDER;

/// How long something that should happen at once may take, in seconds.
inline constexpr double patience = 10;

/// What utofu_poll_tcq said. NOT_FOUND: nothing came in time.
struct sent {
  int code = UTOFU_ERR_NOT_FOUND;
  void* cbdata = nullptr;
};

/// What utofu_poll_mrq said. NOT_FOUND: nothing came in time.
struct noticed {
  int code = UTOFU_ERR_NOT_FOUND;
  utofu_mrq_notice notice{};
  [[nodiscard]] bool is(utofu_mrq_notice_type type) const {
    return code == UTOFU_SUCCESS && notice.notice_type == type;
  }
};

/// A VCQ, freed at the end. If it could not be made, made() is not SUCCESS and it is good for
/// nothing else.
class vcq {
 public:
  vcq() = default;
  explicit vcq(utofu_tni_id_t tni, unsigned long flags = 0);
  static vcq with_cmp_id(utofu_tni_id_t tni, utofu_cmp_id_t cmp, unsigned long flags = 0);
  vcq(vcq&& other) noexcept { *this = std::move(other); }
  vcq& operator=(vcq&& other) noexcept;
  ~vcq() { close(); }

  int close();  ///< what utofu_free_vcq said
  [[nodiscard]] int made() const { return made_; }
  [[nodiscard]] bool ok() const { return made_ == UTOFU_SUCCESS; }
  [[nodiscard]] utofu_vcq_hdl_t hdl() const { return hdl_; }
  [[nodiscard]] utofu_vcq_id_t id() const { return id_; }
  [[nodiscard]] int cq() const;  ///< number of its CQ
  [[nodiscard]] int tni() const;

  /// The next entry, waited for that long.
  sent next_sent(double seconds = patience);
  noticed next_notice(double seconds = patience);
  /// Takes what is there, once each.
  void sweep();
  /// Takes TCQ entries, hidden ones with them.
  void sweep_sent();
  /// How many entries were taken like that.
  [[nodiscard]] std::uint64_t swept() const { return swept_; }

  /// Calls `posting` until it does not say BUSY any more, taking TCQ entries meanwhile.
  template <class Posting>
  int post(Posting posting, double seconds = patience);

 private:
  void learn_id();

  utofu_vcq_hdl_t hdl_ = 0;
  utofu_vcq_id_t id_ = 0;
  std::uint64_t swept_ = 0;
  int made_ = UTOFU_ERR_NOT_PROCESSED;  // last: making it fills the others
};

/// Where memory comes from: a software device may move data differently.
enum class origin { heap, shared };

/// Zeroed memory that starts at a multiple of 64 KiB, the page of a registration.
class memory {
 public:
  static constexpr std::size_t page = 65536;

  memory() = default;
  explicit memory(std::size_t bytes, origin from = origin::heap);
  memory(memory&& other) noexcept { *this = std::move(other); }
  memory& operator=(memory&& other) noexcept;
  ~memory() { give_back(); }

  [[nodiscard]] unsigned char* at(std::size_t offset = 0) const { return start_ + offset; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Byte i becomes a byte that depends on `seed` and i.
  void fill(std::size_t offset, std::size_t bytes, std::uint64_t seed) const;
  /// Index of the first byte that fill() would not have left so; `bytes` if none.
  [[nodiscard]] std::size_t mismatch(std::size_t offset, std::size_t bytes,
                                     std::uint64_t seed) const;
  /// Index of the first byte that is not `value`; `bytes` if none.
  [[nodiscard]] std::size_t differs_from(std::size_t offset, std::size_t bytes, int value) const;
  void set(std::size_t offset, std::size_t bytes, int value) const;
  /// The word there, as the device left it.
  [[nodiscard]] std::uint64_t word(std::size_t offset) const;
  void set_word(std::size_t offset, std::uint64_t value) const;

 private:
  void give_back();

  unsigned char* start_ = nullptr;
  std::size_t size_ = 0, mapped_ = 0;
  void* mapping_ = nullptr;
  int file_ = -1;
};

/// Memory registered with a VCQ, deregistered at the end.
class registration {
 public:
  registration() = default;
  registration(const vcq& with, void* address, std::size_t bytes, unsigned long flags = 0);
  static registration tagged(const vcq& with, void* address, std::size_t bytes, unsigned tag,
                             unsigned long flags = 0);
  registration(registration&& other) noexcept { *this = std::move(other); }
  registration& operator=(registration&& other) noexcept;
  ~registration() { close(); }

  int close();
  void forget() { made_ = UTOFU_ERR_NOT_PROCESSED; }  ///< will not be deregistered
  [[nodiscard]] int made() const { return made_; }
  [[nodiscard]] bool ok() const { return made_ == UTOFU_SUCCESS; }
  [[nodiscard]] utofu_stadd_t stadd() const { return stadd_; }

 private:
  utofu_vcq_hdl_t hdl_ = 0;
  utofu_stadd_t stadd_ = 0;
  int made_ = UTOFU_ERR_NOT_PROCESSED;  // last: making it fills the others
};

/// Lets others run between two looks at a queue.
void breathe(unsigned& looks);

/// The ids of the TNIs, in the library's order.
struct tni_list {
  utofu_tni_id_t ids[32];
  std::size_t count = 0;
};
tni_list all_tnis();

bool has_passed(std::uint64_t end_ns);
std::uint64_t now_ns();

template <class Posting>
int vcq::post(Posting posting, double seconds) {
  const std::uint64_t end = now_ns() + std::uint64_t(seconds * 1e9);
  unsigned looks = 0;
  for (;;) {
    const int code = posting();
    if (code != UTOFU_ERR_BUSY || has_passed(end)) return code;
    sweep_sent();
    breathe(looks);
  }
}

}  // namespace conformance
