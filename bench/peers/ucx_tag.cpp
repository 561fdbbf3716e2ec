// ucx_tag.cpp - tagged messages: there and back, a window one way, and one at a time for overlap.
#include "peers/ucx_party.h"

namespace heddle::peers {
namespace {

class tag_exchange : public exchange {
 public:
  explicit tag_exchange(const ucx_seat& s)
      : own_(s),
        bytes_(static_cast<std::size_t>(s.what.what.bytes)),
        source_(bytes_),
        landings_(bytes_ * static_cast<std::size_t>(s.what.what.window)) {}

 protected:
  void send(ucx_thread::purpose p, std::size_t bytes) {
    ucx_request sent = own_.send(p, source_.data(), bytes);
    own_.finish(sent, "ucp_tag_send_nbx");
  }
  ucx_request receive(ucx_thread::purpose p, std::size_t slot) {
    return own_.receive(p, landings_.data() + slot * bytes_, bytes_);
  }
  void finish(ucx_request& request) { own_.finish(request, "a tagged message"); }

  ucx_thread own_;
  std::size_t bytes_;
  buffer source_;
  buffer landings_;  // one for each slot of the window
};

/// Every receive is posted before what it waits for is sent.
class tag_ping final : public tag_exchange {
 public:
  using tag_exchange::tag_exchange;
  void initiate(std::uint64_t count) override {
    for (std::uint64_t i = 0; i < count; ++i) {
      request_ = receive(ucx_thread::answer, 0);
      send(ucx_thread::data, bytes_);
      finish(request_);
    }
  }
  void prepare() override { request_ = receive(ucx_thread::data, 0); }
  void respond(std::uint64_t count) override {
    for (std::uint64_t i = 1; i <= count; ++i) {
      finish(request_);
      if (i < count) request_ = receive(ucx_thread::data, 0);
      send(ucx_thread::answer, bytes_);
    }
  }

 private:
  ucx_request request_ = nullptr;
};

/// The target answers once, after the last.
class tag_flood final : public tag_exchange {
 public:
  explicit tag_flood(const ucx_seat& s)
      : tag_exchange(s), requests_(static_cast<std::size_t>(s.what.what.window), nullptr) {}
  void initiate(std::uint64_t count) override {
    run(count, [this](std::size_t) { return own_.send(ucx_thread::data, source_.data(), bytes_); });
    ucx_request answered = receive(ucx_thread::answer, 0);
    finish(answered);
  }
  void respond(std::uint64_t count) override {
    run(count, [this](std::size_t slot) { return receive(ucx_thread::data, slot); });
    send(ucx_thread::answer, 0);
  }

 private:
  /// A slot is used again when its operation has ended.
  template <class F>
  void run(std::uint64_t count, F&& post) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::size_t slot = i % requests_.size();
      finish(requests_[slot]);
      requests_[slot] = post(slot);
    }
    for (ucx_request& request : requests_) finish(request);
  }
  std::vector<ucx_request> requests_;
};

class tag_side final : public bench::overlap_side {
 public:
  tag_side(const ucx_seat& s, bool sends)
      : own_(s),
        sends_(sends),
        bytes_(static_cast<std::size_t>(s.what.what.bytes)),
        memory_(bytes_) {}
  void prepare() override {
    if (!sends_) return;
    ucx_request ready = own_.receive(ucx_thread::answer, memory_.data(), 0);
    own_.finish(ready, "hear of the receive");
  }
  void post() override {
    if (sends_) {
      request_ = own_.send(ucx_thread::data, memory_.data(), bytes_);
      return;
    }
    request_ = own_.receive(ucx_thread::data, memory_.data(), bytes_);
    ucx_request ready = own_.send(ucx_thread::answer, memory_.data(), 0);
    own_.finish(ready, "tell of the receive");
  }
  void wait() override { own_.finish(request_, "the message"); }

 private:
  ucx_thread own_;
  bool sends_;
  std::size_t bytes_;
  buffer memory_;
  ucx_request request_ = nullptr;
};

}  // namespace

std::unique_ptr<exchange> make_tag_exchange(const ucx_seat& s) {
  if (s.what.what.what == kind::latency) return std::make_unique<tag_ping>(s);
  return std::make_unique<tag_flood>(s);
}

std::unique_ptr<bench::overlap_side> make_tag_side(const ucx_seat& s, bool sends) {
  return std::make_unique<tag_side>(s, sends);
}

}  // namespace heddle::peers
