// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmix_library.h"

#include <dlfcn.h>

#include <cstdlib>

#include "base/error.h"

namespace heddle::bootstrap::pmix {
namespace {

constexpr const char* file = "libpmix.so.2";

template <class Function>
void find(void* handle, const char* name, Function& found) {
  found = reinterpret_cast<Function>(dlsym(handle, name));
  if (found == nullptr) fail("{} has no {}: it is older than PMIx 2", file, name);
}

library load() {
  void* const handle = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr)
    fail(
        "this job's launcher offers PMIx, and its library cannot be loaded ({}): install libpmix2, "
        "or let LD_LIBRARY_PATH name the folder of the launcher's {}",
        dlerror(), file);
  library l{};
  find(handle, "PMIx_Init", l.init);
  find(handle, "PMIx_Finalize", l.finalize);
  find(handle, "PMIx_Put", l.put);
  find(handle, "PMIx_Commit", l.commit);
  find(handle, "PMIx_Fence_nb", l.fence);
  find(handle, "PMIx_Get", l.get);
  find(handle, "PMIx_Abort", l.abort);
  find(handle, "PMIx_Error_string", l.text_of);
  return l;
}

}  // namespace

const library& library::loaded() {
  static const library once = load();
  return once;
}

void release(value* found) noexcept {
  if (found->type == data_type::byte_object) std::free(found->data.bytes.bytes);
  std::free(found);
}

}  // namespace heddle::bootstrap::pmix
