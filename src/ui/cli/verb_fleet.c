/* hone fleet: a study dealt out over many machines, and what they measured taken in, exactly once.
 *
 * `slurm` and `ssh` write a folder: jobs/ID with one argument of `hone bench` a line, job.sh that runs one, and what hands
 * them out. No word of a model or a flag gets into a script. `merge` takes every spool file in; what is there already
 * stays, so that it may be called while others still measure, and again.
 */
#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIST_MOST = 64, JOBS_MOST = 100000, WORDS_MOST = 96 };

struct list {
  char at[LIST_MOST][64];
  size_t count;
};
struct fleet {
  struct ctx *ctx;
  const struct args *args;
  char folder[3800];
  const char *models[512], *further[WORDS_MOST];
  size_t model_count, further_count, jobs;
  struct list backends, batches, threads, precisions;
};

/* -- what is asked for */

/* A list that was not given is one empty word: hone bench's own default. */
static hone_status split(struct ctx *ctx, const char *text, struct list *out) {
  *out = (struct list){.count = !text};
  for (const char *at = text; at;) {
    const size_t n = strcspn(at, ",");
    if (!n || n >= sizeof out->at[0] || out->count == LIST_MOST)
      return fail(ctx, HONE_E_USAGE, place_name(text), "is no list of up to %d words", LIST_MOST);
    snprintf(out->at[out->count++], sizeof out->at[0], "%.*s", (int)n, at);
    at = at[n] ? at + n + 1 : NULL;
  }
  return HONE_OK;
}

/* As every node will read them: a mistyped word would fail on all of them. */
static hone_status check_words(struct fleet *fleet) {
  static struct args parsed;
  char *argv[WORDS_MOST + 2] = {NULL};
  int numbers[LIST_MOST];
  size_t count;
  for (size_t i = 0; i < fleet->further_count; i++)
    argv[i + 2] = (char *)(uintptr_t)fleet->further[i];
  TRY(args_parse(fleet->ctx, (int)fleet->further_count + 2, argv, verb_find("bench"), &parsed));
  TRY(ints_of(fleet->ctx, fleet->args, FLAG_batch, 1, 1 << 20, numbers, LIST_MOST, &count));
  TRY(ints_of(fleet->ctx, fleet->args, FLAG_threads, 1, 4096, numbers, LIST_MOST, &count));
  for (size_t i = 0; i < fleet->backends.count; i++) {
    struct backend_choice choice;
    TRY(backend_choose(fleet->ctx, fleet->backends.at[i], &choice));
  }
  return HONE_OK;
}

/* Models, then from the first word with a dash on what every `hone bench` gets. */
static hone_status read_words(struct fleet *fleet) {
  for (size_t i = 1; i < fleet->args->word_count; i++) {
    const char *word = fleet->args->words[i];
    if (strchr(word, '\n'))
      return fail(fleet->ctx, HONE_E_USAGE, place_name(word), "has a line break");
    const bool is_further = fleet->further_count || word[0] == '-';
    if (is_further && fleet->further_count == WORDS_MOST)
      return fail(fleet->ctx, HONE_E_USAGE, place_none(), "too many flags");
    if (is_further)
      fleet->further[fleet->further_count++] = word;
    else
      fleet->models[fleet->model_count++] = word;
  }
  if (!fleet->model_count) return fail(fleet->ctx, HONE_E_USAGE, place_none(), "no model");
  if (!has(fleet->args, FLAG_backend))
    return fail(fleet->ctx, HONE_E_USAGE, place_none(),
                "--backend LIST is missing: nodes may differ in what is ready");
  TRY(split(fleet->ctx, value_of(fleet->args, FLAG_backend, NULL), &fleet->backends));
  TRY(split(fleet->ctx, value_of(fleet->args, FLAG_batch, NULL), &fleet->batches));
  TRY(split(fleet->ctx, value_of(fleet->args, FLAG_threads, NULL), &fleet->threads));
  TRY(split(fleet->ctx, value_of(fleet->args, FLAG_precision, NULL), &fleet->precisions));
  return check_words(fleet);
}

/* -- writing */

static hone_status write_in(struct fleet *fleet, const char *name, const char *text, size_t size,
                            unsigned mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", fleet->folder, name);
  return file_write_atomic(fleet->ctx, path, text, size, mode);
}

static hone_status write_embedded(struct fleet *fleet, const char *name, const char *embedded) {
  size_t size;
  const char *text = hone_embedded_text(embedded, &size);
  if (!text) return fail(fleet->ctx, HONE_E_INTERNAL, place_name(embedded), "is not built in");
  return write_in(fleet, name, text, size, 0755);
}

static void put_flag(struct strbuf *out, const char *flag, const char *value) {
  if (value && value[0]) strbuf_printf(out, "%s\n%s\n", flag, value);
}

/* Of a built-in model the name and the options; whether it fits is the nodes' matter. */
static hone_status check_spec(struct ctx *ctx, const char *spec) {
  struct arena *arena;
  struct zoo_size size;
  TRY(arena_create(ctx, 0, &arena));
  const hone_status status = zoo_measure(ctx, arena, spec, UINT64_MAX, &size);
  arena_destroy(arena);
  return status;
}

/* A relative path means nothing on a node. */
static hone_status put_model(struct fleet *fleet, const char *model, struct strbuf *out) {
  if (zoo_is_spec(model)) {
    strbuf_printf(out, "bench\n%s\n", model);
    return check_spec(fleet->ctx, model);
  }
  char *real = realpath(model, NULL);
  if (!real) return fail(fleet->ctx, HONE_E_NOFILE, place_file(model), "%s", strerror(errno));
  strbuf_printf(out, "bench\n%s\n", real);
  const bool is_broken = strchr(real, '\n');
  free(real);
  return is_broken ? fail(fleet->ctx, HONE_E_USAGE, place_name(model), "has a line break")
                   : HONE_OK;
}

static hone_status write_job(struct fleet *fleet, const char *model, const char *backend,
                             const char *batch, const char *threads, const char *precision) {
  struct strbuf text = {0};
  char name[32];
  if (++fleet->jobs > JOBS_MOST)
    return fail(fleet->ctx, HONE_E_LIMIT, place_none(), "more than %d jobs", JOBS_MOST);
  hone_status status = put_model(fleet, model, &text);
  put_flag(&text, "--backend", backend);
  put_flag(&text, "--batch", batch);
  put_flag(&text, "--threads", threads);
  put_flag(&text, "--precision", precision);
  strbuf_puts(&text, "--resume\nnever\n--fail-on\nnone\n");
  for (size_t i = 0; i < fleet->further_count; i++) strbuf_printf(&text, "%s\n", fleet->further[i]);
  snprintf(name, sizeof name, "jobs/%06zu", fleet->jobs);
  if (!status) status = strbuf_finish(fleet->ctx, &text);
  if (!status) status = write_in(fleet, name, text.at, text.length, 0644);
  strbuf_deinit(&text);
  return status;
}

static hone_status write_configs(struct fleet *fleet) {
  const bool together = has(fleet->args, FLAG_together);
  const size_t backends = together ? 1 : fleet->backends.count;
  for (size_t m = 0; m < fleet->model_count; m++)
    for (size_t n = 0; n < fleet->batches.count; n++)
      for (size_t t = 0; t < fleet->threads.count; t++)
        for (size_t p = 0; p < fleet->precisions.count; p++)
          for (size_t b = 0; b < backends; b++)
            TRY(write_job(
                fleet, fleet->models[m],
                together ? value_of(fleet->args, FLAG_backend, NULL) : fleet->backends.at[b],
                fleet->batches.at[n], fleet->threads.at[t], fleet->precisions.at[p]));
  return HONE_OK;
}

static hone_status write_slurm(struct fleet *fleet) {
  struct strbuf text = {0};
  strbuf_printf(&text,
                "#!/bin/sh\n# cd here, then: sbatch fleet.sbatch\n#SBATCH --job-name=hone\n#SBATCH "
                "--array=1-%zu\n"
                "#SBATCH --exclusive\n#SBATCH --output=log/%%a.out\nexec ./job.sh \"$(printf %%06d "
                "\"$SLURM_ARRAY_TASK_ID\")\"\n",
                fleet->jobs);
  hone_status status = strbuf_finish(fleet->ctx, &text);
  if (!status) status = write_in(fleet, "fleet.sbatch", text.at, text.length, 0755);
  strbuf_deinit(&text);
  return status;
}

static hone_status make_folder(struct fleet *fleet) {
  static const char *const parts[] = {"jobs", "spool", "log", "taken"};
  static const char *const written[] = {"jobs", "job.sh", "fleet.sbatch", "ssh.sh"};
  const char *folder = value_of(fleet->args, FLAG_output, NULL);
  char path[4096];
  struct stat facts;
  if (!folder || !*folder || strlen(folder) >= sizeof fleet->folder)
    return fail(fleet->ctx, HONE_E_USAGE, place_none(),
                "-o DIR is missing: a folder that all nodes see");
  snprintf(fleet->folder, sizeof fleet->folder, "%s", folder);
  for (size_t i = 0; i < COUNT(written); i++) {
    snprintf(path, sizeof path, "%s/%s", folder, written[i]);
    if (!lstat(path, &facts))
      return fail(fleet->ctx, HONE_E_PATH, place_file(path),
                  "is of a fleet already, or somebody's own; name another folder");
  }
  for (size_t i = 0; i < COUNT(parts); i++) {
    snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
    TRY(dir_output(fleet->ctx, path));
  }
  return HONE_OK;
}

static hone_status write_fleet(struct fleet *fleet, bool is_slurm) {
  TRY(read_words(fleet));
  TRY(make_folder(fleet));
  const hone_status status = write_configs(fleet);
  if (status) { /* the next try finds no fleet there */
    char jobs[4200];
    snprintf(jobs, sizeof jobs, "%s/jobs", fleet->folder);
    dir_remove_tree(jobs);
    return status;
  }
  TRY(write_embedded(fleet, "job.sh", "cli/fleet_job.sh"));
  TRY(is_slurm ? write_slurm(fleet) : write_embedded(fleet, "ssh.sh", "cli/fleet_ssh.sh"));
  fprintf(stderr, "%zu job%s in %s: %s; then 'hone fleet merge DIR'\n", fleet->jobs,
          fleet->jobs == 1 ? "" : "s", fleet->folder,
          is_slurm ? "'sbatch fleet.sbatch' there" : "'ssh.sh HOST...' there");
  return HONE_OK;
}

/* -- merging */

/* What is wrong with the file itself, and not with the store that it goes into. */
static bool is_its_fault(hone_status status) {
  static const hone_status faults[] = {HONE_E_FORMAT, HONE_E_NOFILE, HONE_E_USAGE,
                                       HONE_E_LIMIT,  HONE_E_TYPE,   HONE_E_NUM};
  for (size_t i = 0; i < COUNT(faults); i++)
    if (faults[i] == status) return true;
  return false;
}

static hone_status merge_studies(struct fleet *fleet, struct store *store, struct store *other) {
  struct study_row *rows;
  struct arena *arena;
  size_t count = 0;
  TRY(arena_create(fleet->ctx, 0, &arena));
  hone_status status = store_list_studies(fleet->ctx, other, arena, &rows, &count);
  if (!status && !count)
    status = fail(fleet->ctx, HONE_E_FORMAT, place_none(), "no study is in it");
  for (size_t i = 0; !status && i < count; i++)
    status = store_copy_study(fleet->ctx, other, store, rows[i].key);
  arena_destroy(arena);
  return status;
}

/* By a copy on this machine's own disk, opened for writing, so that its pages are looked at: the folder is one that many
   nodes see, and on a network file system a store cannot be opened at all. */
static hone_status merge_file(struct fleet *fleet, struct store *store, const char *path,
                              const char *copy, bool *out_is_left) {
  struct mapping map;
  struct store *other = NULL;
  *out_is_left = true;
  TRY(file_map(fleet->ctx, path, &map));
  *out_is_left = false;
  hone_status status = file_write_atomic(fleet->ctx, copy, map.data, map.size, 0600);
  file_unmap(&map);
  if (!status) status = store_open(fleet->ctx, copy, true, &other);
  *out_is_left = is_its_fault(status);
  TRY(status);
  status = merge_studies(fleet, store, other);
  store_close(other);
  *out_is_left = is_its_fault(status);
  return status;
}

static int by_name(const struct dirent **a, const struct dirent **b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}
static int is_job(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* A half or damaged file is said and left where it is; the others still come in. */
static hone_status merge_job(struct fleet *fleet, struct store *store, const char *folder,
                             const char *dir, const char *job, bool *out_is_merged) {
  char path[4096], copy[4200];
  bool is_left;
  *out_is_merged = false;
  snprintf(path, sizeof path, "%.3800s/spool/%.64s.db", folder, job);
  snprintf(copy, sizeof copy, "%s/%.64s.db", dir, job);
  if (access(path, F_OK)) return HONE_OK;
  const hone_status status = merge_file(fleet, store, path, copy, &is_left);
  unlink(copy);
  *out_is_merged = !status;
  if (!status || !is_left) return status;
  char name[300];
  safe_copy(name, sizeof name, path);
  fprintf(stderr, "left where it is: %s: %s\n", name, fleet->ctx->message);
  ctx_clear(fleet->ctx);
  return HONE_OK;
}

static hone_status merge_jobs(struct fleet *fleet, const char *folder, struct dirent **jobs,
                              int count, size_t *out_merged) {
  struct store *store;
  char dir[4096];
  TRY(dir_temporary(fleet->ctx, dir));
  hone_status status =
      store_open(fleet->ctx, value_of(fleet->args, FLAG_store, NULL), true, &store);
  for (int i = 0; !status && i < count; i++) {
    bool is_merged;
    status = merge_job(fleet, store, folder, dir, jobs[i]->d_name, &is_merged);
    *out_merged += is_merged;
  }
  store_close(store);
  dir_temporary_remove(dir);
  return status;
}

static hone_status merge(struct fleet *fleet, const char *folder, size_t *out_missing) {
  struct dirent **jobs = NULL;
  char path[4096];
  size_t merged = 0;
  snprintf(path, sizeof path, "%.3800s/jobs", folder);
  const int count = scandir(path, &jobs, is_job, by_name);
  if (count < 0)
    return fail(fleet->ctx, HONE_E_NOFILE, place_file(folder), "is no fleet: %s", strerror(errno));
  const hone_status status = merge_jobs(fleet, folder, jobs, count, &merged);
  for (int i = 0; i < count; i++) free(jobs[i]);
  free(jobs);
  TRY(status);
  *out_missing = (size_t)count - merged;
  fprintf(stderr, "%zu of %d jobs are in the store\n", merged, count);
  return HONE_OK;
}

int verb_fleet(struct ctx *ctx, struct args *args) {
  static struct fleet fleet;
  const char *action = args->word_count ? args->words[0] : "";
  size_t missing = 0;
  hone_status status;
  fleet = (struct fleet){.ctx = ctx, .args = args};
  if (!strcmp(action, "slurm") || !strcmp(action, "ssh"))
    status = write_fleet(&fleet, !strcmp(action, "slurm"));
  else if (!strcmp(action, "merge") && args->word_count == 2)
    status = merge(&fleet, args->words[1], &missing);
  else
    status =
        fail(ctx, HONE_E_USAGE, place_name(action),
             "'hone fleet slurm|ssh MODEL... --backend LIST -o DIR' or 'hone fleet merge DIR'");
  return status ? report_failure(ctx) : missing ? 1 : 0;
}
