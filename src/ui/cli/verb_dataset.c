/* hone dataset export: the records of a store as CSV and Parquet, with a data card. DuckDB converts the CSV to Parquet, in the
 * Python of its own environment, because its wheel contains the C API only inside a Python module.
 */
#include "judge/predict/predict.h"
#include "cli.h"

#define PARQUET_NS 600000000000ull

static const char parquet_script[] =
    "import duckdb, sys\n"
    "source, target = sys.argv[1:3]\n"
    "duckdb.read_csv(source, header=True, sample_size=-1).write_parquet(target, "
    "compression='zstd')\n";

/* Checks the files in the folder: a README.md of the user is not replaced. */
static const struct file {
  const char *name;
  enum output_kind kind;
} records_file = {"records.csv", OUTPUT_DATASET},
  parquet_file = {"records.parquet", OUTPUT_PARQUET}, card_file = {"README.md", OUTPUT_CARD};

static hone_status check(struct ctx *ctx, const char *dir, const struct file *file,
                         char path[4200]) {
  snprintf(path, 4200, "%.4000s/%s", dir, file->name);
  return output_check(ctx, path, file->kind, NULL, 0);
}

static hone_status write_parquet(struct ctx *ctx, const struct args *args, const char *dir) {
  char python[4096], csv[4200], parquet[4200], made[4200], work[4096];
  const char *path = NULL;
  for (size_t i = 0; i < args->repeated[FLAG_engine].count; i++)
    if (!strncmp(args->repeated[FLAG_engine].at[i], "duckdb=", 7))
      path = args->repeated[FLAG_engine].at[i] + 7;
  TRY(engine_python(ctx, "duckdb", path, python));
  snprintf(csv, sizeof csv, "%s/records.csv", dir);
  TRY(check(ctx, dir, &parquet_file, parquet));
  TRY(dir_temporary(ctx, work));
  snprintf(made, sizeof made, "%s/records.parquet", work);
  const char *const argv[] = {python, "-I", "-c", parquet_script, csv, made, NULL};
  const struct process_options options = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = PARQUET_NS, .is_offline = true};
  struct process_result result;
  hone_status status = process_run(ctx, &options, &result);
  if (!status && (result.exit_code || result.signal || result.timed_out))
    status = fail(ctx, HONE_E_CRASH, place_name("duckdb"), "%.900s",
                  result.output.at ? result.output.at : "no words");
  if (!status) status = file_copy(ctx, made, parquet, 0644, NULL);
  strbuf_deinit(&result.output);
  dir_temporary_remove(work);
  return status;
}

static hone_status put(struct ctx *ctx, const char *dir, const struct file *file,
                       struct strbuf *text) {
  char path[4200];
  hone_status status = strbuf_finish(ctx, text);
  if (!status) status = check(ctx, dir, file, path);
  if (!status) status = file_write_atomic(ctx, path, text->at ? text->at : "", text->length, 0644);
  strbuf_deinit(text);
  return status;
}

static hone_status export(struct ctx *ctx, const struct args *args, struct arena *arena,
                          struct store *store, struct dataset_facts *facts) {
  const char *dir = value_of(args, FLAG_output, NULL);
  struct strbuf csv = {0}, card = {0};
  char path[4200];
  TRY(dir_output(ctx, dir));
  TRY(check(ctx, dir, &records_file, path));
  TRY(check(ctx, dir, &card_file, path));
  if (has(args, FLAG_parquet)) TRY(check(ctx, dir, &parquet_file, path));
  TRY(dataset_csv(ctx, arena, store, &csv, facts));
  TRY(put(ctx, dir, &records_file, &csv));
  if (has(args, FLAG_parquet)) TRY(write_parquet(ctx, args, dir));
  dataset_card(facts, has(args, FLAG_parquet), &card);
  TRY(put(ctx, dir, &card_file, &card));
  if (!has(args, FLAG_quiet))
    fprintf(stderr, "%s: %zu rows of %zu studies, %zu models, %zu machines\n", dir, facts->rows,
            facts->studies, facts->models, facts->machines);
  return HONE_OK;
}

int verb_dataset(struct ctx *ctx, struct args *args) {
  struct arena *arena = NULL;
  struct store *store = NULL;
  struct dataset_facts facts = {0};
  if (args->word_count != 1 || strcmp(args->words[0], "export"))
    REFUSE(ctx, HONE_E_USAGE, place_none(), "hone dataset export -o DIR");
  else if (!has(args, FLAG_output))
    REFUSE(ctx, HONE_E_USAGE, place_none(), "-o DIR is missing");
  if (ctx->status) return report_failure(ctx);
  hone_status status = arena_create(ctx, (size_t)64 << 30, &arena);
  if (!status) status = store_open(ctx, value_of(args, FLAG_store, NULL), false, &store);
  if (!status) status = export(ctx, args, arena, store, &facts);
  strbuf_deinit(&facts.machine_rows);
  if (store) store_close(store);
  arena_destroy(arena);
  return status ? report_failure(ctx) : 0;
}
