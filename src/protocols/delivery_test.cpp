#include "protocols/delivery.h"

#include <gtest/gtest.h>

namespace heddle::protocols {
namespace {

struct chain {
  delivery_batch* batch;
  int left;
  int ran = 0;
  static void step(void* owner, std::uint64_t, const outcome&) noexcept {
    auto& self = *static_cast<chain*>(owner);
    ++self.ran;
    if (--self.left > 0) self.batch->add({&step, &self, 0}, {});
    EXPECT_EQ(self.batch->run(), 0u);  // entered again: the outer run goes on
  }
};

TEST(DeliveryBatch, AMillionCallbacksThatPostTheNextOneDoNotGrowTheStack) {
  delivery_batch batch;
  chain c{&batch, 1'000'000};
  batch.add({&chain::step, &c, 0}, {});
  EXPECT_EQ(batch.run(), 1'000'000u);
  EXPECT_EQ(c.ran, 1'000'000);
}

TEST(DeliveryBatch, ACompletionWithoutAFunctionIsNotKept) {
  delivery_batch batch;
  batch.add({}, {});
  EXPECT_EQ(batch.run(), 0u);
}

}  // namespace
}  // namespace heddle::protocols
