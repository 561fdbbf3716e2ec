// utofu_updater.cpp - random updates of the other rank's table: get, xor, put; or one armw.
#include <cstring>

#include "peers/utofu_party.h"

namespace heddle::peers {
namespace {

class utofu_updater final : public updater {
 public:
  explicit utofu_updater(const utofu_seat& s)
      : seat_(s),
        own_(s.path, s.on_path, s.what.what.window, s.what.crowded()),
        memory_(sizeof(std::uint64_t)),
        registered_(s.path.queue(), memory_) {}

  void update(const bench::gups_plan& plan, int rank) override {
    bench::gups_stream numbers = plan.stream(rank, seat_.thread);
    for (std::uint64_t i = 0; i < plan.updates; ++i) {
      const std::uint64_t random = numbers.next();
      const std::uint64_t word = plan.index(random);
      seat_.what.atomic ? exclusive_or(word, random) : get_and_put(word, random);
    }
    own_.drain();
  }

 private:
  /// Armws are atomic with those that go to the same VCQ, so each word has one.
  void exclusive_or(std::uint64_t word, std::uint64_t random) {
    const utofu_target& home = seat_.paths[word % seat_.paths.size()]->theirs();
    own_.armw(UTOFU_ARMW_OP_XOR, random, home, word * sizeof random);
  }
  void get_and_put(std::uint64_t word, std::uint64_t random) {
    const std::uint64_t at = word * sizeof random;
    own_.get(registered_.stadd(), at, sizeof random);
    own_.drain();
    std::uint64_t value = 0;
    std::memcpy(&value, memory_.data(), sizeof value);
    own_.put_word(value ^ random, at);
    own_.drain();
  }

  const utofu_seat seat_;
  utofu_thread own_;
  const utofu_memory memory_;  // where a get's word lands
  const utofu_registration registered_;
};

}  // namespace

std::unique_ptr<updater> make_utofu_updater(const utofu_seat& s) {
  return std::make_unique<utofu_updater>(s);
}

}  // namespace heddle::peers
