// module.h - what a backend that is loaded at run time exports, so that the core library links to
// no vendor's library. A module lies beside the library, in heddle/backend_<name>.so.
#pragma once
#include "transport/device.h"

/// The module's one symbol. What it returns lives as long as the process.
extern "C" [[gnu::visibility("default")]] const heddle::transport::factory* heddle_backend_module();
