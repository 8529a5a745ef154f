/* store under failing I/O: a SQLite VFS that lets the n-th call of a kind fail, once or from then
 * on, for every n until a run succeeds. After any failure, every acknowledged block is stored
 * completely, and at most one that was not acknowledged. */
#include "core/os/os.h"
#include "unit.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <unistd.h>
#include "bench/store/store.h"

enum kind { READ, WRITE_IO, WRITE_FULL, SHORT_WRITE, TRUNCATE, SYNC, SIZE, LOCK, OPEN, KIND_COUNT };
static const char *const kind_names[] = {
    "read", "write-io", "write-full", "short-write", "truncate", "sync", "size", "lock", "open"};
static struct {
  enum kind kind;
  bool is_lasting;
  int until; /* calls of the kind that still succeed; negative: no fault */
  bool has_struck;
} fault; /* the VFS has no other way to reach its orders */

static bool strikes(enum kind kind) {
  const bool same = kind == fault.kind ||
                    (kind == WRITE_IO && (fault.kind == WRITE_FULL || fault.kind == SHORT_WRITE));
  if (!same || fault.until < 0) return false;
  if (fault.until > 0 && fault.until-- > 1) return false;
  const bool first = !fault.has_struck;
  fault.has_struck = true;
  fault.until = fault.is_lasting ? 0 : -1;
  return first || fault.is_lasting;
}

/* -- the VFS: a shim around each file of the real VFS */

static sqlite3_vfs *real;
struct shim {
  sqlite3_file base;
  sqlite3_file *below;
};
#define BELOW(file) (((struct shim *)(file))->below)
#define CALL(file, method, ...) BELOW(file)->pMethods->method(BELOW(file), ##__VA_ARGS__)

static int shim_close(sqlite3_file *f) { return BELOW(f)->pMethods ? CALL(f, xClose) : SQLITE_OK; }
static int shim_read(sqlite3_file *f, void *data, int n, sqlite3_int64 at) {
  return strikes(READ) ? SQLITE_IOERR_READ : CALL(f, xRead, data, n, at);
}
static int shim_write(sqlite3_file *f, const void *data, int n, sqlite3_int64 at) {
  if (!strikes(WRITE_IO)) return CALL(f, xWrite, data, n, at);
  if (fault.kind == SHORT_WRITE) (void)!CALL(f, xWrite, data, n / 2, at);
  return fault.kind == WRITE_IO ? SQLITE_IOERR_WRITE : SQLITE_FULL;
}
static int shim_truncate(sqlite3_file *f, sqlite3_int64 size) {
  return strikes(TRUNCATE) ? SQLITE_IOERR_TRUNCATE : CALL(f, xTruncate, size);
}
static int shim_sync(sqlite3_file *f, int flags) {
  return strikes(SYNC) ? SQLITE_IOERR_FSYNC : CALL(f, xSync, flags);
}
static int shim_size(sqlite3_file *f, sqlite3_int64 *size) {
  return strikes(SIZE) ? SQLITE_IOERR_FSTAT : CALL(f, xFileSize, size);
}
static int shim_lock(sqlite3_file *f, int level) {
  return strikes(LOCK) ? SQLITE_IOERR_LOCK : CALL(f, xLock, level);
}
static int shim_unlock(sqlite3_file *f, int level) { return CALL(f, xUnlock, level); }
static int shim_reserved(sqlite3_file *f, int *out) { return CALL(f, xCheckReservedLock, out); }
static int shim_control(sqlite3_file *f, int op, void *arg) {
  return CALL(f, xFileControl, op, arg);
}
static int shim_sector(sqlite3_file *f) { return CALL(f, xSectorSize); }
static int shim_device(sqlite3_file *f) { return CALL(f, xDeviceCharacteristics); }

static const sqlite3_io_methods shim_methods = {.iVersion = 1,
                                                .xClose = shim_close,
                                                .xRead = shim_read,
                                                .xWrite = shim_write,
                                                .xTruncate = shim_truncate,
                                                .xSync = shim_sync,
                                                .xFileSize = shim_size,
                                                .xLock = shim_lock,
                                                .xUnlock = shim_unlock,
                                                .xCheckReservedLock = shim_reserved,
                                                .xFileControl = shim_control,
                                                .xSectorSize = shim_sector,
                                                .xDeviceCharacteristics = shim_device};

static int shim_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
                     int *out_flags) {
  (void)vfs;
  struct shim *shim = (struct shim *)file;
  shim->base.pMethods = NULL;
  shim->below = (sqlite3_file *)(shim + 1);
  if (strikes(OPEN)) return SQLITE_CANTOPEN;
  const int rc = real->xOpen(real, name, shim->below, flags, out_flags);
  if (!rc) shim->base.pMethods = &shim_methods;
  return rc;
}

static void install(void) {
  static sqlite3_vfs shim;
  real = sqlite3_vfs_find(NULL);
  assert_non_null(real);
  shim = *real;
  shim.zName = "faults";
  shim.szOsFile = (int)sizeof(struct shim) + real->szOsFile;
  shim.xOpen = shim_open;
  assert_int_equal(sqlite3_vfs_register(&shim, 1), SQLITE_OK);
}

/* -- one run */

enum { BLOCKS = 6, SAMPLES = 1500 }; /* blocks of several pages each */
static uint64_t samples[SAMPLES];
static struct config config;

static struct block block_number(int n) {
  struct block block = {.process_record = n, .samples = samples, .sample_count = SAMPLES};
  strcpy(block.study, "s");
  memcpy(block.config, config.key, sizeof block.config);
  for (int i = 0; i < SAMPLES; i++) samples[i] = (uint64_t)(n * 100000 + i);
  return block;
}

/* Returns how many blocks were acknowledged; *out_status of the first failure. */
static int run(const char *path, hone_status *out_status) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  struct study_row *row = calloc(1, sizeof *row);
  int acknowledged = 0;
  strcpy(row->key, "s");
  *out_status = store_open(&ctx, path, true, &store);
  if (!*out_status) *out_status = store_put_study(&ctx, store, row);
  if (!*out_status) *out_status = store_put_config(&ctx, store, "s", &config);
  for (; !*out_status && acknowledged < BLOCKS; acknowledged += !*out_status) {
    const struct block block = block_number(acknowledged);
    *out_status = store_put_block(&ctx, store, &block);
  }
  store_close(store);
  free(row);
  return acknowledged;
}

static void check(const char *path, int acknowledged) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct store *store;
  struct arena *arena;
  static struct study_data data;
  const hone_status status = store_open(&ctx, path, true, &store); /* looks at every page */
  if (status) print_error("%s\n", ctx.message);
  assert_int_equal(status, HONE_OK);
  assert_int_equal(arena_create(&ctx, 0, &arena), HONE_OK);
  const hone_status read = store_read_study(&ctx, store, arena, "s", &data);
  assert_true(read == HONE_OK || (read == HONE_E_NOFILE && acknowledged == 0));
  const int there = read || data.config_count == 0 ? 0 : (int)data.cells[0].block_count;
  assert_true(there == acknowledged || there == acknowledged + 1);
  for (int i = 0; i < there; i++) {
    const struct block want = block_number(i), *got = &data.cells[0].blocks[i];
    assert_int_equal(got->process_record, i);
    assert_int_equal(got->sample_count, SAMPLES);
    assert_memory_equal(got->samples, want.samples, sizeof samples);
  }
  arena_destroy(arena);
  store_close(store);
}

/* A store of the first release, to be brought up by the run; its two studies must outlive it. */
static void start_from_old(struct ctx *ctx, const char *path) {
  const char *cases = getenv("HONE_TEST_CASES");
  char from[4200];
  struct mapping map;
  snprintf(from, sizeof from, "%.4000s/store/v1.db", cases ? cases : "tests/cases");
  assert_int_equal(file_map(ctx, from, &map), HONE_OK);
  assert_int_equal(file_write_atomic(ctx, path, map.data, map.size, 0600), HONE_OK);
  file_unmap(&map);
}

static void check_old(struct ctx *ctx, const char *path) {
  struct store *store;
  static struct study_data data;
  struct arena *arena;
  static struct study_row row;
  assert_int_equal(arena_create(ctx, 0, &arena), HONE_OK);
  assert_int_equal(store_open(ctx, path, false, &store), HONE_OK);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(store_get_study(ctx, store, i ? "first" : "second", &row), HONE_OK);
    assert_int_equal(store_read_study(ctx, store, arena, row.key, &data), HONE_OK);
    assert_int_equal(data.config_count, 3);
  }
  store_close(store);
  arena_destroy(arena);
}

/* true if the fault was reached. */
static bool one_case(const char *folder, bool is_old, enum kind kind, bool is_lasting, int n) {
  char path[4200], side[4300];
  struct ctx ctx;
  ctx_init(&ctx);
  snprintf(path, sizeof path, "%s/s.db", folder);
  unlink(path);
  snprintf(side, sizeof side, "%s-journal", path);
  unlink(side);
  if (is_old) start_from_old(&ctx, path);
  hone_status status;
  fault.kind = kind;
  fault.is_lasting = is_lasting;
  fault.until = n;
  fault.has_struck = false;
  const int acknowledged = run(path, &status);
  fault.until = -1;
  if (!fault.has_struck) assert_int_equal(status, HONE_OK);
  /* SQLite may repeat a failed cached read, lock or size query, and succeed */
  if (status)
    assert_true(status == HONE_E_IO || status == HONE_E_FORMAT || status == HONE_E_BUSY ||
                status == HONE_E_NOFILE);
  if (status && kind <= SYNC && kind != READ) assert_int_equal(status_exit_code(status), 74);
  check(path, acknowledged);
  assert_true(run(path, &status) == BLOCKS && status == HONE_OK); /* resumes, doubles nothing */
  check(path, BLOCKS);
  if (is_old) check_old(&ctx, path);
  return fault.has_struck;
}

static void nothing_acknowledged_is_lost_by_faults(void **state) {
  (void)state;
  char folder[4096];
  struct ctx ctx;
  ctx_init(&ctx);
  strcpy(folder, "/dev/shm/hone-faults-XXXXXX"); /* thousands of fsyncs: in memory if it can be */
  if (!mkdtemp(folder)) assert_int_equal(dir_temporary(&ctx, folder), HONE_OK);
  strcpy(config.backend, "native");
  config_key(&config);
  fault.until = -1;
  install();
  const int step = getenv("HONE_TEST_FULL") ? 1 : 3; /* `make test`: every third point */
  int points = 0;
  for (int turn = 0; turn < 4 * KIND_COUNT; turn++) {
    bool is_old = turn >= 2 * KIND_COUNT, is_lasting = turn % 2;
    enum kind kind = (enum kind)(turn / 2 % KIND_COUNT);
    int n = 1 + turn % step;
    while (one_case(folder, is_old, kind, is_lasting, n)) n += step;
    points += n - 1;
    print_message("%s, %s, %s: %d points\n", is_old ? "old" : "new", kind_names[kind],
                  is_lasting ? "lasting" : "once", n - 1);
  }
  print_message("%d fault points, nothing lost\n", points);
  assert_true(points > 300);
  dir_remove_tree(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_acknowledged_is_lost_by_faults)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
