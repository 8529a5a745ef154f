/* Internal to source: the state while a plan is printed. */
#ifndef HONE_SOURCE_INTERNAL_H
#define HONE_SOURCE_INTERNAL_H

#include "preprocess.h"
#include "source.h"

/* The head of a translation unit: the pieces that the unit uses. */
struct head {
  const char *top; /* always printed */
  struct pruner *pieces;
  struct macros macros; /* macros that a function's source sees */
  char hash[33];        /* of everything that it may contain */
};

struct emitter {
  struct ctx *ctx;
  struct arena *arena;
  const struct plan *plan;
  const char *prefix, *weights;
  bool embeds;  /* emit_options */
  int profiles; /* emit_options */
  const char *kernel_dir;
  size_t replaced; /* number of sources that the user's folder replaced */
  /* the latest of these files that differs from hone's, until a function contains it; NULL */
  const char *own;
  const struct port_scale *scales; /* emit_options */
  struct head head;
  struct strbuf *out; /* the last unit so far: steps, run function, description */
  VEC(struct function {
    enum unit_kind kind; /* the kind of units that may contain it */
    const char *type;    /* "kernel_function", as in embedded/unit.h */
    const char *body;
    size_t length;
    size_t weight;   /* compile time, in bytes of simple source that take as long */
    const char *own; /* the user's file that it was made from; NULL */
  })
  functions; /* by number */
  VEC(struct emitted_part) parts;
};

/* The parameters of a loop_function and of an open_loop_function. */
#define LOOP_PARAMETERS "(void *to, const void *const *from, long begin, long end)"
/* with dynamic sizes; less: how far each symbol is below its bound */
#define OPEN_LOOP_PARAMETERS \
  "(void *to, const void *const *from, long begin, long end, const long *restrict less)"

/* -- kernel_files.c: a kernel source by its file name ("gemm_f32.c"), hone's or the user's, with
   its includes. */
MUST_USE hone_status put_kernel_source(struct emitter *e, const char *file, struct strbuf *out);

/* -- shared.c */
/* Only names of simple words are printed from a model, as a string or in a comment; other names
   are printed as bytes. Nothing else of a model reaches the source. */
bool is_plain_word(const char *name);
void emit_name(struct strbuf *out, const char *name);
/* Appends lines of code, each indented by the braces that are open before it. */
void emit_code(struct strbuf *out, const struct strbuf *code);
/* Returns the number of the function with this body ("NAME" stands for its name), adding it if
   it is new: steps of one shape share a function. The last unit calls it k3, its symbol is
   PREFIX_k3. */
MUST_USE hone_status emit_shared(struct emitter *e, const struct strbuf *body, enum unit_kind kind,
                                 const char *type, int *out_number);
/* "(const float *)(f->arena + 64) + 12" */
void emit_address(struct strbuf *out, const struct view *view, bool is_const);
/* "64l", or "(64l - 2l * less[0])" if it depends on a symbol. */
void emit_size(struct strbuf *out, int64_t size, const struct slope *slope);

/* -- expression.c */
/* How vectors load and store elements of a type, as names of simd.h: load and store take a lane
   count. */
struct vector_form {
  hone_dtype dtype;
  const char *type, *load, *store, *splat;
};
const struct vector_form *vector_form(hone_dtype dtype); /* NULL: vectors do not support the type */
const char *c_type(hone_dtype dtype);                    /* "float", "int64_t", "unsigned char" */
const char *class_prefix(hone_dtype dtype);              /* "f32_", "f64_", "i64_" */
const char *class_type(hone_dtype dtype);                /* "float", "double", "int64_t" */
/* A number in C that reads back exactly: small integers in decimal, others in hex; INFINITY,
   NAN. */
void emit_float(struct strbuf *out, double x);

/* The program as C statements. Inputs are named i0, i1, ...; the raw result r, operations t0,
   t1, ...; out_result names the last: as a vector a vec if its type is f32, else a veci. */
enum program_form {
  PROGRAM_SCALAR,
  PROGRAM_VECTOR,
  PROGRAM_WHOLE_FLOATS /* a vector whose raw integers are whole floats */
};
MUST_USE hone_status emit_program(struct emitter *e, struct strbuf *out, const struct expr *program,
                                  enum program_form form, char out_result[32]);

/* -- loops.c: parts of loop nests; emit_code indents their lines when they are shared -- */
/* "j * 4l"; shorter if a factor is 1 or 0. */
void emit_strided(struct strbuf *out, const char *index, int64_t stride);
/* "const long x2 = rest % 7l; rest /= 7l;" */
void emit_rest(struct strbuf *out, int d, int64_t size, const struct slope *slope);
/* x0.. of the outer dimensions from the number u of the work item. */
void emit_outer(struct strbuf *out, const int64_t *size, const struct slope *slope, int outer);
void emit_for(struct strbuf *out, int d, int64_t size, const struct slope *slope);
void begin_loops(struct strbuf *body, const struct step *step);
MUST_USE hone_status share_loops(struct emitter *e, const struct step *step,
                                 const struct strbuf *body, enum unit_kind kind, int *out_number);

/* -- loops.c, copies.c, kernels.c, generic.c: bodies of the step functions */
MUST_USE hone_status emit_elementwise(struct emitter *e, const struct step *step, int *out_number);
MUST_USE hone_status emit_copy(struct emitter *e, const struct step *step, int *out_number);
MUST_USE hone_status emit_fill(struct emitter *e, const struct step *step, int *out_number);
/* True if the loops of an elementwise or copy step depend on symbols. */
bool is_open_loop(const struct step *step);
/* The work items of such a step at run time, as an expression over less. */
void emit_loop_units(struct strbuf *out, const struct step *step);
MUST_USE hone_status emit_kernel(struct emitter *e, const struct step *step, int *out_number);
/* The array `sizes` that the step's kernel reads at run time; false: all sizes are literals. */
bool emit_kernel_sizes(const struct emitter *e, const struct step *step, struct strbuf *out);
MUST_USE hone_status emit_pack(struct emitter *e, const struct step *step, int *out_number);
MUST_USE hone_status emit_generic(struct emitter *e, const struct step *step, int *out_number);

/* -- steps.c: step i as a function s<i>, and the body that it calls if that is new */
MUST_USE hone_status emit_step(struct emitter *e, size_t i);
/* True if the number of work items depends on symbols. */
bool has_open_units(const struct step *step);
/* That number as the variable "units", and for a kernel "led", the active ones of each group. */
void emit_open_units(struct strbuf *out, const struct step *step);
/* True if its generic kernel gets data-dependent sizes or space for new strings. */
bool step_takes_extents(const struct step *step);
bool step_takes_strings(const struct step *step);

/* -- prelude.c, entry.c, describe.c, weights.c: the other parts of the source, in this order */
/* What a description adds to hone's version: ", prefer size" or nothing. */
const char *plan_preference(const struct plan *plan);
MUST_USE hone_status head_make(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               struct head *out);
/* The kept pieces. */
MUST_USE hone_status head_print(const struct head *head, struct strbuf *out);
void emit_frame(const struct emitter *e);
void emit_run(struct emitter *e);
/* side: "input" or "output" */
void emit_io(struct strbuf *out, const char *side, const struct port *ports, size_t count);
void emit_symbols(struct strbuf *out, const struct symbols *symbols);
MUST_USE hone_status make_weights(struct emitter *e, struct emitted *out);
void hash_weights(const struct emitted *emitted, struct strbuf *out);
MUST_USE hone_status emit_info(struct emitter *e, const char *prefix, struct emitted *made);
/* -- units.c: distributes functions over translation units, by their number and source alone */
MUST_USE hone_status emit_units(struct emitter *e, struct emitted *out);
/* Prototypes of the functions, for the unit that calls them. */
void emit_prototypes(const struct emitter *e, struct strbuf *out);
/* Macro i that a compiler defines for the target; "": for another target, NULL: no more. */
const char *requirement(const struct plan *plan, size_t i);
/* #error if the compiler was not told to use the target's features. */
void emit_requirements(const struct plan *plan, struct strbuf *out);
MUST_USE hone_status emit_header(struct emitter *e, const char *prefix, struct strbuf *out);

#endif
