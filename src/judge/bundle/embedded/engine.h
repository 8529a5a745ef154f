/* Shared by the adaptors of engines, which give a model in an engine the ABI of a compiled model (artifact.h). The pinned
 * engine is searched in $ENGINE_LIBRARY, in engine/ of the bundle, in the virtual environment, and in the system's and the
 * user's Python packages. Only the measured version is accepted.
 */
#ifndef BUNDLE_ENGINE_H
#define BUNDLE_ENGINE_H

#define _GNU_SOURCE
#include "artifact.h"
#ifdef ENGINE_PORTS /* for one part of a hybrid */
#include ENGINE_PORTS
#else
#include "ports.h"
#endif

#include <dlfcn.h>
#include <fnmatch.h>
#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENGINE_FAILED = 20, ENGINE_PATH = 4096 };

/* The folder of this library. */
static int engine_folder(char out[ENGINE_PATH]) {
  static const char here;
  Dl_info info;
  if (!dladdr(&here, &info) || !info.dli_fname || strlen(info.dli_fname) >= ENGINE_PATH) return 0;
  snprintf(out, ENGINE_PATH, "%s", info.dli_fname);
  char *slash = strrchr(out, '/');
  if (!slash)
    snprintf(out, ENGINE_PATH, ".");
  else
    *slash = 0;
  return 1;
}

static int engine_glob(const char *folder, const char *rest, char out[ENGINE_PATH]) {
  static const char *const packages[] = {"lib/python3*/site-packages", "lib/python3*/dist-packages",
                                         "lib/python3/dist-packages"};
  char pattern[3 * ENGINE_PATH];
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
    glob_t found = {0};
    snprintf(pattern, sizeof pattern, "%s/%s/%s", folder, packages[i], rest);
    int ok = !glob(pattern, 0, NULL, &found) && found.gl_pathc && strlen(found.gl_pathv[0]) < ENGINE_PATH;
    if (ok) snprintf(out, ENGINE_PATH, "%s", found.gl_pathv[0]);
    globfree(&found);
    if (ok) return 1;
  }
  return 0;
}

/* The path in the list "a:b" whose file name matches that of `rest`. */
static int engine_named(const char *list, const char *rest, char out[ENGINE_PATH]) {
  const char *pattern = strrchr(rest, '/') ? strrchr(rest, '/') + 1 : rest;
  for (const char *at = list; at && *at; at += strcspn(at, ":"), at += *at == ':') {
    const size_t n = strcspn(at, ":");
    if (n >= ENGINE_PATH) continue;
    snprintf(out, ENGINE_PATH, "%.*s", (int)n, at);
    const char *base = strrchr(out, '/') ? strrchr(out, '/') + 1 : out;
    if (!fnmatch(pattern, base, 0) || !list[strcspn(list, ":")]) return 1;
  }
  return 0;
}

/* rest: a glob pattern below site-packages. */
static void *engine_open(const char *folder, const char *rest) {
  const char *named = getenv("ENGINE_LIBRARY"), *environment = getenv("VIRTUAL_ENV"), *home = getenv("HOME");
  char path[ENGINE_PATH] = "", place[2 * ENGINE_PATH];
  int found = 0;
  found = named && engine_named(named, rest, path);
  snprintf(place, sizeof place, "%s/engine", folder);
  found = found || engine_glob(place, rest, path);
  found = found || (environment && engine_glob(environment, rest, path));
  found = found || engine_glob("/usr/local", rest, path) || engine_glob("/usr", rest, path);
  snprintf(place, sizeof place, "%s/.local", home ? home : "");
  found = found || (home && engine_glob(place, rest, path));
  if (!found) {
    fprintf(stderr, "%s was not found: pip install -r requirements.txt, or run install-engine.sh\n", ENGINE_PIN);
    return NULL;
  }
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) fprintf(stderr, "%s\n", dlerror());
  return library;
}

/* "2026.4.1-21512-..." is version 2026.4.1. */
static int engine_is_pinned(const char *version) {
  size_t n = strcspn(version, "-");
  if (n == strlen(ENGINE_VERSION) && !strncmp(version, ENGINE_VERSION, n)) return 1;
  fprintf(stderr, "version %s was found; this model was measured with %s\n", version, ENGINE_PIN);
  return 0;
}

#ifndef ENGINE_OWN_ARTIFACT
static int32_t engine_run(const void *weights, void *arena, const struct hone_io *io, const struct hone_team *team);

__attribute__((visibility("default"))) const struct hone_artifact_info *model_artifact(void) {
  static const struct hone_artifact_info info = {.abi = HONE_ARTIFACT_ABI,
                                                 .build_id = ENGINE_BUILD_ID,
                                                 .generator = ENGINE_GENERATOR,
                                                 .arena_bytes = 64,
                                                 .input_count = ENGINE_INPUTS,
                                                 .output_count = ENGINE_OUTPUTS,
                                                 .inputs = engine_inputs,
                                                 .outputs = engine_outputs,
                                                 .run = engine_run};
  return &info;
}
#endif

static size_t engine_bytes(const struct hone_io_info *io) {
  static const unsigned char widths[17] = {0, 4, 1, 1, 2, 2, 4, 8, 0, 1, 2, 8, 4, 8, 0, 0, 2};
  size_t bytes = io->dtype >= 0 && io->dtype < 17 ? widths[io->dtype] : 0;
  for (int32_t d = 0; d < io->rank; d++) bytes *= (size_t)io->dims[d];
  return bytes;
}

static void report_shapes(const struct hone_io *io, int32_t i) {
  if (io->output_dims && io->output_dims[i])
    memcpy(io->output_dims[i], engine_outputs[i].dims, (size_t)engine_outputs[i].rank * sizeof(int64_t));
}

#endif
