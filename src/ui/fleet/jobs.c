/* The folder of a fleet: one job for each configuration, and the scripts that run them. */
#include "fleet.h"

#include "bench/backends/backends.h"
#include "zoo/zoo.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LIST_MOST = 64, JOBS_MOST = 100000 };

struct list {
  char at[LIST_MOST][64];
  size_t count;
};
struct writer {
  struct ctx *ctx;
  const struct fleet_options *options;
  struct list backends, batches, threads, precisions;
  size_t jobs;
};

/* NULL is a list of one empty word, which stands for the default of `hone bench`. */
static hone_status split(struct ctx *ctx, const char *words, struct list *out) {
  *out = (struct list){.count = !words};
  for (const char *at = words; at;) {
    const size_t n = strcspn(at, ",");
    if (!n || n >= sizeof out->at[0] || out->count == LIST_MOST)
      return fail(ctx, HONE_E_USAGE, place_name(words), "is not a list of up to %d words",
                  LIST_MOST);
    snprintf(out->at[out->count++], sizeof out->at[0], "%.*s", (int)n, at);
    at = at[n] ? at + n + 1 : NULL;
  }
  return HONE_OK;
}

static hone_status read_lists(struct writer *w) {
  TRY(split(w->ctx, w->options->backends, &w->backends));
  TRY(split(w->ctx, w->options->batches, &w->batches));
  TRY(split(w->ctx, w->options->threads, &w->threads));
  TRY(split(w->ctx, w->options->precisions, &w->precisions));
  for (size_t i = 0; i < w->backends.count; i++) {
    struct backend_choice choice;
    TRY(backend_choose(w->ctx, w->backends.at[i], &choice));
  }
  return HONE_OK;
}

/* -- files */

static hone_status write_in(struct writer *w, const char *name, const char *data, size_t size,
                            unsigned mode) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", w->options->folder, name);
  return file_write_atomic(w->ctx, path, data, size, mode);
}

static hone_status write_embedded(struct writer *w, const char *name, const char *embedded) {
  size_t size;
  const char *script = hone_embedded_text(embedded, &size);
  if (!script) return fail(w->ctx, HONE_E_INTERNAL, place_name(embedded), "is not built in");
  return write_in(w, name, script, size, 0755);
}

static hone_status write_slurm(struct writer *w) {
  struct strbuf script = {0};
  strbuf_printf(&script,
                "#!/bin/sh\n# cd here, then: sbatch fleet.sbatch\n#SBATCH --job-name=hone\n#SBATCH "
                "--array=1-%zu\n"
                "#SBATCH --exclusive\n#SBATCH --output=log/%%a.out\nexec ./job.sh \"$(printf %%06d "
                "\"$SLURM_ARRAY_TASK_ID\")\"\n",
                w->jobs);
  hone_status status = strbuf_finish(w->ctx, &script);
  if (!status) status = write_in(w, "fleet.sbatch", script.at, script.length, 0755);
  strbuf_deinit(&script);
  return status;
}

static hone_status make_folder(struct writer *w) {
  static const char *const parts[] = {"jobs", "spool", "log", "taken"};
  static const char *const written[] = {"jobs", "job.sh", "fleet.sbatch", "ssh.sh"};
  char path[4096];
  struct stat info;
  for (size_t i = 0; i < COUNT(written); i++) {
    snprintf(path, sizeof path, "%s/%s", w->options->folder, written[i]);
    if (!lstat(path, &info))
      return fail(w->ctx, HONE_E_PATH, place_file(path),
                  "exists: the folder has a fleet already, or a file of yours; give another "
                  "folder");
  }
  for (size_t i = 0; i < COUNT(parts); i++) {
    snprintf(path, sizeof path, "%s/%s", w->options->folder, parts[i]);
    TRY(dir_output(w->ctx, path));
  }
  return HONE_OK;
}

/* -- jobs */

/* Checks the name and options of a built-in model; whether it fits into memory is known on the machine that runs it. */
static hone_status check_spec(struct ctx *ctx, const char *spec) {
  struct arena *arena;
  struct zoo_size size;
  TRY(arena_create(ctx, 0, &arena));
  const hone_status status = zoo_measure(ctx, arena, spec, UINT64_MAX, &size);
  arena_destroy(arena);
  return status;
}

/* A file gets its absolute path, because a job runs in another folder. */
static hone_status put_model(struct writer *w, const char *model, struct strbuf *out) {
  if (zoo_is_spec(model)) {
    strbuf_printf(out, "bench\n%s\n", model);
    return check_spec(w->ctx, model);
  }
  char *real = realpath(model, NULL);
  if (!real) return fail(w->ctx, HONE_E_NOFILE, place_file(model), "%s", strerror(errno));
  strbuf_printf(out, "bench\n%s\n", real);
  const bool is_broken = strchr(real, '\n');
  free(real);
  return is_broken ? fail(w->ctx, HONE_E_USAGE, place_name(model), "has a line break") : HONE_OK;
}

static void put_flag(struct strbuf *out, const char *flag, const char *value) {
  if (value && value[0]) strbuf_printf(out, "%s\n%s\n", flag, value);
}

static hone_status write_job(struct writer *w, const char *model, const char *backend,
                             const char *batch, const char *threads, const char *precision) {
  struct strbuf words = {0};
  char name[32];
  if (++w->jobs > JOBS_MOST)
    return fail(w->ctx, HONE_E_LIMIT, place_none(), "more than %d jobs", JOBS_MOST);
  hone_status status = put_model(w, model, &words);
  put_flag(&words, "--backend", backend);
  put_flag(&words, "--batch", batch);
  put_flag(&words, "--threads", threads);
  put_flag(&words, "--precision", precision);
  strbuf_puts(&words, "--resume\nnever\n--fail-on\nnone\n");
  for (size_t i = 0; i < w->options->flag_count; i++)
    strbuf_printf(&words, "%s\n", w->options->flags[i]);
  snprintf(name, sizeof name, "jobs/%06zu", w->jobs);
  if (!status) status = strbuf_finish(w->ctx, &words);
  if (!status) status = write_in(w, name, words.at, words.length, 0644);
  strbuf_deinit(&words);
  return status;
}

static hone_status write_jobs(struct writer *w) {
  const struct fleet_options *o = w->options;
  const size_t backends = o->together ? 1 : w->backends.count;
  for (size_t m = 0; m < o->model_count; m++)
    for (size_t n = 0; n < w->batches.count; n++)
      for (size_t t = 0; t < w->threads.count; t++)
        for (size_t p = 0; p < w->precisions.count; p++)
          for (size_t b = 0; b < backends; b++)
            TRY(write_job(w, o->models[m], o->together ? o->backends : w->backends.at[b],
                          w->batches.at[n], w->threads.at[t], w->precisions.at[p]));
  return HONE_OK;
}

static hone_status write_folder(struct writer *w) {
  TRY(read_lists(w));
  TRY(make_folder(w));
  const hone_status status = write_jobs(w);
  if (status) { /* so that the next try does not find half a fleet */
    char jobs[4200];
    snprintf(jobs, sizeof jobs, "%s/jobs", w->options->folder);
    dir_remove_tree(jobs);
    return status;
  }
  TRY(write_embedded(w, "job.sh", "fleet/fleet_job.sh"));
  return w->options->is_slurm ? write_slurm(w) : write_embedded(w, "ssh.sh", "fleet/fleet_ssh.sh");
}

hone_status fleet_write(struct ctx *ctx, const struct fleet_options *options, size_t *out_jobs) {
  struct arena *arena;
  struct writer *w;
  TRY(arena_create(ctx, 0, &arena));
  hone_status status = NEW(ctx, arena, w);
  if (!status) {
    *w = (struct writer){.ctx = ctx, .options = options};
    status = write_folder(w);
    *out_jobs = w->jobs;
  }
  arena_destroy(arena);
  return status;
}
