/* base: the helpers that every other module uses. */
#include "core/os/os.h"
#include "unit.h"

#include <math.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void arena_gives_zeroed_aligned_memory(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct arena *arena;
  assert_int_equal(arena_create(&ctx, 1 << 20, &arena), HONE_OK);
  for (size_t n = 1; n < 5000; n = n * 3 + 1) {
    char *p;
    assert_int_equal(arena_alloc(&ctx, arena, n, 1, &p), HONE_OK);
    assert_int_equal((uintptr_t)p % (n >= 64 ? 64 : 16), 0);
    for (size_t i = 0; i < n; i++) assert_int_equal(p[i], 0);
    memset(p, 0xff, n);
  }
  void *p;
  assert_int_equal(arena_alloc(&ctx, arena, 2 << 20, 1, &p), HONE_E_LIMIT);
  ctx_clear(&ctx);
  assert_int_equal(arena_alloc(&ctx, arena, SIZE_MAX / 2, 8, &p), HONE_E_LIMIT);
  arena_destroy(arena);
}

static size_t hashed;
static void count_part(const void *at, size_t bytes) { hashed += at ? bytes : 0; }

static void a_hash_in_parts_is_the_hash(void **state) {
  (void)state;
  char text[1000], whole[33], parts[33];
  for (size_t i = 0; i < sizeof text; i++) text[i] = (char)(i * 7 % 251);
  for (size_t size = 0; size <= sizeof text; size += 125) {
    hashed = 0;
    hash_hex(whole, text, size);
    hash_hex_in_parts(parts, text, size, 300, count_part);
    assert_string_equal(parts, whole);
    assert_int_equal(hashed, size);
  }
}

static void numbers_are_parsed_strictly(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool ok;
    int64_t value;
  } cases[] = {{"0", true, 0},
               {"-5", true, -5},
               {"9223372036854775807", true, INT64_MAX},
               {"-9223372036854775808", true, INT64_MIN},
               {"9223372036854775808", false, 0},
               {"", false, 0},
               {"-", false, 0},
               {"+1", false, 0},
               {" 1", false, 0},
               {"1 ", false, 0},
               {"1e3", false, 0},
               {"0x10", false, 0}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    int64_t value = 0;
    assert_int_equal(parse_i64(cases[i].text, INT64_MIN, INT64_MAX, &value), cases[i].ok);
    if (cases[i].ok) assert_int_equal(value, cases[i].value);
  }
  double x;
  assert_true(parse_f64("1.5e3", 0, 1e9, &x) && x == 1500);
  assert_false(parse_f64("1,5", 0, 1e9, &x));
  assert_false(parse_f64("nan", 0, 1e9, &x));
  assert_false(parse_f64("inf", 0, INFINITY, &x));
}

static void amounts_have_units_of_their_kind(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum amount_kind kind;
    double value; /* NaN: refused */
  } cases[] = {
      {"5ms", AMOUNT_MS, 5},        {"300us", AMOUNT_MS, .3},    {"0.5s", AMOUNT_MS, 500},
      {"7", AMOUNT_MS, 7},          {"5min", AMOUNT_MS, NAN},    {"5 ms", AMOUNT_MS, 5},
      {"5  ms", AMOUNT_MS, NAN},    {"ms", AMOUNT_MS, NAN},      {"", AMOUNT_MS, NAN},
      {"60", AMOUNT_SECONDS, 60},   {"60s", AMOUNT_SECONDS, 60}, {"2min", AMOUNT_SECONDS, 120},
      {"200MB", AMOUNT_BYTES, 2e8}, {"4G", AMOUNT_BYTES, 4e9},   {"12Q", AMOUNT_BYTES, NAN},
      {"512", AMOUNT_BYTES, 512},   {"0.99", AMOUNT_SHARE, .99}, {"99%", AMOUNT_SHARE, .99},
      {"5%", AMOUNT_PERCENT, .05},  {"5", AMOUNT_PERCENT, .05},  {"2.5 %", AMOUNT_PERCENT, .025},
      {"5%%", AMOUNT_PERCENT, NAN}, {"-1", AMOUNT_PERCENT, NAN}, {"1,5ms", AMOUNT_MS, NAN},
      {"1e400s", AMOUNT_MS, NAN},   {"3", AMOUNT_NUMBER, 3},     {"5mJ", AMOUNT_MJ, 5},
      {"0.2J", AMOUNT_MJ, 200},     {"5ms", AMOUNT_MJ, NAN}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    double value = -1;
    const bool ok = parse_amount(cases[i].text, cases[i].kind, 0, 1e300, &value);
    assert_int_equal(ok, !isnan(cases[i].value));
    if (ok) assert_true(fabs(value - cases[i].value) <= 1e-12 * cases[i].value);
  }
}

static void doubles_are_printed_shortest(void **state) {
  (void)state;
  static const struct {
    double x;
    const char *text;
  } cases[] = {{0.1, "0.1"}, {1.0 / 3, "0.3333333333333333"}, {1e300, "1e+300"}, {-0.0, "-0"}};
  char out[32];
  for (size_t i = 0; i < COUNT(cases); i++) {
    format_f64(out, cases[i].x);
    assert_string_equal(out, cases[i].text);
  }
}

static void hostile_text_is_shown_not_obeyed(void **state) {
  (void)state;
  char out[64];
  safe_copy(out, sizeof out, "a\x1b[31m\n\xff\xe2\x80\xae");
  assert_string_equal(out, "a\\u{1b}[31m\\u{a}\\u{ff}\\u{202e}");
  safe_copy(out, 8, "0123456789");
  assert_true(strlen(out) < 8);
  char name[65];
  slug(name, "../../Etc/p asswd");
  assert_null(strchr(name, '/'));
  assert_true(name[0] != '.' && name[0] != '-');
}

static void every_half_survives_the_round_trip(void **state) {
  (void)state;
  for (uint32_t h = 0; h < 65536; h++) {
    float x = f16_to_f32((uint16_t)h);
    if (isnan(x))
      assert_true(isnan(f16_to_f32(f32_to_f16(x))));
    else
      assert_int_equal(f32_to_f16(x), h);
    float y = bf16_to_f32((uint16_t)h);
    if (!isnan(y)) assert_int_equal(f32_to_bf16(y), h);
  }
  assert_int_equal(f32_to_f16(65519.0f), 0x7bff); /* below half way to 65536 */
  assert_int_equal(f32_to_f16(65520.0f), 0x7c00);
  assert_int_equal(f32_to_f16(0x1p-25f), 0); /* tie to even */
}

static void every_tiny_float_survives_the_round_trip(void **state) {
  (void)state;
  static const struct {
    hone_dtype dtype;
    unsigned codes;
    double max, over; /* the largest, and the least that rounds beyond it */
  } types[] = {{HONE_F8E4M3FN, 256, 448, 464.5},       {HONE_F8E4M3FNUZ, 256, 240, 248},
               {HONE_F8E5M2, 256, 57344, 61440},       {HONE_F8E5M2FNUZ, 256, 57344, 61440},
               {HONE_F8E8M0, 256, 0x1p127, 0x1.1p127}, {HONE_F4E2M1, 16, 6, 7}};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
    double max = 0;
    for (unsigned code = 0; code < types[t].codes; code++) {
      double x = tiny_to_f64(types[t].dtype, code);
      unsigned back = f64_to_tiny(types[t].dtype, x, TINY_UP, true);
      if (isnan(x))
        assert_true(isnan(tiny_to_f64(types[t].dtype, back)));
      else if (!isinf(x))
        assert_int_equal(back, code);
      if (!isnan(x) && !isinf(x) && x > max) max = x;
    }
    assert_true(max == types[t].max);
    unsigned over = f64_to_tiny(types[t].dtype, types[t].over, TINY_UP, true);
    assert_true(tiny_to_f64(types[t].dtype, over) == max);
    double free =
        tiny_to_f64(types[t].dtype, f64_to_tiny(types[t].dtype, types[t].over, TINY_UP, false));
    assert_true(types[t].dtype == HONE_F4E2M1 ? free == max : isnan(free) || isinf(free));
  }
  /* ties go to the even mantissa: 1.0625 lies between 1 and 1.125, 1.1875 between 1.125 and 1.25 */
  assert_true(tiny_to_f64(HONE_F8E4M3FN, f64_to_tiny(HONE_F8E4M3FN, 1.0625, TINY_UP, true)) == 1);
  assert_true(tiny_to_f64(HONE_F8E4M3FN, f64_to_tiny(HONE_F8E4M3FN, 1.1875, TINY_UP, true)) ==
              1.25);
}

static void npy_holds_strings_and_packed_integers(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char dir[4096], path[4200];
  assert_int_equal(dir_temporary(&ctx, dir), HONE_OK);
  snprintf(path, sizeof path, "%s/x.npy", dir);
  uint8_t codes[2] = {0x87, 0x05}; /* 7, -8, 5 */
  hone_tensor x = {codes, HONE_I4, 1, {3}}, y, expect = {.dtype = HONE_I4};
  assert_int_equal(npy_write(&ctx, path, &x), HONE_OK);
  assert_int_equal(npy_read(&ctx, path, &expect, &y), HONE_OK);
  assert_memory_equal(y.data, codes, 2);
  free(y.data);
  assert_int_equal(npy_read(&ctx, path, NULL, &y), HONE_OK);
  assert_int_equal(y.dtype, HONE_I8);
  assert_int_equal(((int8_t *)y.data)[1], -8);
  free(y.data);
  hone_string words[3] = {{"", 0},
                          {"Stra\xc3\x9f"
                           "e",
                           7},
                          {"\xf0\x9f\x8c\x8d!", 5}};
  hone_tensor s = {words, HONE_STRING, 1, {3}};
  assert_int_equal(npy_write(&ctx, path, &s), HONE_OK);
  assert_int_equal(npy_read(&ctx, path, NULL, &y), HONE_OK);
  assert_int_equal(y.dtype, HONE_STRING);
  for (size_t i = 0; i < 3; i++) {
    const hone_string *got = &((hone_string *)y.data)[i];
    assert_int_equal(got->length, words[i].length);
    assert_memory_equal(got->bytes, words[i].bytes, got->length);
  }
  free(y.data);
  dir_remove_tree(dir);
}

static void npy_round_trip_and_damage(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char dir[4096], path[4200];
  assert_int_equal(dir_temporary(&ctx, dir), HONE_OK);
  snprintf(path, sizeof path, "%s/x.npy", dir);
  float data[6] = {1, 2, 3, 4, 5, 6};
  hone_tensor x = {data, HONE_F32, 2, {2, 3}}, y;
  assert_int_equal(npy_write(&ctx, path, &x), HONE_OK);
  assert_int_equal(npy_read(&ctx, path, NULL, &y), HONE_OK);
  assert_int_equal(y.rank, 2);
  assert_int_equal(y.shape[1], 3);
  assert_memory_equal(y.data, data, sizeof data);
  free(y.data);
  struct mapping map;
  assert_int_equal(file_map(&ctx, path, &map), HONE_OK);
  for (size_t n = 0; n < map.size; n++) { /* every truncation is refused */
    char cut[4200];
    snprintf(cut, sizeof cut, "%s/cut.npy", dir);
    assert_int_equal(file_write_atomic(&ctx, cut, map.data, n, 0600), HONE_OK);
    assert_int_equal(npy_read(&ctx, cut, NULL, &y), HONE_E_FORMAT);
    ctx_clear(&ctx);
  }
  file_unmap(&map);
  assert_int_equal(file_map(&ctx, dir, &map), HONE_E_IO);
  ctx_clear(&ctx);
  assert_int_equal(file_map(&ctx, "/dev/zero", &map), HONE_E_IO);
  ctx_clear(&ctx);
  assert_int_equal(file_map(&ctx, "/nowhere/x", &map), HONE_E_NOFILE);
  ctx_clear(&ctx);
  assert_int_equal(file_write_atomic(&ctx, "/nowhere/x", "a", 1, 0600), HONE_E_WRITE);
  dir_remove_tree(dir);
  assert_int_not_equal(access(dir, F_OK), 0);
}

/* Makes the folder in a child process, which then ends as `how` says. */
static pid_t make_and_die(const char *root, int how, char out[4096]) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t pid = fork();
  if (!pid) {
    struct ctx ctx;
    char dir[4096], inside[4200];
    ctx_init(&ctx);
    setenv("TMPDIR", root, 1);
    if (dir_temporary(&ctx, dir)) _exit(1);
    snprintf(inside, sizeof inside, "%s/inside", dir);
    if (dir_create(&ctx, inside) || write(ends[1], dir, sizeof dir) != sizeof dir) _exit(1);
    raise(how);
    pause();
  }
  assert_int_equal(read(ends[0], out, 4096), 4096);
  close(ends[0]);
  close(ends[1]);
  assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
  assert_int_equal(access(out, F_OK), 0);
  return pid;
}

/* Folders of dead processes go with the next that is made, those of living ones and of others stay. */
static void folders_of_dead_processes_are_removed(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  char root[4096], dead[4096], alive[4096], next[4096], other[4200], empty[4200], old[4200];
  assert_int_equal(dir_temporary(&ctx, root), HONE_OK);
  (void)make_and_die(root, SIGKILL, dead);
  const pid_t stopped = make_and_die(root, SIGSTOP, alive);
  assert_int_equal(access(dead, F_OK), -1);
  snprintf(other, sizeof other, "%s/hone-other", root);
  snprintf(empty, sizeof empty, "%s/hone-empty", root);
  snprintf(old, sizeof old, "%s/hone-old", root);
  assert_int_equal(mkdir(other, 0700) | mkdir(empty, 0700) | mkdir(old, 0700), 0);
  const struct timespec when[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
  char inside[4300];
  snprintf(inside, sizeof inside, "%s/file", other);
  assert_int_equal(file_write_atomic(&ctx, inside, "a", 1, 0600), HONE_OK);
  assert_int_equal(utimensat(AT_FDCWD, other, when, 0) | utimensat(AT_FDCWD, old, when, 0), 0);
  (void)make_and_die(root, SIGKILL, dead);
  setenv("TMPDIR", root, 1);
  assert_int_equal(dir_temporary(&ctx, next), HONE_OK);
  unsetenv("TMPDIR");
  assert_int_equal(access(dead, F_OK), -1);
  assert_int_equal(access(alive, F_OK), 0);
  assert_int_equal(access(inside, F_OK), 0); /* it never had a lock */
  assert_int_equal(access(empty, F_OK), 0);  /* it may get one yet */
  assert_int_equal(access(old, F_OK), -1);
  dir_temporary_remove(next);
  assert_int_equal(access(next, F_OK), -1);
  kill(stopped, SIGKILL);
  assert_int_equal(waitpid(stopped, NULL, 0), stopped);
  dir_remove_tree(root);
}

static void first_failure_wins(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  assert_int_equal(fail(&ctx, HONE_E_SHAPE, place_name("a\nb"), "first %d", 1), HONE_E_SHAPE);
  assert_int_equal(fail(&ctx, HONE_E_OOM, place_none(), "second"), HONE_E_SHAPE);
  assert_string_equal(hone_context_message(&ctx), "E_SHAPE at \"a\\u{a}b\": first 1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arena_gives_zeroed_aligned_memory),
      cmocka_unit_test(a_hash_in_parts_is_the_hash),
      cmocka_unit_test(numbers_are_parsed_strictly),
      cmocka_unit_test(amounts_have_units_of_their_kind),
      cmocka_unit_test(doubles_are_printed_shortest),
      cmocka_unit_test(hostile_text_is_shown_not_obeyed),
      cmocka_unit_test(every_half_survives_the_round_trip),
      cmocka_unit_test(every_tiny_float_survives_the_round_trip),
      cmocka_unit_test(npy_holds_strings_and_packed_integers),
      cmocka_unit_test(npy_round_trip_and_damage),
      cmocka_unit_test(folders_of_dead_processes_are_removed),
      cmocka_unit_test(folders_of_dead_processes_are_removed),
      cmocka_unit_test(first_failure_wins),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
