/* Generic kernels: one C source per operator, correct for every shape, attribute and element type.
 * A problem that no row of kernels.def accepts runs here. This room depends only on libc.
 *
 * File embedded/generic/OP.c defines
 *   int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end)
 * It computes the work items [begin, end) of the step, 0 <= begin <= end <= UNITS, and returns 0 or
 * the number of a hone_status. The row defines the work item: units() counts them from the shapes,
 * and the source splits its outer loop in the same way. Work items are independent: threads run
 * them in any order and any split, and the output must be bit-identical for all of them. Each
 * thread has its own scratch. If the outer loop cannot be split, units is units_one and `serial`
 * has the reason.
 *
 * Macros of a source, all literals:
 *   UNITS              work items of the whole step
 *   PLAIN_LINES        GENERIC_LINES, the lines of a work item of units_lines
 *   IN_COUNT, OUT_COUNT, and for each operand k (OUTk_* likewise):
 *   INk_PRESENT        0 or 1
 *   INk_T              C type: float, double, int64_t, ..., unsigned char for bool
 *   INk_RANK, INk_DIMS {a,b,..} (at least one entry), INk_COUNT
 *   INk_OPEN 1, INk_EXTENTS {0,n,..}
 *                      only for data-dependent sizes: INk_DIMS has the bounds and extents[n] the
 *                      actual size (0: fixed), where extents is out[OUT_COUNT]. A source with such
 *                      an output writes its size. Strides follow from the bounds.
 *   INk_IS_TEXT        0 or 1: INk_T is struct hone_text; new strings are allocated by
 *                      text_room_(out[OUT_COUNT + 1], ..)
 *   ATTR_name          an int or float attribute of the node; only present ones are defined
 *   ATTR_name          {a,b,..} for ints and floats, with ATTR_name_COUNT
 *   ATTR_name_IS_word  1 for a string attribute with that value, e.g. ATTR_mode_IS_linear
 *   WINDOW_IN, WINDOW_KERNEL, WINDOW_OUT, WINDOW_STRIDE, WINDOW_DILATION, WINDOW_PAD_BEGIN,
 *   WINDOW_PAD_END     {a,b,c} if the node has a window, read from its attributes by
 *                      core/ops/operators/window.c
 * Operands are dense row-major in ONNX order and do not overlap. The vectors of simd.h are
 * available. Several sources may #include a common one ("generic/lines.h") after defining their
 * differences. A source sets ONNX defaults with #ifndef, and #undefs its own helper macros at its
 * end. It checks indices known only at run time and returns HONE_E_SHAPE (8) if one is out of
 * range.
 *
 * Generic kernels are compiled with the compiler's vectoriser (-O3 -fopenmp-simd; all other
 * generated code is vectorised explicitly). So the innermost loop iterates over adjacent elements
 * without branches or divisions, pointers are `restrict`, and a float sum that may be reordered
 * has `#pragma omp simd reduction(+ : sum)` before its loop. */
#ifndef HONE_GENERIC_H
#define HONE_GENERIC_H

#include <stddef.h>
#include <stdint.h>

struct generic_shape {
  int rank; /* -1: missing operand */
  const int64_t *dims;
};
struct generic_problem {
  size_t in_count, out_count;
  const struct generic_shape *in, *out;
  const void *node; /* for attribute(): an int attribute of the node, or `otherwise` */
  int64_t (*attribute)(const void *node, const char *name, int64_t otherwise);
};
/* Adjacent lines along an axis in one work item of units_lines. */
#define GENERIC_LINES 64

/* The window of a convolution or pool over GENERIC_SPATIAL dimensions; unused leading dimensions
   are 1. */
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
  const char *source; /* "generic/TopK.c" */
  /* "REDUCE_OP 2": one more #define before the source, undefined after it; NULL */
  const char *define;
  int64_t (*units)(const struct generic_problem *problem);
  /* for units_one, the reason; else NULL */
  const char *serial;
  size_t (*scratch_bytes)(const struct generic_problem *problem); /* per thread; NULL: none */
};
extern const struct generic_kernel generic_table[];
extern const size_t generic_count;
const struct generic_kernel *generic_find(const char *op);

#endif
