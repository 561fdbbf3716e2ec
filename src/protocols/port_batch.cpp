// port_batch.cpp - commands that were queued go to the wire together: one post for many operations,
// so that a backend rings once, writes once, or posts its descriptors at once.
#include "protocols/port.h"

namespace heddle::protocols {

void port::begin_batch() {
  if (!batch_) batch_ = std::make_unique<wire_batch>();
  batching_ = true;
}

void port::end_batch(delivery_batch& out) {
  out_ = &out;
  batching_ = false;
  post_batch();
}

/// A message that travels whole and needs no record, unless the wire has no room for it.
void port::batch_message(link& l, const command& c) {
  wire_batch::entry& e = batch_->entries[batch_->size];
  e.to = &l;
  e.of = nullptr;
  e.message = c;
  e.head.emplace(eager_prefix(c));
  describe_message(l, *e.head, c.memory, e.op);
  add_to_batch(e.op);
}

/// An operation of the wire's own, which has its record already.
void port::batch_access(link& l, record& r) {
  wire_batch::entry& e = batch_->entries[batch_->size];
  e.to = &l;
  e.of = &r;
  add_to_batch(r);
}

/// Posts a full one at once: whether the link is blocked then is looked at before the next is
/// added.
void port::add_to_batch(transport::op& o) {
  batch_->ops[batch_->size++] = &o;
  if (batch_->size == wire_batch::most) post_batch();
}

/// What the wire refuses goes into the backlog of its link, and so does all for the same link
/// behind it; other links' go on.
void port::post_batch() {
  if (!batch_) return;
  const std::size_t size = batch_->size;
  batch_->size = 0;
  for (std::size_t i = 0; i < size;) {
    if (batch_->entries[i].to->blocked) {
      keep_back(batch_->entries[i++]);
      continue;
    }
    const std::size_t end = end_of_run(i, size);
    const auto [taken, reason] =
        batch_->entries[i].to->wire->post(std::span(batch_->ops).subspan(i, end - i));
    if (taken > 1) {
      counters_.posts_together.add();
      counters_.posted_together.add(taken);
    }
    for (const std::size_t behind = i + taken; i < behind; ++i)
      was_posted(i, batch_->ops[i]->over ? status::done : status::posted);
    if (i == end) continue;
    if (reason == status::busy_queue || reason == status::peer_lost)
      keep_back(batch_->entries[i++]);
    else
      was_posted(i++, reason);
  }
}

/// Up to where the operations are for one endpoint, and for links with nothing in their way.
std::size_t port::end_of_run(std::size_t from, std::size_t size) const noexcept {
  const transport::endpoint* const wire = batch_->entries[from].to->wire;
  std::size_t i = from + 1;
  while (i < size && batch_->entries[i].to->wire == wire && !batch_->entries[i].to->blocked) ++i;
  return i;
}

void port::was_posted(std::size_t i, status code) {
  const wire_batch::entry& e = batch_->entries[i];
  if (e.of == nullptr) {
    const bool sent = code == status::done;
    if (sent) counters_.eager.add();
    if (!sent) e.to->credit += credit_of(e.message);
    out_->add(e.message.done, {.code = code,
                               .peer = e.message.peer,
                               .tag = 0,
                               .bytes = sent ? e.message.memory.size() : 0});
  } else if (code == status::posted) {
    e.of->native = true;
    e.of->at = stage::wire;
  } else if (code == status::unsupported) {  // not this region
    emulate(*e.to, *e.of);
  } else {
    end(*e.of, code);
  }
}

void port::keep_back(const wire_batch::entry& e) {
  if (e.of != nullptr) return enqueue(*e.to, *e.of);
  record& r = begin(e.to, e.message);
  r.eager = true;
  enqueue(*e.to, r);
}

}  // namespace heddle::protocols
