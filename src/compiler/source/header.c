/* The typed header of an artifact, and the compiler flags that the C file requires. */
#include "source_internal.h"

static const char *type_of(const struct port *port) {
  const char *type = c_type(port->dtype);
  return type ? type : "unsigned char";
}

static bool is_open(const struct port *port) {
  for (int d = 0; d < port->shape.rank; d++)
    if (port->extents[d]) return true;
  return false;
}

static bool has_open_port(const struct plan *plan) {
  for (size_t i = 0; i < plan->input_count; i++)
    if (is_open(&plan->inputs[i])) return true;
  for (size_t i = 0; i < plan->output_count; i++)
    if (is_open(&plan->outputs[i])) return true;
  return false;
}

/* "3", "N + 1", "2 * N + S", "(N - 1) / 2 + 1", "H * W": a dimension as C; prefix: of names. */
static void put_linear(struct strbuf *out, int64_t bound, const struct slope *slope,
                       const struct symbols *symbols, const char *prefix) {
  int64_t rest = bound;
  bool is_open = false;
  for (size_t k = 0; k < HONE_MAX_SYMBOLS + symbols->derived_count; k++) {
    const struct derived_size *size =
        k < HONE_MAX_SYMBOLS ? NULL : &symbols->derived[k - HONE_MAX_SYMBOLS];
    const int64_t factor = slope->of[k];
    if (!factor) continue;
    if (is_open) strbuf_puts(out, " + ");
    if (factor > 1) strbuf_printf(out, "%lld * ", (long long)factor);
    rest -= factor * (size ? size->bound : symbols->at[k].bound);
    is_open = true;
    if (!size) {
      strbuf_printf(out, "%s%s", prefix, symbols->at[k].name);
      continue;
    }
    strbuf_puts(out, "(");
    put_linear(out, size->a, &size->a_slope, symbols, prefix);
    strbuf_puts(out, size->divisor == 1 ? ") * (" : ") / ");
    if (size->divisor == 1) {
      put_linear(out, size->b, &size->b_slope, symbols, prefix);
      strbuf_puts(out, ")");
    } else {
      strbuf_printf(out, "%lld", (long long)size->divisor);
    }
  }
  if (is_open && rest) strbuf_puts(out, rest < 0 ? " - " : " + ");
  if (!is_open || rest) strbuf_printf(out, "%lld", (long long)(is_open && rest < 0 ? -rest : rest));
}

static void put_size(struct strbuf *out, const struct port *port, int d, const struct plan *plan,
                     const char *prefix) {
  static const struct slope none;
  put_linear(out, port->shape.dims[d], port->slope ? &port->slope[d] : &none, &plan->symbols,
             prefix);
}

/* "[N,3,224,224]"; "[2,<=40]": a data-dependent size, by its bound. */
static void put_shape(struct strbuf *out, const struct port *port, const struct plan *plan) {
  strbuf_puts(out, "[");
  for (int d = 0; d < port->shape.rank; d++) {
    if (d) strbuf_puts(out, ",");
    if (port->extents[d]) strbuf_puts(out, "<=");
    put_size(out, port, d, plan, "");
  }
  strbuf_puts(out, "]");
}

/* As C reads a float back. */
static void put_float(struct strbuf *out, double x) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.9g", x);
  strbuf_printf(out, "%s%sf", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static void put_macros(struct strbuf *out, const char *prefix, const char *side,
                       const struct port *port, const struct port_scale *scale, size_t i) {
  int64_t count = 1;
  if (!shape_count(&port->shape, &count)) count = 0;
  strbuf_printf(out, "#define %s_%s_%zu_ELEMENTS %lld\n", prefix, side, i, (long long)count);
  if (!scale || !(scale->scale > 0)) return;
  strbuf_printf(out,
                "/* The value of an integer is SCALE * (integer - ZERO_POINT). */\n"
                "#define %s_%s_%zu_SCALE ",
                prefix, side, i);
  put_float(out, scale->scale);
  strbuf_printf(out, "\n#define %s_%s_%zu_ZERO_POINT (%lld)\n", prefix, side, i,
                (long long)scale->zero_point);
}

static void put_port(struct strbuf *out, const char *prefix, const char *side,
                     const struct plan *plan, const struct port *port, size_t i) {
  strbuf_printf(out, "\n/* %s %zu: %s", side, i, dtype_name(port->dtype));
  put_shape(out, port, plan);
  if (port->alias >= 0)
    strbuf_printf(out, "; the next run's input %d, may share its memory", port->alias);
  strbuf_printf(out, " */\nstatic const char %s_%s_%zu_name[] = ", prefix, side, i);
  emit_name(out, port->name);
  strbuf_printf(out, ";\ntypedef %s %s_%s_%zu_t;\nenum { %s_%s_%zu_rank = %d };\n", type_of(port),
                prefix, side, i, prefix, side, i, port->shape.rank);
  strbuf_printf(out, "static const int64_t %s_%s_%zu_dims[] = {", prefix, side, i);
  for (int d = 0; d < port->shape.rank; d++)
    strbuf_printf(out, "%lld, ", (long long)port->shape.dims[d]);
  strbuf_puts(out, "0};\n");
}

static void put_parameters(struct strbuf *out, const struct port *ports, size_t count,
                           const char *side, bool is_const) {
  for (size_t i = 0; i < count; i++) {
    strbuf_printf(out, "%s%s *%s%zu, ", is_const ? "const " : "", type_of(&ports[i]), side, i);
    if (is_open(&ports[i]))
      strbuf_printf(out, "%sint64_t *%s%zu_dims, ", is_const ? "const " : "", side, i);
  }
}

static void put_pointers(struct strbuf *out, const char *type, const char *name, const char *side,
                         size_t count) {
  strbuf_printf(out, "  %s %s[] = {", type, name);
  for (size_t i = 0; i < count; i++) strbuf_printf(out, "%s%zu, ", side, i);
  strbuf_puts(out, "0};\n");
}

/* The list of the actual sizes of dynamic ports; false if all are fixed. */
static bool put_dims_pointers(struct strbuf *out, const char *type, const char *name,
                              const char *side, const struct port *ports, size_t count) {
  bool any = false;
  for (size_t i = 0; i < count; i++) any |= is_open(&ports[i]);
  if (!any) return false;
  strbuf_printf(out, "  %s %s[] = {", type, name);
  for (size_t i = 0; i < count; i++)
    if (is_open(&ports[i]))
      strbuf_printf(out, "%s%zu_dims, ", side, i);
    else
      strbuf_puts(out, "0, ");
  strbuf_puts(out, "};\n");
  return true;
}

static void put_input_dims(struct strbuf *out, const struct plan *plan) {
  for (size_t i = 0; i < plan->input_count; i++) {
    const struct port *port = &plan->inputs[i];
    strbuf_printf(out, "  const int64_t dims%zu[] = {", i);
    for (int d = 0; d < port->shape.rank; d++) {
      put_size(out, port, d, plan, "size_");
      strbuf_puts(out, ", ");
    }
    strbuf_puts(out, "0};\n");
  }
  put_pointers(out, "const int64_t *const", "input_dims", "dims", plan->input_count);
}

enum {
  MOST_PARAMETERS = 120
}; /* C guarantees 127 parameters; sizes and the arena are among them */

static bool can_be_typed(const struct plan *plan) {
  size_t count = plan->input_count + plan->output_count;
  for (size_t i = 0; i < count; i++) {
    const struct port *port =
        i < plan->input_count ? &plan->inputs[i] : &plan->outputs[i - plan->input_count];
    if (!c_type(port->dtype)) return false;
  }
  return count <= MOST_PARAMETERS;
}

static void put_signature(struct strbuf *out, const struct plan *plan, const char *prefix) {
  strbuf_printf(out, "int %s_run(", prefix);
  for (size_t k = 0; k < plan->symbols.count; k++)
    strbuf_printf(out, "int64_t size_%s, ", plan->symbols.at[k].name);
  put_parameters(out, plan->inputs, plan->input_count, "in", true);
  put_parameters(out, plan->outputs, plan->output_count, "out", false);
  strbuf_puts(out, "void *arena)");
}

void emit_typed_run(const struct plan *plan, const char *prefix, struct strbuf *out) {
  if (!can_be_typed(plan)) return;
  strbuf_printf(
      out,
      "EXPORTED const struct hone_artifact_info *%s_artifact(void);\n"
      "/* The run function with typed arguments, as the header declares it. */\nEXPORTED ",
      prefix);
  put_signature(out, plan, prefix);
  strbuf_puts(out, ";\n");
  put_signature(out, plan, prefix);
  strbuf_puts(out, " {\n");
  put_pointers(out, "const void *const", "in", "in", plan->input_count);
  put_pointers(out, "void *const", "out", "out", plan->output_count);
  bool made = put_dims_pointers(out, "int64_t *const", "output_dims", "out", plan->outputs,
                                plan->output_count);
  bool in = plan->symbols.count != 0;
  if (in)
    put_input_dims(out, plan);
  else
    in = put_dims_pointers(out, "const int64_t *const", "input_dims", "in", plan->inputs,
                           plan->input_count);
  strbuf_printf(out,
                "  const struct hone_artifact_info *const model = %s_artifact();\n"
                "  const struct hone_io io = {in, out, %s, %s};\n"
                "  if (model->weights_bytes && !model->weights) return -1;\n"
                "  return (int)model->run(model->weights, arena, &io, 0);\n}\n\n",
                prefix, in ? "input_dims" : "0", made ? "output_dims" : "0");
}

static void put_declaration(struct strbuf *out, const char *prefix, const struct plan *plan) {
  if (!can_be_typed(plan)) {
    strbuf_printf(out,
                  "\n/* No %s_run: more than %d parameters, or an element type that C lacks. "
                  "Use %s_artifact()->run. */\n",
                  prefix, MOST_PARAMETERS, prefix);
    return;
  }
  strbuf_printf(
      out,
      "\n/* One inference on one thread. Inputs and outputs are dense, of ELEMENTS elements "
      "each. arena: %s_ARENA_BYTES\n   of 64-byte aligned memory, one for each concurrent "
      "call. Returns 0, or the number of an error; -1 if the weights\n   are in a .weights "
      "file: then call %s_artifact()->run with its bytes.%s%s */\n",
      prefix, prefix,
      plan->symbols.count
          ? "\n   Dynamic sizes come first, up to their bounds; arrays are dense at those sizes."
          : "",
      has_open_port(plan) ? "\n   *_dims: the actual sizes of dimensions marked \"<=\" above."
                          : "");
  put_signature(out, plan, prefix);
  strbuf_puts(out, ";\n");
}

hone_status emit_header(struct emitter *e, const char *prefix, struct strbuf *out) {
  const struct plan *plan = e->plan;
  size_t length = 0;
  const char *abi = hone_embedded_text("run/artifact.h", &length);
  if (!abi)
    return fail(e->ctx, HONE_E_INTERNAL, place_none(), "embedded file run/artifact.h is missing");
  strbuf_printf(out,
                "/* Made by hone %s: the types of one compiled model, and the artifact ABI. */\n"
                "#ifndef %s_HEADER\n#define %s_HEADER\n\n",
                HONE_VERSION, prefix, prefix);
  strbuf_append(out, abi, length);
  strbuf_printf(out, "\nenum { %s_input_count = %zu, %s_output_count = %zu };\n", prefix,
                plan->input_count, prefix, plan->output_count);
  strbuf_printf(out, "#define %s_ARENA_BYTES %zu\n", prefix, plan->arena_bytes);
  for (size_t k = 0; k < plan->symbols.count; k++)
    strbuf_printf(out, "#define %s_%s_BOUND %lld /* of a dynamic size */\n", prefix,
                  plan->symbols.at[k].name, (long long)plan->symbols.at[k].bound);
  for (size_t i = 0; i < plan->input_count; i++) {
    put_port(out, prefix, "input", plan, &plan->inputs[i], i);
    put_macros(out, prefix, "INPUT", &plan->inputs[i], e->scales ? &e->scales[i] : NULL, i);
  }
  for (size_t i = 0; i < plan->output_count; i++) {
    put_port(out, prefix, "output", plan, &plan->outputs[i], i);
    put_macros(out, prefix, "OUTPUT", &plan->outputs[i],
               e->scales ? &e->scales[plan->input_count + i] : NULL, i);
  }
  strbuf_printf(out,
                "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\nconst struct hone_artifact_info "
                "*%s_artifact(void);\n",
                prefix);
  put_declaration(out, prefix, plan);
  strbuf_puts(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
  return strbuf_finish(e->ctx, out);
}

hone_status emit_header_text(struct ctx *ctx, struct arena *arena, const struct plan *plan,
                             const char *prefix, const struct port_scale *scales,
                             struct strbuf *out) {
  struct emitter e = {.ctx = ctx, .arena = arena, .plan = plan, .scales = scales};
  return emit_header(&e, prefix, out);
}

/* The macro that a compiler defines when it may use a feature, then its name in older versions
   of clang. The baseline needs no flag. */
static const struct {
  uint32_t feature;
  const char *names[2];
} macros[] = {
    {CPU_AVX, {"__AVX__"}},
    {CPU_AVX2, {"__AVX2__"}},
    {CPU_FMA, {"__FMA__"}},
    {CPU_F16C, {"__F16C__"}},
    {CPU_BMI2, {"__BMI2__"}},
    {CPU_AVX512, {"__AVX512F__"}},
    {CPU_AVX512, {"__AVX512BW__"}},
    {CPU_AVX512, {"__AVX512DQ__"}},
    {CPU_AVX512, {"__AVX512VL__"}},
    {CPU_AVX512_VNNI, {"__AVX512VNNI__"}},
    {CPU_AVX512_VBMI, {"__AVX512VBMI__"}},
    {CPU_AVX512_BF16, {"__AVX512BF16__"}},
    {CPU_AVX512_FP16, {"__AVX512FP16__"}},
    {CPU_AVX_VNNI, {"__AVXVNNI__"}},
    {CPU_AMX_TILE, {"__AMX_TILE__", "__AMXTILE__"}},
    {CPU_AMX_INT8, {"__AMX_INT8__", "__AMXINT8__"}},
    {CPU_AMX_BF16, {"__AMX_BF16__", "__AMXBF16__"}},
    {CPU_NEON, {"__ARM_NEON"}},
    {CPU_DOTPROD, {"__ARM_FEATURE_DOTPROD"}},
    {CPU_I8MM, {"__ARM_FEATURE_MATMUL_INT8"}},
    {CPU_BF16, {"__ARM_FEATURE_BF16_VECTOR_ARITHMETIC"}},
};

const char *requirement(const struct plan *plan, size_t i) {
  if (i >= COUNT(macros)) return NULL;
  return plan->schedule.target.features & macros[i].feature ? macros[i].names[0] : "";
}

/* Without its flags the source would compile and silently run 40 times slower (mlp, gcc -O2). */
void emit_requirements(const struct plan *plan, struct strbuf *out) {
  bool has_any = false;
  for (size_t i = 0; i < COUNT(macros); i++) {
    if (!(plan->schedule.target.features & macros[i].feature)) continue;
    strbuf_puts(out, has_any ? " || " : "#if ");
    if (macros[i].names[1])
      strbuf_printf(out, "(!defined %s && !defined %s)", macros[i].names[0], macros[i].names[1]);
    else
      strbuf_printf(out, "!defined %s", macros[i].names[0]);
    has_any = true;
  }
  strbuf_puts(out, has_any ? "\n" : "");
  if (has_any) strbuf_puts(out, "#error \"compile this file with: -O2");
  for (const char *const *flag = plan->schedule.target.flags; has_any && *flag; flag++)
    strbuf_printf(out, " %s", *flag);
  if (has_any) strbuf_puts(out, "\"\n#endif\n");
  strbuf_puts(out,
              "#if defined __GNUC__ && !defined __OPTIMIZE__\n"
              "#warning \"not optimised: many times slower than with -O2\"\n#endif\n");
  if (plan->schedule.target.is_portable)
    strbuf_puts(
        out,
        "/* Plain C11. The processor must have: bytes of 8 bits, float and double of IEEE "
        "754, int of "
        "32 bits in\n   two's complement, int64_t, right shifts that keep the sign, "
        "conversions that "
        "wrap, little endian. */\n"
        "#if defined __BYTE_ORDER__ && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__\n"
        "#error \"the weights are little endian\"\n#endif\n"
        "#include <limits.h>\n#if CHAR_BIT != 8 || INT_MAX != 0x7fffffff || (-1 >> 1) != -1\n"
        "#error \"int is not of 32 bits in two's complement\"\n#endif\n");
}
