/* Stores of released versions and of this one: each database under tests/cases/store opens, reads
 * the same before and after its upgrade, and accepts new rows. The one of this version fails to
 * open if a field is added without raising STORE_VERSION. HONE_TEST_CASES names another folder than
 * tests/cases. */
#include "scratch.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/store/store.h"

/* A copy of the released database in the scratch folder. */
static void take(int version, char out[4200]) {
  const char *cases = getenv("HONE_TEST_CASES");
  char from[4200];
  struct ctx ctx;
  struct mapping map;
  ctx_init(&ctx);
  snprintf(from, sizeof from, "%.4000s/store/v%d.db", cases ? cases : "tests/cases", version);
  snprintf(out, 4200, "%s/v%d.db", folder, version);
  assert_int_equal(file_map(&ctx, from, &map), HONE_OK);
  assert_int_equal(file_write_atomic(&ctx, out, map.data, map.size, 0600), HONE_OK);
  file_unmap(&map);
}

/* All that the store holds, as text. */
static void describe(const char *path, bool write, struct strbuf *out) {
  struct ctx ctx;
  struct store *store;
  struct arena *arena;
  struct study_row *rows;
  size_t count;
  ctx_init(&ctx);
  hone_status status = store_open(&ctx, path, write, &store);
  if (status) print_error("%s: %s\n", path, ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  assert_int_equal(store_list_studies(&ctx, store, arena, &rows, &count), HONE_OK);
  for (size_t s = 0; s < count; s++) {
    struct study_data data;
    assert_int_equal(store_read_study(&ctx, store, arena, rows[s].key, &data), HONE_OK);
    strbuf_printf(out, "%s %s %d %s\n", data.row.key, data.row.name, data.row.finished,
                  data.row.command);
    for (size_t c = 0; c < data.config_count; c++) {
      const struct config_data *config = &data.cells[c];
      strbuf_printf(out, " %s %s %d %d\n", config->config.key, config->config.backend,
                    config->config.threads, config->config.copy);
      for (size_t i = 0; i < config->process_count; i++)
        strbuf_printf(out, "  %d %d %s\n", config->processes[i].number,
                      (int)config->processes[i].status, config->processes[i].reason);
      for (size_t b = 0; b < config->block_count; b++)
        for (size_t i = 0; i < config->blocks[b].sample_count; i++)
          strbuf_printf(out, " %llu", (unsigned long long)config->blocks[b].samples[i]);
    }
  }
  arena_destroy(arena);
  store_close(store);
}

static int version_of(const char *path) {
  sqlite3 *database;
  sqlite3_stmt *statement;
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(database, "PRAGMA user_version", -1, &statement, NULL), 0);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  int version = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  sqlite3_close(database);
  return version;
}

static void expect_equal(const struct strbuf *a, const struct strbuf *b) {
  assert_non_null(a->at);
  assert_true(a->length > 1000 && a->length == b->length);
  assert_memory_equal(a->at, b->at, a->length);
}

static void released_stores_open(void **state) {
  (void)state;
  for (int version = 1; version <= STORE_VERSION; version++) {
    char path[4200];
    struct strbuf before = {0}, brought_up = {0}, after = {0};
    take(version, path);
    describe(path, false, &before); /* reading changes nothing */
    assert_int_equal(version_of(path), version);
    describe(path, true, &brought_up);
    assert_int_equal(version_of(path), STORE_VERSION);
    describe(path, false, &after);
    expect_equal(&before, &brought_up);
    expect_equal(&before, &after);
    strbuf_deinit(&before);
    strbuf_deinit(&brought_up);
    strbuf_deinit(&after);
  }
}

static void an_old_store_goes_on(void **state) {
  (void)state;
  char path[4200];
  struct ctx ctx;
  struct store *store;
  static struct study_row first;
  struct config config = {.batch = 1, .threads = 1, .copy = 1, .backend = "native"};
  struct config_progress progress;
  take(1, path);
  ctx_init(&ctx);
  assert_int_equal(store_open(&ctx, path, true, &store), HONE_OK);
  assert_int_equal(store_get_study(&ctx, store, "first", &first), HONE_OK);
  config_key(&config);
  assert_int_equal(store_put_config(&ctx, store, first.key, &config), HONE_OK);
  struct process_record facts = {.number = 0, .status = STATUS_ok};
  memcpy(facts.study, first.key, sizeof first.key);
  memcpy(facts.config, config.key, sizeof config.key);
  assert_int_equal(store_put_process(&ctx, store, &facts), HONE_OK);
  assert_int_equal(store_config_progress(&ctx, store, first.key, config.key, &progress), HONE_OK);
  assert_int_equal(progress.complete, 1);
  strcpy(facts.config, "of no cell"); /* foreign keys hold again */
  assert_int_equal(store_put_process(&ctx, store, &facts), HONE_E_INTERNAL);
  store_close(store);
}

static void a_newer_store_is_refused(void **state) {
  (void)state;
  char path[4200], sql[64];
  struct ctx ctx;
  struct store *store;
  sqlite3 *database;
  take(1, path);
  assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
  snprintf(sql, sizeof sql, "PRAGMA user_version=%d", STORE_VERSION + 1);
  assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(database);
  for (int write = 0; write < 2; write++) {
    ctx_init(&ctx);
    assert_int_equal(store_open(&ctx, path, write, &store), HONE_E_FORMAT);
    assert_non_null(strstr(ctx.message, "newer hone"));
  }
  assert_int_equal(version_of(path), STORE_VERSION + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(released_stores_open),
      cmocka_unit_test(an_old_store_goes_on),
      cmocka_unit_test(a_newer_store_is_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
