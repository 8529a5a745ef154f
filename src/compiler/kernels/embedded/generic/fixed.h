/* Fixed point in 64 bits: round(a b / 2^31), a / 2^bits to nearest with halves away from zero, and
 * the range of int32.
 */
const int64_t half = (int64_t)1 << 30;
#define FIXED_MULTIPLY(a, b) (((a) * (b) + ((a) * (b) >= 0 ? half : 1 - half)) / ((int64_t)1 << 31))
#define FIXED_SHIFT(a, mask, bits) (((a) >> (bits)) + (((a) & (mask)) > ((mask) >> 1) + ((a) < 0)))
#define FIXED_SATURATE(a) ((a) > INT32_MAX ? INT32_MAX : (a) < INT32_MIN ? INT32_MIN : (a))
