/* What a packed b of floats is made of, B_TYPE by its ONNX number, and how LANES of its elements become floats. */
#undef B_T
#undef LOAD_B
#if B_TYPE == 1
#define B_T float
#define LOAD_B loadu_
#elif B_TYPE == 10
#define B_T uint16_t
#define LOAD_B(p) load_f16_(p, LANES)
#else
#define B_T uint16_t
#define LOAD_B(p) load_bf16_(p, LANES)
#endif
