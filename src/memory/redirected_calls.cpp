// SPDX-License-Identifier: BSD-3-Clause
#include "memory/redirected_calls.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sync/foreign_word.h"
#include "sync/ordered_elsewhere.h"

namespace heddle::memory {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t slot_of_call = R_X86_64_JUMP_SLOT, slot_of_address = R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
constexpr std::uint32_t slot_of_call = R_AARCH64_JUMP_SLOT, slot_of_address = R_AARCH64_GLOB_DAT;
#else
#error "name the relocations by which this machine's loader fills the slots of calls"
#endif

/// What the loader knows of an object, copied: it may be unloaded until it is held.
struct object {
  std::string name;  ///< empty: the program
  std::uintptr_t base = 0;
  std::uintptr_t dynamic = 0;                     ///< 0: linked statically
  std::uintptr_t sealed_from = 0, sealed_to = 0;  ///< slots in here are read-only
};

template <class T>
T* at(std::uintptr_t address) noexcept {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

std::uintptr_t page_of(std::uintptr_t address) noexcept {
  return address & ~(static_cast<std::uintptr_t>(getpagesize()) - 1);
}

int add_object(dl_phdr_info* info, std::size_t, void* list) {
  object o{.name = info->dlpi_name, .base = info->dlpi_addr};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    const std::uintptr_t begin = o.base + part.p_vaddr;
    if (part.p_type == PT_DYNAMIC) o.dynamic = begin;
    if (part.p_type == PT_GNU_RELRO) {
      // As the loader rounds: what shares its last page with other data stays writable.
      o.sealed_from = page_of(begin);
      o.sealed_to = page_of(begin + part.p_memsz);
    }
  }
  static_cast<std::vector<object>*>(list)->push_back(std::move(o));
  return 0;
}

/// Keeps an object loaded. To get it, the loader must have finished whatever it was loading.
class held_object {
 public:
  explicit held_object(const object& o) noexcept
      : handle_(dlopen(o.name.empty() ? nullptr : o.name.c_str(), RTLD_LAZY | RTLD_NOLOAD)) {}
  ~held_object() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  held_object(const held_object&) = delete;
  held_object& operator=(const held_object&) = delete;
  /// Whether it is the same as when it was copied, not another one that has come to its place.
  [[nodiscard]] bool is(const object& o) const noexcept {
    link_map* map = nullptr;
    if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return false;
    return map->l_addr == o.base && reinterpret_cast<std::uintptr_t>(map->l_ld) == o.dynamic;
  }

 private:
  void* const handle_;
};

/// The tables of an object by which its slots are found.
struct tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  std::span<const ElfW(Rela)> calls, others;

  explicit tables(const object& o) noexcept {
    const ElfW(Rela)* first_call = nullptr, *first_other = nullptr;
    std::size_t call_bytes = 0, other_bytes = 0;
    for (const auto* d = at<const ElfW(Dyn)>(o.dynamic); d->d_tag != DT_NULL; ++d) {
      // The loader has made addresses of the offsets, except in what the kernel has mapped.
      const std::uintptr_t address =
          d->d_un.d_ptr < o.base ? o.base + d->d_un.d_ptr : d->d_un.d_ptr;
      if (d->d_tag == DT_SYMTAB) symbols = at<const ElfW(Sym)>(address);
      if (d->d_tag == DT_STRTAB) names = at<const char>(address);
      if (d->d_tag == DT_JMPREL) first_call = at<const ElfW(Rela)>(address);
      if (d->d_tag == DT_RELA) first_other = at<const ElfW(Rela)>(address);
      if (d->d_tag == DT_PLTRELSZ) call_bytes = d->d_un.d_val;
      if (d->d_tag == DT_RELASZ) other_bytes = d->d_un.d_val;
    }
    if (symbols == nullptr || names == nullptr) return;
    if (first_call != nullptr) calls = {first_call, call_bytes / sizeof(ElfW(Rela))};
    if (first_other != nullptr) others = {first_other, other_bytes / sizeof(ElfW(Rela))};
  }
};

/// The loader writes to a slot what was there before, or nothing.
void write_slot(const object& o, std::uintptr_t slot, void* to) noexcept {
  void*& word = *at<void*>(slot);
  if (slot < o.sealed_from || slot >= o.sealed_to) {
    sync::replace_foreign(word, to);
    return;
  }
  void* const page = at<void>(page_of(slot));
  const auto bytes = static_cast<std::size_t>(getpagesize());
  if (word == to || mprotect(page, bytes, PROT_READ | PROT_WRITE) != 0) return;
  sync::replace_foreign(word, to);
  mprotect(page, bytes, PROT_READ);
}

void redirect_in(const object& o, std::span<const redirected_call> calls) noexcept {
  const tables t(o);
  for (const auto& list : {t.calls, t.others}) {
    for (const ElfW(Rela) & slot : list) {
      const auto kind = ELF64_R_TYPE(slot.r_info);
      if (kind != slot_of_call && kind != slot_of_address) continue;
      const std::string_view name = t.names + t.symbols[ELF64_R_SYM(slot.r_info)].st_name;
      for (const redirected_call& call : calls)
        if (name == call.name) write_slot(o, o.base + slot.r_offset, call.to);
    }
  }
}

int read_count(dl_phdr_info* info, std::size_t, void* count) {
  *static_cast<std::size_t*>(count) = info->dlpi_adds;
  return 1;
}

}  // namespace

void* unredirected(const char* name) noexcept {
  void* const found = dlsym(RTLD_DEFAULT, name);
  // In a program that is not position-independent the function may have a stand-in that leads to
  // its slot, and so back to whoever asks.
  Dl_info where{};
  ElfW(Sym)* symbol = nullptr;
  if (found == nullptr ||
      dladdr1(found, &where, reinterpret_cast<void**>(&symbol), RTLD_DL_SYMENT) == 0 ||
      symbol == nullptr || symbol->st_shndx == SHN_UNDEF)
    return dlsym(RTLD_NEXT, name);
  return found;
}

void redirect_calls(std::span<const redirected_call> calls) {
  // What is read below is the loader's: it is walked under its lock, or held by a handle, while
  // other threads have it load and unload.
  const sync::ordered_elsewhere by_the_loader;
  std::vector<object> objects;
  dl_iterate_phdr(&add_object, &objects);
  for (const object& o : objects) {
    if (o.dynamic == 0) continue;
    const held_object held(o);
    if (held.is(o)) redirect_in(o, calls);
  }
}

std::size_t objects_ever_loaded() noexcept {
  std::size_t count = 0;
  dl_iterate_phdr(&read_count, &count);
  return count;
}

}  // namespace heddle::memory
