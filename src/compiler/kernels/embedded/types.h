/* Element types of a and c, loads and stores of a vector of them (several at once if that is
 * cheaper), and the epilogue's result type for c. A_TYPE, C_TYPE: ONNX numbers.
 */
#undef A_T
#undef LOAD_A
#undef C_T
#undef STORE_C
#undef STORE_TWO
#undef STORE_FOUR
#undef RESULT_T
#if A_TYPE == 1
#define A_T float
#define LOAD_A load_lanes_
#elif A_TYPE == 2
#define A_T uint8_t
#define LOAD_A load_u8_
#elif A_TYPE == 3
#define A_T int8_t
#define LOAD_A load_i8_
#elif A_TYPE == 10
#define A_T uint16_t
#define LOAD_A load_f16_
#else
#define A_T uint16_t
#define LOAD_A load_bf16_
#endif
#if C_TYPE == 1
#define C_T float
#define STORE_C store_lanes_
#elif C_TYPE == 2
#define C_T uint8_t
#if SATURATES
#define STORE_C saturate_u8 /* saturated */
#else
#define STORE_C narrow_u8 /* truncated */
#endif
#elif C_TYPE == 3
#define C_T int8_t
#if SATURATES
#define STORE_C saturate_i8 /* saturated */
#else
#define STORE_C narrow_i8 /* truncated */
#endif
#elif C_TYPE == 6
#define C_T int32_t
#define STORE_C narrow_i32
#elif C_TYPE == 10
#define C_T uint16_t
#define STORE_C store_f16_
#else
#define C_T uint16_t
#define STORE_C store_bf16_
#endif
#if SATURATES && defined SATURATE_TWO_ && C_TYPE == 2
#define STORE_TWO(p, x, q, y) SATURATE_TWO_("vpackuswb", p, x, q, y)
#define STORE_FOUR(p, x0, x1, q, y0, y1) SATURATE_FOUR_("vpackuswb", p, x0, x1, q, y0, y1)
#elif SATURATES && defined SATURATE_TWO_ && C_TYPE == 3
#define STORE_TWO(p, x, q, y) SATURATE_TWO_("vpacksswb", p, x, q, y)
#define STORE_FOUR(p, x0, x1, q, y0, y1) SATURATE_FOUR_("vpacksswb", p, x0, x1, q, y0, y1)
#endif
#if C_TYPE == 1 || C_TYPE == 10 || C_TYPE == 16
#define RESULT_T vec
#else
#define RESULT_T veci
#endif
