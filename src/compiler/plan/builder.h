/* Internal to plan: the state while a graph is lowered to steps. */
#ifndef HONE_PLAN_BUILDER_H
#define HONE_PLAN_BUILDER_H

#include "plan.h"

/* Where a value is stored, in up to COPIES physical orders and types; views[0] is the one that
   its maker wrote. An f32 value may be stored in bf16 (storage_types.c). A generic step has at
   most GENERIC_OPERANDS inputs or outputs. */
enum { COPIES = 4, GENERIC_OPERANDS = 64, SPARE_VALUES = 4 };
struct value_state {
  int count;
  struct view views[COPIES];
  int64_t border; /* rows and columns of zeros around the image of views[0] */
  /* views[0] is a dynamic input as the caller stores it, and count 0: copied when a step needs it
     in the strides of its bounds */
  bool is_packed;
};

/* A node and the elementwise nodes fused into the same step (groups.c). The program is applied
   element by element to the result of the node's own operation; its arguments are those of
   struct operation, PROGRAM_INPUT(k) is operands[k]. Every node of the graph is in exactly one
   group. */
struct fusion_group {
  const struct node *node; /* the first node; its operation, attributes and inputs */
  /* what is stored: the output of the last fused node, or of the node itself */
  const struct value *result;
  size_t operand_count; /* further inputs of the program */
  const struct value **operands;
  size_t count; /* operations; 0: the node alone */
  struct operation *program;
};

/* A value that is written as a range of channels of a Concat's result (concat_in_place.c); whole
   NULL: it is not. */
struct part {
  const struct value *whole;
  int64_t channel; /* its first channel */
};

/* Groups that become one attention step, in the place of the last one (lower_attention.c). */
struct attention {
  const struct fusion_group *scores;     /* the first MatMul */
  const struct fusion_group *between[4]; /* elementwise, in order */
  int between_count;
  const struct fusion_group *softmax, *output_matmul; /* the second MatMul */
  /* replaces the NaN of rows without keys by zeros; NULL: none */
  const struct fusion_group *clearing;
};

struct builder {
  struct ctx *ctx;
  struct arena *arena;
  struct builder *outer;      /* of a body: the builder of the surrounding graph */
  struct buffer *const *ends; /* of a body: dense buffers for its outputs; NULL: chosen freely */
  const struct graph *graph;
  struct plan *plan;
  const struct plan_options *options;
  /* by value index; SPARE_VALUES more per node, for values that lowering makes */
  struct value_state *values;
  uint32_t value_count; /* values of the graph and values made by lowering */
  uint32_t *uses;       /* by value index: reads by groups, by inner graphs, and as output */
  VEC(struct fusion_group *) groups;  /* in lowering order */
  const struct fusion_group **reader; /* the only group that reads the value, or NULL */
  const struct fusion_group **last_reader;
  VEC(struct attention) pending;
  struct part *parts; /* by value index of the graph; NULL if no Concat is written in place */
  int64_t *borders;   /* by value index: width of the zero border around the image; halo.c */
  VEC(struct value *) sizes; /* made by sizes_operand */
  bool is_open;              /* the node being lowered has sizes that depend on symbols */
  /* elements past their actual size are filled; copies made now must keep that */
  bool fills;
  /* by value index: the 16-bit type in which an f32 may be stored; 0: f32 */
  hone_dtype *stored_as;
  /* by index of a matmul's result: weights rounded to bf16, computed in f32 */
  bool *prefers_floats;
  bool weights_stay;        /* L2 holds most of the constants */
  const struct step *split; /* the last one of split_a, or NULL */
};

/* -- attention.c */
/* The attention that begins with the matmul `scores`; false if there is none. */
bool find_attention(const struct builder *b, const struct fusion_group *scores,
                    struct attention *out);
/* Its problem without strides, all f32: enough to choose a kernel before the operands exist. */
struct problem attention_sizes(const struct attention *a);
bool attention_is_served(const struct builder *b, const struct attention *a);
/* What the attention that begins with this group reads in f32: queries, keys, values. False if
   none begins. */
bool attention_reads(const struct builder *b, const struct fusion_group *g,
                     const struct value *out[3]);

/* -- vectors.c */
/* program_is_vector for one operation that is not a Cast, and for one Cast. */
bool is_vector_operation(const struct op *op, hone_dtype to, const hone_dtype *from, int count);
bool is_vector_cast(hone_dtype from, hone_dtype to, bool is_clipped);
bool is_clip_to(hone_dtype byte, enum op_id op, double alpha, double beta);
const int64_t *byte_table_of(const struct node *node); /* of a ByteTable, else NULL */

/* -- groups.c */
/* Fills b->values, b->groups, b->uses and b->reader for b->graph; `fuses` false: one group per
   node. */
MUST_USE hone_status find_groups(struct builder *b, bool fuses);

/* -- nodes.c */
/* Inputs of the node, then operands of the program; outputs of the node with the first replaced
   by the group's result. */
size_t group_input_count(const struct fusion_group *g);
const struct value *group_input(const struct fusion_group *g, size_t k);
const struct value *group_output(const struct fusion_group *g, size_t k);
bool is_below_byte(const struct value *value); /* several elements share a byte; false for NULL */
bool is_f32_node(const struct node *node);     /* all inputs and outputs */
bool all_f32(const struct fusion_group *g);    /* also operands and operations */
/* The type that the node's own operation computes. */
hone_dtype raw_dtype(const struct fusion_group *g);
/* program_is_vector, before the program exists. */
bool is_vector_program(const struct fusion_group *g);
/* True if `node` may be the next operation of the group. operand: its further input, or NULL;
   clip: the Clip that makes its first input, if the group has it or may have it. */
bool may_take(const struct fusion_group *g, const struct node *node, const struct value *operand,
              const struct node *clip);
/* as node_cost, plus one per element for each operation */
double group_flops(const struct fusion_group *g);
/* ConvInteger or MatMulInteger that kernels support: constant weights with zero point 0
   (depthwise: any single one) and one zero point for the data. */
bool is_integer_contraction(const struct node *node);
/* The node's window for its generic kernel; *out is NULL if it has none or more dimensions than
   GENERIC_SPATIAL; *out_rank: its dimensions, 0 without a window. */
MUST_USE hone_status read_window(struct builder *b, const struct node *node,
                                 const struct generic_window **out, int *out_rank);

/* -- storage.c: where values are stored */
MUST_USE hone_status new_buffer(struct builder *b, enum buffer_place place, size_t bytes,
                                struct buffer **out);
MUST_USE hone_status element_count(struct builder *b, const struct shape *shape, int64_t *out);
/* A new arena buffer with the shape and strides of `like`. */
MUST_USE hone_status arena_view(struct builder *b, const struct view *like, struct view *out);
/* The state of the value in its own builder; *out_captured: it belongs to a surrounding graph. */
struct value_state *state_of(struct builder *b, const struct value *value, bool *out_captured);
/* Adds to the view's offset_slope. */
MUST_USE hone_status move_view(struct builder *b, struct view *view, const struct slope *by);
/* Declares where a value is stored, without moving it. */
void set_view(struct builder *b, const struct value *value, const struct view *view);
/* A constant that is only packed (packed_weights), not also stored raw; `holder` lives as long
   as the view. */
void constant_operand(const struct value *value, struct buffer *holder, struct view *out);
MUST_USE hone_status packed_weights(struct builder *b, const struct choice *choice,
                                    const struct problem *problem, const struct view *view,
                                    struct view *out);
/* True if the value reaches, through reshapes only, a graph output that needs logical order. */
bool ends_in_output(const struct builder *b, const struct value *value, int *out_index);
/* True if the node writes only some elements of a state. */
bool is_written_in_place(const struct builder *b, const struct node *node);

/* -- outputs.c */
/* A new place for a value that a step writes, with the strides of `like`; the model's output if
   that fits. */
MUST_USE hone_status make_output(struct builder *b, const struct value *value,
                                 const struct view *like, struct view *out);

/* -- strings.c */
/* Makes steps that build constant strings at run time, since weights hold no addresses. */
MUST_USE hone_status make_strings(struct builder *b);

/* -- halo.c */
/* Fills b->borders; needs find_groups. */
MUST_USE hone_status find_borders(struct builder *b);
/* A convolution or pool on kernels: it reads and writes images with any strides of rows and
   pixels. */
bool takes_strides(const struct fusion_group *g);

/* -- concat_in_place.c */
/* Fills b->parts; needs find_groups. */
MUST_USE hone_status find_concat_parts(struct builder *b);
/* -- dynamic.c: groups with dynamic dimensions */
/* Checks that the leading part of the group's results depends only on the leading parts of its
   operands. Where that holds only if the elements past the actual size are neutral, adds steps
   that fill them. E_UNSUP with the reason. After look_at_sizes. */
MUST_USE hone_status carry_symbol(struct builder *b, const struct fusion_group *g);
/* Sets b->is_open and b->fills for the group; E_UNSUP if it has sizes of both kinds. */
MUST_USE hone_status look_at_sizes(struct builder *b, const struct fusion_group *g);
/* Checks that no view begins before its buffer when sizes are at their minimum. */
MUST_USE hone_status check_least_sizes(struct builder *b);
/* Dimensions of a Reshape whose strides must be those of their actual sizes, because a dynamic
   dimension is joined with others, or split: bits by dimension of either side; 0 and 0: a view. */
void find_joined(const struct value *in, const struct value *out, unsigned *out_in,
                 unsigned *out_out);
/* dimension d; negative counts from the end */
bool is_open_at(const struct value *value, int64_t d);
/* -- active_prefix.c */
/* Sets which work items are active, from the slopes of the step's output. */
MUST_USE hone_status set_active_prefix(struct builder *b, struct step *step);
/* Adds an operand to the epilogue of a kernel that writes `to`, with the numbers of images, batches
   and rows to compute, if they are dynamic. */
MUST_USE hone_status add_limits(struct builder *b, const struct choice *choice,
                                const struct view *to, struct problem *problem,
                                struct epilogue *epilogue);

/* -- steps.c */
MUST_USE hone_status new_step(struct builder *b, enum step_kind kind, const struct node *node,
                              size_t inputs, size_t outputs, struct step **out);
/* One thread does all of it if there is little work of this kind, also at run-time sizes. */
void step_share(struct step *step, double work, enum work_kind kind);
MUST_USE hone_status add_copy(struct builder *b, const struct node *node, const struct view *from,
                              const struct view *to, struct step **out);
/* All dimensions but the last: those of a dynamic input or output as the caller stores it. */
unsigned port_dimensions(const struct view *view);
/* A copy in which dimensions have the strides of their actual sizes: bits by dimension of the views,
   on each side. */
MUST_USE hone_status add_packed_copy(struct builder *b, const struct node *node,
                                     const struct view *from, const struct view *to,
                                     unsigned packed_from, unsigned packed_to);
/* Between the arena and a dynamic input or output, which is packed at its actual size. */
MUST_USE hone_status add_port_copy(struct builder *b, const struct view *from,
                                   const struct view *to);
/* Copy with a constant border: before[i] border elements before logical dim i of `to`. */
MUST_USE hone_status add_copy_border(struct builder *b, const struct node *node,
                                     const struct view *from, const struct view *to,
                                     const int64_t before[HONE_MAX_RANK], uint64_t fill_bits,
                                     struct step **out);
/* A step that converts floats from the order and type of `from` to those of `to`. */
MUST_USE hone_status add_conversion(struct builder *b, const struct node *node,
                                    const struct view *from, const struct view *to);
/* Writes zeros around the image `inner` inside the buffer of `whole`, `border` rows and columns
   on each side. */
MUST_USE hone_status add_border(struct builder *b, const struct view *whole,
                                const struct view *inner, int64_t border);
/* -- reads.c */
/* The view in which the value was made, in its stored type; constants get a weights buffer at
   first use. */
MUST_USE hone_status get_stored(struct builder *b, const struct value *value, struct view *out);
/* Dynamic inputs that the node's graphs read, for them to find. */
MUST_USE hone_status unpack_captured(struct builder *b, const struct node *node);
/* The same as get_stored, or a dynamic input as the caller stores it (*out_packed), if no step needed
 * it before. */
MUST_USE hone_status get_packed(struct builder *b, const struct value *value, struct view *out,
                                bool *out_packed);
/* The view in which the value was made, in its own type. */
MUST_USE hone_status get_view(struct builder *b, const struct value *value, struct view *out);
/* As get_view, for a copy that ends at the actual size: may be a dynamic input as the caller stores
   it. */
MUST_USE hone_status get_source(struct builder *b, const struct value *value, struct view *out);
/* The value with exactly these strides and this type (buffer and offset of `wanted` are
   ignored): an existing copy, or a new step that makes one. */
MUST_USE hone_status ensure_strides(struct builder *b, const struct value *value,
                                    const struct view *wanted, struct view *out);
MUST_USE hone_status ensure_dense(struct builder *b, const struct value *value, struct view *out);
/* In this type: the stored view if it has it, else a copy in an order without holes. */
MUST_USE hone_status ensure_type(struct builder *b, const struct value *value, hone_dtype dtype,
                                 struct view *out);
MUST_USE hone_status ensure_dense_as(struct builder *b, const struct value *value, hone_dtype dtype,
                                     struct view *out);
/* Dense, in the stored type. */
MUST_USE hone_status ensure_dense_stored(struct builder *b, const struct value *value,
                                         struct view *out);
/* `dtype`: HONE_UNDEFINED for the stored type. */
MUST_USE hone_status ensure_channels_last(struct builder *b, const struct value *value,
                                          hone_dtype dtype, struct view *out);
/* The stored view if its channels are contiguous, [n, spatial..., c] with any distance of
   pixels, rows and images; else a channels-last copy. */
MUST_USE hone_status ensure_image(struct builder *b, const struct value *value, hone_dtype dtype,
                                  struct view *out);
/* Integers that are linear in the sizes, i64, as an operand of a step. */
MUST_USE hone_status sizes_operand(struct builder *b, int count, const int64_t *bounds,
                                   const struct slope *slopes, struct view *out);

/* -- kernel_step.c */
/* schedule_choose with the plan's schedule. */
static inline bool choose_kernel(const struct builder *b, const struct problem *problem,
                                 struct choice *out) {
  return schedule_choose(b->ctx, &b->plan->schedule, problem, out);
}
/* A kernel step with operands a, b, c and epilogue (NULL: none); sets work items, scratch,
   serial. */
MUST_USE hone_status add_kernel(struct builder *b, const struct node *node,
                                const struct choice *choice, const struct problem *problem,
                                const struct view views[3], const struct epilogue *epilogue,
                                double flops, struct step **out);

/* -- bind_io.c */
MUST_USE hone_status bind_inputs(struct builder *b);
/* Copies every output that no step wrote in place. */
MUST_USE hone_status bind_outputs(struct builder *b);

/* -- simplify.c */
struct number_range {
  double low, high;
};
/* of 8-bit integers and int32; else all numbers */
struct number_range type_range(hone_dtype dtype);
/* inputs: the range of each input's elements; is_epilogue: a kernel stores the result. */
MUST_USE hone_status simplify_program(struct builder *b, struct expr *p,
                                      const struct number_range *inputs, bool is_epilogue);

/* -- program.c */
/* Of an elementwise node and the nodes fused into it; its inputs are the group's. */
MUST_USE hone_status make_program(struct builder *b, const struct fusion_group *g,
                                  struct expr *out);
/* Of the bias and the group's program after a kernel; its inputs are the bias and the group's
   operands. */
MUST_USE hone_status make_epilogue_program(struct builder *b, const struct fusion_group *g,
                                           bool has_bias, struct expr *out);

/* Of a matmul's program and the elementwise groups that follow it; `operands`: the values of its
   inputs. A bool operand counts as a float: its reader converts it. */
MUST_USE hone_status make_chain_program(struct builder *b, const struct fusion_group *matmul,
                                        const struct fusion_group *const *between,
                                        size_t between_count, struct expr *out,
                                        const struct value ***out_operands, size_t *out_count);

/* -- epilogue.c: what a kernel applies to its results before it stores them */
/* bias (may be NULL) and the program's operands, placed relative to `out`; adds the copies that
   they need as steps now. column: the logical dimension of `out` that is the kernel's column. */
MUST_USE hone_status make_epilogue(struct builder *b, const struct fusion_group *g,
                                   const struct value *bias, const struct view *out, int column,
                                   struct epilogue *epilogue);

/* -- integer.c: int8 contractions */
/* Types of the problem; false if kernels do not support them. */
bool contraction_types(const struct fusion_group *g, struct problem_types *out);
/* The zero point of a, or NULL; its value, 0 if it is known only at run time. */
const struct value *integer_zero(const struct node *node);
int64_t constant_zero(const struct node *node);
int64_t weights_zero(const struct node *node); /* of an int8 contraction */
MUST_USE hone_status make_integer_epilogue(struct builder *b, const struct fusion_group *g,
                                           const struct kernel *kernel, const struct view *out,
                                           int column, struct epilogue *epilogue);

/* -- storage_types.c: matmuls in bf16, storage in bf16 and f16 */
/* Fills b->stored_as: a 16-bit type where all readers of the value accept it. */
MUST_USE hone_status choose_storage_types(struct builder *b);
/* The type in which a lowering must store the value: its own, or a 16-bit type. */
hone_dtype storage_of(const struct builder *b, const struct value *value);
/* A Cast between f32 and a 16-bit type, alone in its group, whose two sides are both stored in
   16 bits: no step is needed. */
bool is_free_cast(const struct builder *b, const struct fusion_group *g);
/* The element type of a view for a problem line; 0 if kernels do not support it. */
uint8_t problem_type(hone_dtype dtype);
/* True if bf16 is requested, the contraction supports it (floats), and the target is not faster
   with floats. */
bool computes_in_bf16(const struct builder *b, const struct fusion_group *g);
/* True if bf16 is requested and the target is faster with floats: weights are then rounded to
   bf16 and multiplied as f32. */
bool rounds_weights(const struct builder *b, const struct fusion_group *g);
/* A constant rounded to bf16, stored as bf16 or as HONE_F32. */
MUST_USE hone_status bf16_constant(struct builder *b, const struct tensor *floats, hone_dtype dtype,
                                   const struct tensor **out);
/* As choose_kernel, for a matmul with constant float weights (NULL: none). If it is memory-bound
   and a 16-bit type holds every weight exactly, problem->types.b becomes that type; results do
   not change. problem->types.c becomes the stored type of `result` (NULL: already placed) if the
   kernel stores each element once. */
bool choose_kernel_and_storage(struct builder *b, const struct tensor *weights,
                               const struct value *result, struct problem *problem,
                               struct choice *out);
/* The float weights in the type of the problem. */
MUST_USE hone_status stored_weights(struct builder *b, const struct problem *problem,
                                    const struct tensor **weights);

/* -- lower_generic.c */
/* True if a recurrent node has the default activations of ONNX. */
bool default_activations(const struct node *node);

/* -- lower_window.c, lower_matmul.c */
/* Width of the zero padding that the convolution reads around its input; equal on all sides. */
MUST_USE hone_status conv_border(struct builder *b, const struct fusion_group *g, int64_t *out);
bool is_kernel_pool(const struct node *node);
/* If the only reader is a Transpose: strides that make its result dense; else dense. */
void matmul_order(const struct builder *b, const struct value *value, struct view *like);

/* -- lower_*.c: one family of operators each; they may use everything above, and not each other */
/* *out_done stays false if this lowering does not handle the node. */
typedef hone_status lower_fn(struct builder *b, const struct node *node, bool *out_done);
lower_fn lower_view, lower_pool, lower_global_pool, lower_reduce, lower_softmax, lower_layernorm,
    lower_recurrent, lower_concat, lower_split, lower_pad, lower_tile, lower_resize, lower_blocks,
    lower_generic, lower_if, lower_loop;
/* Lowerings that also take the group's program. */
typedef hone_status lower_group_fn(struct builder *b, const struct fusion_group *g, bool *out_done);
lower_group_fn lower_conv, lower_transposed, lower_depthwise, lower_matmul, lower_weights,
    lower_gemm, lower_elementwise, lower_attention;

/* -- lower.c */
/* First the analyses of b->graph, then the steps of all its groups. */
MUST_USE hone_status prepare_graph(struct builder *b);
MUST_USE hone_status lower_graph(struct builder *b);

#endif
