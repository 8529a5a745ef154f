/* plain kernels: one text an op, correct for every shape, attribute and element type, on all threads.
 * The last candidate: what no row of kernels.def takes runs here. Knows only libc.
 *
 * File text/plain/OP.c defines
 *   int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end)
 * which does units [begin, end) of the step, 0 <= begin <= end <= UNITS, and returns 0 or a
 * hone_status number. What a unit is says the row: units() counts them from the shapes, and the text
 * splits its outer loop in the same way. Units are independent: threads run them in any order and in
 * any split, and the output's bits must not depend on it. Each thread has its own scratch.
 * Where the outer loop cannot be split, units is units_one and `serial` says why.
 *
 * A text uses, all literals:
 *   UNITS             units of the whole step; GENERIC_LINES of units_lines
 *   IN_COUNT OUT_COUNT, and for each k:  INk_PRESENT (0/1), INk_T (C type: float, double, int64_t,
 *   ..., unsigned char for bool), INk_RANK, INk_DIMS {a,b,..} (at least one entry), INk_COUNT;
 *   OUTk_* likewise. Operands are dense row-major in ONNX order and do not overlap.
 *   INk_OPEN 1, INk_EXTENTS {0,n,..}  only where a size is known at run time: dims hold its bound,
 *   extents[n] the size (0: fixed), extents being out[OUT_COUNT]; OUTk_* likewise, and the text that
 *   makes an open output writes its size. Lines lie as far apart as the bounds say.
 *   INk_IS_TEXT (0/1)  INk_T is struct hone_text; new text comes from text_room_(out[OUT_COUNT + 1], ..)
 *   ATTR_name        an int or float attribute of the node; only those present are defined
 *   ATTR_name        {a,b,..} for ints/floats, with ATTR_name_COUNT
 *   WINDOW_IN, WINDOW_KERNEL, WINDOW_OUT, WINDOW_STRIDE, WINDOW_DILATION, WINDOW_PAD_BEGIN and
 *   WINDOW_PAD_END {a,b,c} where the node has a window: core/ops/operators/window.c has read strides, pads, auto_pad
 *   and the rest of its attributes
 *   ATTR_name_IS_word 1  for a string attribute (word in a closed list, e.g. ATTR_mode_IS_linear)
 * and the vectors of simd.h. What several texts begin with is a text of its own that they #include
 * ("generic/lines.h"), defines before it saying what differs. It gives ONNX defaults with #ifndef, and may #define helpers if it
 * #undefs them at its end. Run-time indices are range-checked: return HONE_E_SHAPE (8).
 *
 * Texts are compiled with the compiler's vectoriser on (-O3 -fopenmp-simd; other generated code says
 * its vectors itself): the innermost loop runs over neighbouring elements without branch, pointers
 * are `restrict`, no division stands in it, and a sum of floats that may be taken in another order
 * has `#pragma omp simd reduction(+ : sum)` before its loop. */
#ifndef HONE_GENERIC_H
#define HONE_GENERIC_H

#include <stddef.h>
#include <stdint.h>

struct generic_shape {
  int rank; /* -1: the operand is missing */
  const int64_t *dims;
};
struct generic_problem {
  size_t in_count, out_count;
  const struct generic_shape *in, *out;
  const void *node; /* for attribute(): an int attribute of the node, or `otherwise` */
  int64_t (*attribute)(const void *node, const char *name, int64_t otherwise);
};
/* Neighbouring lines along an axis that one unit of units_lines does together. */
#define GENERIC_LINES 64

/* The window of a convolution or pool over GENERIC_SPATIAL dimensions; those that it lacks stand in front
   and are 1. */
#define GENERIC_SPATIAL 3
struct generic_window {
  int64_t in[GENERIC_SPATIAL], kernel[GENERIC_SPATIAL], out[GENERIC_SPATIAL];
  int64_t stride[GENERIC_SPATIAL], dilation[GENERIC_SPATIAL];
  int64_t pad_begin[GENERIC_SPATIAL], pad_end[GENERIC_SPATIAL];
};
/* Row i of the list of a window's #defines: WINDOW_IN, ..., each {a,b,c}; NULL at its end. */
const char *generic_window_define(const struct generic_window *window, size_t i,
                                  const int64_t **out_numbers);

struct generic_kernel {
  const char *op;     /* ONNX name, default domain */
  const char *text;   /* "generic/TopK.c" */
  const char *define; /* "REDUCE_OP 2": one more #define before the text and #undef after; NULL */
  int64_t (*units)(const struct generic_problem *problem);
  const char *serial;                                             /* units_one: why; else NULL */
  size_t (*scratch_bytes)(const struct generic_problem *problem); /* of each thread; NULL: none */
};
extern const struct generic_kernel generic_table[];
extern const size_t generic_count;
const struct generic_kernel *generic_find(const char *op);

#endif
