/* Internal to plan: the state while a graph is lowered to steps. */
#ifndef HONE_PLAN_BUILDER_H
#define HONE_PLAN_BUILDER_H

#include "plan.h"

/* Where a value lies, in up to COPIES physical orders; views[0] is how it was made. A plain step has at most
   PLAIN_OPERANDS inputs or outputs. */
enum { COPIES = 4, PLAIN_OPERANDS = 64 };
struct value_state {
  int count;
  struct view views[COPIES];
  bool has_half; /* a copy in bf16 */
  struct view half;
};

struct builder {
  struct ctx *ctx;
  struct arena *arena;
  struct builder *outer;      /* of a body: the builder of the graph around it */
  struct buffer *const *ends; /* of a body: where its outputs shall lie, densely; NULL: nowhere */
  const struct graph *graph;
  struct plan *plan;
  const struct plan_options *options;
  struct value_state *values; /* by value index; room for one more a node, whose fused program may
                                 have to be split off */
  uint32_t value_count;       /* of the graph, and of those that lowering makes */
  uint32_t *uses;             /* by value index */
  const struct node **reader; /* the only node that reads the value, or NULL */
};

/* -- nodes.c ------------------------------------------------------------------------------------- */
/* The type of what the node's own operation gives, before its fused program. */
hone_dtype raw_dtype(const struct node *node);
/* ConvInteger or MatMulInteger that kernels do: constant weights around zero, one zero point. */
bool is_integer_contraction(const struct node *node);
/* program_is_vector, as far as the node is known. */
bool is_vector_program(const struct node *node);
bool all_f32(const struct node *node);           /* inputs, outputs and fused steps */
size_t own_input_count(const struct node *node); /* without fused inputs */
/* The node's window for its plain kernel; *out NULL where it has none or one of more dimensions than
   PLAIN_SPATIAL; *out_rank: how many, 0 without a window. */
MUST_USE hone_status read_window(struct builder *b, const struct node *node,
                                 const struct plain_window **out, int *out_rank);
/* Fills b->values, b->uses and b->reader for b->graph. */
MUST_USE hone_status find_only_readers(struct builder *b);

/* -- places.c: where values lie ------------------------------------------------------------------ */
MUST_USE hone_status new_buffer(struct builder *b, enum buffer_place place, size_t bytes,
                                struct buffer **out);
MUST_USE hone_status element_count(struct builder *b, const struct shape *shape, int64_t *out);
/* A new arena buffer with the shape and strides of `like`. */
MUST_USE hone_status arena_view(struct builder *b, const struct view *like, struct view *out);
/* What is known of the value: its own builder's; *out_captured: of a graph around this one. */
struct value_state *state_of(struct builder *b, const struct value *value, bool *out_captured);
/* The view in which the value was made; constants get a weights buffer at first use. */
MUST_USE hone_status get_view(struct builder *b, const struct value *value, struct view *out);
/* Declares where a value lies without moving it. */
void set_view(struct builder *b, const struct value *value, const struct view *view);
/* A new place for a value that a step writes: strides of `like`; the model's output where that
   fits. */
MUST_USE hone_status make_output(struct builder *b, const struct value *value,
                                 const struct view *like, struct view *out);
/* True if the value ends, through reshapes only, in a graph output that needs logical order. */
bool ends_in_output(const struct builder *b, const struct value *value, int *out_index);

/* -- steps.c ------------------------------------------------------------------------------------- */
MUST_USE hone_status new_step(struct builder *b, enum step_kind kind, const struct node *node,
                              size_t inputs, size_t outputs, struct step **out);
MUST_USE hone_status add_copy(struct builder *b, const struct node *node, const struct view *from,
                              const struct view *to, struct step **out);
/* Copy with a constant border: before[i] elements of border in front of logical dim i of `to`. */
MUST_USE hone_status add_copy_border(struct builder *b, const struct node *node,
                                     const struct view *from, const struct view *to,
                                     const int64_t before[HONE_MAX_RANK], uint64_t fill_bits,
                                     struct step **out);
/* The value with exactly these strides (buffer and offset of `wanted` are ignored): an existing
   copy or a new copy step. */
MUST_USE hone_status ensure_strides(struct builder *b, const struct value *value,
                                    const struct view *wanted, struct view *out);
MUST_USE hone_status ensure_dense(struct builder *b, const struct value *value, struct view *out);
MUST_USE hone_status ensure_channels_last(struct builder *b, const struct value *value,
                                          struct view *out);
/* A kernel step: its operands in order a, b, c, its epilogue (NULL: none), units, scratch, serial. */
MUST_USE hone_status add_kernel(struct builder *b, const struct node *node,
                                const struct choice *choice, const struct problem *problem,
                                const struct view views[3], const struct epilogue *epilogue,
                                double flops, struct step **out);

/* -- choices.c ----------------------------------------------------------------------------------- */
/* What the choice table says where it fits (a warning where it does not), else the cheapest row's
   best. False if no row serves. */
bool choose_kernel(struct builder *b, const struct problem *problem, struct choice *out);

/* -- ends.c -------------------------------------------------------------------------------------- */
MUST_USE hone_status bind_inputs(struct builder *b);
/* Copies every output that no step wrote in its place. */
MUST_USE hone_status bind_outputs(struct builder *b);

/* -- program.c ----------------------------------------------------------------------------------- */
/* Of an elementwise node and its fused steps; inputs are the node's. */
MUST_USE hone_status make_program(struct builder *b, const struct node *node, struct program *out);
/* Of the bias and the fused steps behind a kernel; inputs are the bias and the fused inputs. */
MUST_USE hone_status make_epilogue_program(struct builder *b, const struct node *node,
                                           bool has_bias, struct program *out);

/* -- epilogue.c: what a kernel applies to its results before it stores them ------------------------ */
/* bias (may be NULL) and the node's fused inputs, placed against `out`; copies that they need become
   steps now. column: the logical dimension of `out` that is the kernel's column. */
MUST_USE hone_status make_epilogue(struct builder *b, const struct node *node,
                                   const struct value *bias, const struct view *out, int column,
                                   struct epilogue *epilogue);

/* -- integer.c: contractions of bytes ------------------------------------------------------------- */
/* Types of the problem; false if kernels do not know them. */
bool contraction_types(const struct node *node, struct problem_types *out);
/* The zero point of a, if there is an operand for it; its value, 0 if known only at run time. */
const struct value *integer_zero(const struct node *node);
int64_t constant_zero(const struct node *node);
MUST_USE hone_status make_integer_epilogue(struct builder *b, const struct node *node,
                                           const struct view *out, int column,
                                           struct epilogue *epilogue);

/* -- halves.c: products in bf16 ------------------------------------------------------------------- */
/* Whether the options ask for it and the contraction can: floats, constant weights. */
bool computes_in_halves(const struct builder *b, const struct node *node);
MUST_USE hone_status half_constant(struct builder *b, const struct value *value,
                                   struct tensor **out);
/* The value in bf16 with the strides of `like`. */
MUST_USE hone_status half_view(struct builder *b, const struct node *node,
                               const struct value *value, const struct view *like,
                               struct view *out);

/* -- lower_*.c: one family of operators each; they know everything above, and nothing below -------- */
/* *out_done stays false if the node is not of the kind that this lowering knows. */
typedef hone_status lower_fn(struct builder *b, const struct node *node, bool *out_done);
lower_fn lower_view, lower_conv, lower_depthwise, lower_matmul, lower_gemm, lower_pool,
    lower_global_pool, lower_reduce, lower_softmax, lower_layernorm, lower_elementwise,
    lower_concat, lower_split, lower_pad, lower_tile, lower_blocks, lower_plain, lower_if;

/* -- lower.c ------------------------------------------------------------------------------------- */
/* The steps of one node: the table of lowerings in order, the plain kernel last. E_UNSUP: none. */
MUST_USE hone_status lower_node(struct builder *b, const struct node *node);

#endif
