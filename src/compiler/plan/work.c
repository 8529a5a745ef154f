/* work: the operations and bytes of a step, from the plan alone, for profiles and reports. Source
 * of the idea: the roofline model of Williams, Waterman and Patterson (CACM 2009).
 */
#include "plan.h"

#include <ctype.h>

/* Distinct elements: broadcast elements are read once. */
static double elements_of(const struct view *view) {
  double count = 1;
  for (int i = 0; i < view->shape.rank; i++)
    if (view->stride[i] || view->shape.dims[i] < 1) count *= (double)view->shape.dims[i];
  return count;
}

static double bytes_of(const struct view *view) {
  return elements_of(view) * dtype_bits(view->dtype) / 8;
}

static double volume_of(const struct view *view) {
  double count = 1;
  for (int i = 0; i < view->shape.rank; i++) count *= (double)view->shape.dims[i];
  return count;
}

/* -- FLOPs per element */

/* Functions of simd.h: a multiply-add counts 2, a division 8; functions that work lane by lane
   cost one lane times the vector width. */
static const struct {
  const char *name;
  double flops;
} functions[] = {{"acos_", 400},
                 {"acosh_", 400},
                 {"asin_", 400},
                 {"asinh_", 400},
                 {"atan_", 400},
                 {"atanh_", 400},
                 {"cos_", 400},
                 {"cosh_", 400},
                 {"erf_", 36},
                 {"exp_", 24},
                 {"expm1_", 28},
                 {"log_", 32},
                 {"log1p_", 37},
                 {"pow_", 600},
                 {"sin_", 400},
                 {"sinh_", 400},
                 {"sqrt_", 8},
                 {"tan_", 400},
                 {"tanh_", 34},
                 /* two 64-bit multiplications, two shifts, their combination, two roundings */
                 {"rescale_", 14},
                 {"rescale_once_", 14},
                 {"rescale_up_", 14}};

static double function_flops(const char *name, size_t length) {
  for (size_t i = 0; i < COUNT(functions); i++)
    if (strlen(functions[i].name) == length && !memcmp(functions[i].name, name, length))
      return functions[i].flops;
  return name[length - 1] == '_' ? 1 : 0; /* max_, select_, ...; x, alpha, C are not operations */
}

static double expression_flops(const char *expression) {
  double flops = 0;
  for (const char *p = expression; *p;) {
    size_t n = 0;
    while (isalpha((unsigned char)p[n]) || p[n] == '_' || (n && isdigit((unsigned char)p[n]))) n++;
    if (n) {
      flops += function_flops(p, n);
      p += n;
      continue;
    }
    flops += *p == '+' || *p == '-' || *p == '*' ? 1 : *p == '/' ? 8 : 0;
    p++;
  }
  return flops;
}

double op_flops(const struct op *op) {
  const char *text = op->expression ? op->expression : op->integer;
  return text ? expression_flops(text) : 1;
}

static double program_flops(const struct expr *program) {
  double flops = 0;
  for (size_t k = 0; k < program->count; k++) flops += op_flops(program->at[k].op);
  return flops;
}

/* -- by kind of step */

static double at_least_1(int64_t n) { return n > 1 ? (double)n : 1; }

static double window_flops(const struct problem *p, double inputs) {
  return 2 * at_least_1(p->images) * (double)(p->oh * p->ow * p->kh * p->kw) * inputs;
}

static double problem_flops(const struct problem *p) {
  double rows = (double)(p->rows * p->columns);
  switch (p->kind) {
    case PROBLEM_gemm:
      return 2 * at_least_1(p->batch0) * at_least_1(p->batch1) * (double)p->m * (double)p->n *
             (double)p->k;
    case PROBLEM_attention:
      return at_least_1(p->batch0) * at_least_1(p->batch1) * (double)p->m * (double)p->n *
             (2 * (double)(p->k + p->columns) + 28);
    case PROBLEM_conv:
      return window_flops(p, (double)p->oc * (double)p->ic / at_least_1(p->groups));
    case PROBLEM_depthwise:
      return window_flops(p, (double)p->ic);
    case PROBLEM_recurrent:
      return (double)(p->steps * p->batch1 * p->directions * p->state) *
             (2 * (double)p->state + 40) *
             (p->cell == 0   ? 4
              : p->cell == 3 ? 1
                             : 3);
    case PROBLEM_pool:
      return window_flops(p, (double)p->ic) / 2;
    case PROBLEM_softmax:
      return rows * 28;
    case PROBLEM_layernorm:
      return rows * 8;
    case PROBLEM_reduce:
      return rows * (double)p->k;
    default:
      return 0;
  }
}

/* Winograd's F(n x n, 3 x 3) multiplies (n + 2)^2 times, the direct algorithm 9 n^2 times. */
static double winograd_share(const struct choice *choice) {
  double n = (double)choice_value(choice, "out", 0);
  return n > 0 ? (n + 2) * (n + 2) / (9 * n * n) : 1;
}

/* The share of attention's scores that its rows see. */
static double visible_share(const struct problem *p) {
  double seen = 0;
  for (int64_t row = 0; row < p->m; row++)
    seen += (double)(row + p->visible < p->n ? row + p->visible : p->n);
  return seen / ((double)p->m * (double)p->n);
}

static void kernel_work(const struct step *step, struct work *out) {
  const struct problem_types *types = &step->problem.types;
  double own = problem_flops(&step->problem);
  double stored = program_flops(&step->epilogue.program) * volume_of(&step->outputs[0]);
  out->flops = own + stored;
  out->algorithm_flops = own * winograd_share(&step->choice);
  out->stored_flops = stored;
  if (step->problem.visible) out->algorithm_flops *= visible_share(&step->problem);
  /* Winograd multiplies in f32 for any input type, unless the choice says otherwise */
  const bool widened =
      winograd_share(&step->choice) < 1 && !choice_value(&step->choice, "halves", 0);
  out->dtype = types->acc == TYPE_I32              ? HONE_I8
               : types->a == TYPE_BF16 && !widened ? HONE_BF16
                                                   : HONE_F32;
}

static void add_view(const struct view *view, struct work *out) {
  const struct buffer *buffer = view->buffer;
  if (!buffer) return;
  if (buffer->place == BUFFER_WEIGHTS)
    out->weight_bytes += buffer->pack.kernel ? (double)buffer->bytes : bytes_of(view);
  else
    out->value_bytes += bytes_of(view);
}

/* Only the gathered part of a table is read. */
static bool reads_parts(const struct step *step) {
  return step->kind == STEP_GENERIC && step->op && step->op->class == OP_INDEXED &&
         step->output_count && step->outputs[0].buffer;
}

void step_work(const struct step *step, struct work *out) {
  *out = (struct work){.dtype = HONE_F32};
  bool parts = reads_parts(step);
  for (size_t i = parts; i < step->input_count; i++) add_view(&step->inputs[i], out);
  for (size_t i = 0; i < step->output_count; i++) add_view(&step->outputs[i], out);
  for (size_t i = 0; i < step->epilogue.count; i++) add_view(&step->epilogue.operands[i], out);
  if (parts) {
    double table = step->inputs[0].buffer ? bytes_of(&step->inputs[0]) : 0;
    double taken = bytes_of(&step->outputs[0]);
    out->value_bytes += table < taken ? table : taken;
  }
  switch (step->kind) {
    case STEP_KERNEL:
      kernel_work(step, out);
      return;
    case STEP_ELEMENTWISE:
      out->flops = program_flops(&step->program) * volume_of(&step->outputs[0]);
      break;
    case STEP_GENERIC:
      out->flops = step->generic_flops;
      break;
    default:
      break;
  }
  out->algorithm_flops = out->flops;
}
