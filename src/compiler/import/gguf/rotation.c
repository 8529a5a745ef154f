/* rotation: the angles by which positions turn the heads (Su et al. 2021, arXiv:2104.09864), and what stretches them beyond the
 * positions that a model was first trained for. */
#include <math.h>

#include "gguf.h"

struct stretch {
  double factor;    /* of the frequencies' wave lengths */
  bool is_yarn;     /* of long waves only, by YaRN (Peng et al. 2023, arXiv:2309.00071) */
  double original;  /* positions; YaRN compares wave lengths with it */
  double magnitude; /* of sine and cosine */
  const struct gguf_tensor *divisors; /* of the frequencies; NULL: none */
};

static hone_status read_float(struct ctx *ctx, const struct gguf *file,
                              const struct gguf_positions *p, const char *name, double otherwise,
                              double *out) {
  char key[128];
  snprintf(key, sizeof key, "%s.%s", p->architecture, name);
  return gguf_float(ctx, file, key, otherwise, out);
}

/* Divisors are of Llama 3.1, or of Phi-3, which has one list for up to the original positions and one for more (LongRoPE, Ding et al. 2024,
   arXiv:2402.13753). */
static hone_status find_divisors(struct ctx *ctx, const struct gguf *file,
                                 const struct gguf_positions *p, struct stretch *s) {
  const bool is_long = (double)p->count > s->original;
  s->divisors =
      gguf_tensor(file, is_long ? "rope_factors_long.weight" : "rope_factors_short.weight");
  if (!s->divisors) s->divisors = gguf_tensor(file, "rope_freqs.weight");
  if (!s->divisors || (s->divisors->rank == 1 && s->divisors->dims[0] == p->turned / 2))
    return HONE_OK;
  return fail(ctx, HONE_E_SHAPE, place_name(s->divisors->name), "does not have the shape [%lld]",
              (long long)(p->turned / 2));
}

/* A factor without a type stretches all waves. */
static hone_status read_stretch(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                                const struct gguf_positions *p, struct stretch *s) {
  static const char *const types[] = {"none", "linear", "yarn", "longrope"};
  const char *type;
  char key[128];
  size_t kind = 0;
  snprintf(key, sizeof key, "%s.rope.scaling.type", p->architecture);
  TRY(gguf_string(ctx, arena, file, key, &type));
  TRY(read_float(ctx, file, p, "rope.scaling.factor", 1, &s->factor));
  TRY(read_float(ctx, file, p, "rope.scaling.attn_factor", 1, &s->magnitude));
  TRY(read_float(ctx, file, p, "rope.scaling.original_context_length", (double)p->trained,
                 &s->original));
  if (!type) type = "linear";
  while (kind < COUNT(types) && strcmp(types[kind], type)) kind++;
  if (kind == COUNT(types))
    return fail(ctx, HONE_E_UNSUP, place_name(key), "\"%.60s\" scaling of positions", type);
  if (kind == 0) s->factor = 1;
  if (s->factor < 1e-3 || s->factor > 1e6 || s->original < 1)
    return fail(ctx, HONE_E_FORMAT, place_name(key), "%g positions are stretched by %g",
                s->original, s->factor);
  s->is_yarn = kind == 2;
  if (s->is_yarn) s->magnitude *= 1 + 0.1 * log(s->factor);
  return find_divisors(ctx, file, p, s);
}

/* Which of the waves, counted from the fastest, makes so many turns within the original positions. */
static double wave_with(const struct stretch *s, double turns, double base, int64_t turned) {
  return (double)turned * log(s->original / (turns * 6.283185307179586)) / (2 * log(base));
}

/* YaRN keeps waves of 32 turns and more, and stretches those of less than one. */
static double frequency(const struct stretch *s, double base, int64_t turned, int64_t i) {
  const double plain = pow(base, -2 * (double)i / (double)turned);
  if (!s->is_yarn) return plain / s->factor;
  const double first = fmax(0, floor(wave_with(s, 32, base, turned)));
  const double last = fmin((double)turned - 1, ceil(wave_with(s, 1, base, turned)));
  const double kept = 1 - fmin(1, fmax(0, ((double)i - first) / fmax(0.001, last - first)));
  return plain * (kept + (1 - kept) / s->factor);
}

hone_status gguf_rotation(struct ctx *ctx, struct arena *arena, const struct gguf *file,
                          const struct gguf_positions *p, float *cosine, float *sine) {
  const int64_t half = p->turned / 2;
  struct stretch s = {.factor = 1, .magnitude = 1};
  double base, *frequencies;
  float *divisors;
  TRY(NEW_ARRAY(ctx, arena, frequencies, (size_t)half));
  TRY(NEW_ARRAY(ctx, arena, divisors, (size_t)half));
  TRY(read_float(ctx, file, p, "rope.freq_base", 10000, &base));
  if (!p->is_local) TRY(read_stretch(ctx, arena, file, p, &s));
  if (p->is_local)
    TRY(read_float(ctx, file, p, "rope.freq_base_swa", p->local_base > 0 ? p->local_base : base,
                   &base));
  for (int64_t i = 0; i < half; i++) divisors[i] = 1;
  if (s.divisors) blocks_decode(s.divisors->type, s.divisors->data, (size_t)half, divisors);
  for (int64_t i = 0; i < half; i++)
    frequencies[i] = frequency(&s, base, p->turned, i) / (double)divisors[i];
  for (int64_t at = 0; at < p->count; at++)
    for (int64_t i = 0; i < half; i++) {
      const double angle = (double)at * frequencies[i];
      cosine[at * half + i] = (float)(cos(angle) * s.magnitude);
      sine[at * half + i] = (float)(sin(angle) * s.magnitude);
    }
  return HONE_OK;
}
