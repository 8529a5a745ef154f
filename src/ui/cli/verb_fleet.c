/* hone fleet: flags to ui/fleet, and what to do next. */
#include "ui/fleet/fleet.h"
#include "cli.h"

enum { FLAGS_MOST = 96, NUMBERS_MOST = 64 };

/* -- fleet slurm, fleet ssh */

struct words {
  const char *models[512], *flags[FLAGS_MOST]; /* of `hone bench` */
  size_t model_count, flag_count;
};

/* Models up to the first word with a dash; the rest are flags of `hone bench`. */
static hone_status split_words(struct ctx *ctx, const struct args *args, struct words *out) {
  for (size_t i = 1; i < args->word_count; i++) {
    const char *word = args->words[i];
    if (strchr(word, '\n')) return fail(ctx, HONE_E_USAGE, place_name(word), "has a line break");
    const bool is_flag = out->flag_count || word[0] == '-';
    if (is_flag && out->flag_count == FLAGS_MOST)
      return fail(ctx, HONE_E_USAGE, place_none(), "too many flags");
    if (is_flag)
      out->flags[out->flag_count++] = word;
    else
      out->models[out->model_count++] = word;
  }
  return out->model_count ? HONE_OK : fail(ctx, HONE_E_USAGE, place_none(), "no model");
}

/* Parses the flags as the jobs will: a misspelled flag would fail on all machines. */
static hone_status check_flags(struct ctx *ctx, const struct args *args,
                               const struct words *words) {
  static struct args parsed;
  char *argv[FLAGS_MOST + 2] = {NULL};
  int numbers[NUMBERS_MOST];
  size_t count;
  for (size_t i = 0; i < words->flag_count; i++) argv[i + 2] = (char *)(uintptr_t)words->flags[i];
  TRY(args_parse(ctx, (int)words->flag_count + 2, argv, verb_find("bench"), &parsed));
  TRY(ints_of(ctx, args, FLAG_batch, 1, 1 << 20, numbers, NUMBERS_MOST, &count));
  return ints_of(ctx, args, FLAG_threads, 1, 4096, numbers, NUMBERS_MOST, &count);
}

static hone_status write_fleet(struct ctx *ctx, const struct args *args, bool is_slurm) {
  static struct words words;
  size_t jobs;
  const char *folder = value_of(args, FLAG_output, "");
  words = (struct words){.model_count = 0};
  TRY(split_words(ctx, args, &words));
  if (!has(args, FLAG_backend))
    return fail(ctx, HONE_E_USAGE, place_none(),
                "--backend LIST is missing: the machines may have different engines");
  TRY(check_flags(ctx, args, &words));
  if (!*folder || strlen(folder) >= 3800)
    return fail(ctx, HONE_E_USAGE, place_none(),
                "-o DIR is missing: a folder that all machines share");
  const struct fleet_options options = {.folder = folder,
                                        .is_slurm = is_slurm,
                                        .models = words.models,
                                        .model_count = words.model_count,
                                        .flags = words.flags,
                                        .flag_count = words.flag_count,
                                        .backends = value_of(args, FLAG_backend, NULL),
                                        .batches = value_of(args, FLAG_batch, NULL),
                                        .threads = value_of(args, FLAG_threads, NULL),
                                        .precisions = value_of(args, FLAG_precision, NULL),
                                        .together = has(args, FLAG_together)};
  TRY(fleet_write(ctx, &options, &jobs));
  fprintf(stderr, "%zu job%s in %s. Run %s there, then 'hone fleet merge DIR'.\n", jobs,
          jobs == 1 ? "" : "s", folder, is_slurm ? "'sbatch fleet.sbatch'" : "'./ssh.sh HOST...'");
  return HONE_OK;
}

/* -- fleet merge */

static void print_line(void *user, const char *line) {
  (void)user;
  fprintf(stderr, "%s\n", line);
}

static hone_status merge(struct ctx *ctx, const struct args *args, size_t *out_missing) {
  const struct fleet_merge merge = {
      .folder = args->words[1], .store = value_of(args, FLAG_store, NULL), .progress = print_line};
  size_t merged, jobs;
  TRY(fleet_merge(ctx, &merge, &merged, &jobs));
  *out_missing = jobs - merged;
  fprintf(stderr, "%zu of %zu jobs are in the store\n", merged, jobs);
  return HONE_OK;
}

int verb_fleet(struct ctx *ctx, struct args *args) {
  const char *action = args->word_count ? args->words[0] : "";
  size_t missing = 0;
  hone_status status;
  if (!strcmp(action, "slurm") || !strcmp(action, "ssh"))
    status = write_fleet(ctx, args, !strcmp(action, "slurm"));
  else if (!strcmp(action, "merge") && args->word_count == 2)
    status = merge(ctx, args, &missing);
  else
    status =
        fail(ctx, HONE_E_USAGE, place_name(action),
             "'hone fleet slurm|ssh MODEL... --backend LIST -o DIR' or 'hone fleet merge DIR'");
  return status ? report_failure(ctx) : missing ? 1 : 0;
}
