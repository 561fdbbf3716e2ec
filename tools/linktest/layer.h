// SPDX-License-Identifier: BSD-3-Clause
// layer.h - which wire and which of its rails a measurement goes over.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace heddle::linktest {

/// Everything else has a layer's name: "tcp" is a backend with all of its rails, "tcp.rail1" one of
/// them alone, and "auto" what HEDDLE_BACKENDS says. HEDDLE_BACKENDS takes such names as well.
struct layer {
  std::string backend;
  int rail = -1;  ///< from 0; -1: all of them
};

inline constexpr int most_rails = 64;

/// Of any name: one that is not as above is a backend's.
[[nodiscard]] layer layer_named(std::string_view name);
[[nodiscard]] std::string name_of(const layer& of);

/// The layers that a list of words with commas between them stands for, each once: "tcp" and
/// "tcp.rail1" for themselves, "tcp.rail0-3" for four. Throws error where a word names none of
/// `backends`, with what is accepted.
[[nodiscard]] std::vector<std::string> layers_in(const std::string& list,
                                                 const std::vector<std::string>& backends);

/// For people: the layer, or of "auto" the wires that were in use.
[[nodiscard]] std::string in_words(const std::string& layer,
                                   const std::vector<std::string>& routes);

/// Whether a route of a world, which is the name of a device, is over the layer's backend.
[[nodiscard]] bool is_over(std::string_view route, const layer& of);

}  // namespace heddle::linktest
