// SPDX-License-Identifier: BSD-3-Clause
// tcp.h - the backend for peers anywhere: TCP, IPv4 and IPv6, over one or several interfaces.
#pragma once
#include "transport/device.h"

namespace heddle::transport::tcp {

/// "tcp". Opening throws heddle::error when HEDDLE_TCP_IFACE names nothing there is.
[[nodiscard]] const factory& tcp_factory() noexcept;

}  // namespace heddle::transport::tcp
