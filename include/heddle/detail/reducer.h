// SPDX-License-Identifier: BSD-3-Clause
// reducer.h - how the reducing collectives combine buffers whose type they do not know.
#pragma once
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>

namespace heddle {

/// Operations of reduce and allreduce. Integers wrap. min and max of anything and a NaN are NaN.
/// The bit_ ones are for integers only.
enum class reduce_op : std::uint8_t { sum, min, max, prod, bit_and, bit_or, bit_xor };

/// What reduce_op works on.
template <class T>
concept reducible = std::is_arithmetic_v<T> && !std::same_as<T, bool>;

/// Two values of T give a T; which comes first, and which two are combined first, must not matter.
template <class F, class T>
concept commutative_operation = std::is_trivially_copyable_v<T> &&
                                    alignof(T) <= alignof(std::max_align_t) &&
                                std::is_invocable_r_v<T, const F&, const T&, const T&>;

namespace detail {

/// into[i] = op(into[i], from[i]) for `items` items.
struct reducer {
  using function = void (*)(const void* context, std::byte* into, const std::byte* from,
                            std::size_t items) noexcept;
  std::size_t item_bytes = 0;
  function combine = nullptr;  ///< null: the type has no such operation
  const void* context = nullptr;

  void operator()(std::span<std::byte> into, std::span<const std::byte> from) const noexcept {
    combine(context, into.data(), from.data(), into.size() / item_bytes);
  }
};

/// Arithmetic without overflow: at least as wide as unsigned, or a floating type itself.
template <class T>
struct wide {
  using type = std::common_type_t<std::make_unsigned_t<T>, unsigned>;
};
template <std::floating_point T>
struct wide<T> {
  using type = T;
};

template <class T>
bool is_nan(T value) noexcept {
  if constexpr (std::floating_point<T>) return std::isnan(value);
  return false;
}

template <class T, class F>
reducer elementwise(F) noexcept {
  return {sizeof(T),
          [](const void*, std::byte* into, const std::byte* from, std::size_t items) noexcept {
            auto* const a = reinterpret_cast<T*>(into);
            const auto* const b = reinterpret_cast<const T*>(from);
            for (std::size_t i = 0; i < items; ++i) a[i] = F{}(a[i], b[i]);
          }};
}

/// `F` computed in the wide type and cut back to T.
template <class T, class F>
reducer arithmetic() noexcept {
  using wide_type = typename wide<T>::type;
  return elementwise<T>([](T a, T b) noexcept {
    return static_cast<T>(F{}(static_cast<wide_type>(a), static_cast<wide_type>(b)));
  });
}

template <class T, class F>
reducer bitwise() noexcept {
  if constexpr (std::integral<T>) return arithmetic<T, F>();
  return {sizeof(T)};
}

template <reducible T>
reducer reducer_for(reduce_op op) noexcept {
  switch (op) {
    case reduce_op::sum:
      return arithmetic<T, std::plus<>>();
    case reduce_op::prod:
      return arithmetic<T, std::multiplies<>>();
    case reduce_op::min:
      return elementwise<T>([](T a, T b) noexcept { return a < b || is_nan(a) ? a : b; });
    case reduce_op::max:
      return elementwise<T>([](T a, T b) noexcept { return a > b || is_nan(a) ? a : b; });
    case reduce_op::bit_and:
      return bitwise<T, std::bit_and<>>();
    case reduce_op::bit_or:
      return bitwise<T, std::bit_or<>>();
    case reduce_op::bit_xor:
      return bitwise<T, std::bit_xor<>>();
  }
  return {sizeof(T)};
}

/// `operation` must outlive the reducer.
template <class T, commutative_operation<T> F>
reducer reducer_for(const F& operation) noexcept {
  return {
      sizeof(T),
      [](const void* context, std::byte* into, const std::byte* from, std::size_t items) noexcept {
        const F& apply = *static_cast<const F*>(context);
        auto* const a = reinterpret_cast<T*>(into);
        const auto* const b = reinterpret_cast<const T*>(from);
        for (std::size_t i = 0; i < items; ++i) a[i] = apply(a[i], b[i]);
      },
      &operation};
}

}  // namespace detail
}  // namespace heddle
