/* Element type of a float operand b, B_TYPE by its ONNX number, and how LANES of its elements, n of
 * them or one are loaded as floats.
 */
#undef B_T
#undef LOAD_B
#undef LOAD_SOME_B
#undef SPLAT_B
#if B_TYPE == 1
#define B_T float
#define LOAD_B loadu_
#define LOAD_SOME_B load_lanes_
#define SPLAT_B splat_
#elif B_TYPE == 10
#define B_T uint16_t
#define LOAD_B(p) load_f16_(p, LANES)
#define LOAD_SOME_B load_f16_
#define SPLAT_B splat_f16_
#else
#define B_T uint16_t
#define LOAD_B(p) load_bf16_(p, LANES)
#define LOAD_SOME_B load_bf16_
#define SPLAT_B splat_bf16_
#endif
