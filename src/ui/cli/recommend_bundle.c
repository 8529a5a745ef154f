/* hone recommend --bundle: the choice as a folder; the study's page comes from the store, with its samples. */
#include "ui/report/report.h"
#include "judge/bundle/bundle.h"
#include "recommend.h"

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

hone_status answer_json(struct ctx *ctx, const struct answer *answer, struct strbuf *out) {
  TRY(advise_json(ctx, answer->summary, answer->constraints, answer->advice, out));
  TRY(answer_add_json(ctx, out, "dropped", json_incref(answer->dropped)));
  TRY(split_add_json(ctx, answer->split, out));
  TRY(answer_add_json(
      ctx, out, "time",
      json_pack("{s:f, s:f, s:f, s:f, s:O}", "budget_s", answer->spent.budget_s, "all_s",
                answer->spent.all_s, "reference_s", answer->spent.reference_s, "forms_s",
                answer->spent.forms_s, "phases", answer->spent.phases)));
  return forms_add_json(ctx, answer->forms, out);
}

/* Of the engines that are named one that a bundle can be made of, else the first; NULL: none is named. */
static const char *likeliest(const struct args *args, char out[32]) {
  const struct repeated *named = &args->repeated[FLAG_backend];
  for (size_t i = 0; i < named->count; i++)
    for (const char *at = named->at[i]; *at; at += strcspn(at, ","), at += *at == ',') {
      char name[32];
      snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ",:"), at);
      if (!*out || bundle_can_run(name)) memcpy(out, name, sizeof name);
    }
  return *out ? out : NULL;
}

hone_status bundle_folder_check(struct ctx *ctx, const struct args *args) {
  const char *dir = value_of(args, FLAG_bundle, NULL);
  char backend[32] = "";
  return dir ? bundle_check(ctx, likeliest(args, backend), dir) : HONE_OK;
}

hone_status bundle_answer(struct ctx *ctx, const struct args *args, struct arena *arena,
                          const struct answer *answer) {
  const char *dir = value_of(args, FLAG_bundle, NULL);
  struct strbuf json = {0}, words = {0}, page = {0};
  struct study_row *row;
  char id[17];
  if (!dir || answer->advice->choice == SIZE_MAX || answer->advice->is_undecided) return HONE_OK;
  struct record *choice;
  TRY(NEW(ctx, arena, choice));
  TRY(NEW(ctx, arena, row));
  *choice = answer->summary->records[answer->advice->choice];
  const char *model = forms_model(answer->forms, args, choice->config.model);
  if (model != args->words[0]) { /* a file like another: what it is made of is in its bytes */
    snprintf(choice->config.precision, sizeof choice->config.precision, "fp32");
    if (!has(args, FLAG_batch)) choice->config.batch = 1;
  }
  advise_table(answer->summary, answer->constraints, answer->advice, &words);
  hone_status status = strbuf_finish(ctx, &words);
  if (!status) status = answer_json(ctx, answer, &json);
  if (!status) status = render_page(ctx, args, arena, answer->summary->study.key, row, &page);
  if (!status) status = strbuf_finish(ctx, &page);
  if (!status) {
    const struct bundle_request request = {
        .model_path = model,
        .choice = choice,
        .study = row,
        .engine_path = engine_path_of(args, choice->config.backend),
        .side_files_from = value_of(args, FLAG_side_files_from, NULL),
        .advice_json = json.at,
        .advice_text = words.at,
        .page_html = page.at};
    status = bundle_write(ctx, &request, dir, id);
  }
  if (!status && !has(args, FLAG_quiet))
    fprintf(stderr, "bundle %s: %s, tested by its own selftest\n", id, dir);
  strbuf_deinit(&json);
  strbuf_deinit(&words);
  strbuf_deinit(&page);
  return status;
}
