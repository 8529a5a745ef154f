/* Routes of a model to an engine: "onnx", "tflite", "pt2" or "gguf" is the user's file, by its format
 * ("onnx" if requested explicitly, for any format); FORM-hone is a conversion by hone
 * (src/compiler/export/formats.c).
 */
#include "core/os/os.h"
#include "backends.h"

#include <sys/stat.h>

static const struct export_form *form_of_route(const char *route) {
  for (size_t i = 0; i < export_form_count; i++) {
    const size_t n = strlen(export_forms[i].name);
    if (!strncmp(route, export_forms[i].name, n) && !strcmp(route + n, "-hone"))
      return &export_forms[i];
  }
  return NULL;
}

bool route_is_hones(const char *route) { return form_of_route(route) != NULL; }

void backend_route(const struct backend *backend, const char *format, const char *asked,
                   char out[64]) {
  const char *first = backend->routes ? backend->routes : "onnx";
  snprintf(out, 64, "onnx");
  if (asked && backend_knows_route(backend, asked))
    snprintf(out, 64, "%s", asked);
  else if ((!strcmp(format, "pt2") || !strcmp(format, "gguf")) && !backend_reads(backend, format) &&
           backend_knows_route(backend, "onnx-hone"))
    /* few engines read these formats: hone writes ONNX */
    snprintf(out, 64, "onnx-hone");
  else if (!backend_reads(backend, format))
    snprintf(out, 64, "%.*s", (int)strcspn(first, " "), first);
  if (!route_is_hones(out)) snprintf(out, 64, "%s", format);
}

static hone_status convert(struct ctx *ctx, const struct export_form *form, struct model *model,
                           const char *path) {
  struct strbuf bytes = {0};
  TRY(passes_run_named(ctx, model->graph, form->passes));
  hone_status status = form->put(ctx, model->graph, &bytes);
  if (!status) status = file_write_atomic(ctx, path, bytes.at, bytes.length, 0600);
  strbuf_deinit(&bytes);
  return status;
}

hone_status route_convert(struct ctx *ctx, const char *route, struct backend_request *request,
                          struct backend_facts *facts, char out[4096]) {
  const struct export_form *form = form_of_route(route);
  const struct import_options import = {.shapes = request->shapes};
  const uint64_t start = clock_ns();
  struct model model;
  struct stat info;
  if (!form) return HONE_OK;
  if (request->grows)
    return fail(ctx, HONE_E_UNSUP, place_name(route),
                "hone cannot convert a model with growing sizes for this route");
  const int n = snprintf(out, 4096, "%s/hone%s", request->work_dir, form->ending);
  if (n >= 4096) return fail(ctx, HONE_E_PATH, place_none(), "the worker's folder is too long");
  TRY(model_load(ctx, request->model_path, &import, &model));
  const hone_status status = convert(ctx, form, &model, out);
  model_unload(&model);
  TRY(status);
  request->model_path = out;
  facts->import_ms = (double)(clock_ns() - start) / 1e6;
  facts->rss_import = resident_bytes();
  facts->route_bytes = stat(out, &info) ? 0 : (int64_t)info.st_size;
  return HONE_OK;
}
