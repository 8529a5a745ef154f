/* Shared by sliding windows: the window's numbers per spatial dimension. For one tap, whose
 * elements are `shift` past stride times the index: the indices [first, last) of the first `most`
 * of a row for which the tap is within the `length` elements of the other side. Used within a
 * function.
 */
#define TAP_SPAN(length, most)                                                    \
  int64_t first = shift >= 0 ? 0 : (-shift + stride[2] - 1) / stride[2];          \
  int64_t last = (length) > shift ? ((length) - 1 - shift) / stride[2] + 1 : 0;   \
  if (last > (most)) last = most
  const int64_t id[] = WINDOW_IN, kd[] = WINDOW_KERNEL, od[] = WINDOW_OUT;
  const int64_t stride[] = WINDOW_STRIDE, dilation[] = WINDOW_DILATION, pad[] = WINDOW_PAD_BEGIN;
  const int64_t plane = od[0] * od[1] * od[2], image = id[0] * id[1] * id[2];
