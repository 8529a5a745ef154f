/* hone recommend --bundle: the choice as a folder, with the study's page from the store. */
#include "ui/report/report.h"
#include "judge/bundle/bundle.h"
#include "recommend_bundle.h"

static hone_status render_page(struct ctx *ctx, const struct args *args, struct arena *arena,
                               const char *key, struct study_row *row, struct strbuf *out) {
  struct study_data *data;
  struct summary *summary;
  struct store *store;
  const struct renderer *html = renderer_find("html");
  const struct render_options options = {.color = false};
  TRY(NEW(ctx, arena, data));
  TRY(NEW(ctx, arena, summary));
  TRY(store_open(ctx, value_of(args, FLAG_store, NULL), false, &store));
  hone_status status = store_get_study(ctx, store, key, row);
  if (!status) status = store_read_study(ctx, store, arena, row->key, data);
  if (!status) status = summarise(ctx, arena, data, wants_synthetic(args), summary);
  if (!status) status = html->render(ctx, summary, &options, out);
  store_close(store);
  return status;
}

/* The first named engine that a bundle can contain, else the last named one; NULL: none is
   named. */
static const char *likeliest_engine(const struct args *args, char out[32]) {
  const struct repeated *named = &args->repeated[FLAG_backend];
  for (size_t i = 0; i < named->count; i++)
    for (const char *at = named->at[i]; *at; at += strcspn(at, ","), at += *at == ',') {
      char name[32];
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ",:"), at);
      if (!*out || bundle_can_run(name)) memcpy(out, name, sizeof name);
    }
  return *out ? out : NULL;
}

hone_status recommend_bundle_check(struct ctx *ctx, const struct args *args) {
  const char *dir = value_of(args, FLAG_bundle, NULL);
  char backend[32] = "";
  return dir ? bundle_check(ctx, likeliest_engine(args, backend), dir) : HONE_OK;
}

hone_status recommend_bundle_write(struct ctx *ctx, const struct args *args, struct arena *arena,
                                   const struct recommendation *r) {
  const struct summary *summary = recommendation_summary(r);
  const struct advice *advice = recommendation_advice(r);
  const char *dir = value_of(args, FLAG_bundle, NULL);
  struct strbuf json = {0}, table = {0}, page = {0};
  struct study_row *row;
  char id[17];
  if (!dir || advice->choice == SIZE_MAX || advice->is_undecided) return HONE_OK;
  struct record *choice;
  TRY(NEW(ctx, arena, choice));
  TRY(NEW(ctx, arena, row));
  *choice = summary->records[advice->choice];
  const char *model = recommendation_model(r);
  if (model != args->words[0]) { /* a variant is a file of its own: its precision is inside it */
    snprintf(choice->config.precision, sizeof choice->config.precision, "fp32");
    if (!has(args, FLAG_batch)) choice->config.batch = 1;
  }
  hone_status status = recommendation_json(ctx, r, &json);
  if (!status) status = render_page(ctx, args, arena, summary->study.key, row, &page);
  recommendation_table(r, &table);
  if (!status) status = strbuf_finish(ctx, &table);
  if (!status) status = strbuf_finish(ctx, &page);
  if (!status) {
    const struct bundle_request request = {
        .model_path = model,
        .choice = choice,
        .study = row,
        .engine_path = engine_path_of(args, choice->config.backend),
        .side_files_from = value_of(args, FLAG_side_files_from, NULL),
        .advice_json = json.at,
        .advice_text = table.at,
        .page_html = page.at};
    status = bundle_write(ctx, &request, dir, id);
  }
  if (!status && !has(args, FLAG_quiet))
    fprintf(stderr, "bundle %s: %s, tested by its own selftest\n", id, dir);
  strbuf_deinit(&json);
  strbuf_deinit(&table);
  strbuf_deinit(&page);
  return status;
}
