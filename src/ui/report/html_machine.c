/* html_machine: the machine of a study: facts, and measured peaks in words. Unknown keys of other versions are shown
 * unchanged.
 */
#include "core/format/format.h"
#include "report.h"

#include <jansson.h>
#include <math.h>

/* -- peaks */

static const struct {
  const char *key, *what, *unit;
  double scale; /* of the stored number */
} rates[] = {
    {"f32_gflops", "32-bit floats", "GFLOP/s", 1},
    {"bf16_gflops", "bfloat16", "GFLOP/s", 1},
    {"f16_gflops", "16-bit floats", "GFLOP/s", 1},
    {"i8_gops", "8-bit integers", "GOP/s", 1},
};

/* "reads 310 GB/s from 262 kB, 21 GB/s from 1.07 GB": the ends and the middle of the curve. */
static void put_bandwidth(struct html html, const json_t *curve) {
  const size_t count = json_array_size(curve), middle = count / 2;
  bool is_first = true;
  for (size_t i = 0; i < count; i++) {
    const json_t *point = json_array_get(curve, i);
    const double bytes = json_number_value(json_array_get(point, 0)),
                 speed = json_number_value(json_array_get(point, 1));
    if ((i != 0 && i != middle && i + 1 != count) || !(bytes > 0) || !(speed > 0)) continue;
    strbuf_puts(html.out, is_first ? "; reads " : ", ");
    is_first = false;
    put_significant(html.out, speed, 3);
    LITERAL(html.out, " GB/s from ");
    put_bytes(html.out, bytes);
  }
}

static void put_peak(struct html html, const json_t *peak) {
  const long long threads = json_integer_value(json_object_get(peak, "threads"));
  bool is_first = true;
  strbuf_printf(html.out, "<li><b>%lld thread%s</b>: ", threads, threads == 1 ? "" : "s");
  for (size_t i = 0; i < COUNT(rates); i++) {
    const double rate = json_number_value(json_object_get(peak, rates[i].key));
    if (!(rate > 0)) continue;
    if (!is_first) LITERAL(html.out, ", ");
    is_first = false;
    put_significant(html.out, rate * rates[i].scale, 3);
    strbuf_printf(html.out, " %s in %s", rates[i].unit, rates[i].what);
  }
  put_bandwidth(html, json_object_get(peak, "read_gb_per_s"));
  LITERAL(html.out, "</li>\n");
}

static void put_peaks(struct html html, const json_t *peaks) {
  if (json_array_size(peaks) == 0) return;
  LITERAL(html.out, "<h3>Measured peaks</h3>\n<ul class=\"method\">");
  for (size_t i = 0; i < json_array_size(peaks); i++) put_peak(html, json_array_get(peaks, i));
  LITERAL(html.out, "</ul>\n");
}

/* -- facts */

/* A fact's name ends with its unit. */
static const struct {
  const char *suffix, *unit; /* unit NULL: bytes */
  double scale;
} fact_units[] = {
    {"_bytes_per_s", "GB/s", 1e-9},
    {"_bytes", NULL, 1},
    {"_flops", "GFLOP/s", 1e-9},
    {"_ns", "ns", 1},
    {"_mhz", "MHz", 1},
};

static void put_machine_value(struct html html, const struct fact *fact) {
  const size_t length = strlen(fact->key);
  double number;
  const bool is_number = parse_f64(fact->value, -1e300, 1e300, &number);
  for (size_t i = 0; is_number && i < COUNT(fact_units); i++) {
    const size_t n = strlen(fact_units[i].suffix);
    if (length <= n || strcmp(fact->key + length - n, fact_units[i].suffix) != 0) continue;
    if (fact_units[i].unit) {
      put_plain(html.out, number * fact_units[i].scale);
      strbuf_printf(html.out, " %s", fact_units[i].unit);
    } else {
      put_bytes(html.out, number);
    }
    return;
  }
  html_text(html, fact->value);
}

/* "fingerprint.cpu_model" is "cpu model". */
static void put_machine_key(struct html html, const char *key) {
  struct strbuf shown = {0};
  if (!strncmp(key, "fingerprint.", 12)) key += 12;
  for (; *key; key++) strbuf_append(&shown, *key == '_' || *key == '.' ? " " : key, 1);
  html_take(html, &shown);
}

static void put_facts(struct html html, const struct fact *facts, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!strncmp(facts[i].key, "peaks", 5) && facts[i].value[0] == '[') continue; /* in words */
    LITERAL(html.out, "<div><dt>");
    put_machine_key(html, facts[i].key);
    LITERAL(html.out, "</dt><dd>");
    put_machine_value(html, &facts[i]);
    LITERAL(html.out, "</dd></div>");
  }
}

hone_status html_machine(struct ctx *ctx, struct arena *arena, const struct page *page) {
  const struct study_row *study = &page->summary->study;
  struct fact *facts;
  size_t count;
  json_error_t error;
  TRY(facts_read(ctx, arena, study->machine_json, &facts, &count));
  LITERAL(page->html.out, "<section id=\"machine\">\n<h2>Machine</h2>\n<dl class=\"machine\">");
  put_facts(page->html, facts, count);
  LITERAL(page->html.out, "<div><dt>fingerprint</dt><dd>");
  html_text(page->html, study->fingerprint);
  LITERAL(page->html.out, "</dd></div><div><dt>study</dt><dd>");
  html_text(page->html, study->key);
  LITERAL(page->html.out, "</dd></div></dl>\n");
  json_t *machine = json_loads(study->machine_json, 0, &error);
  put_peaks(page->html, json_object_get(machine, "peaks"));
  json_decref(machine);
  LITERAL(page->html.out, "</section>\n");
  return HONE_OK;
}
