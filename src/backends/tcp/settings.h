// settings.h - what users may choose of tcp.
#pragma once
#include <array>

#include "base/setting.h"

namespace heddle::transport::tcp {

inline constexpr setting interfaces =
    text_setting("HEDDLE_TCP_IFACE", "",
                 "network interfaces for tcp, comma-separated, each one a rail; empty: choose");
inline constexpr setting chunk_size = bytes_setting(
    "HEDDLE_TCP_CHUNK_BYTES", "1M", "piece of a large transfer sent in one go", 4 * kib, gib);

inline constexpr std::array own_settings{interfaces, chunk_size};

}  // namespace heddle::transport::tcp
