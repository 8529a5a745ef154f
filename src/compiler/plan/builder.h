/* Internal to plan: the state while a graph is lowered to steps. */
#ifndef HONE_PLAN_BUILDER_H
#define HONE_PLAN_BUILDER_H

#include "plan.h"

/* Where a value lies, in up to COPIES physical orders and types; views[0] is how it was made. A value of
   f32 may lie in bf16 (storage_types.c). A plain step has at most
   GENERIC_OPERANDS inputs or outputs. */
enum { COPIES = 4, GENERIC_OPERANDS = 64, SPARE_VALUES = 4 };
struct value_state {
  int count;
  struct view views[COPIES];
  int64_t border; /* rows and columns of zeros around the image of views[0] */
};

/* A node and the elementwise nodes behind it that its step does in the same breath: groups.c. The program is
   applied to what the node's own operation gives, element by element; its args are those of struct
   operation, PROGRAM_INPUT(k) for operands[k]. Every node of the graph is in one group. */
struct fusion_group {
  const struct node *node; /* the first of them; its own operation, attributes and inputs */
  /* what is stored: the last one's output, the node's own where it is alone */
  const struct value *result;
  size_t operand_count; /* what the program reads besides */
  const struct value **operands;
  size_t count; /* operations; 0: the node alone */
  struct operation *program;
};

/* Of which Concat's result a value is written as a range of channels, concat_in_place.c; whole NULL: of none. */
struct part {
  const struct value *whole;
  int64_t channel; /* its first */
};

/* Groups that become one step with the last of them: lower_attention.c. */
struct attention {
  const struct fusion_group *scores;     /* MatMul */
  const struct fusion_group *between[4]; /* elementwise, one after the other */
  int between_count;
  const struct fusion_group *softmax, *product; /* product: the second MatMul */
  const struct fusion_group *clearing; /* makes the NaN of rows without keys zeros; NULL: none */
};

struct builder {
  struct ctx *ctx;
  struct arena *arena;
  struct builder *outer;      /* of a body: the builder of the graph around it */
  struct buffer *const *ends; /* of a body: where its outputs shall lie, densely; NULL: nowhere */
  const struct graph *graph;
  struct plan *plan;
  const struct plan_options *options;
  struct value_state *values; /* by value index; room for SPARE_VALUES more a node, which lowering
                                 may make */
  uint32_t value_count;       /* of the graph, and of those that lowering makes */
  uint32_t *uses;             /* by value index: reads by groups, by graphs inside, as output */
  VEC(struct fusion_group *) groups;  /* in the order in which they are lowered */
  const struct fusion_group **reader; /* the only group that reads the value, or NULL */
  const struct fusion_group **last_reader;
  VEC(struct attention) waiting;
  struct part *parts; /* by value index of the graph; NULL where nothing is joined */
  int64_t *borders;   /* by value index: around which images zeros shall lie; halo.c */
  bool is_open;       /* the node being lowered has sizes that follow symbols */
  bool fills;         /* what lies behind them is filled: copies made now keep it */
  /* by value index: the type of 16 bits in which an f32 may be stored; 0: its own */
  hone_dtype *lies_in;
  bool *prefers_floats; /* by index of what a product makes: rounded weights, not bf16 */
  bool weights_stay;    /* L2 holds most of the constants */
};

/* -- attention.c */
/* The attention that begins with the product `scores`; false: none does. */
bool find_attention(const struct builder *b, const struct fusion_group *scores,
                    struct attention *out);
/* Its problem without strides, all f32: what the choice of a kernel depends on is known before the operands are. */
struct problem attention_sizes(const struct attention *a);
bool attention_is_served(const struct builder *b, const struct attention *a);
/* What the attention that begins with the group reads in f32: queries, keys, values. False: none begins. */
bool attention_reads(const struct builder *b, const struct fusion_group *g,
                     const struct value *out[3]);

/* -- vectors.c */
/* What program_is_vector asks of one operation that is no Cast, and of one that is. */
bool is_vector_operation(const struct op *op, hone_dtype to, const hone_dtype *from, int count);
bool is_vector_cast(hone_dtype from, hone_dtype to, bool is_clipped);
bool is_clip_to(hone_dtype byte, enum op_id op, double alpha, double beta);
const int64_t *byte_table_of(const struct node *node); /* of a ByteTable, else NULL */

/* -- groups.c */
/* Fills b->values, b->groups, b->uses and b->reader for b->graph; `fuses` false: each node is alone. */
MUST_USE hone_status find_groups(struct builder *b, bool fuses);

/* -- nodes.c */
/* Inputs of the node, then operands of the program; outputs with the result in the place of the first. */
size_t group_input_count(const struct fusion_group *g);
const struct value *group_input(const struct fusion_group *g, size_t k);
const struct value *group_output(const struct fusion_group *g, size_t k);
bool is_below_byte(const struct value *value); /* two elements or more share one; false for NULL */
bool is_f32_node(const struct node *node);     /* inputs and outputs */
bool all_f32(const struct fusion_group *g);    /* and operands and operations */
/* The type of what the node's own operation gives. */
hone_dtype raw_dtype(const struct fusion_group *g);
/* program_is_vector, before the program is made. */
bool is_vector_program(const struct fusion_group *g);
/* May `node` be the next operation of the group? operand: what it reads besides, or NULL; `clip`: what makes
   its first input, where the group has it or may have it. */
bool may_take(const struct fusion_group *g, const struct node *node, const struct value *operand,
              const struct node *clip);
/* as node_cost, one more an element for each operation */
double group_flops(const struct fusion_group *g);
/* ConvInteger or MatMulInteger that kernels do: constant weights around zero (depthwise: around any
   one number), one zero point. */
bool is_integer_contraction(const struct node *node);
/* The node's window for its plain kernel; *out NULL where it has none or one of more dimensions than
   GENERIC_SPATIAL; *out_rank: how many, 0 without a window. */
MUST_USE hone_status read_window(struct builder *b, const struct node *node,
                                 const struct generic_window **out, int *out_rank);

/* -- storage.c: where values lie */
MUST_USE hone_status new_buffer(struct builder *b, enum buffer_place place, size_t bytes,
                                struct buffer **out);
MUST_USE hone_status element_count(struct builder *b, const struct shape *shape, int64_t *out);
/* A new arena buffer with the shape and strides of `like`. */
MUST_USE hone_status arena_view(struct builder *b, const struct view *like, struct view *out);
/* What is known of the value: its own builder's; *out_captured: of a graph around this one. */
struct value_state *state_of(struct builder *b, const struct value *value, bool *out_captured);
/* The view in which the value was made, in the type in which it lies; constants get a weights buffer at first
   use. */
MUST_USE hone_status get_stored(struct builder *b, const struct value *value, struct view *out);
/* Declares where a value lies without moving it. */
void set_view(struct builder *b, const struct value *value, const struct view *view);
/* A constant that is only packed, by packed_weights, and not stored raw as well; `holder` lives as long
   as the view. */
void constant_operand(const struct value *value, struct buffer *holder, struct view *out);
MUST_USE hone_status packed_weights(struct builder *b, const struct choice *choice,
                                    const struct problem *problem, const struct view *view,
                                    struct view *out);
/* True if the value ends, through reshapes only, in a graph output that needs logical order. */
bool ends_in_output(const struct builder *b, const struct value *value, int *out_index);

/* -- outputs.c */
/* A new place for a value that a step writes: strides of `like`; the model's output where that
   fits. */
MUST_USE hone_status make_output(struct builder *b, const struct value *value,
                                 const struct view *like, struct view *out);

/* -- strings.c */
/* Steps that make the graph's constants that are strings: weights hold no addresses. */
MUST_USE hone_status make_strings(struct builder *b);

/* -- halo.c */
/* Fills b->borders; needs find_groups. */
MUST_USE hone_status find_borders(struct builder *b);
/* A convolution or pool on kernels: it reads and writes an image by any strides of its rows and pixels. */
bool takes_strides(const struct fusion_group *g);

/* -- concat_in_place.c */
/* Fills b->parts; needs find_groups. */
MUST_USE hone_status find_joins(struct builder *b);
/* -- dynamic.c: groups whose sizes follow symbols */
/* Whether the leading part of the group's results follows from the leading parts of its operands; where it
   does once what is behind them is neutral, steps that make it so. E_UNSUP with the reason. Sets
   b->is_open and b->fills for the group. */
MUST_USE hone_status carry_symbol(struct builder *b, const struct fusion_group *g);
/* No step begins in front of its operand where sizes are at their least. */
MUST_USE hone_status check_least_sizes(struct builder *b);
/* dimension d, from the end where negative */
bool is_open_at(const struct value *value, int64_t d);
/* -- active_prefix.c */
/* The step's lead, from the slopes of its output. */
void set_lead(struct builder *b, struct step *step);

/* -- steps.c */
MUST_USE hone_status new_step(struct builder *b, enum step_kind kind, const struct node *node,
                              size_t inputs, size_t outputs, struct step **out);
/* The view in which the value was made, in its own type. */
MUST_USE hone_status get_view(struct builder *b, const struct value *value, struct view *out);
MUST_USE hone_status add_copy(struct builder *b, const struct node *node, const struct view *from,
                              const struct view *to, struct step **out);
/* Between an open input or output, which is packed at its actual size, and the arena. */
MUST_USE hone_status add_port_copy(struct builder *b, const struct view *from,
                                   const struct view *to);
/* Copy with a constant border: before[i] elements of border in front of logical dim i of `to`. */
MUST_USE hone_status add_copy_border(struct builder *b, const struct node *node,
                                     const struct view *from, const struct view *to,
                                     const int64_t before[HONE_MAX_RANK], uint64_t fill_bits,
                                     struct step **out);
/* A step that stores `from` in the order and type of `to`: floats. */
MUST_USE hone_status add_conversion(struct builder *b, const struct node *node,
                                    const struct view *from, const struct view *to);
/* The value with exactly these strides and this type (buffer and offset of `wanted` are ignored): an
   existing copy or a new step that makes one. */
MUST_USE hone_status ensure_strides(struct builder *b, const struct value *value,
                                    const struct view *wanted, struct view *out);
MUST_USE hone_status ensure_dense(struct builder *b, const struct value *value, struct view *out);
/* In this type, as it lies where it has it, else in an order without holes. */
MUST_USE hone_status ensure_type(struct builder *b, const struct value *value, hone_dtype dtype,
                                 struct view *out);
MUST_USE hone_status ensure_dense_as(struct builder *b, const struct value *value, hone_dtype dtype,
                                     struct view *out);
/* Dense, in the type in which it lies. */
MUST_USE hone_status ensure_dense_stored(struct builder *b, const struct value *value,
                                         struct view *out);
/* `dtype`: HONE_UNDEFINED for the type in which it lies. */
MUST_USE hone_status ensure_channels_last(struct builder *b, const struct value *value,
                                          hone_dtype dtype, struct view *out);
/* As made where its channels lie one behind the other, [n, spatial..., c] with pixels, rows and images at any
   distance; else channels last. */
MUST_USE hone_status ensure_image(struct builder *b, const struct value *value, hone_dtype dtype,
                                  struct view *out);
/* Zeros around the image `inner` that lies in the buffer of `whole`, `border` rows and columns on each side. */
MUST_USE hone_status add_border(struct builder *b, const struct view *whole,
                                const struct view *inner, int64_t border);
/* A kernel step: its operands in order a, b, c, its epilogue (NULL: none), units, scratch, serial. */
MUST_USE hone_status add_kernel(struct builder *b, const struct node *node,
                                const struct choice *choice, const struct problem *problem,
                                const struct view views[3], const struct epilogue *epilogue,
                                double flops, struct step **out);

/* -- choices.c */
/* What the choice table says where it fits (a warning where it does not), else the cheapest row's
   best. False if no row serves. */
bool choose_kernel(const struct builder *b, const struct problem *problem, struct choice *out);
/* The same where a core is otherwise than the plan's. */
bool choose_kernel_on(const struct builder *b, const struct kernel_target *target,
                      const struct problem *problem, struct choice *out);

/* -- bind_io.c */
MUST_USE hone_status bind_inputs(struct builder *b);
/* Copies every output that no step wrote in its place. */
MUST_USE hone_status bind_outputs(struct builder *b);

/* -- simplify.c */
struct number_range {
  double low, high;
};
struct number_range type_range(hone_dtype dtype); /* of bytes and int32; else all numbers */
/* inputs: what the elements of each may be; is_epilogue: a kernel stores the result. */
MUST_USE hone_status simplify_program(struct builder *b, struct expr *p,
                                      const struct number_range *inputs, bool is_epilogue);

/* -- program.c */
/* Of an elementwise node and what is fused behind it; inputs are the group's. */
MUST_USE hone_status make_program(struct builder *b, const struct fusion_group *g,
                                  struct expr *out);
/* Of the bias and the group's program behind a kernel; inputs are the bias and the group's operands. */
MUST_USE hone_status make_epilogue_program(struct builder *b, const struct fusion_group *g,
                                           bool has_bias, struct expr *out);

/* Of a product's program and the elementwise groups behind it; `operands`: the values of its inputs.
   A bool operand counts as a float, which its reader makes of it. */
MUST_USE hone_status make_chain_program(struct builder *b, const struct fusion_group *product,
                                        const struct fusion_group *const *between,
                                        size_t between_count, struct expr *out,
                                        const struct value ***out_operands, size_t *out_count);

/* -- epilogue.c: what a kernel applies to its results before it stores them */
/* bias (may be NULL) and the program's operands, placed against `out`; copies that they need become
   steps now. column: the logical dimension of `out` that is the kernel's column. */
MUST_USE hone_status make_epilogue(struct builder *b, const struct fusion_group *g,
                                   const struct value *bias, const struct view *out, int column,
                                   struct epilogue *epilogue);

/* -- integer.c: contractions of bytes */
/* Types of the problem; false if kernels do not know them. */
bool contraction_types(const struct fusion_group *g, struct problem_types *out);
/* The zero point of a, if there is an operand for it; its value, 0 if known only at run time. */
const struct value *integer_zero(const struct node *node);
int64_t constant_zero(const struct node *node);
int64_t weights_zero(const struct node *node); /* of a contraction of bytes */
MUST_USE hone_status make_integer_epilogue(struct builder *b, const struct fusion_group *g,
                                           const struct kernel *kernel, const struct view *out,
                                           int column, struct epilogue *epilogue);

/* -- storage_types.c: products in bf16, storage in bf16 and f16 */
/* Fills b->lies_in: all readers of the value take that type. */
MUST_USE hone_status find_halves(struct builder *b);
/* In what the lowering of its node shall store the value: its own type, or one of 16 bits. */
hone_dtype storage_of(const struct builder *b, const struct value *value);
/* A cast between f32 and 16 bits alone, both sides of which lie in 16 bits: nothing is to do. */
bool is_cast_in_name(const struct builder *b, const struct fusion_group *g);
/* The element type of a view for a problem line; 0 where kernels do not know it. */
uint8_t problem_type(hone_dtype dtype);
/* Whether the options ask for it, the contraction can (floats) and the target does not do better with floats. */
bool computes_in_halves(const struct builder *b, const struct fusion_group *g);
/* The options ask for bf16 and the target does better with floats: they are the weights rounded to bf16. */
bool rounds_weights(const struct builder *b, const struct fusion_group *g);
/* A constant rounded to bf16: stored so, or as HONE_F32. */
MUST_USE hone_status half_constant(struct builder *b, const struct tensor *floats, hone_dtype dtype,
                                   const struct tensor **out);
/* As choose_kernel, for a product with constant floats (NULL: with none): where it waits for them and a type of 16 bits
   holds each of them exactly, problem->types.b becomes that type. The results are the same. problem->types.c becomes the
   type in which `result` shall lie (NULL: it is placed already) where the kernel stores each of its elements once. */
bool choose_stored(struct builder *b, const struct tensor *weights, const struct value *result,
                   struct problem *problem, struct choice *out);
/* The floats in the type that the problem says. */
MUST_USE hone_status stored_weights(struct builder *b, const struct problem *problem,
                                    const struct tensor **weights);

/* -- lower_generic.c */
/* Whether a recurrent node has the activations that ONNX defines as default. */
bool default_activations(const struct node *node);

/* -- lower_window.c, lower_matmul.c */
/* How many rows and columns of zeros around its input the convolution reads; the same on all sides. */
MUST_USE hone_status conv_border(struct builder *b, const struct fusion_group *g, int64_t *out);
bool is_kernel_pool(const struct node *node);
/* If the only reader is a Transpose, strides in the order that makes it dense; else dense. */
void product_order(const struct builder *b, const struct value *value, struct view *like);

/* -- lower_*.c: one family of operators each; they know everything above, and nothing below */
/* *out_done stays false if the node is not of the kind that this lowering knows. */
typedef hone_status lower_fn(struct builder *b, const struct node *node, bool *out_done);
lower_fn lower_view, lower_pool, lower_global_pool, lower_reduce, lower_softmax, lower_layernorm,
    lower_recurrent, lower_concat, lower_split, lower_pad, lower_tile, lower_resize, lower_blocks,
    lower_generic, lower_if, lower_loop;
/* Those that take a program along. */
typedef hone_status lower_group_fn(struct builder *b, const struct fusion_group *g, bool *out_done);
lower_group_fn lower_conv, lower_transposed, lower_depthwise, lower_matmul, lower_weights,
    lower_gemm, lower_elementwise, lower_attention;

/* -- lower.c */
/* Everything that is known before the first step, then the steps of all groups of b->graph. */
MUST_USE hone_status prepare_graph(struct builder *b);
MUST_USE hone_status lower_graph(struct builder *b);

#endif
