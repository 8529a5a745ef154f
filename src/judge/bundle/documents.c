/* Documents for users and auditors: README, provenance, the recommendation, the study's page,
 * Dockerfile, licences, and the build script of the programs. */
#include "core/format/format.h"
#include "bundle.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

/* -- licences */

/* Copies each matching file of at most 4 MB as licences/FRONT-NAME. */
static hone_status copy_matching(struct bundle *b, const char *pattern, const char *front,
                                 size_t *count) {
  glob_t found = {0};
  hone_status status = HONE_OK;
  if (glob(pattern, 0, NULL, &found)) found.gl_pathc = 0;
  for (size_t i = 0; !status && i < found.gl_pathc; i++) {
    const char *slash = strrchr(found.gl_pathv[i], '/');
    char name[65], place[160];
    struct mapping map;
    /* folders and unreadable files are skipped */
    struct ctx attempt = *b->ctx;
    slug(name, slash ? slash + 1 : found.gl_pathv[i]);
    snprintf(place, sizeof place, "licences/%s-%s", front, name);
    if (file_map(&attempt, found.gl_pathv[i], &map)) continue;
    if (map.size && map.size <= 4000000) {
      status = bundle_put(b, place, (const char *)map.data, map.size, 0644);
      (*count)++;
    }
    file_unmap(&map);
  }
  globfree(&found);
  return status;
}

static void parent_of(char path[4096]) {
  char *slash = strrchr(path, '/');
  if (slash) *slash = 0;
}

static hone_status copy_engine_licences(struct bundle *b, const struct bundle_engine *engine) {
  char package[4096], site[4096], pattern[8400];
  const char *name = engine->adaptor->name;
  size_t count = 0;
  snprintf(package, sizeof package, "%s", engine->library);
  parent_of(package), parent_of(package); /* site-packages/NAME of site-packages/NAME/libs/lib.so */
  snprintf(site, sizeof site, "%s", package);
  parent_of(site);
  const char *const patterns[] = {"%s/LICENSE*", "%s/ThirdPartyNotices*", "%s/licensing/*"};
  const char *const metadata[] = {"%s/%s-*.dist-info/LICENSE*", "%s/%s-*.dist-info/licenses/*",
                                  "%s/%s-*.dist-info/licenses/*/*"};
  for (size_t i = 0; i < COUNT(patterns); i++) {
    snprintf(pattern, sizeof pattern, patterns[i], package);
    TRY(copy_matching(b, pattern, name, &count));
    snprintf(pattern, sizeof pattern, metadata[i], site, name);
    TRY(copy_matching(b, pattern, name, &count));
  }
  if (count) return HONE_OK;
  struct strbuf out = {0};
  strbuf_printf(
      &out,
      "No licence text was found with this %s; the metadata of its package names the licence.\n",
      name);
  snprintf(pattern, sizeof pattern, "licences/%s-unknown.txt", name);
  return bundle_put_text(b, pattern, &out, 0644);
}

static hone_status copy_model_licences(struct bundle *b) {
  static const char *const names[] = {"LICENSE*", "LICENCE*", "COPYING*", "NOTICE*"};
  char folder[4096], pattern[4200];
  size_t count = 0;
  struct strbuf out = {0};
  if (!strncmp(b->request->model_path, "zoo:", 4)) {
    strbuf_puts(&out,
                "The model is a built-in model of hone: made from code with seeded weights, under "
                "hone's licence.\n");
    return bundle_put_text(b, "licences/model.txt", &out, 0644);
  }
  snprintf(folder, sizeof folder, "%s", b->request->model_path);
  if (strchr(folder, '/'))
    parent_of(folder);
  else
    snprintf(folder, sizeof folder, ".");
  for (size_t i = 0; i < COUNT(names); i++) {
    snprintf(pattern, sizeof pattern, "%s/%s", folder, names[i]);
    TRY(copy_matching(b, pattern, "model", &count));
  }
  if (count) return HONE_OK;
  strbuf_puts(
      &out,
      "No licence text was found next to the model's file. Before you distribute this bundle, "
      "add the model's licence:\n"
      "put its text next to the model and run hone again, or ship it with the bundle.\n");
  return bundle_put_text(b, "licences/model-unknown.txt", &out, 0644);
}

/* -- provenance */

static json_t *measured_json(const struct record *r) {
  return json_pack("{s:o, s:[o,o], s:o, s:I, s:I, s:o, s:o, s:i, s:i, s:I}", "latency_ms_p50",
                   json_finite(r->p50_ms), "latency_ms_p50_ci", json_finite(r->p50_lo_ms),
                   json_finite(r->p50_hi_ms), "throughput_per_s", json_finite(r->throughput_per_s),
                   "memory_bytes", (json_int_t)r->worst.rss_steady, "artifact_size_bytes",
                   (json_int_t)r->worst.artifact_bytes, "load_ms", json_finite(r->worst.load_ms),
                   "first_inference_ms", json_finite(r->worst.first_inference_ms), "processes",
                   r->processes, "rounds", r->rounds, "samples", (json_int_t)r->sample_count);
}

static void put_when(char out[32]) {
  const time_t now = (time_t)(clock_unix_ms() / 1000);
  struct tm utc;
  gmtime_r(&now, &utc);
  strftime(out, 32, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

static json_t *one_engine_json(const struct bundle_engine *engine) {
  return json_pack("{s:s, s:s, s:s}", "name", engine->adaptor->name, "version", engine->version,
                   "library_sha256", engine->hash);
}

/* native, the engine, or all engines of a hybrid. */
static json_t *engine_json(const struct bundle *b) {
  if (b->is_native) return json_pack("{s:s, s:s}", "name", "native", "version", HONE_VERSION);
  if (!b->is_hybrid) return one_engine_json(&b->engines[0]);
  json_t *all = json_array();
  for (size_t i = 0; i < b->engine_count; i++)
    json_array_append_new(all, one_engine_json(&b->engines[i]));
  return json_pack("{s:s, s:s, s:o}", "name", "hybrid", "version", HONE_VERSION, "engines", all);
}

static hone_status put_provenance(struct bundle *b) {
  const struct record *r = b->request->choice;
  const char *slash = strrchr(b->request->model_path, '/');
  char compiler[128], when[32];
  TRY(toolchain_describe(b->ctx, b->request->cc, NULL, compiler));
  put_when(when);
  json_error_t error;
  json_t *machine = json_loads(b->request->study->machine_json, 0, &error);
  json_t *engine = engine_json(b);
  json_t *target = b->is_native ? json_pack("{s:s, s:s}", "triple", b->options.target.triple,
                                            "level", b->options.target.level)
                                : json_null();
  json_t *json = json_pack(
      "{s:i, s:s, s:s, s:{s:s, s:s, s:s, s:s}, s:o, s:o, s:{s:s, s:s, s:i, s:i, s:s}, s:s, s:{s:s, "
      "s:s, s:o}, s:o, s:s, s:s}",
      "schema", 1, "made_by", "hone " HONE_VERSION, "made_at", when, "model", "name",
      slash ? slash + 1 : b->request->model_path, "sha256", b->model.sha256, "shapes",
      r->config.shapes, "route", b->route, "engine", engine, "target", target, "how", "variant",
      r->config.variant, "precision", r->config.precision, "threads", r->config.threads, "batch",
      r->config.batch, "options", r->config.options, "compiler", compiler, "study", "key",
      b->request->study->key, "fingerprint", b->request->study->fingerprint, "machine",
      machine ? machine : json_null(), "measured", measured_json(r), "against_reference", b->worst,
      "repeat", r->repeat);
  char *dumped = json ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) : NULL;
  struct strbuf out = {0};
  json_decref(json);
  if (!dumped)
    return fail(b->ctx, HONE_E_FORMAT, place_name(b->request->model_path),
                "its names are not UTF-8 and cannot be written as JSON");
  strbuf_printf(&out, "%s\n", dumped);
  free(dumped);
  return bundle_put_text(b, "provenance.json", &out, 0644);
}

/* -- build script, Dockerfile, README */

static void put_build(struct strbuf *out, const struct bundle *b) {
  strbuf_puts(
      out,
      "#!/bin/sh\n# Builds the programs of this bundle again. Run it in the bundle's folder: "
      "sh src/build.sh OUT\n"
      "set -eu\nout=${1:?usage: sh src/build.sh FOLDER}\ncc=${CC:-cc}\nmkdir -p \"$out\"\n");
  if (b->is_hybrid) {
    strbuf_puts(out, "cp part-* \"$out\"\n"); /* only hone compiles native parts */
    strbuf_puts(out,
                "$cc -std=gnu11 -O2 -s -shared -fPIC -fvisibility=hidden src/hybrid.c -o "
                "\"$out/model.so\" -ldl -pthread\n");
  } else if (!b->is_native)
    strbuf_puts(out,
                "$cc -std=gnu11 -O2 -s -shared -fPIC -fvisibility=hidden src/engine.c -o "
                "\"$out/model.so\" -ldl -pthread\n");
  strbuf_puts(out,
              "$cc -std=gnu11 -O2 -s -shared -fPIC -fvisibility=hidden src/team.c -o "
              "\"$out/libteam.so\" -pthread\n");
  strbuf_printf(out,
                "$cc -std=gnu11 -O2 -s -DHONE_ARTIFACT=model_artifact src/run.c %s -o \"$out/run\" "
                "-ldl -lm -pthread\n",
                b->is_native   ? "model.a"
                : b->is_hybrid ? "src/hybrid.c"
                               : "src/engine.c");
  strbuf_puts(out, "$cc -std=gnu11 -O2 -s src/selftest.c -o \"$out/selftest\" -ldl -lm -pthread\n");
}

/* The value of KEY in os-release(5), as far as it is lower-case letters, digits and dots; "" if
   there is none. */
static void release_fact(const char *text, const char *key, char out[32]) {
  const size_t n = strlen(key);
  out[0] = 0;
  for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
    if (strncmp(line, key, n) || line[n] != '=') continue;
    const char *value = line + n + 1 + strspn(line + n + 1, "\"'");
    snprintf(out, 32, "%.*s", (int)strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789."), value);
  }
}

/* The programs need a C library at least as new as the one they were linked with, so the image
   is the system that they were made on. */
static void put_image(struct bundle *b, struct strbuf *out) {
  static const struct { const char *id, *small; } images[] = {{"debian", "-slim"}, {"ubuntu", ""}};
  char id[32] = "", version[32] = "";
  struct ctx attempt = *b->ctx;
  struct mapping map;
  struct strbuf facts = {0};
  if (!file_map(&attempt, "/etc/os-release", &map)) {
    strbuf_append(&facts, (const char *)map.data, map.size);
    file_unmap(&map);
  }
  release_fact(facts.at ? facts.at : "", "ID", id);
  release_fact(facts.at ? facts.at : "", "VERSION_ID", version);
  strbuf_deinit(&facts);
  for (size_t i = 0; i < COUNT(images); i++)
    if (!strcmp(id, images[i].id) && version[0]) {
      strbuf_printf(out, "FROM %s:%s%s\n", id, version, images[i].small);
      return;
    }
  strbuf_puts(
      out,
      "# Made on another system: if the self-test needs a newer GLIBC, choose a newer image."
      "\nFROM debian:12-slim\n");
}

static void put_docker(struct bundle *b, struct strbuf *out) {
  strbuf_puts(out, b->engine_count ? "# The model and its engine, pinned.\n"
                                   : "# The model, which needs libc only.\n");
  put_image(b, out);
  if (b->engine_count)
    strbuf_puts(
        out,
        "RUN apt-get update && apt-get install -y --no-install-recommends python3-venv && rm "
        "-rf /var/lib/apt/lists/*\n");
  strbuf_puts(out, "COPY . /model\n");
  if (b->engine_count) strbuf_puts(out, "RUN sh /model/install-engine.sh\n");
  strbuf_puts(out, "RUN /model/selftest\nENTRYPOINT [\"/model/run\"]\n");
}

static void put_words(struct strbuf *out, const char *text) {
  struct markdown markdown = {out};
  markdown_text(markdown, text);
}

/* As preformatted Markdown. */
static void put_lines(struct strbuf *out, const char *text) {
  while (*text) {
    char line[600];
    const size_t n = strcspn(text, "\n");
    snprintf(line, sizeof line, "%.*s", (int)(n < 599 ? n : 599), text);
    strbuf_puts(out, "    ");
    strbuf_put_safe(out, line, 600);
    strbuf_puts(out, "\n");
    text += n + (text[n] == '\n');
  }
}

static void put_needs(struct strbuf *out, const struct bundle *b) {
  for (size_t i = 0; i < b->engine_count; i++)
    strbuf_printf(out, "%s%s %s", i ? " and " : "It needs ", b->engines[i].adaptor->name,
                  b->engines[i].version);
  if (b->engine_count)
    strbuf_puts(out,
                " (`requirements.txt`; `sh install-engine.sh` installs it into "
                "`engine/`), and no other version.\n"
                "It searches `$ENGINE_LIBRARY` (paths separated by colons), `engine/`, "
                "the virtual environment, the\nsystem's and the user's packages.\n");
  if (b->is_hybrid)
    strbuf_puts(out,
                "The model is in parts, `part-0.so` and so on, which run one after the other.\n");
  strbuf_puts(out,
              "`model.so` has the same interface as a compiled model (`model.h`); "
              "`src/` has all sources.\n");
}

static void put_readme(struct strbuf *out, const struct bundle *b) {
  const struct record *r = b->request->choice;
  const char *slash = strrchr(b->request->model_path, '/');
  strbuf_puts(out, "# ");
  put_words(out, slash ? slash + 1 : b->request->model_path);
  strbuf_puts(out, ", ready to run\n\n");
  put_lines(out, b->request->advice_text);
  strbuf_printf(
      out,
      "\nMade by hone %s. `provenance.json` has the model, the machine and the measurement, "
      "`study.html` the study,\n"
      "`recommendation.json` every candidate with its reason.\n\n```sh\n./selftest  "
      "                  "
      "# checks every file against MANIFEST, the model against vectors/\n./run",
      HONE_VERSION);
  for (size_t i = 0; i < b->model.graph->inputs.count; i++)
    strbuf_printf(out, " vectors/0/in_%zu.npy", i);
  strbuf_printf(out, " -o OUT --threads %d\npython3 run.py", r->config.threads);
  for (size_t i = 0; i < b->model.graph->inputs.count; i++)
    strbuf_printf(out, " vectors/0/in_%zu.npy", i);
  strbuf_puts(out, " -o OUT\n```\n\n");
  if (b->is_native)
    strbuf_puts(
        out,
        "It needs libc only. `model.so`, `model.a` and `model.c` (with `model.weights`, if the "
        "model has weights) are the\n"
        "same model as shared library, static library and C source; `model.h` has its types, "
        "`src/` the sources of the programs and their build script.\n");
  else
    put_needs(out, b);
  strbuf_puts(
      out,
      "\nThe self-test fails if any byte of any file in MANIFEST changed; it ignores files that "
      "MANIFEST does not name.\n");
}

hone_status bundle_make_documents(struct bundle *b) {
  struct strbuf readme = {0}, docker = {0}, build = {0};
  const struct bundle_request *r = b->request;
  TRY(put_provenance(b));
  TRY(bundle_put(b, "recommendation.json", r->advice_json, strlen(r->advice_json), 0644));
  TRY(bundle_put(b, "study.html", r->page_html, strlen(r->page_html), 0644));
  TRY(bundle_put_embedded(b, "LICENSE", "licences/hone-LICENSE", 0644));
  TRY(copy_model_licences(b));
  for (size_t i = 0; i < b->engine_count; i++) TRY(copy_engine_licences(b, &b->engines[i]));
  if (b->engine_count) {
    struct strbuf install = {0};
    strbuf_puts(
        &install,
        "#!/bin/sh\n# Installs the pinned engine into engine/ of this folder, where model.so finds "
        "it.\nset -eu\n"
        "cd \"$(dirname \"$0\")\"\npython3 -m venv engine\nengine/bin/pip install -r "
        "requirements.txt\n");
    TRY(bundle_put_text(b, "install-engine.sh", &install, 0755));
  }
  put_readme(&readme, b);
  TRY(bundle_put_text(b, "README.md", &readme, 0644));
  put_docker(b, &docker);
  TRY(bundle_put_text(b, "Dockerfile", &docker, 0644));
  put_build(&build, b);
  return bundle_put_text(b, "src/build.sh", &build, 0755);
}
