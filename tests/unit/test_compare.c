/* compare: two studies from the store or from JSON files, in every output format; the gate; hostile
 * text. */
#include "core/os/os.h"
#include "report_case.h"

static struct strbuf render_change(struct fixture *f, const struct changes *changes,
                                   const char *form) {
  struct strbuf out = {0};
  const hone_status status = render_changes(&f->ctx, form, changes, NULL, &out);
  if (status) print_error("%s\n", f->ctx.message);
  assert_int_equal(status, HONE_OK);
  return out;
}

static void compare_finds_the_change(void **state) {
  (void)state;
  struct fixture *before = make_fixture(1, 1), *after = make_fixture(2, 1.2);
  strcpy(after->data.row.fingerprint, "another");
  char *kernel = strstr(after->data.row.machine_json, "6.1.0");
  memcpy(kernel, "6.6.9", 5);
  assert_int_equal(summarise(&after->ctx, after->arena, &after->data, false, &after->summary),
                   HONE_OK);
  struct changes changes;
  assert_int_equal(
      changes_find(&after->ctx, after->arena, &before->summary, &after->summary, 0.1, &changes),
      HONE_OK);
  assert_int_equal(changes.count, after->summary.record_count);
  assert_int_equal(changes.slower, 4); /* each native row, the copy too */
  assert_int_equal(changes.broken + changes.only_before + changes.only_after, 0);
  assert_int_equal(changes_exit_code(&changes), 1);
  struct strbuf out = render_change(after, &changes, "table");
  assert_non_null(strstr(out.at, "different fingerprints"));
  assert_non_null(strstr(out.at, "fingerprint.kernel: Linux 6.1.0 -> Linux 6.6.9"));
  assert_non_null(
      strstr(out.at, "4 regressions above 10 % among 14 configurations measured in both"));
  assert_int_equal(count_of(out.at, "  regression\n"), 4);
  strbuf_deinit(&out);
  /* a slowdown that the interval does not prove is not a regression */
  assert_int_equal(
      changes_find(&after->ctx, after->arena, &before->summary, &after->summary, 0.3, &changes),
      HONE_OK);
  assert_int_equal(changes_exit_code(&changes), 0);
  /* without a gate nothing is one */
  assert_int_equal(changes_find(&after->ctx, after->arena, &before->summary, &after->summary,
                                (double)NAN, &changes),
                   HONE_OK);
  assert_int_equal(changes_exit_code(&changes), 0);
  free_fixture(before);
  free_fixture(after);
}

static const char *temporary_file(struct fixture *f, char out[4200], const char *text,
                                  size_t length) {
  char folder[4096];
  assert_int_equal(dir_temporary(&f->ctx, folder), HONE_OK);
  snprintf(out, 4200, "%s/study.json", folder);
  assert_int_equal(file_write_atomic(&f->ctx, out, text, length, 0600), HONE_OK);
  return out;
}
static void remove_temporary(char path[4200]) {
  *strrchr(path, '/') = 0;
  dir_remove_tree(path);
}

/* A file has what the store has but for the samples; n/a stays n/a. */
static void json_reads_back(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  struct strbuf json = render(f, "json");
  char path[4200];
  struct summary read;
  temporary_file(f, path, json.at, json.length);
  assert_int_equal(summary_read_json(&f->ctx, f->arena, path, &read), HONE_OK);
  assert_int_equal(read.record_count, f->summary.record_count);
  for (size_t i = 0; i < read.record_count; i++)
    for (size_t c = 0; c < column_count; c++) {
      struct strbuf want = {0}, got = {0};
      column_format(&f->summary.records[i], &columns[c], &want);
      column_format(&read.records[i], &columns[c], &got);
      assert_string_equal(want.at ? want.at : "", got.at ? got.at : "");
      strbuf_deinit(&want);
      strbuf_deinit(&got);
    }
  struct changes changes;
  assert_int_equal(changes_find(&f->ctx, f->arena, &read, &f->summary, 0.5, &changes), HONE_OK);
  assert_int_equal(changes.only_before + changes.only_after + changes.slower + changes.broken, 0);
  assert_int_equal(changes_exit_code(&changes), 0);
  for (size_t i = 0; i < changes.count; i++)
    assert_true(!changes.at[i].is_compared || changes.at[i].verdict == VERDICT_tie);
  struct strbuf table = render_change(f, &changes, "table");
  assert_non_null(strstr(table.at, "JSON files have no samples"));
  strbuf_deinit(&table);
  strbuf_deinit(&json);
  remove_temporary(path);
  free_fixture(f);
}

static void json_of_others_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",
      "{",
      "[]",
      "{\"schema\": 1}",
      "{\"schema\": 1, \"records\": {}}",
      "{\"schema\": 1, \"records\": [{}]}",
      "{\"schema\": 1, \"records\": [1]}",
      "{\"schema\": 1, \"records\": [{\"cell\": 7}]}",
      "{\"schema\": 1, \"records\": [{\"cell\": \"0123456789abcdef0123456789abcdef\", "
      "\"batch\": 1e300}]}",
      "{\"schema\": 1, \"records\": [{\"cell\": \"0123456789abcdef0123456789abcdef\", "
      "\"status\": \"splendid\"}]}",
      "{\"schema\": 1, \"records\": [{\"cell\": \"0123456789abcdef0123456789abcdef\", "
      "\"samples\": 9, \"latency_ms\": {\"p50\": -1}}]}",
  };
  struct fixture *f = make_thin_fixture();
  for (size_t i = 0; i < COUNT(bad); i++) {
    char path[4200];
    struct summary read;
    temporary_file(f, path, bad[i], strlen(bad[i]));
    const hone_status status = summary_read_json(&f->ctx, f->arena, path, &read);
    if (status != HONE_E_FORMAT) print_error("%s\n", bad[i]);
    assert_int_equal(status, HONE_E_FORMAT);
    ctx_clear(&f->ctx);
    remove_temporary(path);
  }
  free_fixture(f);
}

/* A configuration whose answer was right and is not any more fails the gate; a missing one is only
   reported. */
static void compare_tells_broken_and_missing_cells(void **state) {
  (void)state;
  struct fixture *before = make_fixture(1, 1), *after = make_fixture(1, 1);
  struct summary *a = &after->summary, *b = &before->summary;
  a->records[2].status = STATUS_crashed;
  strcpy(a->records[4].config.key, "00000000000000000000000000000000");
  struct changes changes;
  assert_int_equal(changes_find(&after->ctx, after->arena, b, a, 0.05, &changes), HONE_OK);
  assert_int_equal(changes.broken, 1);
  assert_int_equal(changes.slower, 0);
  assert_int_equal(changes.only_before, 1);
  assert_int_equal(changes.only_after, 1);
  assert_int_equal(changes_exit_code(&changes), 1);
  struct strbuf xml = render_change(after, &changes, "junit"),
                md = render_change(after, &changes, "md"),
                json = render_change(after, &changes, "json");
  assert_int_equal(count_of(xml.at, "<testcase "), changes.count);
  assert_int_equal(count_of(xml.at, "<failure "), 1);
  assert_non_null(strstr(xml.at, " failures=\"1\""));
  assert_non_null(strstr(md.at, "**broken, crashed**"));
  assert_non_null(strstr(md.at, "1 regression above 5.0 % among "));
  json_error_t error;
  json_t *root = json_loads(json.at, JSON_REJECT_DUPLICATES, &error);
  assert_non_null(root);
  assert_int_equal(json_array_size(json_object_get(root, "changes")), changes.count);
  assert_int_equal(json_integer_value(json_object_get(root, "broken")), 1);
  json_decref(root);
  strbuf_deinit(&xml);
  strbuf_deinit(&md);
  strbuf_deinit(&json);
  /* few rounds: nothing is decided, and the gate does not say that all is well */
  for (size_t i = 0; i < a->record_count; i++) a->records[i].rounds = 1;
  a->records[2].status = STATUS_ok;
  assert_int_equal(changes_find(&after->ctx, after->arena, b, a, 0.05, &changes), HONE_OK);
  assert_int_equal(changes.decided, 0);
  assert_int_equal(changes_exit_code(&changes), 5);
  free_fixture(before);
  free_fixture(after);
}

/* Text of either side stays text in every form of a comparison. */
static void hostile_text_in_comparisons(void **state) {
  (void)state;
  struct fixture *f = make_thin_fixture();
  size_t tags[2] = {0}, quotes = 0;
  for (size_t i = 0; i < COUNT(hostile) + 1; i++) {
    struct changes changes;
    plant(f, i ? hostile[i - 1] : "benign");
    f->summary.records[0].status = STATUS_crashed;
    assert_int_equal(changes_find(&f->ctx, f->arena, &f->summary, &f->summary, 0.05, &changes),
                     HONE_OK);
    static const char *const forms[] = {"html", "junit", "md", "table", "json"};
    for (size_t k = 0; k < COUNT(forms); k++) {
      struct strbuf out = render_change(f, &changes, forms[k]);
      assert_false(has_control(&out));
      if (k == 0 && i == 0) quotes = count_of(out.at, "\"");
      if (k == 0) assert_int_equal(count_of(out.at, "\""), quotes);
      if (k < 2 && i == 0) tags[k] = count_of(out.at, "<");
      if (k < 2) assert_int_equal(count_of(out.at, "<"), tags[k]);
      strbuf_deinit(&out);
    }
  }
  free_fixture(f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(compare_finds_the_change),
      cmocka_unit_test(json_reads_back),
      cmocka_unit_test(json_of_others_is_refused),
      cmocka_unit_test(compare_tells_broken_and_missing_cells),
      cmocka_unit_test(hostile_text_in_comparisons),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
