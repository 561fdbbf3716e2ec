// json_file.h - the results as one JSON document.
#pragma once
#include <string>

#include "linktest/run_facts.h"

namespace heddle::linktest {

/// Version of the document's structure; rises when a reader would have to change.
inline constexpr int json_schema_version = 1;

/// The whole document. Values that were not measured are null; seconds and bytes per second.
[[nodiscard]] std::string to_json(const run_facts& facts, const results& all);

}  // namespace heddle::linktest
