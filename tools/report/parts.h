// SPDX-License-Identifier: BSD-3-Clause
// parts.h - what a page is made of; from the files in tools/report/page when the program is built.
#pragma once
#include <string_view>

namespace heddle::report {

extern const std::string_view page_html;  ///< with @TITLE@, @STYLE@, @DATA@, @CHARTS@, @SCRIPT@
extern const std::string_view page_css;
extern const std::string_view page_script;  ///< reads the data and draws
extern const std::string_view page_charts;  ///< Chart.js

}  // namespace heddle::report
