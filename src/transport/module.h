// SPDX-License-Identifier: BSD-3-Clause
// module.h - what a backend that is loaded at run time exports, so that the core library links to
// no vendor's library. A module lies in heddle/backend_<name>.so beside the library, or in a folder
// of HEDDLE_MODULE_PATH, and is built against the headers of this library.
#pragma once
#include <cstdint>

#include "transport/device.h"

namespace heddle::transport {

/// Of everything in src/transport and what it includes: raised with each change that a module built
/// before would not survive.
inline constexpr std::uint32_t module_abi = 10;

/// The first two members stay as they are for ever: by them a module of another time is recognised.
struct module_description {
  std::uint32_t abi = module_abi;
  std::uint32_t bytes = sizeof(module_description);
  const factory& (*backend)() = nullptr;  ///< what it returns lives as long as the process
};

}  // namespace heddle::transport

/// Once in each module; `get` is a function without arguments that returns its factory.
#define HEDDLE_BACKEND_MODULE(get)                                                          \
  extern "C" [[gnu::visibility(                                                             \
      "default")]] const ::heddle::transport::module_description heddle_module_description{ \
      .backend = &(get)};
