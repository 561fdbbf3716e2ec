// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmix.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "base/signals_blocked.h"
#include "bootstrap/pmix_library.h"
#include "bootstrap/store_session.h"

namespace heddle::bootstrap {
namespace {

/// The end of one fence, which the library's own thread tells of, maybe after we have given up.
class fence_end {
 public:
  static void tell(int status, void* context) {
    const std::unique_ptr<std::shared_ptr<fence_end>> end(
        static_cast<std::shared_ptr<fence_end>*>(context));
    const std::lock_guard lock((*end)->mutex_);
    (*end)->status_ = status;
    (*end)->changed_.notify_one();
  }

  /// Nothing after `limit_ms`; 0: without limit.
  std::optional<int> wait(std::uint64_t limit_ms) {
    std::unique_lock lock(mutex_);
    const auto over = [this] { return status_.has_value(); };
    if (limit_ms == 0) {
      changed_.wait(lock, over);
    } else {
      (void)changed_.wait_for(lock, std::chrono::milliseconds(limit_ms), over);
    }
    return status_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> status_;
};

/// Joins of this process so far: servers keep the first value of a key.
int next_join() {
  static int joins = 0;
  return joins++;
}

/// What works with all servers that were tried (Open MPI 4.1, Slurm 22.05): each key is put once
/// and before its fence, and every fence collects data. One that does not is no barrier with Slurm,
/// and keys got without one are often not found.
class pmix_store final : public key_store {
 public:
  explicit pmix_store(std::uint64_t limit_ms) : limit_ms_(limit_ms) {
    check(init(), "find the launcher's server (PMIx_Init)");
  }

  [[nodiscard]] int rank() const noexcept { return static_cast<int>(self_.rank); }

  /// What the launcher says of the whole job.
  int number(const char* key) {
    pmix::value* found = nullptr;
    const pmix::process all = process_of(pmix::all_ranks);
    check(pmix_.get(&all, key, nullptr, 0, &found), key);
    const auto type = found->type;
    const std::uint32_t number =
        type == pmix::data_type::uint16 ? found->data.uint16 : found->data.uint32;
    pmix::release(found);
    if (type != pmix::data_type::uint16 && type != pmix::data_type::uint32)
      fail("the launcher's {} is no number", key);
    return static_cast<int>(number);
  }

  [[nodiscard]] std::string name() const override {
    return fmt::format("pmix {} {}", self_.job, join_);
  }

  void put(const std::string& key, std::span<const std::byte> value) override {
    blob copy(value.begin(), value.end());
    pmix::value made{};
    made.type = pmix::data_type::byte_object;
    made.data.bytes = {reinterpret_cast<char*>(copy.data()), copy.size()};
    check(pmix_.put(pmix::global_scope, own(key).c_str(), &made), "give a value (PMIx_Put)");
    check(pmix_.commit(), "give a value (PMIx_Commit)");
  }

  void fence() override {
    pmix::info collect{};
    std::strncpy(collect.key, pmix::collect_data, sizeof collect.key - 1);
    collect.value.type = pmix::data_type::boolean;
    collect.value.data.flag = true;
    const pmix::process all = process_of(pmix::all_ranks);
    const auto end = std::make_shared<fence_end>();
    auto context = std::make_unique<std::shared_ptr<fence_end>>(end);
    check(pmix_.fence(&all, 1, &collect, 1, &fence_end::tell, context.get()),
          "meet the other ranks (PMIx_Fence)");
    (void)context.release();  // tell() has it
    const auto status = end->wait(limit_ms_);
    if (!status)
      fail(
          "waited {} s in vain (HEDDLE_JOIN_TIMEOUT_MS): some ranks have not come. Do all ranks of "
          "the job make a world?",
          limit_ms_ / 1000);
    check(*status, "meet the other ranks (PMIx_Fence)");
  }

  blob get(int rank, const std::string& key) override {
    pmix::value* found = nullptr;
    const pmix::process of = process_of(static_cast<std::uint32_t>(rank));
    check(pmix_.get(&of, own(key).c_str(), nullptr, 0, &found), "read a value (PMIx_Get)");
    blob value;
    if (found->type == pmix::data_type::byte_object && found->data.bytes.size != 0) {
      const auto* bytes = reinterpret_cast<const std::byte*>(found->data.bytes.bytes);
      value.assign(bytes, bytes + found->data.bytes.size);
    }
    pmix::release(found);
    return value;
  }
  void abort(int status, std::string_view why) noexcept override {
    try {
      (void)pmix_.abort(status, std::string(why).c_str(), nullptr, 0);
    } catch (const std::bad_alloc&) {
      (void)pmix_.abort(status, "", nullptr, 0);
    }
  }
  void leave() noexcept override { (void)pmix_.finalize(nullptr, 0); }

 private:
  /// Signals are the program's: the library's thread starts with all of them blocked.
  int init() {
    const signals_blocked during;
    return pmix_.init(&self_, nullptr, 0);
  }
  [[nodiscard]] pmix::process process_of(std::uint32_t rank) const noexcept {
    pmix::process p = self_;
    p.rank = rank;
    return p;
  }
  [[nodiscard]] std::string own(const std::string& key) const {
    return fmt::format("{}.{}", key, join_);
  }
  void check(int status, const char* what) const {
    if (status != pmix::success) fail("{}: {} ({})", what, pmix_.text_of(status), status);
  }

  const pmix::library& pmix_ = pmix::library::loaded();
  const std::uint64_t limit_ms_;
  const int join_ = next_join();
  pmix::process self_{};
};

}  // namespace

std::unique_ptr<session> join_pmix(std::uint64_t limit_ms) {
  return in_context("join the job of mpirun or srun (PMIx)", [&] {
    auto store = std::make_unique<pmix_store>(limit_ms);
    job known;
    known.rank = store->rank();
    known.size = store->number(pmix::job_size);
    known.local_ranks = store->number(pmix::local_size);
    if (known.rank >= known.size) fail("rank {} in a job of {}", known.rank, known.size);
    return join_by_store(std::move(store), known, limit_ms);
  });
}

}  // namespace heddle::bootstrap
