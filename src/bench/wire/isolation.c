/* The environment of a worker. Packages of engines do more than run models: some install further
 * packages with the first `pip` in PATH, report usage to their makers, or keep caches in the home
 * folder. So a worker has a temporary home folder, its engine's programs first in PATH and no
 * installers, package managers without an index, and switches that turn reporting off. It has no
 * network if the kernel permits a namespace (src/core/os/process.c).
 *
 * Variables that the user sets for a configuration (--backend-option NAME.env.VARIABLE=VALUE) take
 * precedence.
 */
#include "transport.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const installers[] = {"pip",   "pip3",  "pipx",       "uv",          "uvx",
                                         "conda", "mamba", "micromamba", "easy_install"};

static const char *const switches[] = {
    "DO_NOT_TRACK=1",
    "DISABLE_TELEMETRY=1",
    "HF_HUB_DISABLE_TELEMETRY=1",
    "HF_HUB_OFFLINE=1",
    "HF_DATASETS_OFFLINE=1",
    "TRANSFORMERS_OFFLINE=1",
    "WANDB_MODE=disabled",
    "YOLO_OFFLINE=true",
    "PIP_NO_INDEX=1",
    "PIP_NO_INPUT=1",
    "PIP_REQUIRE_VIRTUALENV=1",
    "PIP_DISABLE_PIP_VERSION_CHECK=1",
    "PIP_CONFIG_FILE=/dev/null",
    "PIP_FIND_LINKS=",
    "PIP_INDEX_URL=",
    "UV_OFFLINE=1",
    "CONDA_OFFLINE=true",
    "PYTHONNOUSERSITE=1",
};

/* In the temporary home folder. hone's own cache and engines stay in place. */
static const char *const folders[][2] = {{"HOME", ""},
                                         {"XDG_CACHE_HOME", "/.cache"},
                                         {"XDG_CONFIG_HOME", "/.config"},
                                         {"XDG_DATA_HOME", "/.local/share"}};
static const char *const own_folders[][2] = {{"HONE_CACHE_HOME", "cache"},
                                             {"HONE_DATA_HOME", "data"}};

static bool is_given(const struct worker_spec *spec, const char *entry) {
  const size_t length = strcspn(entry, "=") + 1;
  for (size_t i = 0; spec->environment && spec->environment[i]; i++)
    if (!strncmp(spec->environment[i], entry, length)) return true;
  return false;
}

static void add(struct isolation *out, const struct worker_spec *spec, const char *entry) {
  if (!is_given(spec, entry)) out->environment[out->count++] = entry;
}

/* Makes programs of these names that fail. */
static hone_status make_installers(struct ctx *ctx, struct arena *arena, const char *dir) {
  const char *path;
  TRY(arena_printf(ctx, arena, &path, "%s/bin", dir));
  TRY(dir_create(ctx, path));
  for (size_t i = 0; i < COUNT(installers); i++) {
    TRY(arena_printf(ctx, arena, &path, "%s/bin/%s", dir, installers[i]));
    if (symlink("/bin/false", path) && errno != EEXIST)
      return fail(ctx, HONE_E_WRITE, place_file(path), "%s", strerror(errno));
  }
  return HONE_OK;
}

/* Adds the folder of the engine's interpreter, if it has one. */
static hone_status add_path(struct ctx *ctx, struct arena *arena, const struct worker_spec *spec,
                            struct isolation *out) {
  const struct backend *backend = spec->backend ? backend_find(spec->backend) : NULL;
  char python[4096] = "";
  struct ctx quiet;
  ctx_init(&quiet);
  const bool has_environment = backend && backend->package &&
                               !engine_python(&quiet, backend->name, spec->engine_path, python) &&
                               python[0] == '/';
  if (has_environment) *strrchr(python, '/') = 0;
  return arena_printf(ctx, arena, &out->path_first, "%s/bin%s%s", spec->dir,
                      has_environment ? ":" : "", has_environment ? python : "");
}

static hone_status add_own_folders(struct ctx *ctx, struct arena *arena,
                                   const struct worker_spec *spec, struct isolation *out) {
  char own[4096];
  const char *entry;
  for (size_t i = 0; i < COUNT(own_folders); i++) {
    struct ctx quiet;
    ctx_init(&quiet);
    if (dir_user_name(&quiet, own_folders[i][1], own)) continue;
    *strrchr(own, '/') = 0; /* "/hone" is added again */
    TRY(arena_printf(ctx, arena, &entry, "%s=%s", own_folders[i][0], own));
    add(out, spec, entry);
  }
  return HONE_OK;
}

hone_status isolation_make(struct ctx *ctx, struct arena *arena, const struct worker_spec *spec,
                           struct isolation *out) {
  const char *entry, *home;
  *out = (struct isolation){.count = 0};
  TRY(arena_printf(ctx, arena, &home, "%s/home", spec->dir));
  TRY(dir_create(ctx, home));
  TRY(make_installers(ctx, arena, spec->dir));
  TRY(add_own_folders(ctx, arena, spec, out));
  for (size_t i = 0; i < COUNT(folders); i++) {
    TRY(arena_printf(ctx, arena, &entry, "%s=%s%s", folders[i][0], home, folders[i][1]));
    add(out, spec, entry);
  }
  for (size_t i = 0; i < COUNT(switches); i++) add(out, spec, switches[i]);
  for (size_t i = 0; spec->environment && spec->environment[i] && out->count < ISOLATION_MAX - 1;
       i++)
    out->environment[out->count++] = spec->environment[i];
  return add_path(ctx, arena, spec, out);
}
