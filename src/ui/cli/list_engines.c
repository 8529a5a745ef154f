/* hone list engines: facts about each engine, on the terminal or as Markdown, CSV or JSON. */
#include "core/format/format.h"
#include "cli.h"

static const struct facts {
  const char *name, *licence, *languages, *tuning, *dynamic_shapes, *reference;
} facts[] = {
#define ENGINE(name, licence, languages, tuning, shapes, reference) \
  {#name, licence, languages, tuning, shapes, reference},
#include "bench/backends/engine_facts.def"
#undef ENGINE
};

enum { COLUMNS = 14, PACKAGES = 1024 };
static const struct {
  const char *key, *title;
} columns_of_engines[COLUMNS] = {
    {"engine", "engine"},
    {"title", "title"},
    {"licence", "licence"},
    {"languages", "written in"},
    {"hardware", "hardware"},
    {"front_ends", "front ends"},
    {"representations", "intermediate representations"},
    {"optimisations", "optimisations"},
    {"tuning", "tuning"},
    {"precisions", "precisions"},
    {"dynamic_shapes", "dynamic shapes"},
    {"generates_text", "generates text"},
    {"version", "pinned version"},
    {"reference", "reference"},
};

const char *engine_packages(const struct backend *backend, const char *otherwise, char out[1024]) {
  if (backend->is_absent) otherwise = "none: hone has no worker for it";
  if (backend->device && backend->device->needs) otherwise = backend->device->needs;
  snprintf(out, 1024, "%s%s%s", backend->package_alone ? backend->package_alone : "",
           backend->package_alone ? " " : "", backend->package ? backend->package : otherwise);
  return out;
}

static void read_engine(const struct backend *at, char packages[PACKAGES],
                        const char *out[COLUMNS]) {
  static const struct facts none = {"", "unknown", "unknown", "unknown", "unknown", "unknown"};
  const struct facts *known = &none;
  for (size_t i = 0; i < COUNT(facts); i++)
    if (!strcmp(facts[i].name, at->name)) known = &facts[i];
  const char *const row[COLUMNS] = {
      at->name,
      at->title,
      known->licence,
      known->languages,
      at->traits.hardware,
      at->traits.front_ends,
      at->traits.representations,
      at->traits.optimisations,
      known->tuning,
      at->traits.precisions,
      known->dynamic_shapes,
      at->is_absent ? "no"
      : at->grows   ? "yes, with growing caches"
                    : "with caches of fixed size",
      engine_packages(at, "its own", packages),
      known->reference,
  };
  memcpy(out, row, sizeof row);
}

/* Test backends are not listed. */
static bool is_listed(size_t i) { return backend_list[i]->traits.hardware != NULL; }

/* One line for each variant, so that none is cut off. */
void list_engines(void) {
  for (size_t i = 0; i < backend_count; i++) {
    const struct backend *at = backend_list[i];
    const char *row[COLUMNS];
    char packages[PACKAGES];
    if (!is_listed(i)) continue;
    read_engine(at, packages, row);
    printf("%s (%s)\n", at->title, at->name);
    for (size_t c = 2; c < COLUMNS; c++)
      printf("  %-29s %s\n", columns_of_engines[c].title, row[c]);
    printf("  %-29s %s\n", "routes", at->routes ? at->routes : "onnx");
    for (const struct backend_variant *v = at->variants; v && v->name; v++)
      printf("  %-29s %s:%s: %s\n", v == at->variants ? "variants" : "", at->name, v->name,
             v->help);
  }
}

static void put_json(struct strbuf *out, const char *const *row, bool is_first) {
  strbuf_puts(out, is_first ? "\n    {" : ",\n    {");
  for (size_t c = 0; c < COLUMNS; c++) {
    strbuf_puts(out, c ? ",\n     " : "");
    json_text((struct json_writer){out}, columns_of_engines[c].key);
    strbuf_puts(out, ": ");
    json_text((struct json_writer){out}, row[c]);
  }
  strbuf_puts(out, "}");
}

static void put_markdown(struct strbuf *out, const char *const *row) {
  for (size_t c = 0; c < COLUMNS; c++) {
    strbuf_puts(out, "| ");
    markdown_text((struct markdown){out}, row[c]);
    strbuf_puts(out, c + 1 < COLUMNS ? " " : " |\n");
  }
}

static void put_csv(struct strbuf *out, const char *const *row) {
  struct csv csv = {.out = out};
  for (size_t c = 0; c < COLUMNS; c++) csv_text(&csv, row[c]);
  csv_end_line(&csv);
}

hone_status render_engines(struct ctx *ctx, void *user, const char *form, struct strbuf *out) {
  const bool is_json = !strcmp(form, "json"), is_csv = !strcmp(form, "csv");
  const char *row[COLUMNS];
  bool is_first = true;
  (void)user;
  for (size_t c = 0; c < COLUMNS; c++)
    row[c] = is_csv ? columns_of_engines[c].key : columns_of_engines[c].title;
  if (is_json) strbuf_puts(out, "{\n  \"engines\": [");
  if (is_csv) put_csv(out, row);
  if (!is_json && !is_csv) put_markdown(out, row);
  for (size_t c = 0; !is_json && !is_csv && c < COLUMNS; c++)
    strbuf_puts(out, c + 1 < COLUMNS ? "|:--" : "|:--|\n");
  for (size_t i = 0; i < backend_count; i++) {
    char packages[PACKAGES];
    if (!is_listed(i)) continue;
    read_engine(backend_list[i], packages, row);
    if (is_json)
      put_json(out, row, is_first);
    else if (is_csv)
      put_csv(out, row);
    else
      put_markdown(out, row);
    is_first = false;
  }
  if (is_json) strbuf_puts(out, "\n  ]\n}\n");
  return strbuf_finish(ctx, out);
}
