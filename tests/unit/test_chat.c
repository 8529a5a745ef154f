/* Chat templates against Jinja 2 (tests/cases/chat), and templates that are wrong or do not end. */
#include <jansson.h>

#include "core/chat/chat.h"
#include "unit.h"

static hone_status render(struct ctx *ctx, const char *template, size_t size, json_t *variables,
                          struct strbuf *out) {
  struct arena *arena;
  ctx_init(ctx);
  assert_int_equal(arena_create(ctx, 0, &arena), HONE_OK);
  hone_status status = chat_render(ctx, arena, template, size, variables, out);
  arena_destroy(arena);
  return status;
}

static json_t *read_cases(void) {
  json_error_t error;
  json_t *cases = json_load_file("tests/cases/chat/cases.json", 0, &error);
  assert_non_null(cases);
  return cases;
}

static void templates_render_as_with_jinja(void **state) {
  (void)state;
  json_t *cases = read_cases(), *test;
  size_t i;
  json_array_foreach(cases, i, test) {
    const json_t *template = json_object_get(test, "template");
    const char *refused = json_string_value(json_object_get(test, "refused"));
    struct strbuf text = {0};
    struct ctx ctx;
    hone_status status = render(&ctx, json_string_value(template), json_string_length(template),
                                json_object_get(test, "variables"), &text);
    if (refused) {
      assert_int_equal(status, HONE_E_USAGE);
      assert_non_null(strstr(ctx.message, refused));
    } else {
      if (status)
        print_error("%s: %s\n", json_string_value(json_object_get(test, "name")), ctx.message);
      assert_int_equal(status, HONE_OK);
      assert_string_equal(text.at ? text.at : "", json_string_value(json_object_get(test, "text")));
    }
    strbuf_deinit(&text);
  }
  assert_true(i > 150);
  json_decref(cases);
}

static void wrong_templates(void **state) {
  (void)state;
  static const struct {
    const char *template;
    hone_status status;
    const char *words;
  } cases[] = {
      {"\n\n{{ a", HONE_E_FORMAT, "line 3"},
      {"{% if a %}", HONE_E_FORMAT, "endif"},
      {"{% for x in [1] %}{% endif %}", HONE_E_FORMAT, "endfor"},
      {"{% endfor %}", HONE_E_FORMAT, "did not begin"},
      {"{{ 'a }}", HONE_E_FORMAT, "a string does not end"},
      {"{# a", HONE_E_FORMAT, "a comment does not end"},
      {"{{ a.b.c }}", HONE_E_FORMAT, "undefined"},
      {"{{ 1 + 'a' }}", HONE_E_FORMAT, "\"+\""},
      {"{{ 1 // 0 }}", HONE_E_FORMAT, "division"},
      {"{{ x | nothing }}", HONE_E_UNSUP, "nothing"},
      {"{{ 1 is nothing }}", HONE_E_UNSUP, "nothing"},
      {"{{ nothing(1) }}", HONE_E_UNSUP, "nothing"},
      {"{{ 'a'.nothing() }}", HONE_E_UNSUP, "nothing"},
      {"{% include 'a' %}", HONE_E_UNSUP, "statement"},
      {"{% for a in range(1000000000) %}{% endfor %}", HONE_E_LIMIT, "work"},
      {"{% for a in range(2000) %}{% for b in range(2000) %}{% endfor %}{% endfor %}", HONE_E_LIMIT,
       "work"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", HONE_E_LIMIT, ""},
      {"{% set n = namespace(a='xxxxxxxxxxxxxxxx') %}{% for i in range(60) %}{% set n.a = n.a + "
       "n.a %}{% endfor %}",
       HONE_E_LIMIT, "long"},
      {"{% set n = namespace(a=[1]) %}{% for i in range(60) %}{% set n.a = [n.a, n.a] %}{% endfor "
       "%}",
       HONE_E_LIMIT, ""},
      {"{% set n = namespace(a=1) %}{% for i in range(200) %}{% set n.a = n %}{% endfor %}{{ n }}",
       HONE_E_LIMIT, ""},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct strbuf text = {0};
    struct ctx ctx;
    json_t *none = json_object();
    hone_status status = render(&ctx, cases[i].template, strlen(cases[i].template), none, &text);
    if (status != cases[i].status || !strstr(ctx.message, cases[i].words))
      print_error("%s: %s\n", cases[i].template, ctx.message);
    assert_int_equal(status, cases[i].status);
    assert_non_null(strstr(ctx.message, cases[i].words));
    json_decref(none);
    strbuf_deinit(&text);
  }
}

static void deep_nesting_is_refused(void **state) {
  (void)state;
  static const char *const openings[] = {"(",     "[",    "-",   "not ", "{'a':",    "{% if 1 %}",
                                         "a if ", "'a'~", "a.b", "a[",   "1 is not "};
  for (size_t i = 0; i < COUNT(openings); i++) {
    struct strbuf template = {0}, text = {0};
    struct ctx ctx;
    json_t *none = json_object();
    if (openings[i][0] != '{' || openings[i][1] != '%') strbuf_puts(&template, "{{ ");
    for (int k = 0; k < 100000; k++) strbuf_puts(&template, openings[i]);
    assert_int_not_equal(render(&ctx, template.at, template.length, none, &text), HONE_OK);
    json_decref(none);
    strbuf_deinit(&template);
    strbuf_deinit(&text);
  }
}

/* Any change of a template ends, in a text or an error. */
static void changed_templates_end(void **state) {
  (void)state;
  json_t *cases = read_cases();
  struct random random;
  random_init(&random, 3);
  for (int round = 0; round < 3000; round++) {
    const json_t *test = json_array_get(cases, random_below(&random, json_array_size(cases)));
    const json_t *template = json_object_get(test, "template");
    struct strbuf text = {0};
    struct ctx ctx;
    char changed[8192];
    size_t size = json_string_length(template);
    assert_true(size < sizeof changed);
    memcpy(changed, json_string_value(template), size);
    for (int k = 0; k < 4 && size; k++) {
      const size_t at = random_below(&random, size);
      if (random_below(&random, 2))
        changed[at] = "{}%-|()[]'.,: ax1"[random_below(&random, 17)];
      else
        memmove(changed + at, changed + at + 1, --size - at);
    }
    hone_status status = render(&ctx, changed, size, json_object_get(test, "variables"), &text);
    assert_true(status == HONE_OK || status == HONE_E_FORMAT || status == HONE_E_UNSUP ||
                status == HONE_E_LIMIT || status == HONE_E_USAGE);
    strbuf_deinit(&text);
  }
  json_decref(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(templates_render_as_with_jinja), cmocka_unit_test(wrong_templates),
      cmocka_unit_test(deep_nesting_is_refused), cmocka_unit_test(changed_templates_end)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
