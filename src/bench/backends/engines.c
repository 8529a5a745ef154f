/* Engines that hone installed, each in its own virtual environment in the user's data folder, so
 * that their dependencies do not conflict. An installation is complete or absent: it is made under
 * a temporary name and renamed at the end.
 */
#include "core/os/os.h"
#include "backends.h"

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define INSTALL_TIMEOUT_NS (1800ull * 1000000000ull)
#define PATH_SIZE 4096
#define TELL_NS 5000000000ull

static hone_status join(struct ctx *ctx, char out[PATH_SIZE], const char *folder,
                        const char *name) {
  int n = snprintf(out, PATH_SIZE, "%s/%s", folder, name);
  if (n > 0 && n < PATH_SIZE) return HONE_OK;
  return fail(ctx, HONE_E_PATH, place_name(name), "the path of this engine is too long");
}

static hone_status engine_place(struct ctx *ctx, const char *name, char out[PATH_SIZE]) {
  char data[PATH_SIZE], part[128];
  TRY(dir_user(ctx, "data", data));
  snprintf(part, sizeof part, "engines/%s", name);
  return join(ctx, out, data, part);
}

/* --engine may name a container image, "container:IMAGE", which is not supported yet. */
hone_status engine_check_kind(struct ctx *ctx, const char *engine_path) {
  static const char *const places[] = {"/usr/bin/docker", "/usr/bin/podman",
                                       "/usr/local/bin/docker", "/usr/local/bin/podman"};
  bool is_here = false;
  if (!engine_path || strncmp(engine_path, "container:", 10) != 0) return HONE_OK;
  for (size_t i = 0; i < COUNT(places); i++) is_here = is_here || !access(places[i], X_OK);
  return fail(ctx, is_here ? HONE_E_UNSUP : HONE_E_MISSING, place_name(engine_path),
              is_here ? "container images are not supported as environments yet; name a "
                        "virtual environment or a folder"
                      : "a container image needs a container engine (docker, "
                        "podman), and none is installed");
}

hone_status engine_dir(struct ctx *ctx, const char *name, char out[PATH_SIZE]) {
  TRY(engine_place(ctx, name, out));
  struct stat info;
  if (!stat(out, &info) && S_ISDIR(info.st_mode)) return HONE_OK;
  return fail(ctx, HONE_E_MISSING, place_name(name), "not installed; hone backends install %s",
              name);
}

/* The folder is literal; only the pattern has wildcards. */
static bool first_match(const char *folder, const char *pattern, char out[PATH_SIZE]) {
  struct strbuf text = {0};
  for (const char *p = folder; *p; p++) {
    if (strchr("*?[]\\{}~", *p)) strbuf_puts(&text, "\\");
    strbuf_append(&text, p, 1);
  }
  strbuf_printf(&text, "/%s", pattern);
  glob_t found = {0};
  bool is_found = !text.failed && !glob(text.at, 0, NULL, &found) && found.gl_pathc > 0 &&
                  strlen(found.gl_pathv[0]) < PATH_SIZE;
  if (is_found) snprintf(out, PATH_SIZE, "%s", found.gl_pathv[0]);
  globfree(&found);
  strbuf_deinit(&text);
  return is_found;
}

/* In a virtual environment, an unpacked wheel, an install prefix or a build folder. */
static bool find_below(const char *folder, const char *pattern, char out[PATH_SIZE]) {
  static const char *const parents[] = {"lib/python3*/site-packages/", "", "lib/", "lib64/"};
  const char *slash = strrchr(pattern, '/');
  const char *base = slash ? slash + 1 : pattern;
  for (size_t i = 0; i < COUNT(parents); i++) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", parents[i], pattern);
    if (first_match(folder, full, out)) return true;
    snprintf(full, sizeof full, "%s%s", parents[i], base);
    if (first_match(folder, full, out)) return true;
  }
  return false;
}

hone_status engine_file(struct ctx *ctx, const char *name, const char *engine_path,
                        const char *pattern, char out[PATH_SIZE]) {
  struct stat info;
  TRY(engine_check_kind(ctx, engine_path));
  if (engine_path && !stat(engine_path, &info) && S_ISREG(info.st_mode)) {
    if (realpath(engine_path, out)) return HONE_OK;
    return fail(ctx, HONE_E_IO, place_file(engine_path), "%s", strerror(errno));
  }
  char folder[PATH_SIZE];
  if (engine_path) {
    if (!realpath(engine_path, folder))
      return fail(ctx, HONE_E_MISSING, place_file(engine_path), "cannot find the engine: %s",
                  strerror(errno));
  } else {
    TRY(engine_dir(ctx, name, folder));
  }
  if (find_below(folder, pattern, out)) return HONE_OK;
  return fail(ctx, HONE_E_MISSING, place_file(folder), "holds no %s; hone backends install %s",
              pattern, name);
}

int64_t engine_mapped_bytes(const char *library) {
  char line[PATH_SIZE + 256], last[PATH_SIZE] = "", real[PATH_SIZE] = "";
  const char *slash = realpath(library, real) ? strrchr(real, '/') : NULL;
  FILE *maps = fopen("/proc/self/maps", "re");
  int64_t bytes = 0;
  if (!maps || !slash) {
    if (maps) fclose(maps);
    return -1;
  }
  size_t length = (size_t)(slash - real) + 1;
  while (fgets(line, sizeof line, maps)) {
    line[strcspn(line, "\n")] = 0;
    const char *path = strchr(line, '/');
    struct stat info;
    /* the mappings of one file are adjacent */
    if (!path || strncmp(path, real, length) || !strcmp(path, last)) continue;
    snprintf(last, sizeof last, "%.*s", (int)sizeof last - 1, path);
    if (!stat(path, &info)) bytes += (int64_t)info.st_size;
  }
  fclose(maps);
  return bytes ? bytes : -1;
}

/* -- installation */

struct install {
  const struct backend *backend;
  const char *folder; /* being installed */
  void (*progress)(void *user, const char *line);
  void *user;
  uint64_t start_ns, told_ns;
};

static void PRINTF(2, 3) tell(const struct install *install, const char *format, ...) {
  char line[PATH_SIZE + 256];
  va_list args;
  if (!install->progress) return;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  install->progress(install->user, line);
}

/* Reports progress every few seconds, because pip prints at its end. Never cancels. */
static bool tell_progress(const void *user) {
  struct install *install = (struct install *)(uintptr_t)user;
  const uint64_t now = clock_ns();
  char bytes[32];
  if (now - install->told_ns < TELL_NS) return false;
  install->told_ns = now;
  format_bytes(bytes, (double)dir_bytes(install->folder));
  tell(install, "%s: %s of about %d MB on disk after %.0f s", install->backend->name, bytes,
       install->backend->package_mb, (double)(now - install->start_ns) / 1e9);
  return false;
}

static hone_status run_step(struct ctx *ctx, const struct install *install, const char *const *argv,
                            const char *hint) {
  struct process_options options = {.argv = argv,
                                    .fd_in = -1,
                                    .fd_out = -1,
                                    .timeout_ns = INSTALL_TIMEOUT_NS,
                                    .cancelled = tell_progress,
                                    .user = install};
  struct process_result result;
  TRY(process_run(ctx, &options, &result));
  hone_status status = HONE_OK;
  if (result.timed_out)
    status = fail(ctx, HONE_E_TIMEOUT, place_name(argv[0]), "the installation took too long");
  else if (result.exit_code != 0) {
    const char *words = result.output.at ? result.output.at : "";
    size_t length = strlen(words);
    status = fail(ctx, HONE_E_MISSING, place_name(argv[0]), "%s: %s", hint,
                  length > 600 ? words + length - 600 : words);
  }
  strbuf_deinit(&result.output);
  return status;
}

static hone_status run_pip(struct ctx *ctx, const struct install *install, const char *requirements,
                           bool is_alone) {
  char python[PATH_SIZE];
  TRY(join(ctx, python, install->folder, "bin/python"));
  const char *pip[40] = {python,          "-m",         "pip",
                         "install",       "--no-input", "--no-cache-dir",
                         "--only-binary", ":all:",      "--disable-pip-version-check"};
  size_t count = 9;
  if (is_alone) pip[count++] = "--no-deps";
  if (install->backend->from_source) {
    pip[count++] = "--no-binary";
    pip[count++] = install->backend->from_source;
  }
  pip[count++] = "--";
  char *packages = strdup(requirements), *rest = packages;
  if (!packages) return fail(ctx, HONE_E_OOM, place_none(), "no memory for package names");
  for (char *one; count < COUNT(pip) - 1 && (one = strsep(&rest, " "));) pip[count++] = one;
  hone_status status = run_step(ctx, install, pip, "pip could not install it");
  free(packages);
  return status;
}

static hone_status fill_environment(struct ctx *ctx, const struct install *install) {
  const struct backend *backend = install->backend;
  const char *folder = install->folder;
  const char *create[] = {"python3", "-m", "venv", "--clear", folder, NULL};
  TRY(run_step(ctx, install, create, "no virtual environment (Debian: apt install python3-venv)"));
  /* without dependencies if its library is called from C: its Python requirements are not used */
  TRY(run_pip(ctx, install, backend->package, !backend->worker));
  return backend->package_alone ? run_pip(ctx, install, backend->package_alone, true) : HONE_OK;
}

/* Replaces `from` by `to` in a script; writes it only if that changes it. */
static hone_status update_script(struct ctx *ctx, const char *path, const char *from,
                                 const char *to) {
  struct mapping file;
  struct strbuf text = {0};
  TRY(file_map(ctx, path, &file));
  const char *at = (const char *)file.data, *end = at + file.size;
  for (const char *found; (found = memmem(at, (size_t)(end - at), from, strlen(from)));) {
    strbuf_append(&text, at, (size_t)(found - at));
    strbuf_puts(&text, to);
    at = found + strlen(from);
  }
  const bool is_other = at != (const char *)file.data;
  if (is_other) strbuf_append(&text, at, (size_t)(end - at));
  hone_status status = is_other ? strbuf_finish(ctx, &text) : HONE_OK;
  if (!status && is_other) status = file_write_atomic(ctx, path, text.at, text.length, 0755);
  strbuf_deinit(&text);
  file_unmap(&file);
  return status;
}

/* Scripts of an environment have the interpreter's path, which changes with the renaming. */
static hone_status update_scripts(struct ctx *ctx, const char *from, const char *to) {
  enum { LONGEST_SCRIPT = 1 << 20 };
  char folder[PATH_SIZE], path[PATH_SIZE];
  TRY(join(ctx, folder, from, "bin"));
  DIR *dir = opendir(folder);
  if (!dir) return fail(ctx, HONE_E_IO, place_file(folder), "%s", strerror(errno));
  hone_status status = HONE_OK;
  for (struct dirent *entry; !status && (entry = readdir(dir));) {
    struct stat info;
    status = join(ctx, path, folder, entry->d_name);
    if (!status && !lstat(path, &info) && S_ISREG(info.st_mode) && info.st_size < LONGEST_SCRIPT)
      status = update_script(ctx, path, from, to);
  }
  closedir(dir);
  return status;
}

hone_status engine_install(struct ctx *ctx, const struct backend *backend,
                           void (*progress)(void *user, const char *line), void *user) {
  if (!backend->package)
    return fail(ctx, HONE_E_USAGE, place_name(backend->name),
                "is part of hone, nothing to install");
  char place[PATH_SIZE], temporary[PATH_SIZE + 32], parent[PATH_SIZE];
  TRY(engine_place(ctx, backend->name, place));
  snprintf(parent, sizeof parent, "%.*s", (int)(strrchr(place, '/') - place), place);
  TRY(dir_create(ctx, parent));
  snprintf(temporary, sizeof temporary, "%s/.new-%s-%d", parent, backend->name, (int)getpid());
  const uint64_t now = clock_ns();
  struct install install = {backend, temporary, progress, user, now, now};
  char bytes[32];
  tell(&install, "%s: needs about %d MB in %s", backend->package, backend->package_mb, parent);
  hone_status status = fill_environment(ctx, &install);
  if (!status) status = update_scripts(ctx, temporary, place);
  if (!status) {
    /* a new installation replaces the old one when it is complete */
    dir_remove_tree(place);
    if (rename(temporary, place))
      status = fail(ctx, HONE_E_WRITE, place_file(place), "%s", strerror(errno));
  }
  if (status) {
    dir_remove_tree(temporary);
    return status;
  }
  format_bytes(bytes, (double)dir_bytes(place));
  tell(&install, "%s: takes %s in %s, made in %.0f s", backend->name, bytes, place,
       (double)(clock_ns() - now) / 1e9);
  return HONE_OK;
}

hone_status engine_remove(struct ctx *ctx, const struct backend *backend) {
  char place[PATH_SIZE];
  TRY(engine_dir(ctx, backend->name, place));
  dir_remove_tree(place);
  struct stat info;
  if (lstat(place, &info)) return HONE_OK;
  return fail(ctx, HONE_E_WRITE, place_file(place), "could not be removed");
}
