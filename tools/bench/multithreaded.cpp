// multithreaded.cpp - the ping-pong and the rate of the common runs, with thread counts competing.
#include "bench/multithreaded.h"

#include <memory>

#include "bench/command.h"

namespace heddle::bench {
namespace {

constexpr const char* pingpong_details =
    R"(T threads of each rank play ping-pong by put, each with its own partner thread.
Latency is half a round trip, the mean over the threads; aggregate bandwidth is
T messages in that time. Up to 8 bytes the receiver polls the word that is put;
above, it waits for a notification, because Heddle does not promise that the last
byte comes last. With --lanes neighbouring threads share a lane.)";

constexpr const char* rate_details =
    R"(T threads of each even rank post operations on random slots of their own part of
a table (put, get), or send to their partner thread (am, tag), with at most
--window in flight each, until the last is known to be complete. The rate is that
of all threads together, in operations per second; opening lanes and exchanging
keys is not timed. Every round measures all thread counts in turn; the ratios are
those of the medians to the first thread count.)";

std::shared_ptr<options> make_options(const std::string& name, kind what) {
  auto o = std::make_shared<options>();
  o->benchmark = name;
  o->base.what = what;
  o->base.op = operation::put;
  o->base.buffers = buffer_kind::exposed;
  o->thread_counts = {1, 2, 4, 8};
  return o;
}

CLI::App& add_command(CLI::App& bench, options& o, const char* help, const char* details) {
  CLI::App& app = *bench.add_subcommand(o.benchmark, help);
  app.footer(details);
  add_sizes(app, o.sizes, "bytes, such as 8,1K,4M")->capture_default_str();
  add_choice(app, "--buffers", o.base.buffers, buffer_names(),
             "ordinary memory, or memory from world::allocate")
      ->default_str("exposed");
  add_job(app, o);
  add_thread_counts(app, o);
  add_lanes(app, o);
  add_rivals(app, o);
  return app;
}

}  // namespace

void add_multithreaded(CLI::App& bench, int& code) {
  const auto pingpong = make_options("mt-pingpong", kind::latency);
  pingpong->aggregate_bandwidth = true;
  pingpong->sizes = {8, 4096};
  add_command(bench, *pingpong, "Put ping-pong of several thread counts", pingpong_details)
      .callback([pingpong, &code] { code = measure(*pingpong); });

  const auto rate = make_options("mt-rate", kind::rate);
  rate->sizes = {8};
  CLI::App& app = add_command(bench, *rate, "Message rate of several thread counts", rate_details);
  add_operation(app, rate->base.op,
                {operation::put, operation::get, operation::am, operation::tag});
  app.add_option("--window", rate->base.window, "operations in flight per thread")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  app.callback([rate, &code] { code = measure(*rate); });
}

}  // namespace heddle::bench
