/* report: figures and ranks of a known study, every renderer, hostile text in every format. */
#include <openssl/evp.h>

#include "core/format/format.h"
#include "core/os/os.h"
#include "report_case.h"

/* -- the summary */

static void ranks_and_verdicts_are_right(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  const struct summary *s = &f->summary;
  assert_int_equal(s->record_count, COUNT(sample_resnet) + COUNT(sample_bert) + COUNT(sample_mlp));
  const struct record *r = s->records;
  assert_string_equal(r[0].config.backend, "native");
  assert_int_equal(r[0].rank, 1);
  assert_int_equal(r[0].processes, 3);
  assert_int_equal(r[0].rounds, 36);
  assert_true(r[0].p50_lo_ms <= r[0].p50_ms && r[0].p50_ms <= r[0].p50_hi_ms);
  assert_true(fabs(r[0].throughput_per_s * r[0].p50_ms - 1000) < 1e-6);
  assert_true(fabs(r[0].limit_share - 4.9 / r[0].p50_ms) < 1e-12);
  for (size_t i = 1; i < 6; i++)
    assert_true(r[i].rank == (int)i + 1 && r[i].p50_ms >= r[i - 1].p50_ms);
  assert_string_equal(r[6].config.backend, "xla"); /* faster than some, wrong: no rank */
  assert_int_equal(r[6].status, STATUS_wrong);
  assert_int_equal(r[6].rank, 0);
  assert_true(isfinite(r[6].p50_ms) && r[6].p50_ms < r[4].p50_ms);
  assert_int_equal(r[7].status, STATUS_not_installed);
  assert_true(isnan(r[7].p50_ms) && isnan(r[7].worst.compile_ms));
  assert_int_equal(find_comparison(s, 1, 0)->verdict, VERDICT_tie); /* the same backend twice */
  assert_int_equal(find_comparison(s, 4, 0)->verdict, VERDICT_slower);
  assert_null(find_comparison(s, 6, 0));
  const double resolution = aa_resolution(s, 1);
  /* the half width, wherever its middle lies */
  const struct comparison *twins = find_comparison(s, 1, 0);
  assert_true(resolution > 0 && resolution < 0.05);
  assert_true(fabs(pow(1 + resolution, 2) - twins->ratio.high / twins->ratio.low) < 1e-12);
  assert_true(isnan(aa_resolution(s, 0)));
  free_fixture(f);
}

static void what_was_never_compared_has_no_rank(void **state) {
  (void)state;
  struct fixture *f = make_fixture(2, 1);
  struct config_data *config = &f->data.cells[1];
  for (size_t b = 0; b < config->block_count; b++) config->blocks[b].verified = 0;
  for (size_t i = 0; i < config->process_count; i++)
    config->processes[i].rel_l2 = config->processes[i].max_abs_diff =
        config->processes[i].max_rel_diff = (double)NAN;
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  for (size_t i = 0; i < f->summary.record_count; i++)
    if (!strcmp(f->summary.records[i].config.key, config->config.key)) {
      assert_int_equal(f->summary.records[i].status, STATUS_unverified);
      assert_int_equal(f->summary.records[i].rank, 0);
    }
  free_fixture(f);
}

static void synthetic_rows_show_only_if_asked(void **state) {
  (void)state;
  struct fixture *f = make_fixture(3, 1);
  const size_t all = f->summary.record_count;
  f->data.cells[0].processes[0].flags |= FLAG_MASK(synthetic);
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  assert_int_equal(f->summary.record_count, all - 1);
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, true, &f->summary), HONE_OK);
  assert_int_equal(f->summary.record_count, all);
  free_fixture(f);
}

/* Ratios of medians in the matrix, and means only over what has a rank. */
static void the_matrix_counts_ranked_rows_only(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  const struct summary *s = &f->summary;
  struct matrix m;
  assert_int_equal(matrix_make(&f->ctx, f->arena, s, &m), HONE_OK);
  assert_int_equal(m.group_count, 3);
  assert_int_equal(m.engine_count, 7); /* the copy of --aa is none */
  assert_string_equal(s->records[m.engines[0].record].config.backend, "native");
  assert_int_equal(m.engines[0].ranked, 3);
  assert_int_equal(m.engines[0].wins, 2);
  for (size_t e = 0; e < m.engine_count; e++) {
    double product = 1;
    size_t ranked = 0;
    for (size_t g = 0; g < m.group_count; g++) {
      const size_t i = m.cells[g * m.engine_count + e];
      const double ratio = matrix_ratio(&m, s, g, e);
      assert_int_equal(isnan(ratio), i == SIZE_MAX || s->records[i].rank == 0);
      if (isnan(ratio)) continue;
      const struct comparison *comparison = find_comparison(s, i, m.begins[g]);
      assert_true(ratio == (comparison ? comparison->ratio.value : 1));
      assert_true(fabs(ratio - s->records[i].p50_ms / s->records[m.begins[g]].p50_ms) <
                  0.1 * ratio);
      product *= ratio;
      ranked++;
    }
    assert_int_equal(m.engines[e].ranked, ranked);
    if (ranked) assert_true(fabs(m.engines[e].ratio - pow(product, 1.0 / (double)ranked)) < 1e-9);
    if (!ranked) assert_true(isnan(m.engines[e].ratio)); /* xla was wrong, tflite absent */
  }
  assert_true(m.engines[3].ranked == 2 && m.engines[5].ranked == 0);
  size_t groups;
  const double lead = matrix_geometric_ratio(&m, s, 0, 3, &groups); /* tvm: where both have ranks */
  assert_int_equal(groups, 2);
  assert_true(lead > 1.4 && lead < 1.8);
  free_fixture(f);
}

/* All rows of a chart share the settings that do not vary: each scenario, and rows measured under
   load, have a chart of their own. */
static void sweeps_of_unlike_rows_are_drawn_apart(void **state) {
  (void)state;
  static const struct {
    const char *scenario;
    int threads, load;
  } rows[] = {{"single", 1, 0},  {"single", 2, 0}, {"offline", 1, 0},
              {"offline", 2, 0}, {"single", 1, 1}, {"single", 2, 1}};
  struct record records[COUNT(rows)] = {0};
  size_t begins[COUNT(rows)];
  for (size_t i = 0; i < COUNT(rows); i++) {
    records[i] = (struct record){.rank = 1, .throughput_per_s = 100 * (double)(i + 1)};
    records[i].config.batch = 1;
    records[i].config.threads = rows[i].threads;
    records[i].config.load = rows[i].load;
    snprintf(records[i].config.scenario, sizeof records[i].config.scenario, "%s", rows[i].scenario);
    snprintf(records[i].config.backend, sizeof records[i].config.backend, "native");
    snprintf(records[i].config.precision, sizeof records[i].config.precision, "fp32");
    begins[i] = i;
  }
  const struct summary summary = {.record_count = COUNT(rows), .records = records};
  struct strbuf out = {0};
  chart_scaling(&(struct page){.summary = &summary, .html = {&out}}, begins, COUNT(rows));
  assert_false(out.failed);
  assert_int_equal(count_of(out.at, "<figure>"), 3);
  assert_int_equal(count_of(out.at, "<circle"), COUNT(rows));
  assert_non_null(strstr(out.at, "Scaling with threads at batch 1 <span>"));
  assert_non_null(strstr(out.at, "Scaling with threads at batch 1, offline <span>"));
  assert_non_null(strstr(out.at, "1 busy neighbour <span>"));
  strbuf_deinit(&out);
}

/* A precision is a row, never a second column of the same engine, and has a mean of its own. */
static void precisions_are_rows(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  struct matrix m;
  for (size_t i = 0; i < f->data.config_count; i++)
    if (!strcmp(f->data.cells[i].config.model, "zoo:mlp"))
      strcpy(f->data.cells[i].config.precision, "bf16");
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  assert_int_equal(matrix_make(&f->ctx, f->arena, &f->summary, &m), HONE_OK);
  assert_int_equal(m.engine_count, 7);
  assert_int_equal(m.mean_count, 3);
  static const size_t groups[3] = {2, 1, 3};
  for (size_t k = 0; k < 3; k++) assert_int_equal(m.means[k].group_count, groups[k]);
  assert_string_equal(m.means[0].precision, "fp32");
  assert_string_equal(m.means[1].precision, "bf16");
  assert_null(m.means[2].precision);
  for (size_t e = 0; e < m.engine_count; e++) {
    assert_int_equal(m.means[0].engines[e].ranked + m.means[1].engines[e].ranked,
                     m.engines[e].ranked);
    if (m.engines[e].ranked) assert_true(m.means[2].engines[e].ratio == m.engines[e].ratio);
  }
  free_fixture(f);
}

/* Only Winograd can be faster than the limit; the row then also shows Winograd's own limit, which
   is never exceeded. */
static void what_was_reached_is_possible(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  for (int winograd = 0; winograd < 2; winograd++) {
    for (size_t i = 0; i < f->data.config_count; i++) {
      f->data.cells[i].config.limit_ms = 40; /* above every median of the first model */
      f->data.cells[i].config.winograd_limit_ms = winograd ? 10 : 40;
    }
    assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
    const struct record *r = f->summary.records;
    const double best = winograd ? r[0].winograd_limit_share : r[0].limit_share;
    assert_true(fabs(best - 1) < 1e-12); /* the fastest is what is possible */
    for (size_t i = 0; i < 6; i++) {
      const double share = winograd ? r[i].winograd_limit_share : r[i].limit_share;
      assert_true(share <= 1 + 1e-12 && share > 0);
      assert_true(fabs(share * r[i].p50_ms - best * r[0].p50_ms) < 1e-9); /* one limit for all */
      assert_int_equal(isnan(r[i].winograd_limit_ms), !winograd);
      if (winograd) assert_true(fabs(r[i].limit_share - 4 * share) < 1e-12);
    }
    struct strbuf shown = {0};
    put_limit(&shown, &r[0]);
    assert_string_equal(shown.at, winograd ? "400 % (100 % W)" : "100 %");
    strbuf_deinit(&shown);
  }
  free_fixture(f);
}

/* A row without a rank raises no limit, and has no share of one that it passes: its figure or the peak is wrong. */
static void a_share_above_the_whole_is_not_printed(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  for (size_t i = 0; i < f->data.config_count; i++) {
    f->data.cells[i].config.limit_ms = 40;
    for (size_t k = 0; k < f->data.cells[i].process_count; k++)
      f->data.cells[i].processes[k].status = STATUS_interrupted;
  }
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  for (size_t i = 0; i < f->summary.record_count; i++) {
    const struct record *r = &f->summary.records[i];
    assert_int_equal(r->rank, 0);
    assert_true(isnan(r->limit_share) || r->limit_share <= 1);
    if (r->p50_ms < 40) assert_true(isnan(r->limit_share));
  }
  free_fixture(f);
}

/* A route that a model's format decides makes no column of its own; two routes in one group do. */
static void routes_share_a_column(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  struct matrix plain, m;
  assert_int_equal(matrix_make(&f->ctx, f->arena, &f->summary, &plain), HONE_OK);
  const char *first = f->data.cells[0].config.model;
  for (size_t i = 0; i < f->data.config_count; i++)
    if (strcmp(f->data.cells[i].config.model, first))
      strcpy(f->data.cells[i].config.route, "onnx-hone");
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  assert_int_equal(matrix_make(&f->ctx, f->arena, &f->summary, &m), HONE_OK);
  assert_true(m.joins_routes);
  assert_int_equal(m.engine_count, plain.engine_count);
  size_t joined = 0;
  for (size_t e = 0; e < m.engine_count; e++) joined += !m.engines[e].config->route[0];
  assert_true(joined > 0);
  struct config *other = &f->data.cells[1].config;
  const struct config *config = &f->data.cells[0].config;
  strcpy(other->backend, config->backend);
  strcpy(other->variant, config->variant);
  strcpy(other->options, config->options);
  strcpy(other->route, "onnx-hone");
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  assert_int_equal(matrix_make(&f->ctx, f->arena, &f->summary, &m), HONE_OK);
  assert_false(m.joins_routes);
  for (size_t e = 0; e < m.engine_count; e++) assert_true(m.engines[e].config->route[0]);
  free_fixture(f);
}

/* One engine, one color: in every study for the known ones, another for each of the others. */
static void an_engine_keeps_its_color(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  struct summary *s = &f->summary;
  int native = -1, openvino = -1;
  for (size_t i = 0; i < s->record_count; i++) {
    const int color = color_of_backend(s, i);
    assert_in_range(color, 0, COLOR_COUNT - 1);
    for (size_t k = 0; k < s->record_count; k++)
      assert_int_equal(color == color_of_backend(s, k),
                       !strcmp(s->records[i].config.backend, s->records[k].config.backend));
    if (!strcmp(s->records[i].config.backend, "native")) native = color;
    if (!strcmp(s->records[i].config.backend, "openvino")) openvino = color;
  }
  assert_int_equal(native, 0);
  for (size_t i = 0; i < s->record_count; i++)
    if (strcmp(s->records[i].config.backend, "openvino") != 0)
      snprintf(s->records[i].config.backend, sizeof s->records[i].config.backend, "mine%zu", i % 5);
  for (size_t i = 0; i < s->record_count; i++)
    assert_int_equal(color_of_backend(s, i) == openvino,
                     !strcmp(s->records[i].config.backend, "openvino"));
  free_fixture(f);
}

/* A small block set: percentiles that its samples cannot carry are n/a. */
static void percentiles_need_their_samples(void **state) {
  (void)state;
  const size_t counts[] = {35, 36, 367, 368};
  for (size_t i = 0; i < COUNT(counts); i++) {
    struct fixture *f = make_fixture(4, 1);
    struct config_data *config = &f->data.cells[0];
    config->blocks[0].samples = calloc(counts[i], sizeof(uint64_t));
    for (size_t k = 0; k < counts[i]; k++) config->blocks[0].samples[k] = 1000000 + k;
    config->blocks[0].sample_count = counts[i];
    config->block_count = 1;
    f->data.config_count = 1;
    assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
    assert_int_equal(isfinite(f->summary.records[0].p90_ms), counts[i] >= 36);
    assert_int_equal(isfinite(f->summary.records[0].p99_ms), counts[i] >= 368);
    assert_true(f->summary.records[0].p50_lo_ms < f->summary.records[0].p50_hi_ms);
    free(config->blocks[0].samples);
    free_fixture(f);
  }
}

static void an_interrupted_process_does_not_spoil_a_resumed_configuration(void **state) {
  (void)state;
  struct fixture *f = make_fixture(5, 1);
  f->data.cells[0].processes[1].status = STATUS_interrupted;
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  for (size_t i = 0; i < f->summary.record_count; i++)
    if (!strcmp(f->summary.records[i].config.key, f->data.cells[0].config.key))
      assert_int_equal(f->summary.records[i].status, STATUS_ok);
  free_fixture(f);
}

/* A row that is not measured yet has not failed, and the page does not mark it as failed. */
static void an_unmeasured_cell_is_no_failure(void **state) {
  (void)state;
  struct fixture *f = make_fixture(5, 1);
  struct strbuf page[2] = {{0}};
  size_t failed[2] = {0};
  for (int n = 0; n < 2; n++) {
    if (n) f->data.cells[0].process_count = f->data.cells[0].block_count = 0;
    assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
    assert_int_equal(render_html(&f->ctx, &f->summary, NULL, &page[n]), HONE_OK);
    assert_int_equal(strbuf_finish(&f->ctx, &page[n]), HONE_OK);
    for (const char *at = page[n].at; (at = strstr(at, "td class=\"failed\"")); at++) failed[n]++;
  }
  assert_true(failed[0] > 0);
  assert_int_equal(failed[0], failed[1]);
  assert_null(strstr(page[0].at, ">interrupted<"));
  assert_non_null(strstr(page[1].at, ">interrupted</a></td>"));
  assert_non_null(strstr(page[1].at, "pill undecided\" title=\"the user stopped the study"));
  strbuf_deinit(&page[0]);
  strbuf_deinit(&page[1]);
  free_fixture(f);
}

/* 2, 3 and 2 mJ an inference in three processes: Student's interval over those. Rows without a meter have none. */
static void energy_has_its_interval(void **state) {
  (void)state;
  struct fixture *f = make_fixture(5, 1);
  struct config_data *config = &f->data.cells[0];
  for (size_t i = 0; i < config->block_count; i++) {
    struct block *block = &config->blocks[i];
    const size_t inferences = block->sample_count + block->rewarm_count;
    block->energy_uj = (int64_t)inferences * (block->process_record % 2 ? 3000 : 2000);
  }
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  for (size_t i = 0; i < f->summary.record_count; i++) {
    const struct record *r = &f->summary.records[i];
    if (strcmp(r->config.key, config->config.key)) {
      assert_true(isnan(r->energy_mj) && isnan(r->energy_lo_mj));
      continue;
    }
    assert_true(2 < r->energy_mj && r->energy_mj < 3);
    assert_true(r->energy_lo_mj < r->energy_mj && r->energy_mj < r->energy_hi_mj);
    assert_true(r->energy_hi_mj - r->energy_lo_mj < 3);
  }
  free_fixture(f);
}

/* Half of each sample is the copy of its outputs; a copy of inputs is in no sample. */
static void copies_have_their_columns(void **state) {
  (void)state;
  struct fixture *f = make_fixture(5, 1);
  struct config_data *config = &f->data.cells[0];
  uint64_t in[] = {3000, 1000, 2000};
  for (size_t b = 0; b < config->block_count; b++) {
    struct block *block = &config->blocks[b];
    block->copy_in = in;
    block->copy_in_count = COUNT(in);
    block->copy_out_count = block->sample_count;
    assert_int_equal(NEW_ARRAY(&f->ctx, f->arena, block->copy_out, block->sample_count), HONE_OK);
    for (size_t i = 0; i < block->sample_count; i++) block->copy_out[i] = block->samples[i] / 2;
  }
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  for (size_t i = 0; i < f->summary.record_count; i++) {
    const struct record *r = &f->summary.records[i];
    if (strcmp(r->config.key, config->config.key)) {
      assert_true(isnan(r->copy_in_ms) && isnan(r->compute_ms) && isnan(r->copy_out_ms));
      continue;
    }
    assert_true(fabs(r->copy_in_ms - 0.002) < 1e-9);
    assert_true(fabs(r->compute_ms - r->p50_ms / 2) < 1e-3 * r->p50_ms);
    assert_true(fabs(r->copy_out_ms - r->p50_ms / 2) < 1e-3 * r->p50_ms);
  }
  free_fixture(f);
}

/* -- renderers */

static void the_same_study_gives_the_same_bytes(void **state) {
  (void)state;
  for (size_t i = 0; i < renderer_count; i++) {
    if (!can_render(renderers[i].name)) continue;
    struct fixture *a = make_fixture(1, 1), *b = make_fixture(1, 1);
    struct strbuf x = render(a, renderers[i].name), y = render(b, renderers[i].name);
    assert_int_equal(x.length, y.length);
    assert_memory_equal(x.at, y.at, x.length);
    strbuf_deinit(&x);
    strbuf_deinit(&y);
    free_fixture(a);
    free_fixture(b);
  }
}

static void an_empty_study_renders(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  f->data.config_count = 0;
  strcpy(f->data.row.machine_json, "not json");
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  for (size_t i = 0; i < renderer_count; i++) {
    if (!can_render(renderers[i].name)) continue;
    struct strbuf out = render(f, renderers[i].name);
    assert_true(out.length > 0);
    strbuf_deinit(&out);
  }
  free_fixture(f);
}

/* A latency only where the row was right, else the word for why not. */
static void latencies_are_one_line_a_cell(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  struct strbuf out = render(f, "latency");
  assert_int_equal(count_of(out.at, "\r\n"), f->summary.record_count + 1);
  assert_int_equal(strncmp(out.at, "\"timestamp\",\"model\",\"device\",\"latency_ms\",", 40), 0);
  assert_non_null(
      strstr(out.at, "\"2026-01-01T00:00:00Z\",\"resnet50.onnx\",\"cpu\",\"wrong\",\"xla\""));
  assert_non_null(strstr(out.at, "\"cpu\",\"timeout\",\"xla\""));
  char number[32], want[128];
  format_f64(number, f->summary.records[0].p50_ms);
  snprintf(want, sizeof want, "\"resnet50.onnx\",\"cpu\",%s,\"native\"", number);
  assert_non_null(strstr(out.at, want));
  strbuf_deinit(&out);
  free_fixture(f);
}

static void json_is_as_documented(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  struct strbuf out = render(f, "json");
  json_error_t error;
  json_t *root = json_loads(out.at, JSON_REJECT_DUPLICATES, &error);
  if (!root) print_error("line %d: %s\n", error.line, error.text);
  assert_non_null(root);
  assert_int_equal(json_integer_value(json_object_get(root, "schema")), 1);
  assert_true(json_is_object(json_object_get(root, "machine")));
  const json_t *records = json_object_get(root, "records");
  assert_int_equal(json_array_size(records), f->summary.record_count);
  const json_t *first = json_array_get(records, 0), *latency = json_object_get(first, "latency_ms");
  assert_true(json_number_value(json_object_get(latency, "p50")) == f->summary.records[0].p50_ms);
  const json_t *ci = json_object_get(latency, "p50_ci");
  assert_int_equal(json_array_size(ci), 2);
  assert_true(json_number_value(json_array_get(ci, 0)) == f->summary.records[0].p50_lo_ms);
  assert_true(json_is_array(json_object_get(first, "flags")));
  assert_true(json_is_null(json_object_get(
      json_object_get(json_array_get(records, f->summary.record_count - 1), "noise"),
      "frequency_mhz")));
  const json_t *comparison = json_array_get(json_object_get(root, "comparisons"), 0);
  assert_int_equal(json_array_size(json_object_get(comparison, "ci")), 2);
  assert_string_equal(json_string_value(json_object_get(comparison, "verdict")), "tie");
  json_decref(root);
  strbuf_deinit(&out);
  free_fixture(f);
}

static void the_table_fits_its_width(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  for (int width = 80; width <= 200; width += 20) {
    struct strbuf out = {0};
    const struct render_options options = {.width = width};
    assert_int_equal(render_table(&f->ctx, &f->summary, &options, &out), HONE_OK);
    for (char *line = out.at, *end; (end = strchr(line, '\n')); line = end + 1) {
      *end = 0;
      if (line[0] == ' ' && line[2] >= '1' && line[2] <= '9') /* a ranked row */
        assert_true(shown_width(line) <= (size_t)width);
    }
    strbuf_deinit(&out);
  }
  struct strbuf plain = {0}, color = {0};
  const struct render_options colored = {.color = true, .width = 100};
  assert_int_equal(render_table(&f->ctx, &f->summary, NULL, &plain), HONE_OK);
  assert_int_equal(render_table(&f->ctx, &f->summary, &colored, &color), HONE_OK);
  assert_null(strchr(plain.at, '\x1b'));
  assert_non_null(strstr(color.at, "\x1b[32mfastest\x1b[0m"));
  assert_non_null(strstr(plain.at, "wrong at verify: relative L2"));
  strbuf_deinit(&plain);
  strbuf_deinit(&color);
  free_fixture(f);
}

/* One set of columns for all models, chosen by the whole study; --columns says another. */
static void all_models_have_the_same_columns(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  for (int width = 70; width <= 210; width += 35) {
    struct strbuf out = {0};
    const struct render_options options = {.width = width};
    assert_int_equal(render_table(&f->ctx, &f->summary, &options, &out), HONE_OK);
    char first[512] = "";
    size_t titles = 0;
    for (char *line = out.at, *end; (end = strchr(line, '\n')); line = end + 1) {
      *end = 0;
      if (strncmp(line, "  #  backend", 12) != 0) continue;
      if (!titles++) snprintf(first, sizeof first, "%s", line);
      assert_string_equal(line, first);
    }
    assert_int_equal(titles, 3);
    strbuf_deinit(&out);
  }
  struct strbuf out = {0};
  const struct render_options asked = {.width = 80,
                                       .columns = "p99,latency_ms.p90,Memory,start-up,cosine"};
  assert_int_equal(render_table(&f->ctx, &f->summary, &asked, &out), HONE_OK);
  assert_non_null(strstr(out.at, "  #  backend"));
  const char *title = strstr(out.at, "p99"), *line_end = strchr(title, '\n');
  static const char *const wanted[] = {"p99", "p90", "memory", "start-up", "cosine"};
  for (size_t i = 0; i < COUNT(wanted); i++) {
    title = strstr(title, wanted[i]);
    assert_true(title && title < line_end);
  }
  assert_int_equal(count_of(out.at, "vs fastest"), 0);
  strbuf_deinit(&out);
  assert_int_equal(table_columns_check(&f->ctx, "p50,latency_ms.p9o"), HONE_E_USAGE);
  assert_null(strstr(f->ctx.message, "backend?"));
  ctx_clear(&f->ctx);
  assert_int_equal(table_columns_check(&f->ctx, "memroy"), HONE_E_USAGE);
  assert_non_null(strstr(f->ctx.message, "did you mean memory?"));
  ctx_clear(&f->ctx);
  assert_int_equal(table_columns_check(&f->ctx, "p50,"), HONE_OK);
  assert_int_equal(table_columns_check(&f->ctx, ",p50"), HONE_E_USAGE);
  ctx_clear(&f->ctx);
  free_fixture(f);
}

/* -- hostile text */

/* But those at which a name may break, which follow from its commas and slashes. */
static size_t tags_of(const struct strbuf *html) {
  return count_of(html->at, "<") - count_of(html->at, "<wbr>");
}

static void hostile_text_is_shown_literally(void **state) {
  (void)state;
  assert_true(COUNT(hostile) >= 60);
  struct fixture *f = make_thin_fixture();
  plant(f, "benign");
  struct strbuf html = render(f, "html"), md = render(f, "md");
  const size_t tags = tags_of(&html), quotes = count_of(html.at, "\""),
               lines = count_of(md.at, "\n");
  strbuf_deinit(&html);
  strbuf_deinit(&md);
  for (size_t i = 0; i < COUNT(hostile); i++) {
    plant(f, hostile[i]);
    html = render(f, "html");
    if (tags_of(&html) != tags) print_error("%s\n", hostile[i]);
    assert_int_equal(tags_of(&html), tags);
    assert_int_equal(count_of(html.at, "\""), quotes);
    assert_false(has_control(&html));
    strbuf_deinit(&html);
    static const char *const others[] = {"table", "csv", "json", "md", "latency"};
    for (size_t k = 0; k < COUNT(others); k++) {
      struct strbuf out = render(f, others[k]);
      if (has_control(&out)) print_error("%s in %s\n", hostile[i], others[k]);
      assert_false(has_control(&out));
      if (!strcmp(others[k], "md")) assert_int_equal(count_of(out.at, "\n"), lines);
      strbuf_deinit(&out);
    }
  }
  free_fixture(f);
}

/* Characters are escaped where they would be read as markup, and nowhere else. */
static void markdown_escapes_only_where_needed(void **state) {
  (void)state;
  static const struct {
    const char *text, *want;
  } cases[] = {
      {"zoo:mobilenet_v3_small", "zoo:mobilenet_v3_small"},
      {"x[1,3,224,224],y[1]", "x[1,3,224,224],y[1]"},
      {"hone bench a.onnx --name 'x' (twice)", "hone bench a.onnx --name 'x' (twice)"},
      {"__x__", "\\_\\_x\\_\\_"},
      {"_x", "\\_x"},
      {"a|b", "a\\|b"},
      {"[link](http://x)", "\\[link\\](http\\://x)"},
      {"a [b][c]", "a \\[b\\][c]"},
      {"![i](x)", "\\!\\[i\\](x)"},
      {"# h", "\\# h"},
      {"#12", "\\#12"},
      {"C# x", "C# x"},
      {"> q", "\\> q"},
      {":smile:", "\\:smile:"},
      {"{{7*7}}", "\\{\\{7\\*7\\}\\}"},
      {"@you $x$ ~~y~~ `z`", "\\@you \\$x\\$ \\~\\~y\\~\\~ \\`z\\`"},
      {"www.x.org", "www\\.x.org"},
      {"<b>&amp;", "&lt;b>&amp;amp;"},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct strbuf out = {0};
    markdown_text((struct markdown){&out}, cases[i].text);
    assert_string_equal(out.at, cases[i].want);
    strbuf_deinit(&out);
  }
}

/* Reads one RFC 4180 record of `count` cells; returns what follows. */
static const char *read_csv_line(const char *at, struct strbuf *cells, bool *quoted, size_t count) {
  for (size_t c = 0; c < count; c++) {
    quoted[c] = *at == '"';
    if (quoted[c]) {
      for (at++; !(at[0] == '"' && at[1] != '"'); at++) {
        assert_true(*at);
        if (*at == '"') at++;
        strbuf_append(&cells[c], at, 1);
      }
      at++;
    } else {
      const size_t length = strcspn(at, ",\r");
      strbuf_append(&cells[c], at, length);
      at += length;
    }
    assert_true(*at == (c + 1 < count ? ',' : '\r'));
    at++;
  }
  assert_true(*at == '\n');
  return at + 1;
}

static void csv_reads_back_equal(void **state) {
  (void)state;
  struct fixture *f = make_thin_fixture();
  struct strbuf *cells = calloc(column_count, sizeof *cells);
  bool *quoted = calloc(column_count, sizeof *quoted);
  for (size_t i = 0; i < COUNT(hostile); i++) {
    plant(f, hostile[i]);
    struct strbuf out = render(f, "csv");
    const char *at = read_csv_line(out.at, cells, quoted, column_count);
    for (size_t c = 0; c < column_count; c++) {
      assert_string_equal(cells[c].at, columns[c].key);
      strbuf_deinit(&cells[c]);
    }
    for (size_t r = 0; r < f->summary.record_count; r++) {
      at = read_csv_line(at, cells, quoted, column_count);
      for (size_t c = 0; c < column_count; c++) {
        struct strbuf raw = {0}, want = {0};
        column_format(&f->summary.records[r], &columns[c], &raw);
        strbuf_put_safe(&want, raw.at ? raw.at : "", SIZE_MAX);
        const char *got = cells[c].at ? cells[c].at : "", *wanted = want.at ? want.at : "";
        if (quoted[c]) {
          assert_true(!*got || !strchr("=+-@\t\r\n", got[strspn(got, " ")]) ||
                      !got[strspn(got, " ")]);
          if (got[0] == '\'' && wanted[0] != '\'') got++;
        }
        assert_int_equal(quoted[c], !column_is_number(&columns[c]));
        assert_string_equal(got, wanted);
        strbuf_deinit(&raw);
        strbuf_deinit(&want);
        strbuf_deinit(&cells[c]);
      }
    }
    assert_int_equal(*at, 0);
    strbuf_deinit(&out);
  }
  free(cells);
  free(quoted);
  free_fixture(f);
}

static void json_keeps_hostile_text(void **state) {
  (void)state;
  struct fixture *f = make_thin_fixture();
  for (size_t i = 0; i < COUNT(hostile); i++) {
    plant(f, hostile[i]);
    struct strbuf out = render(f, "json");
    json_error_t error;
    json_t *root = json_loads(out.at, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    json_t *is_utf8 = json_string(hostile[i]);
    const char *name = json_string_value(json_object_get(json_object_get(root, "study"), "name"));
    if (is_utf8) assert_string_equal(name, hostile[i]);
    if (!is_utf8) assert_non_null(strstr(name, "\\u{"));
    json_decref(is_utf8);
    json_decref(root);
    strbuf_deinit(&out);
  }
  free_fixture(f);
}

/* The command that repeats a row is one shell word a value: nothing of it runs. */
static void repeat_commands_are_quoted(void **state) {
  (void)state;
  struct fixture *f = make_thin_fixture();
  plant(f, "a'; touch /tmp/x; echo $(id) `id`");
  assert_non_null(strstr(f->summary.records[0].repeat, "'a'\\''; touch /tmp/x; echo $(id) `id`'"));
  plant(f, "--rm");
  assert_non_null(strstr(f->summary.records[0].repeat, "hone bench ./--rm "));
  free_fixture(f);
}

/* It carries the row's own options and those of the study that change figures. */
static void repeat_commands_are_whole(void **state) {
  (void)state;
  struct fixture *f = make_thin_fixture();
  plant(f, "a=1;b c=2");
  strcpy(f->data.row.options_json, "{\"flags\": \" --seed 7 --rounds 3\"}");
  assert_int_equal(summarise(&f->ctx, f->arena, &f->data, false, &f->summary), HONE_OK);
  const struct record *record = &f->summary.records[0];
  char wanted[256];
  snprintf(wanted, sizeof wanted, " --backend-option %s.a=1 --backend-option '%s.b c=2' --batch ",
           record->config.backend, record->config.backend);
  assert_non_null(strstr(record->repeat, wanted));
  const char *end = record->repeat + strlen(record->repeat) - strlen(" --seed 7 --rounds 3");
  assert_string_equal(end, " --seed 7 --rounds 3");
  free_fixture(f);
}

static void widths_are_columns(void **state) {
  (void)state;
  assert_int_equal(shown_width("abc"), 3);
  assert_int_equal(shown_width("\xc2\xb1"
                               "1"),
                   2);
  assert_int_equal(shown_width("\xe4\xbd\xa0\xe5\xa5\xbd"), 4);
  assert_int_equal(shown_width("e\xcc\x81"), 1);
  assert_int_equal(shown_width(""), 0);
}

/* The page for tests/report: HONE_TEST_PAGE names the file; HONE_TEST_PAGE_HOSTILE plants hostile
 * text. */
static void the_page_stands_alone(void **state) {
  (void)state;
  struct fixture *f = make_fixture(1, 1);
  if (getenv("HONE_TEST_PAGE_HOSTILE"))
    plant(f, "</title><script>document.title='owned'</script>\" onload=\"x");
  struct strbuf out = render(f, "html");
  static const char *const outside[] = {
      " src=", "url(", "@import", "http:", "https:", "<link", " style="};
  for (size_t i = 0; i < COUNT(outside); i++) assert_null(strstr(out.at, outside[i]));
  assert_int_equal(count_of(out.at, "<script>"), 1);
  /* the downloads are the files themselves */
  struct strbuf json = render(f, "json");
  const char *data = strstr(out.at, "href=\"data:application/json;base64,");
  assert_non_null(data);
  data = strchr(data, ',') + 1;
  unsigned char *decoded = calloc(1, strlen(data));
  const int length =
      EVP_DecodeBlock(decoded, (const unsigned char *)data, (int)strcspn(data, "\""));
  assert_in_range(length, (int)json.length, (int)json.length + 2); /* rounded up to three bytes */
  assert_memory_equal(decoded, json.at, json.length);
  free(decoded);
  strbuf_deinit(&json);
  assert_int_equal(count_of(out.at, "<svg"), count_of(out.at, "</svg>"));
  assert_int_equal(count_of(out.at, "class=\"strip\""), 13 + 1);
  const char *page = getenv("HONE_TEST_PAGE");
  if (page) assert_int_equal(file_write_atomic(&f->ctx, page, out.at, out.length, 0644), HONE_OK);
  strbuf_deinit(&out);
  free_fixture(f);
}

/* For fifty inputs, a configuration stores a hash of their shapes. */
static void shapes_are_shown_where_they_are_shapes(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"x[1,3]", "batch 1 \xc2\xb7 1 thread \xc2\xb7 x[1,3]"},
      {"7914360edc3fee247fbc28b5024e48d2", "batch 1 \xc2\xb7 1 thread"},
      {"", "batch 1 \xc2\xb7 1 thread"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct record record = {.config = {.batch = 1, .threads = 1}};
    struct strbuf text = {0};
    snprintf(record.config.shapes, sizeof record.config.shapes, "%s", cases[i][0]);
    put_group_facts(&text, &record);
    assert_string_equal(text.at, cases[i][1]);
    strbuf_deinit(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shapes_are_shown_where_they_are_shapes),
      cmocka_unit_test(ranks_and_verdicts_are_right),
      cmocka_unit_test(what_was_never_compared_has_no_rank),
      cmocka_unit_test(synthetic_rows_show_only_if_asked),
      cmocka_unit_test(the_matrix_counts_ranked_rows_only),
      cmocka_unit_test(precisions_are_rows),
      cmocka_unit_test(an_engine_keeps_its_color),
      cmocka_unit_test(what_was_reached_is_possible),
      cmocka_unit_test(a_share_above_the_whole_is_not_printed),
      cmocka_unit_test(routes_share_a_column),
      cmocka_unit_test(percentiles_need_their_samples),
      cmocka_unit_test(an_interrupted_process_does_not_spoil_a_resumed_configuration),
      cmocka_unit_test(an_unmeasured_cell_is_no_failure),
      cmocka_unit_test(energy_has_its_interval),
      cmocka_unit_test(copies_have_their_columns),
      cmocka_unit_test(the_same_study_gives_the_same_bytes),
      cmocka_unit_test(an_empty_study_renders),
      cmocka_unit_test(sweeps_of_unlike_rows_are_drawn_apart),
      cmocka_unit_test(latencies_are_one_line_a_cell),
      cmocka_unit_test(json_is_as_documented),
      cmocka_unit_test(the_table_fits_its_width),
      cmocka_unit_test(all_models_have_the_same_columns),
      cmocka_unit_test(markdown_escapes_only_where_needed),
      cmocka_unit_test(hostile_text_is_shown_literally),
      cmocka_unit_test(csv_reads_back_equal),
      cmocka_unit_test(json_keeps_hostile_text),
      cmocka_unit_test(repeat_commands_are_quoted),
      cmocka_unit_test(repeat_commands_are_whole),
      cmocka_unit_test(widths_are_columns),
      cmocka_unit_test(the_page_stands_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
