/* Instances of generic kernels: the node's types, dimensions and attributes as defines before the
 * kernel source. Only attributes that the source uses are defined, with words from a closed list:
 * no text of a model reaches the C file.
 */
#include "source_internal.h"

#include <ctype.h>

static const char *const words[] = {"nearest",
                                    "linear",
                                    "cubic",
                                    "half_pixel",
                                    "half_pixel_symmetric",
                                    "asymmetric",
                                    "align_corners",
                                    "pytorch_half_pixel",
                                    "tf_crop_and_resize",
                                    "tf_half_pixel_for_nn",
                                    "floor",
                                    "ceil",
                                    "round_prefer_floor",
                                    "round_prefer_ceil",
                                    "stretch",
                                    "not_larger",
                                    "not_smaller",
                                    "constant",
                                    "reflect",
                                    "edge",
                                    "wrap",
                                    "none",
                                    "add",
                                    "mul",
                                    "max",
                                    "min",
                                    "forward",
                                    "reverse",
                                    "bidirectional",
                                    "DCR",
                                    "LEFT",
                                    "RIGHT",
                                    "CRD"};

static bool listed(const char *const *list, size_t count, const char *word, size_t length) {
  for (size_t i = 0; i < count; i++)
    if (strlen(list[i]) == length && !memcmp(list[i], word, length)) return true;
  return false;
}

static void define(struct strbuf *out, struct strbuf *undo, const char *name) {
  strbuf_printf(out, "#define %s ", name);
  strbuf_printf(undo, "#undef %s\n", name);
}

static void emit_list(struct strbuf *out, const int64_t *ints, size_t count) {
  strbuf_puts(out, "{");
  for (size_t i = 0; i < count; i++)
    strbuf_printf(out, "%s%lld", i ? ", " : "", (long long)ints[i]);
  strbuf_puts(out, count ? "}\n" : "0}\n");
}

/* The source contains ATTR_axis, ATTR_axes_COUNT or ATTR_mode_IS_linear. */
static bool is_used(const char *source, size_t length, const char *name) {
  const size_t own = strlen(name);
  const char *end = source + length;
  for (const char *at = source; (at = memmem(at, (size_t)(end - at), name, own)); at += own) {
    const char next = at + own < end ? at[own] : 0;
    const size_t left = (size_t)(end - at) - own;
    const bool is_whole = !isalnum((unsigned char)next) && next != '_';
    if (is_whole || (left > 6 && !memcmp(at + own, "_COUNT", 6)) ||
        (left > 4 && !memcmp(at + own, "_IS_", 4)))
      return true;
  }
  return false;
}

/* A word of the list becomes a part of the name; a delimiter is printed as numbers: no text of a
   model reaches the file. */
static hone_status emit_string(struct emitter *e, struct strbuf *out, struct strbuf *undo,
                               const char *name, struct place place, const struct attribute *a) {
  char word[160];
  if (!strcmp(a->name, "delimiter")) {
    if (!a->s.length) return HONE_OK;
    define(out, undo, name);
    strbuf_puts(out, "{");
    for (size_t i = 0; i < a->s.length; i++) strbuf_printf(out, "%d, ", (int)a->s.bytes[i]);
    strbuf_puts(out, "0}\n");
    return HONE_OK;
  }
  if (!listed(words, COUNT(words), a->s.bytes, a->s.length))
    return fail(e->ctx, HONE_E_UNSUP, place, "no kernel supports this value of attribute %s",
                a->name);
  snprintf(word, sizeof word, "%s_IS_%.*s", name, (int)a->s.length, a->s.bytes);
  define(out, undo, word);
  strbuf_puts(out, "1\n");
  return HONE_OK;
}

/* ConstantOfShape: one element. */
static void emit_tensor(struct strbuf *out, struct strbuf *undo, const char *name,
                        const struct tensor *tensor) {
  if (tensor_count(tensor) != 1 || tensor->dtype == HONE_STRING) return;
  define(out, undo, name);
  if (dtype_is_float(tensor->dtype))
    emit_float(out, tensor_f64(tensor, 0));
  else
    strbuf_printf(out, "((int64_t)0x%llxull)", (unsigned long long)tensor_i64(tensor, 0));
  strbuf_puts(out, "\n");
}

static hone_status emit_attribute(struct emitter *e, const char *source, size_t length,
                                  struct strbuf *out, struct strbuf *undo, struct place place,
                                  const struct attribute *a) {
  char name[96], count_name[112];
  const int n = snprintf(name, sizeof name, "ATTR_%s", a->name);
  if (n >= (int)sizeof name || !is_used(source, length, name)) return HONE_OK;
  snprintf(count_name, sizeof count_name, "%s_COUNT", name);
  switch (a->kind) {
    case ATTRIBUTE_INT:
      define(out, undo, name);
      strbuf_printf(out, "%lldl\n", (long long)a->i);
      break;
    case ATTRIBUTE_FLOAT:
      define(out, undo, name);
      strbuf_puts(out, "((float)");
      emit_float(out, a->f);
      strbuf_puts(out, ")\n");
      break;
    case ATTRIBUTE_INTS:
      define(out, undo, name);
      emit_list(out, a->ints, a->count);
      define(out, undo, count_name);
      strbuf_printf(out, "%zu\n", a->count);
      break;
    case ATTRIBUTE_FLOATS:
      define(out, undo, name);
      strbuf_puts(out, "{");
      for (size_t i = 0; i < a->count; i++) {
        emit_float(out, a->floats[i]);
        strbuf_puts(out, ", ");
      }
      strbuf_puts(out, "}\n");
      break;
    case ATTRIBUTE_STRING:
      return emit_string(e, out, undo, name, place, a);
    case ATTRIBUTE_TENSOR:
      emit_tensor(out, undo, name, a->tensor);
      break;
    default:
      break;
  }
  return HONE_OK;
}

/* "#define IN0_RANK " */
static void define_field(struct strbuf *out, struct strbuf *undo, const char *side, size_t k,
                         const char *field) {
  char name[48];
  snprintf(name, sizeof name, "%s%zu_%s", side, k, field);
  define(out, undo, name);
}

static hone_status emit_operand(struct emitter *e, struct strbuf *out, struct strbuf *undo,
                                const char *side, size_t k, const struct view *view) {
  const bool is_present = view->buffer != NULL;
  const int rank = is_present ? view->shape.rank : 0;
  const struct {
    const char *field;
    int value;
  } facts[] = {{"PRESENT", is_present},
               {"RANK", rank},
               {"IS_TEXT", is_present && view->dtype == HONE_STRING},
               {"TYPE", is_present ? (int)view->dtype : 0}};
  int64_t count = 0, numbers[HONE_MAX_RANK];
  if (is_present && !shape_count(&view->shape, &count))
    return fail(e->ctx, HONE_E_LIMIT, place_none(), "too large");
  for (size_t i = 0; i < COUNT(facts); i++) {
    define_field(out, undo, side, k, facts[i].field);
    strbuf_printf(out, "%d\n", facts[i].value);
  }
  define_field(out, undo, side, k, "T");
  strbuf_printf(out, "%s\n", is_present ? c_type(view->dtype) : "float");
  define_field(out, undo, side, k, "COUNT");
  strbuf_printf(out, "%lldl\n", (long long)count);
  define_field(out, undo, side, k, "DIMS");
  emit_list(out, view->shape.dims, (size_t)rank);
  if (!is_present || !view_is_open(view)) return HONE_OK;
  for (int d = 0; d < rank; d++) numbers[d] = view->extents[d];
  define_field(out, undo, side, k, "EXTENTS");
  emit_list(out, numbers, (size_t)rank);
  define_field(out, undo, side, k, "OPEN");
  strbuf_puts(out, "1\n");
  return HONE_OK;
}

hone_status emit_generic(struct emitter *e, const struct step *step, int *out_number) {
  struct strbuf body = {0}, undo = {0}, source = {0};
  hone_status status = put_kernel_source(e, step->generic->source, &source);
  strbuf_printf(&body,
                "/* plain %s */\n#define UNITS %lldl\n#define IN_COUNT %zu\n"
                "#define OUT_COUNT %zu\n",
                step->generic->op, (long long)step->units, step->input_count, step->output_count);
  strbuf_puts(&undo, "#undef UNITS\n#undef IN_COUNT\n#undef OUT_COUNT\n");
  if (step->generic->define) { /* "REDUCE_OP 2": selects one of the source's operators */
    strbuf_printf(&body, "#define %s\n", step->generic->define);
    strbuf_printf(&undo, "#undef %.*s\n", (int)strcspn(step->generic->define, " "),
                  step->generic->define);
  }
  for (size_t k = 0; k < step->input_count && !status; k++)
    status = emit_operand(e, &body, &undo, "IN", k, &step->inputs[k]);
  for (size_t k = 0; k < step->output_count && !status; k++)
    status = emit_operand(e, &body, &undo, "OUT", k, &step->outputs[k]);
  const char *name;
  const int64_t *numbers;
  for (size_t i = 0; step->window && (name = generic_window_define(step->window, i, &numbers));
       i++) {
    define(&body, &undo, name);
    emit_list(&body, numbers, GENERIC_SPATIAL);
  }
  for (size_t k = 0; k < step->attribute_count && !status; k++)
    status = emit_attribute(e, source.at, source.length, &body, &undo, step->place,
                            &step->attributes[k]);
  if (!status) {
    strbuf_append(&body, source.at, source.length);
    strbuf_append(&body, undo.at, undo.length);
    status = emit_shared(e, &body, UNIT_LOOPS, "plain_function", out_number);
  }
  strbuf_deinit(&body);
  strbuf_deinit(&undo);
  strbuf_deinit(&source);
  return status;
}
