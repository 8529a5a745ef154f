/* Suites: named lists of models. */
#include "cli.h"

static const struct suite {
  const char *name, *models, *backends, *threads, *help;
} suites[] = {
#define SUITE(name, models, backends, threads, help) {#name, models, backends, threads, help},
#include "suites.def"
#undef SUITE
};

static const struct suite *find_suite(const char *name) {
  for (size_t i = 0; i < COUNT(suites); i++)
    if (!strcmp(suites[i].name, name)) return &suites[i];
  return NULL;
}

static hone_status unknown_suite(struct ctx *ctx, const char *name) {
  const char *names[COUNT(suites)];
  for (size_t i = 0; i < COUNT(suites); i++) names[i] = suites[i].name;
  const char *best = nearest_name(name, names, COUNT(names));
  return fail(ctx, HONE_E_USAGE, place_name(name),
              "no such suite%s%s%s; 'hone list suites' prints them", best ? "; did you mean " : "",
              best ? best : "", best ? "?" : "");
}

/* A model that the command line has already is not added again. */
static hone_status add_word(struct ctx *ctx, struct args *args, const char *word) {
  for (size_t i = 0; i < args->word_count; i++)
    if (!strcmp(args->words[i], word)) return HONE_OK;
  if (args->word_count == COUNT(args->words))
    return fail(ctx, HONE_E_USAGE, place_name(word), "more than %zu models", COUNT(args->words));
  args->words[args->word_count++] = word;
  return HONE_OK;
}

static void set_default(struct args *args, enum flag_id flag, const char *value) {
  struct repeated *given = &args->repeated[flag];
  if (!value || has(args, flag)) return;
  args->values[flag] = given->at[given->count++] = value;
  if (flag == FLAG_backend) args->has_suite_backends = true;
}

hone_status suites_expand(struct ctx *ctx, struct arena *arena, struct args *args) {
  for (size_t s = 0; s < args->repeated[FLAG_suite].count; s++) {
    const struct suite *suite = find_suite(args->repeated[FLAG_suite].at[s]);
    if (!suite) return unknown_suite(ctx, args->repeated[FLAG_suite].at[s]);
    for (const char *at = suite->models; *at;) {
      const size_t length = strcspn(at, " ");
      const char *word;
      TRY(arena_string(ctx, arena, at, length, &word));
      TRY(add_word(ctx, args, word));
      at += length + (at[length] == ' ');
    }
    set_default(args, FLAG_threads, suite->threads);
    set_default(args, FLAG_backend, suite->backends);
  }
  return HONE_OK;
}

void put_suite_names(void (*put)(const char *word)) {
  for (size_t i = 0; i < COUNT(suites); i++) put(suites[i].name);
}

void print_suites(void) {
  for (size_t i = 0; i < COUNT(suites); i++)
    printf("%-10s %s%s%s%s%s\n           %s\n", suites[i].name, suites[i].models,
           suites[i].threads ? " --threads " : "", suites[i].threads ? suites[i].threads : "",
           suites[i].backends ? " --backend " : "", suites[i].backends ? suites[i].backends : "",
           suites[i].help);
}
