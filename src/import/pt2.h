/* pt2: archives of torch.export. pt2.c reads the archive, its JSON and weights; pt2_arguments.c a node's arguments; pt2_ops.c translates
 * ATen operators. Nothing is unpickled, and no code in an archive is ever run. */
#ifndef HONE_IMPORT_PT2_H
#define HONE_IMPORT_PT2_H

#include <jansson.h>

#include "make.h"
#include "zip.h"

/* What a name stands for: a tensor, or a number that is known at import. */
struct pt_item {
  struct value *value; /* NULL: a number */
  int64_t number;
};
struct pt {
  struct ctx *ctx;
  struct arena *arena;
  const struct source *source;
  struct zip zip;
  const char *prefix; /* of all members, with its slash */
  json_t *model, *weights, *constants;
  struct names items; /* name -> struct pt_item */
  struct make make;
};
/* A node while it is translated. */
struct pt_op {
  struct pt *pt;
  struct ctx *ctx;
  struct make *make;
  const char *target; /* "aten.relu.default" */
  json_t *inputs, *outputs;
  int parameter;
};
typedef hone_status pt_build_fn(struct pt_op *op);

/* -- pt2_arguments.c ---- */
/* {"as_int": 3} and its like: the one key, "" if there is none, and its value. */
const char *pt_variant(const json_t *json, json_t **out);
/* The text of a JSON string, "" of all else. */
const char *pt_words(const json_t *json);
/* Names a tensor, or (value NULL) a number; twice is a fault of the file. */
MUST_USE hone_status pt_define(struct pt *pt, const char *name, struct value *value,
                               int64_t number);
MUST_USE hone_status pt_find(struct pt *pt, struct place at, const char *name,
                             const struct pt_item **out);
/* torch's dtype to ours, HONE_UNDEFINED if unknown. */
hone_dtype pt_dtype(int64_t number);
struct place pt_place(const struct pt_op *op);
MUST_USE PRINTF(2, 3) hone_status pt_refuse(const struct pt_op *op, const char *format, ...);

/* Arguments by name. An absent one, or None: NULL, or the default. */
MUST_USE hone_status pt_tensor(struct pt_op *op, const char *name, struct value **out);
MUST_USE hone_status pt_need(struct pt_op *op, const char *name, struct value **out);
MUST_USE hone_status pt_tensors(struct pt_op *op, const char *name, size_t most, struct value **out,
                                size_t *out_count);
MUST_USE hone_status pt_int(struct pt_op *op, const char *name, int64_t otherwise, int64_t *out);
MUST_USE hone_status pt_float(struct pt_op *op, const char *name, double otherwise, double *out);
/* A list of integers; *out_count 0 if absent. */
MUST_USE hone_status pt_ints(struct pt_op *op, const char *name, size_t most, int64_t *out,
                             size_t *out_count);
bool pt_given(const struct pt_op *op, const char *name);
MUST_USE hone_status pt_text(struct pt_op *op, const char *name, const char *otherwise,
                             const char **out);
/* Defines result k (0: the first or only one; lists count through). */
MUST_USE hone_status pt_result(struct pt_op *op, size_t k, struct value *value);
MUST_USE hone_status pt_number(struct pt_op *op, int64_t number);
size_t pt_result_count(const struct pt_op *op);

/* -- pt2_ops.c ---- */
MUST_USE hone_status pt_build(struct pt_op *op);
/* A dimension in [-rank, rank) to [0, rank), given or by argument name. */
MUST_USE hone_status pt_axis_of(struct pt_op *op, int64_t axis, int rank, int64_t *out);
MUST_USE hone_status pt_axis(struct pt_op *op, const char *name, int64_t otherwise, int rank,
                             int64_t *out);

/* -- pt2_contract.c ---- */
pt_build_fn build_linear, build_matmul, build_addmm, build_attention, build_conv, build_pool,
    build_adaptive_pool, build_reduce, build_arg, build_softmax, build_layer_norm, build_batch_norm;

#endif
