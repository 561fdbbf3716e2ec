// SPDX-License-Identifier: BSD-3-Clause
// settings.h - what users may choose of tcp.
#pragma once
#include <array>

#include "base/setting.h"

namespace heddle::transport::tcp {

inline constexpr setting interfaces = text_setting(
    "HEDDLE_TCP_IFACE", "",
    "interfaces, addresses and subnets for tcp, comma-separated, each one a rail; with a "
    "! before them left out; empty: choose");
inline constexpr setting chunk_size = bytes_setting(
    "HEDDLE_TCP_CHUNK_BYTES", "1M", "piece of a large transfer sent in one go", 4 * kib, gib);

inline constexpr setting encryption =
    choice_setting("HEDDLE_TCP_CRYPT", "off",
                   "encrypt and authenticate what goes over tcp; the same on all ranks; chacha20: "
                   "never by AES",
                   "off | on | chacha20");
inline constexpr setting listening_ports =
    text_setting("HEDDLE_TCP_PORTS", "",
                 "ports at which ranks listen, such as 7000-7099; empty: any that are free");
inline constexpr setting advertised =
    text_setting("HEDDLE_TCP_ADVERTISE", "",
                 "addresses that peers are told, comma-separated, where others see this host by "
                 "another one (NAT, containers); of several rails one each");

inline constexpr std::array own_settings{interfaces, chunk_size, encryption, listening_ports,
                                         advertised};

}  // namespace heddle::transport::tcp
