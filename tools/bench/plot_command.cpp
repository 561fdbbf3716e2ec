// plot_command.cpp - options of `heddle bench plot`.
#include "bench/plot_command.h"

#include <memory>

#include "bench/plot.h"

namespace heddle::bench {

void add_plot(CLI::App& bench, int& exit_code) {
  auto o = std::make_shared<plot_options>();
  CLI::App& app = *bench.add_subcommand("plot", "Figures from records, as in the papers");
  app.add_option("DIR", o->folder, "folder with files of records, from --json")->required();
  app.add_option("--out", o->out, "folder for the figures (default: DIR)");
  app.add_option("--format", o->formats, "png, svg or pdf, several with commas")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember({"png", "svg", "pdf"}))
      ->capture_default_str();
  app.callback([o, &exit_code] { exit_code = plot(*o); });
}

}  // namespace heddle::bench
