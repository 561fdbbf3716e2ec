// SPDX-License-Identifier: BSD-3-Clause
// sion_fuzz.cpp - whatever bytes a SION file has, they are refused or read within their bounds, and
// so are the records of LinkTest in them.
#include <heddle/status.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "linktest/results/linktest1.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace heddle::linktest;
  try {
    sion_part part = parse_sion({reinterpret_cast<const char*>(data), size});
    std::size_t total = 0;
    for (const std::string& stream : part.streams) total += stream.size();
    if (total > size) std::abort();
    (void)from_linktest1({std::move(part.streams), part.big_endian, std::move(part.name)});
  } catch (const heddle::error&) {
    return 0;
  }
  return 0;
}
