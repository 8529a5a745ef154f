/* The top of every unit: headers, the vector and scalar helpers, the ABI; and the frame of a run. */
#include "emit_internal.h"

#include "../run/artifact.h"

static bool has_small_types(const struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++) {
    const struct step *step = plan->steps.at[i];
    for (size_t k = 0; k < step->input_count + step->output_count; k++) {
      const struct view *view =
          k < step->input_count ? &step->inputs[k] : &step->outputs[k - step->input_count];
      if (view->buffer && compute_dtype(view->dtype) != view->dtype) return true;
    }
  }
  return false;
}

static bool has_activations(const struct plan *plan) {
  for (size_t i = 0; i < plan->steps.count; i++)
    for (size_t k = 0; k < plan->steps.at[i]->attribute_count; k++)
      if (!strcmp(plan->steps.at[i]->attributes[k].name, "functions")) return true;
  return false;
}

const char *plan_preference(const struct plan *plan) {
  return plan->kernel_target.prefers_size ? ", prefer size" : "";
}

void emit_prelude(const struct plan *plan, struct text *out) {
  text_printf(
      out,
      "/* Made by hone %s. %zu steps; arena %zu bytes, weights %zu bytes; target %s %s%s. */\n",
      HONE_VERSION, plan->steps.count, plan->arena_bytes, plan->weights_bytes, plan->target.triple,
      plan->target.level, plan_preference(plan));
  emit_requirements(plan, out);
  text_puts(out,
            "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n"
            "#if defined __clang__\n#pragma clang fp contract(fast)\n#endif\n");
  text_printf(out, "#define HONE_VECTOR_BYTES %d\n", plan->target.vector_bytes);
  if (plan->target.is_portable) text_puts(out, "#define HONE_PORTABLE 1\n");
  const char *const texts[] = {plan->target.vector_bytes == 4 ? "kernels/lane.h" : "kernels/simd.h",
                               "emit/scalar.h",
                               "run/artifact.h",
                               "emit/small.h",
                               "emit/strings.h",
                               "emit/recurrent.h"};
  for (size_t i = 0; i < COUNT(texts); i++) {
    size_t length = 0;
    if (i == 3 && !has_small_types(plan)) continue;
    if (i == 4 && !plan->text_bytes) continue;
    if (i == 5 && !has_activations(plan)) continue;
    const char *text = hone_embedded_text(texts[i], &length);
    if (text) text_append(out, text, length);
  }
  text_puts(
      out,
      "#define PLAIN_LINES 64\n#define HONE_NAME_(a, b) a##b\n#define HONE_NAME(a, b) "
      "HONE_NAME_(a, b)\n"
      "#if !defined __GNUC__\n#define NOIPA\n#elif !defined __clang__\n"
      "#define NOIPA __attribute__((noipa)) /* gcc 12 takes some loops for functions without "
      "effect */\n"
      "#else\n#define NOIPA __attribute__((noinline))\n#endif\n#undef C\n#define C(k) "
      "splat_((float)(k))\n"
      "#if defined __GNUC__\n"
      "#define HIDDEN __attribute__((visibility(\"hidden\"))) /* between units */\n"
      "#define VISIBLE __attribute__((visibility(\"default\")))\n"
      "#define SET_STATUS_(to, x) __atomic_store_n(&(to), (x), __ATOMIC_RELAXED)\n"
      "#else\n#define HIDDEN\n#define VISIBLE\n#define SET_STATUS_(to, x) ((to) = (x))\n#endif\n"
      "#if defined __GNUC__\n#pragma GCC diagnostic ignored \"-Wunknown-pragmas\" /* omp "
      "*/\n#endif\n\n");
}

void emit_alone_prelude(const struct target *target, struct text *out) {
  const struct plan plan = {.target = *target};
  emit_prelude(&plan, out);
}

void emit_profile_layout(const struct plan *plan, int threads, size_t *out_offset,
                         size_t *out_arena_bytes) {
  *out_offset = (plan->arena_bytes + 63) / 64 * 64;
  *out_arena_bytes =
      *out_offset + (size_t)threads * plan->steps.count * sizeof(struct hone_profile_entry);
}

static void emit_profile(const struct emitter *e) {
  size_t offset, bytes, length = 0;
  const char *text = hone_embedded_text("emit/profile.h", &length);
  emit_profile_layout(e->plan, e->profiles, &offset, &bytes);
  text_printf(e->out, "#define PROFILE_OFFSET %zu\n#define PROFILE_STEPS %zu\n", offset,
              e->plan->steps.count);
  text_printf(e->out, "#define PROFILE_THREADS %d\n", e->profiles);
  if (text) text_append(e->out, text, length);
}

void emit_frame(const struct emitter *e) {
  if (e->profiles) emit_profile(e);
  text_printf(
      e->out,
      "struct frame {\n  const unsigned char *weights;\n  unsigned char *arena;\n  const "
      "void *const *inputs;\n"
      "  void *const *outputs;\n  int32_t status;\n"
      "  int32_t stage; /* that is worked on, from 1, and its chunks */\n  long chunks;\n"
      "  int64_t *extents; /* sizes known only now */\n  struct texts texts;\n%s};\n\n",
      e->plan->symbols.count
          ? "  long less[HONE_ARTIFACT_SYMBOLS]; /* open sizes are so much below their bounds */\n"
          : "");
}
