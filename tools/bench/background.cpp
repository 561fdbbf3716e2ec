// background.cpp - ping-pongs whose threads post, and then only look at a flag of their own.
#include "bench/background.h"

#include <sched.h>

#include "bench/command.h"
#include "bench/exchange.h"

namespace heddle::bench {
namespace {

constexpr const char* details =
    R"(Neither side ever polls or waits in Heddle while it is timed: each posts, and then
looks at a flag in its own memory with sched_yield between two looks. A completion
(tag) or a handler (am) sets the flag; what runs it is Heddle's executor thread, or
a post that finds something to do. Latency is half a round trip. Large messages go
by rendezvous, so that several steps of the protocol happen in the background.
After PM2's nm_bench_background_progression, which spins in the same way.)";

template <class Condition>
void yield_until(Condition&& met) {
  while (!met()) sched_yield();
}

/// Posts until accepted, without driving the lane.
template <class Attempt>
status post_from_outside(Attempt&& attempt) {
  status s = attempt();
  for (; is_busy(s); s = attempt()) sched_yield();
  require(s, "post");
  return s;
}

/// One operation at a time and the flag it ends in.
class watched {
 public:
  /// `attempt` is given the completion.
  template <class Attempt>
  void post(Attempt&& attempt) {
    ended_.reset();
    in_flight_ = post_from_outside([&] { return attempt(completion(ended_)); }) == status::posted;
  }
  void finish() {
    if (!in_flight_) return;
    yield_until([this] { return ended_.ready(); });
    require(ended_.result().code, "complete");
    in_flight_ = false;
  }

 private:
  flag ended_;
  bool in_flight_ = false;
};

class background_tag final : public exchange {
 public:
  explicit background_tag(const seat& s) : seat_(s) {}
  void initiate(std::uint64_t count, stopwatch& watch) override {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      post_receive(purpose::answer);
      post_send(purpose::data);
      received_.finish();
      sent_.finish();
      watch.lap();
    }
  }
  void prepare() override { post_receive(purpose::data); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      received_.finish();
      if (i < count) post_receive(purpose::data);
      post_send(purpose::answer);
      sent_.finish();
    }
  }

 private:
  void post_receive(purpose p) {
    received_.post([&](completion c) {
      return seat_.own_lane().try_recv(seat_.at.peer(), seat_.tag_for(p),
                                       seat_.gear.landing(seat_.thread, 0), c);
    });
  }
  void post_send(purpose p) {
    sent_.post([&](completion c) {
      return seat_.own_lane().try_send(seat_.at.peer(), seat_.tag_for(p),
                                       seat_.gear.source(seat_.thread), c);
    });
  }

  seat seat_;
  watched received_, sent_;
};

/// The handlers on both sides count; the threads answer.
class background_call final : public exchange {
 public:
  explicit background_call(const seat& s) : seat_(s) {}
  void initiate(std::uint64_t count, stopwatch& watch) override {
    std::uint64_t arrived = seat_.box().arrived.count();
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      call();
      await(++arrived);
      sent_.finish();
      watch.lap();
    }
  }
  void prepare() override { before_ = seat_.box().arrived.count(); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      await(before_ + i);
      call();
      sent_.finish();
    }
  }

 private:
  void await(std::uint64_t arrived) {
    yield_until([&] { return seat_.box().arrived.count() >= arrived; });
  }
  void call() {
    const auto handler = static_cast<handler_id>(count_handlers + seat_.thread);
    const std::span<const std::byte> data = seat_.gear.source(seat_.thread);
    sent_.post([&](completion c) {
      return seat_.own_lane().try_call(seat_.at.peer(), handler, {}, data, c);
    });
  }

  seat seat_;
  watched sent_;
  std::uint64_t before_ = 0;
};

}  // namespace

std::unique_ptr<exchange> make_background(const seat& s) {
  if (s.what.op == operation::tag) return std::make_unique<background_tag>(s);
  return std::make_unique<background_call>(s);
}

void add_background(CLI::App& bench, int& code) {
  auto o = std::make_shared<options>();
  o->benchmark = "background";
  o->base.background = true;
  o->base.op = operation::tag;
  o->sizes = {8, 65536};
  CLI::App& app = *bench.add_subcommand("background", "Ping-pong in which nobody polls or waits");
  app.footer(details);
  add_operation(app, o->base.op, {operation::am, operation::tag});
  add_sizes(app, o->sizes, "bytes, such as 8,1K,4M")->capture_default_str();
  add_job(app, *o);
  add_thread_counts(app, *o);
  app.callback([o, &code] { code = measure(*o); });
}

}  // namespace heddle::bench
