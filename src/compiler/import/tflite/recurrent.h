/* recurrent: shared by the readers of recurrent operators. recurrent.c and cell.c use sequence.c;
 * recurrent.c passes operators that ONNX does not describe to cell.c. */
#ifndef HONE_IMPORT_TFLITE_RECURRENT_H
#define HONE_IMPORT_TFLITE_RECURRENT_H

#include "tflite.h"

enum { GATES = 4 };
enum { INPUT_GATE, FORGET_GATE, CELL_GATE, OUTPUT_GATE };
/* Operand indices of an LSTM, or of one direction: the first operand for each group of gates. The
 * projection is followed by its bias; norm 0: none. */
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
/* Input 0; `major`: the default of the option. */
MUST_USE hone_status tf_read_sequence(struct tf_op *op, unsigned major_option, int64_t major,
                                      struct sequence *out);
/* [n] or [n, m] as [1, n, m]; other shapes are an error. */
MUST_USE hone_status tf_as_slice(struct tf_op *op, struct value *x, int64_t rows, int64_t columns,
                                 struct value **out);
/* y [time, 1, batch, units] in the order of the operator's output. */
struct value *tf_order_sequence(struct tf_op *op, const struct sequence *s, struct value *y);
/* Output 0 from y [time, 1, batch, units]. */
MUST_USE hone_status tf_write_sequence(struct tf_op *op, const struct sequence *s, struct value *y);
/* The gates' rows concatenated in ONNX's order (input, output, forget, cell), in float: [1, 4 rows,
 * columns]. */
MUST_USE hone_status tf_stack_gates(struct tf_op *op, size_t first, int64_t rows, int64_t columns,
                                    bool negate, struct value **out);

/* -- cell.c */
/* With a projection, layer normalisation or clipping, which ONNX's LSTM lacks. */
bool tf_is_special_lstm(const struct tf_op *op, const struct lstm *at);
MUST_USE hone_status tf_special_lstm(struct tf_op *op, const struct lstm *at,
                                     const struct sequence *s, const char *activation,
                                     struct value **out);
/* int8 with a 16-bit cell. */
MUST_USE hone_status tf_integer_lstm(struct tf_op *op, const struct lstm *at);

#endif
