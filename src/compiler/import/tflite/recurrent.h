/* tflite_recurrent: what the readers of recurrent operators share. Each of recurrent.c and cell.c is over
 * sequence.c; the first hands over to the second what ONNX's operators do not describe. */
#ifndef HONE_IMPORT_TFLITE_RECURRENT_H
#define HONE_IMPORT_TFLITE_RECURRENT_H

#include "tflite.h"

enum { GATES = 4 };
enum { INPUT_GATE, FORGET_GATE, CELL_GATE, OUTPUT_GATE };
/* Operands of an LSTM, or of one direction of it: the first of those for the gates above. The projection is followed by
   its bias; norm 0: there is none. */
struct lstm {
  size_t w, r, peephole, bias, projection, h, c, norm;
  const char *direction;
};
struct sequence {
  struct value *x; /* [time, batch, input] */
  int64_t batch, input;
  bool is_step, is_time_major;
};

/* -- sequence.c */
/* Input 0; `major`: what is meant where the option is not stored. */
MUST_USE hone_status tf_read_sequence(struct tf_op *op, unsigned major_option, int64_t major,
                                      struct sequence *out);
/* [n] or [n, m] as [1, n, m]; nothing else. */
MUST_USE hone_status tf_as_slice(struct tf_op *op, struct value *x, int64_t rows, int64_t columns,
                                 struct value **out);
/* y [time, 1, batch, units] in the order of the operator's output. */
MUST_USE hone_status tf_order_sequence(struct tf_op *op, const struct sequence *s, struct value *y,
                                       struct value **out);
/* Output 0 from y [time, 1, batch, units]. */
MUST_USE hone_status tf_write_sequence(struct tf_op *op, const struct sequence *s, struct value *y);
/* Rows of gates one under the other in ONNX's order (input, output, forget, cell), in float: [1, 4 rows, columns]. */
MUST_USE hone_status tf_stack_gates(struct tf_op *op, size_t first, int64_t rows, int64_t columns,
                                    bool negate, struct value **out);

/* -- cell.c */
/* With a projection, layer normalisation or clipped values, which ONNX's LSTM has not. */
bool tf_is_special_lstm(const struct tf_op *op, const struct lstm *at);
MUST_USE hone_status tf_special_lstm(struct tf_op *op, const struct lstm *at,
                                     const struct sequence *s, const char *activation,
                                     struct value **out);
/* Of bytes, the cell in 16 bits. */
MUST_USE hone_status tf_integer_lstm(struct tf_op *op, const struct lstm *at);

#endif
