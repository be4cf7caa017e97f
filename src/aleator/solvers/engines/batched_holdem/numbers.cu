// Numbers in other formats. A C++ compiler that stands in for a device brings its own.
typedef unsigned int u32;
typedef unsigned short u16;

#ifdef __CUDACC_RTC__
static __device__ __forceinline__ float from_half(u16 bits) {
  float x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
static __device__ __forceinline__ u16 to_half(float x) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
static __device__ __forceinline__ float from_bits(u32 bits) { return __uint_as_float(bits); }
static __device__ __forceinline__ u32 to_bits(float x) { return __float_as_uint(x); }
static __device__ __forceinline__ float square_root(float x) {  // about
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(x));
  return root;
}
#endif
