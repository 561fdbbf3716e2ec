// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

namespace conformance {

stage::stage(test& scene, std::size_t bytes, unsigned long vcq_flags, origin from)
    : t(scene), mine(bytes, from), here(t.tni(), vcq_flags), there(t.other()) {
  t.done(here.made(), "creating a VCQ");
  own = registration(here, mine.at(), bytes);
  t.done(own.made(), "registering memory");
  far = there.open(t.tni(), vcq_flags);
  t.done(far.code, "creating a VCQ at the other end");
  far_memory_index = there.allocate(bytes, from);
  theirs = there.enroll(far, far_memory_index, 0, bytes);
  t.done(theirs.code, "registering memory at the other end");
}

int stage::put(std::size_t source, std::size_t target, std::size_t bytes, unsigned long flags,
               std::uint64_t edata, void* cbdata) {
  return here.post([&] {
    return utofu_put(here.hdl(), far.id, from(source), to(target), bytes, edata, flags, cbdata);
  });
}

int stage::put_word(std::uint64_t value, std::size_t target, unsigned long flags,
                    std::uint64_t edata, void* cbdata) {
  return here.post([&] {
    return utofu_put_piggyback8(here.hdl(), far.id, value, to(target), 8, edata, flags, cbdata);
  });
}

int stage::put_data(void* data, std::size_t target, std::size_t bytes, unsigned long flags) {
  return here.post([&] {
    return utofu_put_piggyback(here.hdl(), far.id, data, to(target), bytes, 0, flags, nullptr);
  });
}

int stage::get(std::size_t target, std::size_t source, std::size_t bytes, unsigned long flags,
               std::uint64_t edata, void* cbdata) {
  return here.post([&] {
    return utofu_get(here.hdl(), far.id, from(target), to(source), bytes, edata, flags, cbdata);
  });
}

int stage::add(std::uint64_t value, std::size_t target, unsigned long flags, std::uint64_t edata,
               void* cbdata) {
  return here.post([&] {
    return utofu_armw8(here.hdl(), far.id, UTOFU_ARMW_OP_ADD, value, to(target), edata, flags,
                       cbdata);
  });
}

utofu_mrq_notice stage::await(utofu_mrq_notice_type type, const char* what) {
  const noticed entry = here.next_notice();
  t.require(entry.is(type), "%s: %s, notice of type %d", what, name_of(entry.code).c_str(),
            entry.notice.notice_type);
  return entry.notice;
}

std::uint64_t stage::old_value(int posted, const char* what) {
  t.done(posted, what);
  return await(UTOFU_MRQ_TYPE_LCL_ARMW, what).rmt_value;
}

void stage::put_now(std::size_t source, std::size_t target, std::size_t bytes, const char* what) {
  t.done(put(source, target, bytes, lcl_notice), what);
  await(UTOFU_MRQ_TYPE_LCL_PUT, what);
}

void stage::get_now(std::size_t target, std::size_t source, std::size_t bytes, const char* what) {
  t.done(get(target, source, bytes, lcl_notice), what);
  await(UTOFU_MRQ_TYPE_LCL_GET, what);
}

}  // namespace conformance
