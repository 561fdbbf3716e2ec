// SPDX-License-Identifier: BSD-3-Clause
// forged_key_test.cpp - what a key says binds no owner: whatever is changed in one, nothing is done
// that the region's owner did not allow, over each way to get there.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <heddle/heddle.h>
#include <unistd.h>

#include <limits>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "engine/key_fields.h"
#include "support/pattern.h"
#include "support/ranks.h"
#include "support/wires.h"

namespace heddle::test {
namespace {

using engine::key_fields;

constexpr std::size_t bytes = 4096;
constexpr std::uint64_t huge = std::numeric_limits<std::uint64_t>::max();

struct way {
  std::string name;
  std::string backend;
  std::string cma = "auto";
  std::string faults = "";
};

void PrintTo(const way& w, std::ostream* out) {
  *out << w.name;
}

class ForgedKey : public testing::TestWithParam<way> {
 protected:
  void SetUp() override { HEDDLE_NEEDS_WIRE(GetParam().backend); }
  [[nodiscard]] static settings config() {
    settings s = settings_for(GetParam().backend);
    s.others["HEDDLE_SHM_CMA"] = GetParam().cma;
    s.faults = GetParam().faults;
    return s;
  }
};

auto ways() {
  std::vector<way> all{way{"shm_copied", "shm", "auto", "map=off"},
                       way{"shm_messages", "shm", "off", "map=off"}};
  for (const known_wire& wire : wires()) all.push_back({wire.name, wire.name});
  return testing::ValuesIn(all);
}
INSTANTIATE_TEST_SUITE_P(, ForgedKey, ways(), [](const auto& one) { return one.param.name; });

/// What is done to a key of rank 1's, and how operations of rank 0's with it must end. `withdrawn`
/// stands for what import() refuses as well: some wires find out earlier.
struct forgery {
  const char* name;
  rights given;
  void (*change)(key_fields&);
  std::uint64_t offset;
  status put, get, add;
};

constexpr auto done = status::done, denied = status::denied, withdrawn = status::withdrawn,
               outside = status::out_of_bounds;
constexpr auto all_rights = [](key_fields& f) { f.allowed = 7; };
constexpr auto endless = [](key_fields& f) { f.bytes = huge; };

const forgery forgeries[] = {
    {"none", rights::all, [](key_fields&) {}, 8, done, done, done},
    {"rights to a region for reading", rights::read, all_rights, 8, denied, done, denied},
    {"rights to a region for writing", rights::write, all_rights, 8, done, denied, denied},
    {"rights to a region for atomics", rights::atomic, all_rights, 8, denied, denied, done},
    {"rights to a region for nobody", rights::none, all_rights, 8, denied, denied, denied},
    {"rights taken away", rights::all, [](key_fields& f) { f.allowed = 1; }, 8, denied, done,
     denied},
    {"rights that do not exist", rights::all, [](key_fields& f) { f.allowed = 0xff; }, 8, withdrawn,
     withdrawn, withdrawn},
    {"more bytes, behind the end", rights::all, endless, bytes, outside, outside, outside},
    {"more bytes, far behind", rights::all, endless, 1 << 30, outside, outside, outside},
    {"more bytes, round the end of all memory", rights::all, endless, huge - 7, outside, outside,
     outside},
    {"more bytes, just before the beginning", rights::all, endless, huge - 15, outside, outside,
     outside},
    {"fewer bytes", rights::all, [](key_fields& f) { f.bytes = 8; }, 8, outside, outside, outside},
    {"the next generation", rights::all, [](key_fields& f) { ++f.ref.generation; }, 8, withdrawn,
     withdrawn, withdrawn},
    {"no generation", rights::all, [](key_fields& f) { f.ref.generation = 0; }, 8, withdrawn,
     withdrawn, withdrawn},
    {"another slot", rights::all, [](key_fields& f) { f.ref.slot ^= 64; }, 8, withdrawn, withdrawn,
     withdrawn},
    {"a slot that cannot be", rights::all, [](key_fields& f) { f.ref.slot |= 1u << 31; }, 8,
     withdrawn, withdrawn, withdrawn},
    {"another owner", rights::all, [](key_fields& f) { f.owner = 0; }, 8, withdrawn, withdrawn,
     withdrawn},
    {"an owner that cannot be", rights::all, [](key_fields& f) { f.owner = 2; }, 8, withdrawn,
     withdrawn, withdrawn},
    {"a negative owner", rights::all, [](key_fields& f) { f.owner = -1; }, 8, withdrawn, withdrawn,
     withdrawn},
    {"not a key", rights::all, [](key_fields& f) { f.magic = 0; }, 8, withdrawn, withdrawn,
     withdrawn},
};

/// Rank 0's operations with what it made of a key.
class forger {
 public:
  forger(world& w, lane& l, const key& k, const forgery& how) : lane_(l), offset_(how.offset) {
    key_fields f = engine::from_key(k);
    how.change(f);
    try {
      there_ = w.import(engine::to_key(f));
      imported_ = true;
    } catch (const error&) {  // NOLINT(bugprone-empty-catch): what follows says withdrawn
    }
  }
  status put() { return imported_ ? lane_.put(bytes_of(value_), there_.at(offset_)) : withdrawn; }
  status get() { return imported_ ? lane_.get(bytes_of(value_), there_.at(offset_)) : withdrawn; }
  status add() {
    const remote_ptr<std::uint64_t> at{there_.at(offset_)};
    return imported_ ? lane_.fetch_add(at, std::uint64_t{1}, value_) : withdrawn;
  }

 private:
  static std::span<std::byte> bytes_of(std::uint64_t& word) {
    return std::as_writable_bytes(std::span(&word, 1));
  }

  lane& lane_;
  const std::uint64_t offset_;
  remote_region there_;
  bool imported_ = false;
  std::uint64_t value_ = 42;
};

/// Rank 1 shows a region of `memory` to rank 0, which does its worst; both are done then.
void attempt(world& w, lane& l, const forgery& f, region mine) {
  key k = mine.key();
  if (w.rank() == 1) {
    ASSERT_EQ(l.send(0, 1, k.bytes), done);
  } else {
    ASSERT_EQ(l.recv(1, 1, k.bytes).code, done);
    forger with(w, l, k, f);
    EXPECT_EQ(name_of(with.put()), name_of(f.put)) << f.name;
    EXPECT_EQ(name_of(with.get()), name_of(f.get)) << f.name;
    EXPECT_EQ(name_of(with.add()), name_of(f.add)) << f.name;
  }
  w.barrier();
}

TEST_P(ForgedKey, DoesNothingThatTheOwnerOfExposedMemoryDidNotAllow) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    for (const forgery& f : forgeries) {
      std::vector<std::byte> around = pattern(3 * bytes);
      const auto inside = std::span(around).subspan(bytes, bytes);
      attempt(w, l, f, w.rank() == 1 ? w.expose(inside, f.given) : region());
      if (f.put != done && f.add != done) {
        EXPECT_TRUE(is_pattern(around, 0)) << f.name;
      }
    }
  });
}

TEST_P(ForgedKey, DoesNothingThatTheOwnerOfAllocatedMemoryDidNotAllow) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    for (const forgery& f : forgeries)
      attempt(w, l, f, w.rank() == 1 ? w.allocate(bytes, f.given) : region());
  });
}

/// Whether a mistake of this process could write there: asked of the kernel, which answers EFAULT.
bool can_be_written(std::byte* at) {
  const int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  const bool wrote = read(zeros, at, 1) == 1;
  close(zeros);
  return wrote;
}

TEST(MappedRegion, CannotBeWrittenToEvenByMistakeUnlessItsOwnerAllowsThat) {
  run_ranks(2, settings_for("shm"), [](world& w) {
    lane l(w);
    auto readable = w.symmetric<std::uint64_t>(8, rights::read);
    auto writable = w.symmetric<std::uint64_t>(8, rights::read | rights::write);
    auto countable = w.symmetric<std::uint64_t>(8, rights::atomic);
    readable.local()[3] = 7 + static_cast<std::uint64_t>(w.rank());  // the owner always may
    w.barrier();
    const rank peer = 1 - w.rank();
    EXPECT_FALSE(can_be_written(readable.at(peer).address.target->direct));
    EXPECT_TRUE(can_be_written(writable.at(peer).address.target->direct));
    EXPECT_TRUE(can_be_written(countable.at(peer).address.target->direct));
    std::uint64_t got = 0;
    EXPECT_EQ(l.get(got, readable.at(peer, 3)), done);
    EXPECT_EQ(got, 7 + static_cast<std::uint64_t>(peer));
    EXPECT_EQ(l.put(got, readable.at(peer, 3)), denied);
    w.barrier();
  });
}

TEST(Symmetric, HasTheSameRightsOnAllRanksOrIsAnError) {
  auto sessions = bootstrap::local_group(2);
  std::vector<std::thread> ranks;
  for (auto& session : sessions)
    ranks.emplace_back([s = std::move(session)]() mutable {
      world w(engine::make_world(std::move(s), settings_for("shm")));
      const rights mine = w.rank() == 0 ? rights::read : rights::all;
      EXPECT_THROW((void)w.symmetric<int>(8, mine), error);
    });
  for (std::thread& t : ranks) t.join();
}

}  // namespace
}  // namespace heddle::test
