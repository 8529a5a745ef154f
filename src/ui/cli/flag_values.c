/* Words that shell completion offers after a flag or a verb: fixed words, and names from tables. */
#include "judge/recommend/advise.h"
#include "cli.h"

#include "zoo/zoo.h"

static const struct {
  enum flag_id flag;
  const char *words;
} fixed[] = {
    {FLAG_cache_state, "warm cold"},
    {FLAG_color, "auto always never"},
    {FLAG_cpu, "host portable all"},
    {FLAG_device, "cpu ssh: qemu: adb"},
    {FLAG_dump_after, "import plan emit"},
    {FLAG_fail_on, "none"},
    {FLAG_precision, "as-is fp32 bf16 fp16"},
    {FLAG_prefer, "speed size"},
    {FLAG_recipe, "auto minmax percentile mse"},
    {FLAG_resume, "never"},
    {FLAG_route, "onnx onnx-hone stablehlo-hone tflite-hone"},
    {FLAG_scenario, "single multi offline server rate generate"},
    {FLAG_stop_after, "import plan emit"},
    {FLAG_target, "arm-none-eabi riscv32-unknown-elf"},
    {FLAG_to, "int8 fp32 fp16 bf16 int4-weights"},
};

static void put_each(const char *words, void (*put)(const char *word)) {
  char word[64];
  for (size_t n; *words; words += n + (words[n] == ' ')) {
    n = strcspn(words, " ");
    snprintf(word, sizeof word, "%.*s", (int)n, words);
    put(word);
  }
}

static void put_backends(void (*put)(const char *word), bool with_variants, const char *end) {
  char word[160];
  for (size_t i = 0; i < backend_count; i++) {
    const struct backend *at = backend_list[i];
    if (at->testing_only) continue;
    snprintf(word, sizeof word, "%s%s", at->name, end);
    put(word);
    for (const struct backend_variant *v = at->variants; with_variants && v && v->name; v++) {
      snprintf(word, sizeof word, "%s:%s", at->name, v->name);
      put(word);
    }
  }
}

/* Several architectures have levels of the same name. */
static void put_levels(void (*put)(const char *word)) {
  const char *name;
  for (size_t i = 0; (name = target_level_name(i)); i++) {
    size_t k = 0;
    while (strcmp(target_level_name(k), name)) k++;
    if (k == i && strcmp(name, "portable")) put(name);
  }
}

void put_models(void (*put)(const char *word)) {
  char word[160];
  for (size_t i = 0; i < zoo_model_count; i++) {
    snprintf(word, sizeof word, "zoo:%s", zoo_models[i].name);
    put(word);
  }
}

static void put_limits(void (*put)(const char *word)) {
  char word[160];
  for (int i = 0; i < LIMIT_COUNT; i++) {
    snprintf(word, sizeof word, "%s=", limit_name(i));
    put(word);
  }
}

void put_flag_values(enum flag_id flag, void (*put)(const char *word)) {
  for (size_t i = 0; i < COUNT(fixed); i++)
    if (fixed[i].flag == flag) put_each(fixed[i].words, put);
  if (flag == FLAG_backend) put_backends(put, true, "");
  if (flag == FLAG_engine) put_backends(put, false, "=");
  if (flag == FLAG_cpu) put_levels(put);
  if (flag == FLAG_suite) put_suite_names(put);
  if (flag == FLAG_limit) put_limits(put);
  if (flag == FLAG_model || flag == FLAG_on) put_models(put);
  for (int i = 0; flag == FLAG_objective && i < CONSTRAINT_COUNT; i++)
    put(constraint_kinds[i].name);
  for (size_t i = 0; flag == FLAG_columns && i < column_count; i++) put(columns[i].key);
  for (int i = 0; flag == FLAG_fail_on && i < STATUS_COUNT; i++)
    put(status_text((enum record_status)i));
  for (size_t i = 0; (flag == FLAG_dump_after || flag == FLAG_stop_after) && i < pass_count; i++)
    put(pass_pipeline[i].name);
}

/* -- words after a verb */

static const struct {
  const char *verb, *words;
} first_words[] = {
    {"backends", "install remove"}, {"completion", "bash zsh fish"}, {"dataset", "export"},
    {"fleet", "slurm ssh merge"},   {"studies", "rm export import"}, {"zoo", "list write"},
};

void put_first_words(const char *verb, void (*put)(const char *word)) {
  for (size_t i = 0; i < COUNT(first_words); i++)
    if (!strcmp(first_words[i].verb, verb)) put_each(first_words[i].words, put);
  if (!strcmp(verb, "list")) put_list_words(put);
  if (!strcmp(verb, "explain")) put_explained_words(put);
  for (size_t i = 0; !strcmp(verb, "help") && i < verb_count; i++) put(verbs[i].name);
}

/* The word after that: `hone zoo write NAME`, `hone backends install NAME`. */
void put_second_words(const char *verb, void (*put)(const char *word)) {
  if (!strcmp(verb, "backends")) put_backends(put, false, "");
  for (size_t i = 0; !strcmp(verb, "zoo") && i < zoo_model_count; i++) put(zoo_models[i].name);
}
