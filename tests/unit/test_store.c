/* store: rows come back equal, foreign files are refused untouched, one writer, kill -9, full disk.
 */
#include "core/os/os.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench/store/store.h"

static char folder[4096];
static int make_folder(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  strcpy(folder, "/dev/shm/hone-store-XXXXXX"); /* hundreds of fsyncs: in memory if it can be */
  return !mkdtemp(folder) && dir_temporary(&ctx, folder) != HONE_OK;
}
static int remove_folder(void **state) {
  (void)state;
  dir_remove_tree(folder);
  return 0;
}
static const char *in_folder(const char *name) {
  static char path[8][4200];
  static int next;
  next = (next + 1) % 8;
  snprintf(path[next], sizeof path[next], "%s/%s", folder, name);
  return path[next];
}

static struct study_row *a_study(const char *key, uint64_t started) {
  static struct study_row row;
  memset(&row, 0, sizeof row);
  snprintf(row.key, sizeof row.key, "%s", key);
  strcpy(row.plan, row.key);
  strcpy(row.fingerprint, "f1");
  snprintf(row.name, sizeof row.name, "study '%s'; DROP TABLE block; --", key);
  strcpy(row.command, "hone bench zoo:mlp");
  strcpy(row.machine_json, "{\"cpu\":\"x\"}");
  row.started_unix_ms = started;
  return &row;
}
static struct config *a_cell(int n) {
  static struct config config;
  memset(&config, 0, sizeof config);
  snprintf(config.model, sizeof config.model, "m%d'\"\x01\xff", n);
  strcpy(config.backend, "native");
  strcpy(config.variant, "default");
  config.batch = 1;
  config.threads = n;
  config_key(&config);
  return &config;
}
static uint64_t samples[64];
static struct block a_block(const char *study, const char *config, int process_record, int round) {
  struct block block = {
      .process_record = process_record, .round = round, .samples = samples, .verified = 3};
  snprintf(block.study, sizeof block.study, "%s", study);
  snprintf(block.config, sizeof block.config, "%s", config);
  for (size_t i = 0; i < COUNT(samples); i++)
    samples[i] = (uint64_t)process_record << 40 | (uint64_t)round << 20 | i | 1ull << 63;
  block.sample_count = COUNT(samples);
  block.noise = (struct noise){0.25, 7, -1, NAN};
  return block;
}
static void put_start(struct ctx *ctx, struct store *store, const char *study, int cells) {
  assert_int_equal(store_put_study(ctx, store, a_study(study, 1000)), HONE_OK);
  for (int i = 0; i < cells; i++)
    assert_int_equal(store_put_config(ctx, store, study, a_cell(i)), HONE_OK);
}

static void rows_come_back_equal(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  assert_int_equal(store_open(&ctx, in_folder("new/deep/a.db"), true, &store), HONE_OK);
  put_start(&ctx, store, "aa11", 2);
  put_start(&ctx, store, "aa11", 2); /* idempotent */
  const char *config = a_cell(1)->key;
  for (int again = 0; again < 2; again++)
    for (int r = 0; r < 3; r++) {
      struct block block = a_block("aa11", config, 2, r);
      if (again) block.verified = 99; /* the first one stays */
      assert_int_equal(store_put_block(&ctx, store, &block), HONE_OK);
    }
  struct process_record facts = {.number = 2, .status = STATUS_interrupted, .compile_ms = NAN};
  strcpy(facts.study, "aa11");
  strcpy(facts.config, config);
  assert_int_equal(store_put_process(&ctx, store, &facts), HONE_OK);
  facts.status = STATUS_wrong; /* the last one stays */
  facts.stage = STAGE_verify;
  facts.flags = FLAG_MASK(noisy) | FLAG_MASK(synthetic);
  facts.rss_peak = INT64_MAX;
  facts.artifact_bytes = -1;
  facts.load_ms = 0.1;
  strcpy(facts.reason, "said \"no\"\n\x1b[31m");
  assert_int_equal(store_put_process(&ctx, store, &facts), HONE_OK);
  assert_int_equal(store_finish_study(&ctx, store, "aa11"), HONE_OK);
  assert_int_equal(store_finish_study(&ctx, store, "zz"), HONE_E_NOFILE);
  ctx_clear(&ctx);
  store_close(store);

  assert_int_equal(store_open(&ctx, in_folder("new/deep/a.db"), false, &store), HONE_OK);
  struct arena *arena;
  static struct study_data data;
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(store_read_study(&ctx, store, arena, "aa11", &data), HONE_OK);
  assert_true(data.row.finished);
  assert_string_equal(data.row.name, a_study("aa11", 0)->name);
  assert_int_equal(data.config_count, 2);
  assert_memory_equal(&data.cells[1].config, a_cell(1), sizeof(struct config));
  assert_int_equal(data.cells[0].block_count, 0);
  assert_int_equal(data.cells[1].block_count, 3);
  for (int r = 0; r < 3; r++) {
    const struct block want = a_block("aa11", config, 2, r), *got = &data.cells[1].blocks[r];
    assert_int_equal(got->round, r);
    assert_int_equal(got->verified, 3);
    assert_int_equal(got->sample_count, COUNT(samples));
    assert_memory_equal(got->samples, want.samples, sizeof samples);
    assert_int_equal(got->rewarm_count, 0);
    assert_true(got->noise.steal_fraction == 0.25 && isnan(got->noise.frequency_mhz));
  }
  assert_int_equal(data.cells[1].process_count, 1);
  const struct process_record *got = &data.cells[1].processes[0];
  assert_int_equal(got->status, STATUS_wrong);
  assert_int_equal(got->stage, STAGE_verify);
  assert_int_equal(got->flags, facts.flags);
  assert_string_equal(got->reason, facts.reason);
  assert_true(got->rss_peak == INT64_MAX && got->artifact_bytes == -1);
  assert_true(isnan(got->compile_ms) && got->load_ms == 0.1);
  arena_destroy(arena);
  store_close(store);
}

static void studies_are_found(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  static struct study_row got;
  bool found;
  assert_int_equal(store_open(&ctx, in_folder("find.db"), true, &store), HONE_OK);
  assert_int_equal(store_get_study(&ctx, store, "last", &got), HONE_E_NOFILE);
  ctx_clear(&ctx);
  assert_int_equal(store_put_study(&ctx, store, a_study("ab12", 10)), HONE_OK);
  assert_int_equal(store_put_study(&ctx, store, a_study("ab34", 30)), HONE_OK);
  assert_int_equal(store_put_study(&ctx, store, a_study("cd56", 20)), HONE_OK);
  assert_int_equal(store_get_study(&ctx, store, "last", &got), HONE_OK);
  assert_string_equal(got.key, "ab34");
  assert_int_equal(store_get_study(&ctx, store, "last~2", &got), HONE_OK);
  assert_string_equal(got.key, "ab12");
  assert_int_equal(store_get_study(&ctx, store, "cd", &got), HONE_OK);
  assert_string_equal(got.key, "cd56");
  assert_int_equal(store_get_study(&ctx, store, a_study("ab12", 0)->name, &got), HONE_OK);
  assert_string_equal(got.key, "ab12");
  assert_int_equal(store_get_study(&ctx, store, "ab", &got), HONE_E_USAGE);
  ctx_clear(&ctx);
  assert_int_equal(store_get_study(&ctx, store, "", &got), HONE_E_USAGE);
  ctx_clear(&ctx);
  assert_int_equal(store_get_study(&ctx, store, "%' OR 1=1 --", &got), HONE_E_NOFILE);
  ctx_clear(&ctx);
  assert_int_equal(store_find_study(&ctx, store, "cd56", "f1", &got, &found), HONE_OK);
  assert_true(found);
  assert_int_equal(store_find_study(&ctx, store, "cd56", "f2", &got, &found), HONE_OK);
  assert_false(found);
  struct study_row *elsewhere = a_study("cd56", 20);
  strcpy(elsewhere->fingerprint, "f2");
  assert_int_equal(store_put_study(&ctx, store, elsewhere), HONE_E_USAGE);
  ctx_clear(&ctx);
  struct arena *arena;
  struct study_row *rows;
  size_t count;
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(store_list_studies(&ctx, store, arena, &rows, &count), HONE_OK);
  assert_int_equal(count, 3);
  assert_string_equal(rows[0].key, "ab34");
  assert_string_equal(rows[2].key, "ab12");
  arena_destroy(arena);
  store_close(store);
}

static void reruns_resume_or_begin_anew(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  static struct study_row first, again, third, other;
  bool resumed;
  assert_int_equal(store_open(&ctx, in_folder("rerun.db"), true, &store), HONE_OK);
  struct study_row *plan = a_study("", 1000);
  strcpy(plan->plan, "p1");
  first = again = third = other = *plan;
  assert_int_equal(store_begin_study(&ctx, store, &first, true, &resumed), HONE_OK);
  assert_false(resumed);
  assert_int_equal(strlen(first.key), 32);
  struct config *config = a_cell(1);
  /* the plan stands for the study */
  assert_int_equal(store_put_config(&ctx, store, "p1", config), HONE_OK);
  struct block block = a_block("p1", config->key, 4, 0);
  assert_int_equal(store_put_block(&ctx, store, &block), HONE_OK);
  struct process_record facts = {.number = 3, .status = STATUS_ok};
  strcpy(facts.study, "p1");
  memcpy(facts.config, config->key, sizeof facts.config);
  assert_int_equal(store_put_process(&ctx, store, &facts), HONE_OK);
  facts.number = 2;
  facts.status = STATUS_interrupted;
  assert_int_equal(store_put_process(&ctx, store, &facts), HONE_OK);
  struct config_progress progress;
  assert_int_equal(store_config_progress(&ctx, store, "p1", config->key, &progress), HONE_OK);
  assert_int_equal(progress.complete, 1);
  /* a block of number 4 is there, its facts never came */
  assert_int_equal(progress.next_number, 5);
  assert_false(progress.has_failed);
  facts.number = 5;
  facts.status = STATUS_wrong;
  assert_int_equal(store_put_process(&ctx, store, &facts), HONE_OK);
  assert_int_equal(store_config_progress(&ctx, store, first.key, config->key, &progress), HONE_OK);
  assert_true(progress.has_failed && progress.complete == 2 && progress.next_number == 6);
  assert_int_equal(store_config_progress(&ctx, store, "p1", "other", &progress), HONE_OK);
  assert_true(progress.complete == 0 && progress.next_number == 0 && !progress.has_failed);

  again.started_unix_ms = 2000;
  assert_int_equal(store_begin_study(&ctx, store, &again, true, &resumed), HONE_OK);
  assert_true(resumed && !strcmp(again.key, first.key) && again.started_unix_ms == 1000);
  assert_int_equal(store_begin_study(&ctx, store, &third, false, &resumed), HONE_OK); /* never */
  assert_true(!resumed && strcmp(third.key, first.key) != 0);
  assert_int_equal(store_finish_study(&ctx, store, "p1"), HONE_OK); /* the third */
  other.started_unix_ms = 3000;
  strcpy(other.fingerprint, "f2");
  assert_int_equal(store_begin_study(&ctx, store, &other, true, &resumed), HONE_OK);
  assert_false(resumed); /* another machine */
  memcpy(other.key, first.key, sizeof other.key);
  assert_int_equal(store_begin_study(&ctx, store, &other, true, &resumed), HONE_E_USAGE);
  ctx_clear(&ctx);
  memcpy(again.key, third.key, sizeof again.key);
  assert_int_equal(store_begin_study(&ctx, store, &again, true, &resumed), HONE_OK); /* named */
  assert_true(resumed && !strcmp(again.key, third.key));
  store_close(store);
}

/* Two jobs of a fleet: files with equal bytes, begun in one millisecond, merged into one store later. */
static void studies_of_two_stores_have_two_keys(void **state) {
  (void)state;
  struct ctx ctx;
  struct store *store;
  static struct study_row rows[2];
  bool resumed;
  ctx_init(&ctx);
  for (int i = 0; i < 2; i++) {
    rows[i] = *a_study("", 1000);
    strcpy(rows[i].plan, "p1");
    assert_int_equal(store_open(&ctx, in_folder(i ? "job1.db" : "job0.db"), true, &store), HONE_OK);
    assert_int_equal(store_begin_study(&ctx, store, &rows[i], true, &resumed), HONE_OK);
    assert_false(resumed);
    store_close(store);
  }
  assert_string_not_equal(rows[0].key, rows[1].key);
}

static void a_block_of_an_unknown_cell_is_refused(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  assert_int_equal(store_open(&ctx, in_folder("orphan.db"), true, &store), HONE_OK);
  struct block block = a_block("none", "none", 0, 0);
  assert_int_equal(store_put_block(&ctx, store, &block), HONE_E_INTERNAL);
  store_close(store);
}

/* -- files that are not ours */

static void write_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(data, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}
static char *read_file(const char *path, size_t *out_size) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *data = malloc(1 << 22);
  *out_size = fread(data, 1, 1 << 22, file);
  fclose(file);
  return data;
}
static void expect_refused(const char *path) {
  size_t before_size, after_size;
  char *before = read_file(path, &before_size);
  for (int write = 0; write < 2; write++) {
    struct ctx ctx;
    ctx_init(&ctx);
    struct store *store = (struct store *)1;
    const hone_status status = store_open(&ctx, path, write, &store);
    if (status != HONE_E_FORMAT) print_error("%s: %s\n", path, ctx.message);
    assert_int_equal(status, HONE_E_FORMAT);
    assert_null(store);
  }
  char *after = read_file(path, &after_size);
  assert_int_equal(before_size, after_size);
  assert_memory_equal(before, after, before_size);
  free(before);
  free(after);
}
static void make_store(const char *path) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  assert_int_equal(store_open(&ctx, path, true, &store), HONE_OK);
  put_start(&ctx, store, "k", 3);
  for (int i = 0; i < 30; i++) {
    struct block block = a_block("k", a_cell(i % 3)->key, i, 0);
    assert_int_equal(store_put_block(&ctx, store, &block), HONE_OK);
  }
  store_close(store);
}
static void alter(const char *path, const char *sql) {
  sqlite3 *database;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  char *message = NULL;
  if (sqlite3_exec(database, sql, NULL, NULL, &message)) print_error("%s: %s\n", sql, message);
  sqlite3_free(message);
  sqlite3_close(database);
}

static void foreign_files_are_refused_untouched(void **state) {
  (void)state;
  static char bytes[100000];
  struct random random;
  random_init(&random, 3);
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (char)random_u64(&random);
  const char *path = in_folder("foreign.db");
  const size_t sizes[] = {1, 15, 99, 100, 4096, sizeof bytes};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    write_file(path, bytes, sizes[i]);
    expect_refused(path);
  }
  memcpy(bytes, "SQLite format 3", 16);
  write_file(path, bytes, sizeof bytes);
  expect_refused(path);
  unlink(path);
  alter(path, "CREATE TABLE study (x); INSERT INTO study VALUES (1)");
  expect_refused(path);
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  assert_int_equal(store_open(&ctx, folder, true, &store), HONE_E_FORMAT); /* a folder */
}

static void altered_stores_are_refused_untouched(void **state) {
  (void)state;
  static const char *const changes[] = {
      "CREATE TRIGGER t AFTER INSERT ON block BEGIN DELETE FROM block; END",
      "CREATE VIEW v AS SELECT * FROM block",
      "CREATE TABLE extra (x)",
      "CREATE INDEX i ON block (round)",
      "DROP TABLE block",
      "ALTER TABLE cell ADD COLUMN x TEXT DEFAULT 'y'",
      "PRAGMA user_version=1",
      "PRAGMA user_version=99",
      "PRAGMA user_version=0",
      "PRAGMA application_id=1",
      "PRAGMA journal_mode=WAL",
  };
  for (size_t i = 0; i < COUNT(changes); i++) {
    const char *path = in_folder("altered.db");
    unlink(path);
    make_store(path);
    alter(path, changes[i]);
    expect_refused(path);
  }
}

static void a_planted_side_file_is_refused(void **state) {
  (void)state;
  const char *path = in_folder("side.db");
  make_store(path);
  write_file(in_folder("side.db-wal"), "x", 1);
  expect_refused(path);
  unlink(in_folder("side.db-wal"));
  char journal[1024] = {0};
  static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  memcpy(journal, magic, 8);
  memcpy(journal + sizeof journal - 8, magic, 8);
  write_file(in_folder("side.db-journal"), journal, sizeof journal);
  expect_refused(path);
  unlink(in_folder("side.db-journal"));
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  assert_int_equal(store_open(&ctx, path, true, &store), HONE_OK);
  store_close(store);
}

static void truncated_stores_are_refused_untouched(void **state) {
  (void)state;
  const char *path = in_folder("cut.db");
  make_store(path);
  size_t size;
  char *data = read_file(path, &size);
  for (size_t cut = 1; cut < size; cut += cut < 5000 ? 333 : 4096) {
    write_file(path, data, cut);
    expect_refused(path);
  }
  free(data);
}

/* Any byte may be damaged: an error or an answer, never a crash, and reading never writes. */
static void damaged_stores_never_crash(void **state) {
  (void)state;
  const char *path = in_folder("damaged.db");
  make_store(path);
  size_t size;
  char *data = read_file(path, &size);
  struct random random;
  random_init(&random, 17);
  for (int i = 0; i < 300; i++) {
    char *copy = malloc(size);
    memcpy(copy, data, size);
    for (int k = 0; k < 1 + i % 20; k++)
      copy[random_below(&random, size)] = (char)random_u64(&random);
    write_file(path, copy, size);
    struct ctx ctx;
    ctx_init(&ctx);
    struct store *store;
    struct arena *arena;
    static struct study_data got;
    assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
    hone_status status = store_open(&ctx, path, i % 2, &store);
    if (!status) {
      status = store_read_study(&ctx, store, arena, "k", &got);
      store_close(store);
    }
    assert_true(status == HONE_OK || status == HONE_E_FORMAT || status == HONE_E_NOFILE ||
                status == HONE_E_IO);
    size_t after_size;
    char *after = read_file(path, &after_size);
    assert_int_equal(after_size, size);
    assert_memory_equal(after, copy, size);
    free(after);
    free(copy);
    arena_destroy(arena);
  }
  free(data);
}

static void no_store_to_read(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  assert_int_equal(store_open(&ctx, in_folder("absent.db"), false, &store), HONE_E_NOFILE);
  assert_int_equal(access(in_folder("absent.db"), F_OK), -1);
}

static void odd_names_are_files(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char was[4096];
  assert_non_null(getcwd(was, sizeof was));
  assert_int_equal(chdir(folder), 0);
  static const char *const names[] = {":memory:", "file:x?mode=memory", "a'b.db", "%00.db"};
  for (size_t i = 0; i < COUNT(names); i++) {
    struct store *store;
    assert_int_equal(store_open(&ctx, names[i], true, &store), HONE_OK);
    store_close(store);
    assert_int_equal(access(names[i], F_OK), 0);
  }
  assert_int_equal(chdir(was), 0);
}

/* -- two writers, killed writers, full disks */

static void a_second_writer_is_told_who_writes(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  const char *path = in_folder("two.db");
  struct store *first, *second;
  assert_int_equal(store_open(&ctx, path, true, &first), HONE_OK);
  assert_int_equal(store_open(&ctx, path, true, &second), HONE_E_BUSY);
  char pid[32];
  snprintf(pid, sizeof pid, "process %d ", (int)getpid());
  assert_non_null(strstr(ctx.message, pid));
  ctx_clear(&ctx);
  symlink("two.db", in_folder("link.db"));
  assert_int_equal(store_open(&ctx, in_folder("link.db"), true, &second), HONE_E_BUSY);
  ctx_clear(&ctx);
  assert_int_equal(store_open(&ctx, path, false, &second), HONE_OK); /* readers may */
  put_start(&ctx, first, "w", 1);
  static struct study_row row;
  assert_int_equal(store_get_study(&ctx, second, "last", &row), HONE_OK);
  assert_int_equal(store_put_study(&ctx, second, a_study("r", 1)), HONE_E_INTERNAL);
  ctx_clear(&ctx);
  store_close(second);
  store_close(first);
  /* a lock file with a dead (or reused) pid does not lock the store */
  write_file(in_folder("two.db.lock"), "1\n", 2);
  assert_int_equal(store_open(&ctx, path, true, &first), HONE_OK);
  store_close(first);
}

/* The child writes blocks and tells each acknowledgement through the pipe. */
static void write_until_killed(const char *path, int trial, int ack_fd) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  if (store_open(&ctx, path, true, &store)) _exit(3);
  char study[16];
  snprintf(study, sizeof study, "t%d", trial);
  if (store_put_study(&ctx, store, a_study(study, 1))) _exit(4);
  for (int i = 0; i < 3; i++)
    if (store_put_config(&ctx, store, study, a_cell(i))) _exit(5);
  for (int i = 0;; i++) {
    struct block block = a_block(study, a_cell(i % 3)->key, i, 0);
    if (store_put_block(&ctx, store, &block)) _exit(6);
    if (write(ack_fd, &i, sizeof i) != sizeof i) _exit(7);
  }
}

static void check_acknowledged(const char *path, int trial, int acknowledged) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  struct arena *arena;
  static struct study_data data;
  char study[16];
  snprintf(study, sizeof study, "t%d", trial);
  const hone_status status = store_open(&ctx, path, trial % 2, &store); /* no lock in the way */
  if (acknowledged == 0 && status == HONE_E_NOFILE) return;
  if (status) print_error("trial %d: %s\n", trial, ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  const hone_status read = store_read_study(&ctx, store, arena, study, &data);
  assert_true(read == HONE_OK || (acknowledged == 0 && read == HONE_E_NOFILE));
  int blocks = 0;
  for (size_t c = 0; read == HONE_OK && c < data.config_count; c++)
    for (size_t b = 0; b < data.cells[c].block_count; b++, blocks++) {
      const struct block *got = &data.cells[c].blocks[b];
      const struct block want = a_block(study, got->config, got->process_record, 0);
      assert_int_equal(got->process_record % 3, (int)c);
      assert_memory_equal(got->samples, want.samples, sizeof samples);
    }
  /* all acknowledged blocks, and at most the one whose commit was not acknowledged */
  assert_true(blocks == acknowledged || blocks == acknowledged + 1);
  arena_destroy(arena);
  store_close(store);
}

static void nothing_acknowledged_is_lost_by_kill(void **state) {
  (void)state;
  const char *wish = getenv("HONE_TEST_KILLS");
  const int trials = wish ? atoi(wish) : 100;
  struct random random;
  random_init(&random, 99);
  int total = 0;
  int64_t longest_us = 25000;
  for (int trial = 0; trial < trials; trial++) {
    char path[4200];
    if (trial % 10 == 9 && !total) longest_us *= 4; /* a busy machine, or a slow disk */
    snprintf(path, sizeof path, "%s/kill%d.db", folder, trial / 10); /* ten lives a store */
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) write_until_killed(path, trial, ends[1]);
    close(ends[1]);
    usleep((useconds_t)random_below(&random, (uint64_t)longest_us));
    kill(child, SIGKILL);
    int status, last, acknowledged = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    while (read(ends[0], &last, sizeof last) == sizeof last) acknowledged = last + 1;
    close(ends[0]);
    check_acknowledged(path, trial, acknowledged);
    total += acknowledged;
  }
  print_message("%d kills, %d acknowledged blocks, none lost\n", trials, total);
  assert_true(total > 0);
}

static void a_full_disk_stops_and_resumes(void **state) {
  (void)state;
  const char *mount_point = in_folder("small");
  assert_int_equal(mkdir(mount_point, 0700), 0);
  if (mount("none", mount_point, "tmpfs", 0, "size=1m")) {
    print_message("skipped: cannot mount a small tmpfs here: %s\n", strerror(errno));
    skip();
  }
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  struct arena *arena;
  static struct study_data data;
  const char *path = in_folder("small/a.db"), *ballast = in_folder("small/ballast");
  static char filler[600 << 10];
  int written = 0;
  for (int run = 0; run < 20; run++) {
    write_file(ballast, filler, run < 10 ? sizeof filler : sizeof filler / 2);
    ctx_clear(&ctx);
    hone_status status = store_open(&ctx, path, true, &store);
    if (!status) {
      if (run == 0) put_start(&ctx, store, "s", 1);
      for (; !status; written += !status) {
        struct block block = a_block("s", a_cell(0)->key, written, 0);
        status = store_put_block(&ctx, store, &block);
      }
      struct block next = a_block("s", a_cell(0)->key, written + 1, 0);
      assert_int_equal(store_put_block(&ctx, store, &next), HONE_E_IO); /* never retried */
    }
    assert_int_equal(status, HONE_E_IO);
    assert_int_equal(status_exit_code(status), 74);
    store_close(store);
    ctx_clear(&ctx);
    unlink(ballast);
    assert_int_equal(store_open(&ctx, path, true, &store), HONE_OK);
    struct block block = a_block("s", a_cell(0)->key, written, 0);
    assert_int_equal(store_put_block(&ctx, store, &block), HONE_OK); /* resumes */
    written++;
    assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
    assert_int_equal(store_read_study(&ctx, store, arena, "s", &data), HONE_OK);
    assert_int_equal(data.cells[0].block_count, written);
    arena_destroy(arena);
    store_close(store);
  }
  print_message("20 full disks, %d blocks, none lost\n", written);
  umount(mount_point);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_come_back_equal),
      cmocka_unit_test(studies_are_found),
      cmocka_unit_test(reruns_resume_or_begin_anew),
      cmocka_unit_test(studies_of_two_stores_have_two_keys),
      cmocka_unit_test(a_block_of_an_unknown_cell_is_refused),
      cmocka_unit_test(foreign_files_are_refused_untouched),
      cmocka_unit_test(altered_stores_are_refused_untouched),
      cmocka_unit_test(a_planted_side_file_is_refused),
      cmocka_unit_test(truncated_stores_are_refused_untouched),
      cmocka_unit_test(damaged_stores_never_crash),
      cmocka_unit_test(no_store_to_read),
      cmocka_unit_test(odd_names_are_files),
      cmocka_unit_test(a_second_writer_is_told_who_writes),
      cmocka_unit_test(nothing_acknowledged_is_lost_by_kill),
      cmocka_unit_test(a_full_disk_stops_and_resumes),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
