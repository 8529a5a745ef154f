/* report_case: a known study, summarised, and names that every format must show literally. */
#ifndef HONE_REPORT_CASE_H
#define HONE_REPORT_CASE_H
#include <dlfcn.h>

#include "ui/report/report.h"
#include "judge/compare/compare.h"
#include "unit.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include "sample_study.h"

struct fixture {
  struct ctx ctx;
  struct arena *arena;
  struct study_data data;
  struct summary summary;
};

/* Fonts that fontconfig, which librsvg brings, keeps until the process ends. LeakSanitizer asks for this by its name. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig.so\n"; }

static inline struct fixture *make_fixture(uint64_t seed, double slower) {
  struct fixture *f = calloc(1, sizeof *f);
  ctx_init(&f->ctx);
  assert_int_equal(arena_create(&f->ctx, 0, &f->arena), HONE_OK);
  assert_int_equal(sample_study(&f->ctx, f->arena, seed, slower, &f->data), HONE_OK);
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  return f;
}
/* A fast fixture for tests of text only: two models, few samples. */
static inline struct fixture *make_thin_fixture(void) {
  struct fixture *f = make_fixture(1, 1);
  f->data.config_count = COUNT(sample_resnet) + COUNT(sample_bert);
  for (size_t i = 0; i < f->data.config_count; i++)
    if (f->data.cells[i].block_count > 0) {
      f->data.cells[i].block_count = 1;
      f->data.cells[i].blocks[0].sample_count = 10;
    }
  return f;
}
static inline void free_fixture(struct fixture *f) {
  arena_destroy(f->arena);
  free(f);
}
static inline struct strbuf render(struct fixture *f, const char *name) {
  struct strbuf out = {0};
  const struct render_options options = {.width = 120};
  const struct renderer *renderer = renderer_find(name);
  assert_non_null(renderer);
  const hone_status status = renderer->render(&f->ctx, &f->summary, &options, &out);
  if (status) print_error("%s\n", f->ctx.message);
  assert_int_equal(status, HONE_OK);
  return out;
}
/* Pixels need a library that hone runs without. */
static inline bool can_render(const char *name) {
  if (strcmp(name, "png")) return true;
  void *library = dlopen("librsvg-2.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library) print_message("skipped: png needs librsvg2-2\n");
  return library != NULL;
}
static inline size_t count_of(const char *text, const char *piece) {
  size_t count = 0;
  for (const char *at = text; (at = strstr(at, piece)); at += strlen(piece)) count++;
  return count;
}

static const char *const hostile[] = {
    "<script>alert(1)</script>",
    "\" onmouseover=\"alert(1)",
    "' onmouseover='alert(1)",
    "</title><b>x",
    "</style><script>x</script>",
    "</script><script>x",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<svg onload=x>",
    "javascript:alert(1)",
    "data:text/html,x",
    "{{7*7}}",
    "${7*7}",
    "<%= 7*7 %>",
    "&lt;b&gt;",
    "&#60;b&#62;",
    "&amp;",
    "%3Cscript%3E",
    "=cmd|'/c calc'!A1",
    "+1+1",
    "-2",
    "@SUM(A1)",
    "\tlead",
    "\rlead",
    "\nlead",
    " =1+1",
    "\xef\xbc\x9d"
    "1+1",
    "a,b",
    "a\"b",
    "a\"\"b",
    "a\nb",
    "a\r\nb",
    "a;b",
    "a'b",
    "'a",
    "a|b",
    "|",
    "`code`",
    "``x``",
    "**bold**",
    "__x__",
    "[link](http://x)",
    "![i](http://x)",
    "# heading",
    "<http://x>",
    "http://x.example/",
    "\\",
    "\\|",
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x9b"
    "31m",
    "\xc2\x9b"
    "31m",
    "\x07",
    "\xe2\x80\xae"
    "cod.exe",
    "\xe2\x81\xa6x",
    "\xff\xfe",
    "\xc0\xaf",
    "\xed\xa0\x80",
    "\xf0\x9f\x92\xa9",
    "'; DROP TABLE block; --",
    "$(reboot)",
    "`reboot`",
    "a && b",
    "../../etc/passwd",
    "%n%n%s",
    "\xe4\xbd\xa0\xe5\xa5\xbd",
};

static inline void plant(struct fixture *f, const char *text) {
  struct config_data *cells = f->data.cells;
  snprintf(f->data.row.name, sizeof f->data.row.name, "%s", text);
  snprintf(f->data.row.command, sizeof f->data.row.command, "%s", text);
  for (size_t i = 0; i < f->data.config_count; i++) {
    struct config *config = &cells[i].config;
    snprintf(config->model, sizeof config->model, "%s", text);
    snprintf(config->model_path, sizeof config->model_path, "%s", text);
    snprintf(config->shapes, sizeof config->shapes, "%s", text);
    if (strcmp(config->backend, "native") != 0)
      snprintf(config->variant, sizeof config->variant, "%s", text);
    snprintf(config->options, sizeof config->options, "%s", text);
    for (size_t k = 0; k < cells[i].process_count; k++) {
      struct process_record *facts = &cells[i].processes[k];
      snprintf(facts->reason, sizeof facts->reason, "%s", text);
      snprintf(facts->engine_version, sizeof facts->engine_version, "%s", text);
      snprintf(facts->effective_device, sizeof facts->effective_device, "%s", text);
    }
  }
  /* always two facts, so that all pages have as many elements */
  json_t *value = json_string(text);
  if (!value) value = json_string("not UTF-8");
  json_t *machine = json_pack("{s:{s:O}}", "fingerprint", "cpu_model", value);
  json_object_set_new(json_object_get(machine, "fingerprint"), json_string_value(value), value);
  char *dumped = json_dumps(machine, 0);
  snprintf(f->data.row.machine_json, sizeof f->data.row.machine_json, "%s", dumped);
  free(dumped);
  json_decref(machine);
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
}

static inline bool has_control(const struct strbuf *text) {
  for (size_t i = 0; i < text->length; i++) {
    const unsigned char c = (unsigned char)text->at[i];
    if ((c < 0x20 && c != '\n' && c != '\r') || c == 0x7f) return true;
    if (c == 0xc2 && (unsigned char)text->at[i + 1] < 0xa0) return true; /* C1 */
  }
  return count_of(text->at, "\xe2\x80\xae") + count_of(text->at, "\xe2\x81\xa6") > 0;
}

#endif
