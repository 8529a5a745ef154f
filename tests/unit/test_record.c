/* record: names parse back, columns read every type, the key separates every field. */
#include "unit.h"

#include <math.h>
#include "bench/record/record.h"

static void names_parse_back(void **state) {
  (void)state;
  for (int i = 0; i < STATUS_COUNT; i++)
    assert_int_equal(status_parse(status_text((enum record_status)i)), i);
  for (int i = 0; i < STAGE_COUNT; i++)
    assert_int_equal(stage_parse(stage_text((enum record_stage)i)), i);
  assert_int_equal(status_parse("fine"), STATUS_COUNT);
  assert_int_equal(status_parse(""), STATUS_COUNT);
  assert_int_equal(stage_parse("x"), STAGE_COUNT);
}

static void flags_parse_back(void **state) {
  (void)state;
  for (uint32_t flags = 0; flags < 1u << FLAG_BIT_COUNT; flags++) {
    struct strbuf text = {0};
    uint32_t again = ~0u;
    flags_format(flags, &text);
    assert_true(flags_parse(text.at ? text.at : "", &again));
    assert_int_equal(again, flags);
    strbuf_deinit(&text);
  }
  uint32_t out;
  assert_false(flags_parse("noisy  cached", &out));
  assert_false(flags_parse("noisy ", &out));
  assert_false(flags_parse(" noisy", &out));
  assert_false(flags_parse("noisyy", &out));
}

static void columns_lie_inside_the_record(void **state) {
  (void)state;
  for (size_t i = 0; i < column_count; i++) {
    assert_true(columns[i].offset + columns[i].size <= sizeof(struct record));
    assert_true(columns[i].since >= 1 && columns[i].since <= RECORD_SCHEMA);
    if (columns[i].type == COLUMN_DOUBLE) assert_int_equal(columns[i].size, sizeof(double));
    if (columns[i].type == COLUMN_INT) assert_true(columns[i].size == 4 || columns[i].size == 8);
    for (size_t j = 0; j < i; j++) assert_string_not_equal(columns[i].key, columns[j].key);
  }
}

static const struct column *find(const char *key) {
  for (size_t i = 0; i < column_count; i++)
    if (!strcmp(columns[i].key, key)) return &columns[i];
  return NULL;
}
static void expect(const struct record *record, const char *key, const char *want) {
  struct strbuf text = {0};
  column_format(record, find(key), &text);
  assert_string_equal(text.at ? text.at : "", want);
  strbuf_deinit(&text);
}

static void columns_format_each_type(void **state) {
  (void)state;
  static struct record record;
  strcpy(record.config.model, "a\"b");
  record.status = STATUS_timeout;
  record.stage = STAGE_compile;
  record.flags = FLAG_MASK(noisy) | FLAG_MASK(cached);
  record.p50_ms = 0.1;
  record.p90_ms = NAN;
  record.worst.rss_peak = 5000000000;
  record.worst.artifact_bytes = -1;
  record.noise.steal_fraction = -1;
  record.worst.rss_slope = -8;
  record.sample_count = 12;
  expect(&record, "model", "a\"b");
  expect(&record, "status", "timeout");
  expect(&record, "stage", "compile");
  expect(&record, "flags", "noisy cached");
  expect(&record, "latency_ms.p50", "0.1");
  expect(&record, "latency_ms.p90", "");
  expect(&record, "peak_rss_bytes", "5000000000");
  expect(&record, "artifact_size_bytes", "");
  expect(&record, "noise.steal_fraction", "");
  expect(&record, "rss_slope_bytes", "-8");
  expect(&record, "samples", "12");
  assert_true(isnan(column_number(&record, find("model"))));
}

static void the_key_separates_fields(void **state) {
  (void)state;
  static struct config a, b;
  strcpy(a.model_hash, "00112233445566778899aabbccddeeff");
  strcpy(a.backend, "native");
  b = a;
  strcpy(b.model, "shown name and path are not identity");
  strcpy(b.model_path, "/tmp/x");
  config_key(&a);
  config_key(&b);
  assert_int_equal(strlen(a.key), 32);
  assert_string_equal(a.key, b.key);
  strcpy(a.variant, "ab");
  strcpy(b.variant, "a");
  strcpy(b.options, "b");
  config_key(&a);
  config_key(&b);
  assert_string_not_equal(a.key, b.key);
  b = a;
  strcpy(a.options, "x\nroute:4:onnx");
  strcpy(b.options, "x");
  strcpy(b.route, "onnx");
  config_key(&a);
  config_key(&b);
  assert_string_not_equal(a.key, b.key);
  b = a;
  b.label = 1;
  config_key(&b);
  assert_string_not_equal(a.key, b.key);
}

static void the_longest_cell_fits(void **state) {
  (void)state;
  static struct config a, b;
  memset(&a, 'x', sizeof a);
  a.batch = a.threads = a.label = -2147483647;
  b = a;
  config_key(&a);
  b.label++;
  config_key(&b);
  assert_string_not_equal(a.key, b.key);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(names_parse_back),
      cmocka_unit_test(flags_parse_back),
      cmocka_unit_test(columns_lie_inside_the_record),
      cmocka_unit_test(columns_format_each_type),
      cmocka_unit_test(the_key_separates_fields),
      cmocka_unit_test(the_longest_cell_fits),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
