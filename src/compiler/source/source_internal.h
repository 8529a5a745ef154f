/* Internal to emit: the state while a plan is printed. */
#ifndef HONE_EMIT_INTERNAL_H
#define HONE_EMIT_INTERNAL_H

#include "preprocess.h"
#include "source.h"

/* What stands in front of a unit: its pieces that the unit names. */
struct head {
  const char *top; /* always */
  struct pieces *pieces;
  struct macros macros; /* that a function's text finds */
  char hash[33];        /* of all that may stand in it */
};

struct emitter {
  struct ctx *ctx;
  struct arena *arena;
  const struct plan *plan;
  const char *prefix, *weights;
  bool embeds;  /* emit_options */
  int profiles; /* emit_options */
  const char *kernel_dir;
  size_t replaced; /* texts that came from there */
  /* file of the latest of them that differs from hone's, until a function has it; NULL */
  const char *own;
  const struct port_scale *scales; /* emit_options */
  struct head head;
  struct strbuf *out; /* the last unit so far: steps, the run function, the description */
  VEC(struct function {
    enum unit_kind kind; /* of the units that it may stand in */
    const char *type;    /* "kernel_function", as compiler/source/embedded/unit.h has it */
    const char *body;
    size_t length;
    size_t weight;   /* what compiling it takes: bytes of plain text that take as long */
    const char *own; /* the file of the user's that it is made from; NULL */
  })
  functions; /* by number */
  VEC(struct emitted_part) parts;
};

/* What follows "NAME" in the head of a loop_function and of an open_loop_function. */
#define LOOP_PARAMETERS "(void *to, const void *const *from, long begin, long end)"
/* of those whose sizes follow symbols; less: how far each is below its bound */
#define OPEN_LOOP_PARAMETERS \
  "(void *to, const void *const *from, long begin, long end, const long *restrict less)"

/* -- kernel_files.c: the text of a kernel by its file ("gemm_f32.c"), hone's or the user's own, with the texts that it
   includes. */
MUST_USE hone_status put_text(struct emitter *e, const char *file, struct strbuf *out);

/* -- shared.c */
/* Of the model's own text only names of plain words are shown, as a string or in a comment; any other one stands as
   bytes. Nothing else of it gets in. */
bool is_plain_word(const char *name);
void emit_name(struct strbuf *out, const char *name);
/* Appends lines of code, each indented by the braces that are open before it. */
void emit_code(struct strbuf *out, const struct strbuf *code);
/* Returns the number of a function with this body ("NAME" stands for its name), keeping it if it is
   new: steps of one shape share one function. The last unit calls it k3, its symbol is PREFIX_k3. */
MUST_USE hone_status emit_shared(struct emitter *e, const struct strbuf *body, enum unit_kind kind,
                                 const char *type, int *out_number);
/* "(const float *)(f->arena + 64) + 12" */
void emit_address(struct strbuf *out, const struct view *view, bool is_const);
/* "64l", or "(64l - 2l * less[0])" where it follows a symbol. */
void emit_size(struct strbuf *out, int64_t size, const struct slope *slope);

/* -- expression.c */
/* What vectors make of elements of a type, by names of simd.h: load and store take how many lanes. */
struct vector_form {
  hone_dtype dtype;
  const char *type, *load, *store, *splat;
};
const struct vector_form *vector_form(hone_dtype dtype); /* NULL: vectors do not know the type */
const char *c_type(hone_dtype dtype);                    /* "float", "int64_t", "unsigned char" */
const char *class_prefix(hone_dtype dtype);              /* "f32_", "f64_", "i64_" */
const char *class_type(hone_dtype dtype);                /* "float", "double", "int64_t" */
/* A number as C text that reads back exactly: small whole ones as such, others in hex; INFINITY, NAN. */
void emit_float(struct strbuf *out, double x);

/* The program as C statements. Inputs are named i0, i1, ...; the raw result r, operations t0, t1, ...;
   *out_result names the last: as a vector a vec where its type is f32, else a veci. */
enum program_form {
  PROGRAM_SCALAR,
  PROGRAM_VECTOR,
  PROGRAM_WHOLE_FLOATS /* a vector whose raw integers are whole floats */
};
MUST_USE hone_status emit_program(struct emitter *e, struct strbuf *out, const struct expr *program,
                                  enum program_form form, char out_result[32]);

/* -- loops.c: what loop nests are made of; their lines are laid out when they are shared (emit_code) -- */
/* "j * 4l"; of 1 and 0 the product. */
void emit_strided(struct strbuf *out, const char *index, int64_t stride);
/* "const long x2 = rest % 7l; rest /= 7l;" */
void emit_rest(struct strbuf *out, int d, int64_t size, const struct slope *slope);
/* x0.. of the outer dimensions from the unit number u. */
void emit_outer(struct strbuf *out, const int64_t *size, const struct slope *slope, int outer);
void emit_for(struct strbuf *out, int d, int64_t size, const struct slope *slope);
void begin_loops(struct strbuf *body, const struct step *step);
MUST_USE hone_status share_loops(struct emitter *e, const struct step *step,
                                 const struct strbuf *body, enum unit_kind kind, int *out_number);

/* -- loops.c, copies.c, kernels.c, generic.c: bodies of the step functions */
MUST_USE hone_status emit_elementwise(struct emitter *e, const struct step *step, int *out_number);
MUST_USE hone_status emit_copy(struct emitter *e, const struct step *step, int *out_number);
MUST_USE hone_status emit_fill(struct emitter *e, const struct step *step, int *out_number);
/* Whether the loops of an elementwise or copy step follow symbols. */
bool is_open_loop(const struct step *step);
/* The units of such a step at run time, as an expression over less. */
void emit_loop_units(struct strbuf *out, const struct step *step);
MUST_USE hone_status emit_kernel(struct emitter *e, const struct step *step, int *out_number);
/* The array `sizes` that the step's kernel reads at run time; false: it has none, all are literals. */
bool emit_kernel_sizes(const struct emitter *e, const struct step *step, struct strbuf *out);
MUST_USE hone_status emit_pack(struct emitter *e, const struct step *step, int *out_number);
MUST_USE hone_status emit_generic(struct emitter *e, const struct step *step, int *out_number);

/* -- steps.c: step i as a function s<i>, and the body that it calls if that is new */
MUST_USE hone_status emit_step(struct emitter *e, size_t i);
/* Whether its plain text is handed the sizes that only a run knows; room for new text, too. */
bool step_takes_extents(const struct step *step);
bool step_takes_texts(const struct step *step);

/* -- prelude.c, entry.c, describe.c, weights.c: the other parts of the text, in this order */
/* What a description adds to hone's version: ", prefer size" or nothing. */
const char *plan_preference(const struct plan *plan);
MUST_USE hone_status head_make(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                               struct head *out);
/* The pieces that are kept. */
MUST_USE hone_status head_print(const struct head *head, struct strbuf *out);
void emit_frame(const struct emitter *e);
void emit_run(struct emitter *e);
/* side: "input" or "output" */
void emit_io(struct strbuf *out, const char *side, const struct port *ports, size_t count);
void emit_symbols(struct strbuf *out, const struct symbols *symbols);
MUST_USE hone_status make_weights(struct emitter *e, struct emitted *out);
void hash_weights(const struct emitted *emitted, struct strbuf *out);
MUST_USE hone_status emit_info(struct emitter *e, const char *prefix, struct emitted *made);
/* -- units.c: the functions dealt out to units, by their number and text alone */
MUST_USE hone_status emit_units(struct emitter *e, struct emitted *out);
/* Prototypes of the functions, for the unit that calls them. */
void emit_prototypes(const struct emitter *e, struct strbuf *out);
/* Macro i that a compiler for the target defines; "": another target's, NULL: there are no more. */
const char *requirement(const struct plan *plan, size_t i);
/* #error where the compiler is not told to use what the target has. */
void emit_requirements(const struct plan *plan, struct strbuf *out);
MUST_USE hone_status emit_header(struct emitter *e, const char *prefix, struct strbuf *out);

#endif
