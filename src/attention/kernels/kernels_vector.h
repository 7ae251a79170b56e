// The vector types that the kernel bodies are written in: the compilers' own (arithmetic, comparison and
// selection are the usual operators), and the three operations that these do not express well. Included once
// per instruction set, with KERNEL_LANES and KERNEL_NAMESPACE defined. Private to the kernels.
//
// Highway was considered. It has no relaxed SIMD for WebAssembly, so the most important operation would have
// to be written here anyway; the kernels need so little of the rest that this file replaces it and compiles
// in a tenth of the time.

#include <cstddef>
#include <cstdint>

#if KERNEL_LANES > 1 && defined(__wasm_simd128__)
#include <wasm_simd128.h>
#elif KERNEL_LANES > 1
#include <immintrin.h>
#endif

namespace attention::kernels::KERNEL_NAMESPACE {
namespace {

constexpr int kLanes = KERNEL_LANES;

#if KERNEL_LANES == 1
using V = float;
using I = std::int32_t;
using Bits = std::uint32_t;
using Bytes = std::uint8_t;
#else
typedef float V __attribute__((vector_size(KERNEL_LANES * 4)));
typedef std::int32_t I __attribute__((vector_size(KERNEL_LANES * 4)));
typedef std::uint32_t Bits __attribute__((vector_size(KERNEL_LANES * 4)));
typedef std::uint8_t Bytes __attribute__((vector_size(KERNEL_LANES)));
#endif

#define KERNEL_INLINE inline __attribute__((always_inline))
// Placed before a loop over registers, so that it is unrolled early enough for its array to stay in
// registers. GCC at -O3 unrolls such loops too, but late (spills in the inner loop, 7 % slower). Clang needs
// no hint.
#define KERNEL_UNROLL _Pragma("GCC unroll 16")

KERNEL_INLINE V load(const float* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
KERNEL_INLINE void store(float* to, V v) { __builtin_memcpy(to, &v, sizeof v); }

#if KERNEL_LANES == 1
KERNEL_INLINE V set(float x) { return x; }
KERNEL_INLINE V mulAdd(V a, V b, V c) { return a * b + c; }
KERNEL_INLINE V largerOf(V a, V b) { return a > b ? a : b; }
#elif defined(__wasm_relaxed_simd__)
KERNEL_INLINE V set(float x) { return (V)wasm_f32x4_splat(x); }
KERNEL_INLINE V mulAdd(V a, V b, V c) { return (V)wasm_f32x4_relaxed_madd((v128_t)a, (v128_t)b, (v128_t)c); }
KERNEL_INLINE V largerOf(V a, V b) { return (V)wasm_f32x4_pmax((v128_t)a, (v128_t)b); }
#elif defined(__wasm_simd128__)
KERNEL_INLINE V set(float x) { return (V)wasm_f32x4_splat(x); }
KERNEL_INLINE V mulAdd(V a, V b, V c) { return a * b + c; }
KERNEL_INLINE V largerOf(V a, V b) { return (V)wasm_f32x4_pmax((v128_t)a, (v128_t)b); }
#elif KERNEL_LANES == 4
KERNEL_INLINE V set(float x) { return _mm_set1_ps(x); }
KERNEL_INLINE V mulAdd(V a, V b, V c) { return a * b + c; }
KERNEL_INLINE V largerOf(V a, V b) { return _mm_max_ps(a, b); }
#elif KERNEL_LANES == 8
KERNEL_INLINE V set(float x) { return _mm256_set1_ps(x); }
KERNEL_INLINE V mulAdd(V a, V b, V c) { return _mm256_fmadd_ps(a, b, c); }
KERNEL_INLINE V largerOf(V a, V b) { return _mm256_max_ps(a, b); }
#elif KERNEL_LANES == 16
KERNEL_INLINE V set(float x) { return _mm512_set1_ps(x); }
KERNEL_INLINE V mulAdd(V a, V b, V c) { return _mm512_fmadd_ps(a, b, c); }
// With a mask of all lanes, because GCC 12 warns about the undefined operand inside its own _mm512_max_ps.
KERNEL_INLINE V largerOf(V a, V b) { return _mm512_mask_max_ps(a, 0xffff, a, b); }
#endif

/// Keeps numbers in memory that would otherwise become constants. When V8 has no register left for a constant
/// vector, it builds it from two integers each time, four instructions; loading it from memory is one.
template <class T>
KERNEL_INLINE const T* inMemory(const T* numbers) {
#if KERNEL_LANES > 1 && defined(__wasm_simd128__)
  asm("" : "+r"(numbers));
#endif
  return numbers;
}

KERNEL_INLINE V smallerOf(V a, V b) { return -largerOf(-a, -b); }
KERNEL_INLINE Bits bitsOf(V v) { return __builtin_bit_cast(Bits, v); }
KERNEL_INLINE Bits largerOf(Bits a, Bits b) { return a > b ? a : b; }
#if KERNEL_LANES > 1
KERNEL_INLINE std::uint32_t bitsOf(float x) { return __builtin_bit_cast(std::uint32_t, x); }
KERNEL_INLINE std::uint32_t largerOf(std::uint32_t a, std::uint32_t b) { return a > b ? a : b; }
#endif
KERNEL_INLINE V fromBits(Bits bits) { return __builtin_bit_cast(V, bits); }

/// first, first + 1, …
KERNEL_INLINE I countFrom(int first) {
  std::int32_t lanes[KERNEL_LANES];
  for (int i = 0; i < KERNEL_LANES; ++i) lanes[i] = first + i;
  I v;
  __builtin_memcpy(&v, lanes, sizeof v);
  return v;
}

KERNEL_INLINE I widen(const std::uint8_t* bytes) {
  Bytes b;
  __builtin_memcpy(&b, bytes, sizeof b);
#if KERNEL_LANES == 1
  return b;
#else
  return __builtin_convertvector(b, I);
#endif
}

typedef float Four __attribute__((vector_size(16)));

#if KERNEL_LANES == 1
template <class Combine>
KERNEL_INLINE float fold(V v, Combine) {
  return v;
}
#else

/// Combines each lane with the one half a vector away until one is left, so that the order of operations, and
/// with it the rounding, is the same for every compiler. GCC needs 40 cycles for the obvious loop over an
/// array of lanes, which goes through memory.
template <class Combine>
KERNEL_INLINE float fold(Four v, Combine combine) {
  const Four pairs = combine(v, __builtin_shufflevector(v, v, 2, 3, 0, 1));
  return combine(pairs, __builtin_shufflevector(pairs, pairs, 1, 0, 3, 2))[0];
}
#if KERNEL_LANES >= 8
typedef float Eight __attribute__((vector_size(32)));
template <class Combine>
KERNEL_INLINE float fold(Eight v, Combine combine) {
  return fold(combine(__builtin_shufflevector(v, v, 0, 1, 2, 3), __builtin_shufflevector(v, v, 4, 5, 6, 7)),
              combine);
}
#endif
#if KERNEL_LANES == 16
template <class Combine>
KERNEL_INLINE float fold(V v, Combine combine) {
  return fold(combine(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                      __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)),
              combine);
}
#endif
#endif

KERNEL_INLINE float sumOfLanes(V v) {
  return fold(v, [](auto a, auto b) { return a + b; });
}
KERNEL_INLINE float largestLane(V v) {
  return fold(v, [](auto a, auto b) { return a > b ? a : b; });
}

}  // namespace
}  // namespace attention::kernels::KERNEL_NAMESPACE
