// SPDX-License-Identifier: BSD-3-Clause
// library.h - what a kernel asks of a library: the words that every file of libraries/ speaks.
//
// A library is a class L, one of two ranks, and L::path, one of its threads that talks to the
// thread of the same number at the other rank. A kernel is a template over the path and exists
// once, so what differs between two figures is the library. A path offers:
//
//   place at(offset)            a byte of the partner's table; std::byte* here(offset) is our own
//
//   put_word(value, to)         a word, of which the library keeps a copy;
//                               with a third argument only its low 1 to 8 bytes
//   put(to) get(from)           as many bytes as the spec says, from the source, into a landing
//   put_told(to)                the same, and the partner learns that the bytes are there
//   fetch_add(at)               1, to a word; the old value comes back
//   exclusive_or(value, at)     to a word, nothing comes back;  get_word(from): now
//   send(m) recv(m)             a tagged message of the spec's bytes;  deliver(m): until it is sent
//   call(m)                     an active message
//   arrived() await_arrived(n)  how many calls, and puts that tell, have come in all
//   drain()                     waits for the ends of all that was begun
//   flush()                     after drain(): waits until the partner has all that was put
//   progress()                  what must be called between two looks at memory
//   notify() await_notice()     an empty word to the partner thread, which waits in the library
//
// Of a library itself, where it has them, for each thread:
//
//   make_stream(thread)         large tagged messages on the same path, of spec.beside_bytes:
//     send() receive()          one is under way to, or from, the partner from now on; each call
//                               begins the next when one has ended
//     end_sending() end_receiving()  when both have called one of these, none is under way
//   make_aside(thread)          words of a ping-pong: recv deliver call arrived
//                               await_arrived drain, which begin, and end, without ever driving
//                               the library: somebody else moves the message meanwhile
//
// Operations are begun; each waits first while as many as spec.window are under way. What a library
// does not have it leaves out: a kernel that needs it is then refused by "not offered".
#pragma once
#include <stdexcept>

namespace heddle::bench {

/// Of the two threads: what one sends, and what the other answers.
enum class message { data, answer };

/// A kernel was asked for that this library has no words for.
struct not_offered : std::runtime_error {
  not_offered() : std::runtime_error("this library does not offer the operation") {}
};

template <class P>
concept has_table = requires(P& p) {
  p.put(p.at(0));
};
template <class P>
concept has_tags = requires(P& p) {
  p.send(message::data);
};
template <class P>
concept has_calls = requires(P& p) {
  p.call(message::data);
};
template <class P>
concept has_updates = requires(P& p) {
  p.exclusive_or(1, p.at(0));
};

}  // namespace heddle::bench
