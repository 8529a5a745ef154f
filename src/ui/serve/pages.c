/* pages: the list of studies, one study, the matrix of the newest groups, two studies compared, the login. Pages are made of
 * the report's parts, in a frame with the navigation.
 */
#include "serve.h"

#include <stdlib.h>

/* -- the frame */

#define HERE " aria-current=\"page\""
#define NAV(studies, matrix, trends, machines, jobs)                                \
  "<nav class=\"nav\" aria-label=\"pages\"><a href=\"/\"" studies                   \
  ">Studies</a><a href=\"/matrix\"" matrix ">Matrix</a><a href=\"/trends\"" trends  \
  ">Trends</a><a href=\"/machines\"" machines ">Machines</a><a href=\"/jobs\"" jobs \
  ">Recommend</a></nav>"

struct html_frame page_frame(const char *section) {
  static const struct {
    const char *section, *nav;
  } navs[] = {
      {"studies", NAV(HERE, "", "", "", "")}, {"matrix", NAV("", HERE, "", "", "")},
      {"trends", NAV("", "", HERE, "", "")},  {"machines", NAV("", "", "", HERE, "")},
      {"jobs", NAV("", "", "", "", HERE)},    {"", NAV("", "", "", "", "")},
  };
  size_t i = 0;
  while (i + 1 < COUNT(navs) && strcmp(navs[i].section, section)) i++;
  return (struct html_frame){.nav = navs[i].nav, .css = "serve/serve.css", .js = "serve/serve.js"};
}

hone_status open_store(struct request *request, struct store **out) {
  const hone_status status =
      store_open(&request->ctx, server_facts(request->server).options->store, false, out);
  if (status != HONE_E_NOFILE) return status;
  ctx_clear(&request->ctx);
  *out = NULL;
  return HONE_OK;
}

void put_short(struct html html, const char *text, int most) {
  char begin[40];
  snprintf(begin, sizeof begin, "%.*s", most, text);
  html_text(html, begin);
}

static void put_models(struct html html, const struct study_row *study) {
  html_text(html, study->model);
  if (study->model_count > 1) strbuf_printf(html.out, " and %d more", study->model_count - 1);
}

/* Its name, else its models, else its key. */
static void put_study_name(struct html html, const struct study_row *study) {
  if (study->name[0]) {
    html_text(html, study->name);
  } else if (study->model[0]) {
    put_models(html, study);
  } else {
    put_short(html, study->key, 12);
  }
}

void put_study_link(struct html html, const struct study_row *study) {
  LITERAL(html.out, "<a href=\"/study/");
  html_attribute(html, study->key);
  LITERAL(html.out, "\">");
  put_study_name(html, study);
  LITERAL(html.out, "</a>");
}

static void put_nothing_yet(struct html html) {
  LITERAL(html.out,
          "<p class=\"answer\">There are no studies yet. <a href=\"/jobs\">Upload a model</a>, or "
          "run <code>hone bench</code>.</p>\n");
}

/* -- all studies */

static MUST_USE hone_status put_study(struct request *request, struct html html,
                                      const struct study_row *study) {
  struct fact *facts;
  size_t count;
  TRY(facts_read(&request->ctx, request->arena, study->machine_json, &facts, &count));
  const char *cpu = fact_find(facts, count, "cpu");
  LITERAL(html.out, "<tbody><tr class=\"row\"><th scope=\"row\" class=\"name\">");
  put_study_link(html, study);
  if (study->name[0]) {
    LITERAL(html.out, "<small>");
    put_models(html, study);
    LITERAL(html.out, "</small>");
  }
  LITERAL(html.out, "</th><td data-label=\"when\"><time>");
  put_time(html.out, study->started_unix_ms);
  LITERAL(html.out, "</time></td><td data-label=\"machine\">");
  html_text(html, cpu ? cpu : "");
  strbuf_printf(html.out, "</td><td data-label=\"state\"><span class=\"pill %s\">%s</span></td>",
                study->finished ? "faster" : "undecided",
                study->finished ? "finished" : "not finished");
  LITERAL(html.out, "<td class=\"command\" data-label=\"command\"><code>");
  html_text(html, study->command);
  LITERAL(html.out, "</code></td></tr></tbody>\n");
  return HONE_OK;
}

static void put_pager(struct html html, int64_t skip, bool has_more) {
  LITERAL(html.out, "<p class=\"pager\">");
  if (skip > 0)
    strbuf_printf(html.out, "<a href=\"/?skip=%lld\">newer</a> ",
                  (long long)(skip > LIST_PAGE ? skip - LIST_PAGE : 0));
  if (has_more)
    strbuf_printf(html.out, "<a href=\"/?skip=%lld\">older</a>", (long long)skip + LIST_PAGE);
  LITERAL(html.out, "</p>\n");
}

/* Form to compare two studies; needs no script. */
static void put_comparing(struct html html, const struct study_row *rows, size_t count) {
  static const char *const sides[] = {"before", "after"};
  if (count < 2) return;
  LITERAL(html.out,
          "<section><h2>Compare two studies</h2>\n<form class=\"form\" method=\"get\" "
          "action=\"/compare\">");
  for (int side = 0; side < 2; side++) {
    strbuf_printf(html.out, "<label>%s <select name=\"%s\">", sides[side], sides[side]);
    for (size_t i = 0; i < count; i++) {
      LITERAL(html.out, "<option value=\"");
      html_attribute(html, rows[i].key);
      strbuf_puts(html.out, (int)i == 1 - side ? "\" selected>" : "\">");
      put_time(html.out, rows[i].started_unix_ms);
      LITERAL(html.out, " ");
      put_study_name(html, &rows[i]);
      LITERAL(html.out, "</option>");
    }
    LITERAL(html.out, "</select></label>");
  }
  LITERAL(html.out, "<button class=\"action\">Compare</button></form></section>\n");
}

static MUST_USE hone_status put_studies(struct request *request, struct store *store,
                                        struct html html) {
  struct study_row *rows = NULL;
  size_t count = 0;
  int64_t skip = 0;
  const char *text = request_query(request, "skip");
  if (text && !parse_i64(text, 0, 1000000000, &skip)) skip = 0;
  if (store)
    TRY(store_list_newest(&request->ctx, store, request->arena, skip, LIST_PAGE + 1, &rows,
                          &count));
  if (!count) {
    put_nothing_yet(html);
    return HONE_OK;
  }
  LITERAL(html.out,
          "<div class=\"scroll\"><table class=\"rows plain\">\n<thead><tr><th "
          "scope=\"col\">study</th><th scope=\"col\">when</th><th scope=\"col\">machine</th><th "
          "scope=\"col\">state</th><th scope=\"col\">command</th></tr></thead>\n");
  for (size_t i = 0; i < count && i < LIST_PAGE; i++) TRY(put_study(request, html, &rows[i]));
  LITERAL(html.out, "</table></div>\n");
  put_pager(html, skip, count > LIST_PAGE);
  put_comparing(html, rows, count < LIST_PAGE ? count : LIST_PAGE);
  return HONE_OK;
}

hone_status page_studies(struct request *request) {
  const struct html html = {&request->out};
  const struct html_frame frame = page_frame("studies");
  struct store *store;
  TRY(open_store(request, &store));
  hone_status status = html_head(&request->ctx, html, "Studies", &frame);
  if (!status) status = put_studies(request, store, html);
  store_close(store);
  TRY(status);
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}

/* -- one study, two studies */

static MUST_USE hone_status need_store(struct request *request, struct store **out) {
  TRY(open_store(request, out));
  return *out ? HONE_OK
              : fail(&request->ctx, HONE_E_NOFILE, place_none(), "there are no studies yet");
}

static MUST_USE hone_status read_summary(struct request *request, struct store *store,
                                         const char *which, struct summary *out) {
  struct study_row *row;
  struct study_data *data;
  TRY(NEW(&request->ctx, request->arena, row));
  TRY(NEW(&request->ctx, request->arena, data));
  TRY(store_get_study(&request->ctx, store, which, row));
  TRY(store_read_study(&request->ctx, store, request->arena, row->key, data));
  return summarise(&request->ctx, request->arena, data, true, out);
}

hone_status page_study(struct request *request) {
  const struct html_frame frame = page_frame("studies");
  const struct render_options options = {.frame = &frame};
  struct summary *summary;
  struct store *store;
  TRY(NEW(&request->ctx, request->arena, summary));
  TRY(need_store(request, &store));
  const hone_status status = read_summary(request, store, request->id, summary);
  store_close(store);
  TRY(status);
  return render_html(&request->ctx, summary, &options, &request->out);
}

static bool is_key(const char *text) {
  return text && strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

hone_status page_compare(struct request *request) {
  const char *keys[] = {request_query(request, "before"), request_query(request, "after")};
  const struct html_frame frame = page_frame("studies");
  const struct render_options options = {.frame = &frame};
  struct summary *summaries;
  struct changes changes;
  struct store *store;
  if (!is_key(keys[0]) || !is_key(keys[1]))
    return fail(&request->ctx, HONE_E_USAGE, place_none(), "give two studies, before and after");
  TRY(NEW_ARRAY(&request->ctx, request->arena, summaries, 2));
  TRY(need_store(request, &store));
  hone_status status = read_summary(request, store, keys[0], &summaries[0]);
  if (!status) status = read_summary(request, store, keys[1], &summaries[1]);
  store_close(store);
  TRY(status);
  TRY(changes_find(&request->ctx, request->arena, &summaries[0], &summaries[1], 0.05, &changes));
  return render_changes(&request->ctx, "html", &changes, &options, &request->out);
}

/* -- the matrix: of each group of rows the newest study on one machine */

struct newest {
  VEC(struct record) records;
  VEC(const char *) links;
  VEC(struct comparison) comparisons;
  size_t studies;
};

static bool has_group(const struct newest *newest, size_t count, const struct record *record) {
  for (size_t i = 0; i < count; i++)
    if (same_group(&newest->records.at[i], record)) return true;
  return false;
}

/* A group that was not measured, because the budget ended, does not hide an older one. */
static bool had_turn(const struct summary *summary, size_t begin, size_t end) {
  bool any = false;
  for (size_t i = begin; i < end; i++) any |= summary->records[i].status != STATUS_interrupted;
  return any;
}

/* Only whole groups, because verdicts are valid only between rows that were measured in turn. */
static MUST_USE hone_status take_groups(struct request *request, const struct summary *summary,
                                        struct newest *newest) {
  struct ctx *ctx = &request->ctx;
  const size_t before = newest->records.count;
  const char *link;
  TRY(arena_printf(ctx, request->arena, &link, "/study/%.32s", summary->study.key));
  for (size_t begin = 0, end; begin < summary->record_count; begin = end) {
    end = group_end(summary, begin);
    if (has_group(newest, before, &summary->records[begin]) || !had_turn(summary, begin, end))
      continue;
    const size_t shift = newest->records.count - begin;
    for (size_t i = begin; i < end; i++) {
      VEC_PUSH(ctx, request->arena, &newest->records, summary->records[i]);
      VEC_PUSH(ctx, request->arena, &newest->links, link);
    }
    for (size_t i = 0; i < summary->comparison_count; i++) {
      struct comparison comparison = summary->comparisons[i];
      if (comparison.a < begin || comparison.a >= end) continue;
      comparison.a += shift;
      comparison.b += shift;
      VEC_PUSH(ctx, request->arena, &newest->comparisons, comparison);
    }
  }
  newest->studies++;
  return HONE_OK;
}

static MUST_USE hone_status take_study(struct request *request, struct store *store,
                                       const struct study_row *row, struct newest *newest) {
  struct arena *arena;
  struct study_data data;
  struct summary summary;
  TRY(arena_create(&request->ctx, 0, &arena));
  hone_status status = store_read_study(&request->ctx, store, arena, row->key, &data);
  if (!status) status = summarise(&request->ctx, arena, &data, true, &summary);
  if (!status) status = take_groups(request, &summary, newest);
  arena_destroy(arena);
  return status;
}

/* Groups rows by model, in order of first appearance. */
static MUST_USE hone_status put_matrix(struct request *request, struct html html,
                                       const struct study_row *row, const struct newest *newest) {
  struct matrix matrix;
  struct summary *summary;
  TRY(NEW(&request->ctx, request->arena, summary));
  summary->study = *row;
  summary->records = newest->records.at;
  summary->record_count = newest->records.count;
  summary->comparisons = newest->comparisons.at;
  summary->comparison_count = newest->comparisons.count;
  TRY(matrix_make(&request->ctx, request->arena, summary, &matrix));
  const struct page page = {summary, &matrix, html, newest->links.at};
  if (matrix.group_count) html_matrix(&page);
  strbuf_printf(html.out,
                "<p class=\"facts\"><span>%zu groups from %zu studies on one machine; each group "
                "is from the newest study that has it</span></p>\n",
                matrix.group_count, newest->studies);
  return HONE_OK;
}

static MUST_USE hone_status put_machine_choice(struct request *request, struct html html,
                                               const struct study_row *rows, size_t count,
                                               const char *chosen) {
  enum { MOST = 20 };
  const struct study_row *newest[MOST];
  const char *names[MOST];
  size_t machines = 0;
  for (size_t i = 0; i < count && machines < MOST; i++) {
    size_t k = 0;
    while (strcmp(rows[k].fingerprint, rows[i].fingerprint)) k++;
    if (k == i) newest[machines++] = &rows[i];
  }
  TRY(machine_names(request, newest, machines, names));
  LITERAL(html.out, "<p class=\"pager\">machine: ");
  for (size_t i = 0; i < machines; i++) {
    LITERAL(html.out, "<a href=\"/matrix?machine=");
    html_attribute(html, newest[i]->fingerprint);
    strbuf_puts(html.out, strcmp(newest[i]->fingerprint, chosen) ? "\">" : "\"" HERE ">");
    html_text(html, names[i]);
    LITERAL(html.out, "</a> ");
  }
  LITERAL(html.out, "</p>\n");
  return HONE_OK;
}

static MUST_USE hone_status matrix_of(struct request *request, struct store *store,
                                      struct html html) {
  enum { SECONDS = 4 };
  const char *machine = request_query(request, "machine");
  struct study_row *rows;
  size_t count = 0, first = SIZE_MAX;
  struct newest newest = {0};
  const uint64_t end_ns = clock_ns() + SECONDS * UINT64_C(1000000000);
  if (store) TRY(store_list_newest(&request->ctx, store, request->arena, 0, 1000, &rows, &count));
  if (!count && !machine) {
    put_nothing_yet(html);
    return HONE_OK;
  }
  if (count && !is_key(machine)) machine = rows[0].fingerprint;
  for (size_t i = 0; i < count && newest.studies < MATRIX_STUDIES && clock_ns() < end_ns; i++) {
    if (strcmp(rows[i].fingerprint, machine)) continue;
    if (first == SIZE_MAX) first = i;
    TRY(take_study(request, store, &rows[i], &newest));
  }
  if (first == SIZE_MAX)
    return fail(&request->ctx, HONE_E_NOFILE, place_none(), "no study of this machine");
  TRY(put_machine_choice(request, html, rows, count, machine));
  return put_matrix(request, html, &rows[first], &newest);
}

hone_status page_matrix(struct request *request) {
  const struct html html = {&request->out};
  const struct html_frame frame = page_frame("matrix");
  struct store *store;
  TRY(open_store(request, &store));
  hone_status status = html_head(&request->ctx, html, "Models by engines", &frame);
  if (!status) status = matrix_of(request, store, html);
  store_close(store);
  TRY(status);
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}

/* -- login */

hone_status page_login(struct request *request) {
  const struct html html = {&request->out};
  struct html_frame frame = page_frame("");
  frame.nav = NULL;
  TRY(html_head(&request->ctx, html, "Login", &frame));
  LITERAL(html.out,
          "<p class=\"answer\">This dashboard requires a token.</p>\n<form class=\"form\" "
          "method=\"post\" action=\"/login\"><label>token <input name=\"token\" type=\"password\" "
          "autocomplete=\"current-password\" required maxlength=\"256\"></label><button "
          "class=\"action\">Enter</button></form>\n");
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}

/* One field of application/x-www-form-urlencoded. A token has only characters that need no escape. */
hone_status login(struct request *request) {
  const struct server_facts facts = server_facts(request->server);
  const char *type = request_header(request, "Content-Type"), *in = request->in.at;
  if (!facts.options->token) {
    request->status = 303;
    snprintf(request->location, sizeof request->location, "/");
    return HONE_OK;
  }
  if (!is_media_type(type, "application/x-www-form-urlencoded") || !in ||
      strncmp(in, "token=", 6)) {
    request->status = 415;
    return fail(&request->ctx, HONE_E_USAGE, place_none(), "the form must have a token");
  }
  if (!same_secret(in + 6, facts.options->token)) {
    if (is_guessing(request)) {
      request->status = 429;
      return fail(&request->ctx, HONE_E_BUSY, place_none(), TOO_MANY_GUESSES);
    }
    request->status = 403;
    return fail(&request->ctx, HONE_E_TRUST, place_none(), "wrong token");
  }
  request->status = 303;
  snprintf(request->location, sizeof request->location, "/");
  snprintf(request->cookie, sizeof request->cookie, "hone=%s; Path=/; HttpOnly; SameSite=Strict",
           facts.session);
  return HONE_OK;
}
