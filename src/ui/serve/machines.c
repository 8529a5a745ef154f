/* machines: list of machines, and two machines compared row by row.
 *
 * A machine is a fingerprint. Latencies of two machines are compared only together with the canary: the f32 peak probe, a
 * kernel of fixed arithmetic that every study runs with each thread count. Its ratio is the difference of the bare processors;
 * a row's further difference comes from the engine or the memory. Without a canary on both machines there is no comparison. A
 * canary that varies by more than 5 % among the studies of a machine is reported.
 */
#include "serve.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

enum { STUDIES = 1000, MACHINES = 200, TRIES = 3 };
#define UNSTEADY 0.05

struct canary {
  double least, most; /* GFLOP/s, over the machine's studies */
  int count;
};
struct machine {
  const char *fingerprint, *name;
  const struct study_row *newest[TRIES];
  int study_count;
  struct canary canary; /* with the largest thread count of its newest study */
  int canary_threads;
};

/* The canary of a study with that thread count; NaN: it did not run. */
static double canary_of(const struct study_row *study, int threads) {
  json_t *root = json_loads(study->machine_json, 0, NULL);
  const json_t *peaks = json_object_get(root, "peaks");
  double found = NAN;
  for (size_t i = 0; i < json_array_size(peaks); i++) {
    const json_t *peak = json_array_get(peaks, i);
    const double rate = json_number_value(json_object_get(peak, "f32_gflops"));
    if (json_integer_value(json_object_get(peak, "threads")) == threads && rate > 0) found = rate;
  }
  json_decref(root);
  return found;
}

static int most_threads(const struct study_row *study) {
  json_t *root = json_loads(study->machine_json, 0, NULL);
  const json_t *peaks = json_object_get(root, "peaks");
  json_int_t most = 0;
  for (size_t i = 0; i < json_array_size(peaks); i++) {
    const json_int_t threads =
        json_integer_value(json_object_get(json_array_get(peaks, i), "threads"));
    if (threads > most && threads < 65536) most = threads;
  }
  json_decref(root);
  return (int)most;
}

static void add_study(struct machine *machine, const struct study_row *study) {
  if (machine->study_count < TRIES) machine->newest[machine->study_count] = study;
  if (machine->study_count++ == 0) {
    machine->fingerprint = study->fingerprint;
    machine->canary_threads = most_threads(study);
  }
  const double rate = canary_of(study, machine->canary_threads);
  struct canary *canary = &machine->canary;
  if (!(rate > 0)) return;
  canary->least = canary->count ? fmin(canary->least, rate) : rate;
  canary->most = canary->count ? fmax(canary->most, rate) : rate;
  canary->count++;
}

static MUST_USE hone_status name_machines(struct request *request, struct machine *machines,
                                          size_t count) {
  const struct study_row **studies;
  const char **names;
  TRY(NEW_ARRAY(&request->ctx, request->arena, studies, count));
  TRY(NEW_ARRAY(&request->ctx, request->arena, names, count));
  for (size_t i = 0; i < count; i++) studies[i] = machines[i].newest[0];
  TRY(machine_names(request, studies, count, names));
  for (size_t i = 0; i < count; i++) machines[i].name = names[i];
  return HONE_OK;
}

static MUST_USE hone_status read_machines(struct request *request, struct store *store,
                                          struct machine **out, size_t *out_count) {
  struct study_row *rows = NULL;
  size_t count = 0;
  *out_count = 0;
  TRY(NEW_ARRAY(&request->ctx, request->arena, *out, MACHINES));
  if (store)
    TRY(store_list_newest(&request->ctx, store, request->arena, 0, STUDIES, &rows, &count));
  for (size_t i = 0; i < count; i++) {
    size_t k = 0;
    while (k < *out_count && strcmp((*out)[k].fingerprint, rows[i].fingerprint)) k++;
    if (k == MACHINES) continue;
    if (k == *out_count) ++*out_count;
    add_study(&(*out)[k], &rows[i]);
  }
  return name_machines(request, *out, *out_count);
}

/* -- the list */

static void put_fact(struct html html, const char *label, const char *value) {
  strbuf_printf(html.out, "<td data-label=\"%s\">", label);
  html_text(html, value ? value : "");
  LITERAL(html.out, "</td>");
}

static void put_canary(struct html html, const struct machine *machine) {
  const struct canary *canary = &machine->canary;
  LITERAL(html.out, "<td class=\"num\" data-label=\"canary\">");
  if (canary->count) {
    put_significant(html.out, canary->most, 3);
    strbuf_printf(html.out, " GFLOP/s, %d thread%s", machine->canary_threads,
                  machine->canary_threads == 1 ? "" : "s");
    if (canary->least < canary->most * (1 - UNSTEADY)) {
      LITERAL(html.out, " <span class=\"chip warn\">down to ");
      put_significant(html.out, canary->least, 3);
      LITERAL(html.out, "</span>");
    }
  } else {
    LITERAL(html.out, "none");
  }
  LITERAL(html.out, "</td>");
}

static MUST_USE hone_status put_machine(struct request *request, struct html html,
                                        const struct machine *machine) {
  struct fact *facts;
  size_t count;
  TRY(facts_read(&request->ctx, request->arena, machine->newest[0]->machine_json, &facts, &count));
  LITERAL(html.out,
          "<tbody><tr class=\"row\"><th scope=\"row\" class=\"name\"><a "
          "href=\"/matrix?machine=");
  html_attribute(html, machine->fingerprint);
  LITERAL(html.out, "\">");
  html_text(html, machine->name);
  LITERAL(html.out, "</a></th>");
  put_fact(html, "kernel", fact_find(facts, count, "kernel"));
  put_fact(html, "hone", fact_find(facts, count, "hone"));
  put_canary(html, machine);
  strbuf_printf(html.out,
                "<td class=\"num\" data-label=\"studies\">%d</td><td data-label=\"newest\">",
                machine->study_count);
  put_study_link(html, machine->newest[0]);
  LITERAL(html.out, "</td></tr></tbody>\n");
  return HONE_OK;
}

static void put_choice(struct html html, const struct machine *machines, size_t count,
                       const char *name, size_t chosen) {
  strbuf_printf(html.out, "<label>machine %s <select name=\"%s\">", name, name);
  for (size_t i = 0; i < count; i++) {
    LITERAL(html.out, "<option value=\"");
    html_attribute(html, machines[i].fingerprint);
    strbuf_puts(html.out, i == chosen ? "\" selected>" : "\">");
    html_text(html, machines[i].name);
    LITERAL(html.out, "</option>");
  }
  LITERAL(html.out, "</select></label>");
}

/* -- two machines */

static MUST_USE hone_status read_summary(struct request *request, struct store *store,
                                         const struct study_row *row, struct summary **out) {
  struct study_data *data;
  TRY(NEW(&request->ctx, request->arena, data));
  TRY(NEW(&request->ctx, request->arena, *out));
  TRY(store_read_study(&request->ctx, store, request->arena, row->key, data));
  return summarise(&request->ctx, request->arena, data, true, *out);
}

/* The newest pair of studies with a common row. */
static MUST_USE hone_status find_pair(struct request *request, struct store *store,
                                      const struct machine *a, const struct machine *b,
                                      struct changes *out) {
  struct summary *before, *after;
  const int as = a->study_count < TRIES ? a->study_count : TRIES,
            bs = b->study_count < TRIES ? b->study_count : TRIES;
  *out = (struct changes){0};
  for (int pair = 0; pair < as * bs && !out->compared; pair++) {
    TRY(read_summary(request, store, a->newest[pair / bs], &before));
    TRY(read_summary(request, store, b->newest[pair % bs], &after));
    TRY(changes_find(&request->ctx, request->arena, before, after, NAN, out));
  }
  return HONE_OK;
}

static void put_pair(struct html html, const struct changes *changes, const struct change *change) {
  const struct record *a = &changes->before->records[change->before],
                      *b = &changes->after->records[change->after];
  const double bare = canary_of(&changes->before->study, a->config.threads) /
                      canary_of(&changes->after->study, b->config.threads);
  LITERAL(html.out, "<tbody><tr class=\"row\"><th scope=\"row\" class=\"name\"><b>");
  html_text(html, a->config.model);
  strbuf_printf(html.out,
                "</b><small>batch %d \xc2\xb7 %d threads</small></th><td data-label=\"engine\">",
                a->config.batch, a->config.threads);
  html_text(html, a->config.backend);
  LITERAL(html.out, "</td><td class=\"num\" data-label=\"a\">");
  put_latency(html.out, a->p50_ms);
  LITERAL(html.out, "</td><td class=\"num\" data-label=\"b\">");
  put_latency(html.out, b->p50_ms);
  if (!isfinite(bare)) {
    LITERAL(html.out,
            "</td><td class=\"num\" data-label=\"b / a\"><span class=\"pill undecided\">no "
            "canary</span></td><td></td><td></td></tr></tbody>\n");
    return;
  }
  LITERAL(html.out, "</td><td class=\"num\" data-label=\"b / a\">");
  put_ratio(html.out, change->ratio.value);
  LITERAL(html.out, "<small>");
  put_ratio(html.out, change->ratio.low);
  LITERAL(html.out, " to ");
  put_ratio(html.out, change->ratio.high);
  LITERAL(html.out, "</small></td><td class=\"num\" data-label=\"canary\">");
  put_ratio(html.out, bare);
  LITERAL(html.out, "</td><td class=\"num\" data-label=\"beyond the canary\"><b>");
  put_ratio(html.out, change->ratio.value / bare);
  LITERAL(html.out, "</b></td></tr></tbody>\n");
}

static MUST_USE hone_status put_comparison(struct request *request, struct store *store,
                                           struct html html, const struct machine *a,
                                           const struct machine *b) {
  struct changes changes;
  TRY(find_pair(request, store, a, b, &changes));
  LITERAL(html.out, "<section><h2>Two machines</h2>\n<p class=\"facts\"><span>a: ");
  html_text(html, a->name);
  LITERAL(html.out, ", ");
  put_study_link(html, a->newest[0]);
  LITERAL(html.out, "</span><span>b: ");
  html_text(html, b->name);
  LITERAL(html.out, ", ");
  put_study_link(html, b->newest[0]);
  strbuf_printf(html.out, "</span></p>\n<p class=\"answer\">%zu common row%s.</p>\n",
                changes.compared, changes.compared == 1 ? "" : "s");
  if (changes.compared)
    LITERAL(html.out,
            "<div class=\"scroll\"><table class=\"rows plain\"><thead><tr><th "
            "scope=\"col\">model</th><th scope=\"col\">engine</th><th scope=\"col\" "
            "class=\"num\">a</th><th scope=\"col\" class=\"num\">b</th><th scope=\"col\" "
            "class=\"num\">b / a</th><th scope=\"col\" class=\"num\">canary</th><th scope=\"col\" "
            "class=\"num\">beyond the canary</th></tr></thead>\n");
  for (size_t i = 0; i < changes.count; i++)
    if (changes.at[i].is_compared) put_pair(html, &changes, &changes.at[i]);
  if (changes.compared) LITERAL(html.out, "</table></div>\n");
  LITERAL(html.out,
          "<p class=\"method\">The canary is the f32 peak probe of every study: its ratio is the "
          "difference of the bare processors. The difference beyond the canary comes from the "
          "engine or the memory.</p></section>\n");
  return HONE_OK;
}

static size_t index_of(const struct machine *machines, size_t count, const char *fingerprint,
                       size_t otherwise) {
  for (size_t i = 0; fingerprint && i < count; i++)
    if (!strcmp(machines[i].fingerprint, fingerprint)) return i;
  return otherwise;
}

static MUST_USE hone_status put_machines(struct request *request, struct store *store,
                                         struct html html) {
  struct machine *machines;
  size_t count;
  TRY(read_machines(request, store, &machines, &count));
  if (!count) {
    LITERAL(html.out, "<p class=\"answer\">There are no studies yet.</p>\n");
    return HONE_OK;
  }
  LITERAL(html.out,
          "<div class=\"scroll\"><table class=\"rows plain\"><thead><tr><th "
          "scope=\"col\">machine</th><th scope=\"col\">kernel</th><th scope=\"col\">hone</th><th "
          "scope=\"col\" class=\"num\">canary</th><th scope=\"col\" class=\"num\">studies</th><th "
          "scope=\"col\">newest</th></tr></thead>\n");
  for (size_t i = 0; i < count; i++) TRY(put_machine(request, html, &machines[i]));
  LITERAL(html.out, "</table></div>\n");
  if (count < 2) return HONE_OK;
  const size_t a = index_of(machines, count, request_query(request, "a"), 1),
               b = index_of(machines, count, request_query(request, "b"), 0);
  LITERAL(html.out, "<form class=\"form\" method=\"get\" action=\"/machines\">");
  put_choice(html, machines, count, "a", a);
  put_choice(html, machines, count, "b", b);
  LITERAL(html.out, "<button class=\"action\">Compare</button></form>\n");
  return a == b ? HONE_OK : put_comparison(request, store, html, &machines[a], &machines[b]);
}

hone_status page_machines(struct request *request) {
  const struct html html = {&request->out};
  const struct html_frame frame = page_frame("machines");
  struct store *store;
  TRY(open_store(request, &store));
  hone_status status = html_head(&request->ctx, html, "Machines", &frame);
  if (!status) status = put_machines(request, store, html);
  store_close(store);
  TRY(status);
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}
