// SPDX-License-Identifier: BSD-3-Clause
// handle.h - what programs hold of an object: the structure that libibverbs' header lays out, and
// behind it where the object is.
#pragma once

namespace hca {

/// `Api` stays first, so that a pointer to it is one to the handle.
template <class Api, class Object>
struct handle {
  Api api{};
  Object* object = nullptr;
};

/// The object that `api`, a part of a handle<Api, Object>, belongs to.
template <class Object, class Api, class Given>
Object& object_of(Given* api) noexcept {
  return *reinterpret_cast<handle<Api, Object>*>(api)->object;
}

}  // namespace hca
