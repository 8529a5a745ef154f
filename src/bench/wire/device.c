/* Devices by name: how a worker is started there. A table of kinds; the part after the colon
 * depends on the kind (host, architecture, serial number).
 */
#include "transport.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

static hone_status add_word(struct ctx *ctx, struct device *device, const char *word) {
  if (device->word_count == DEVICE_MAX_WORDS || strlen(word) >= sizeof device->words[0])
    return fail(ctx, HONE_E_USAGE, place_name(word), "too long for a device's command");
  snprintf(device->words[device->word_count++], sizeof device->words[0], "%s", word);
  return HONE_OK;
}

static hone_status add_words(struct ctx *ctx, struct device *device, const char *const *words) {
  for (; *words; words++) TRY(add_word(ctx, device, *words));
  return HONE_OK;
}

/* The string is passed to a shell on the device, so it must not have shell characters. */
static hone_status check_generic(struct ctx *ctx, const char *what, const char *word) {
  bool is_plain = word[0] && word[0] != '-';
  for (const char *p = word; *p; p++)
    is_plain = is_plain && (isalnum((unsigned char)*p) || strchr("._-/@:+~[]%", *p));
  if (is_plain) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(word), "is not a valid %s: use letters, digits, ._-/@",
              what);
}

static bool find_in_path(const char *name, char out[256]) {
  const char *path = getenv("PATH");
  for (const char *at = path ? path : ""; *at;) {
    const size_t length = strcspn(at, ":");
    const int n = snprintf(out, 256, "%.*s/%s", (int)length, at, name);
    if (at[0] == '/' && n > 0 && n < 256 && !access(out, X_OK)) return true;
    at += length + (at[length] == ':');
  }
  return false;
}

static hone_status parse_cpu(struct ctx *ctx, const char *rest, const char *program,
                             struct device *out) {
  (void)program, (void)out;
  if (!rest[0]) return HONE_OK;
  return fail(ctx, HONE_E_USAGE, place_name(rest), "the device cpu has no name");
}

/* HONE_SSH replaces the program ssh, as GIT_SSH does for git. */
static hone_status parse_ssh(struct ctx *ctx, const char *rest, const char *program,
                             struct device *out) {
  const char *ssh = getenv("HONE_SSH");
  static const char *const options[] = {"-T",
                                        "-oBatchMode=yes",
                                        "-oServerAliveInterval=5",
                                        "-oServerAliveCountMax=3",
                                        "-oConnectTimeout=20",
                                        NULL};
  TRY(check_generic(ctx, "host", rest));
  TRY(add_word(ctx, out, ssh && ssh[0] ? ssh : "ssh"));
  TRY(add_words(ctx, out, options));
  TRY(add_word(ctx, out, rest));
  return add_word(ctx, out, program ? program : "hone");
}

static hone_status parse_adb(struct ctx *ctx, const char *rest, const char *program,
                             struct device *out) {
  TRY(add_word(ctx, out, "adb"));
  if (rest[0]) {
    TRY(check_generic(ctx, "serial number", rest));
    TRY(add_word(ctx, out, "-s"));
    TRY(add_word(ctx, out, rest));
  }
  TRY(add_word(ctx, out, "shell"));
  TRY(add_word(ctx, out, "-T")); /* no terminal: the streams are binary */
  return add_word(ctx, out, program ? program : "/data/local/tmp/hone");
}

/* Needs a hone built for that instruction set; it compiles with a cross compiler of this
   machine. */
static hone_status parse_qemu(struct ctx *ctx, const char *rest, const char *program,
                              struct device *out) {
  char name[64], path[256], own[64];
  TRY(check_generic(ctx, "architecture", rest));
  snprintf(name, sizeof name, "qemu-%.40s", rest);
  if (!find_in_path(name, path)) {
    snprintf(name, sizeof name, "qemu-%.40s-static", rest);
    if (!find_in_path(name, path))
      return fail(ctx, HONE_E_MISSING, place_name(name),
                  "not in PATH (Debian: apt install qemu-user)");
  }
  TRY(add_word(ctx, out, path));
  snprintf(path, sizeof path, "/usr/%.40s-linux-gnu", rest);
  if (!access(path, R_OK)) {
    TRY(add_word(ctx, out, "-L"));
    TRY(add_word(ctx, out, path));
  }
  snprintf(own, sizeof own, "hone-%.40s", rest);
  if (!program && !find_in_path(own, path))
    return fail(ctx, HONE_E_MISSING, place_name(own),
                "not in PATH: build hone for %s and pass it with --device-hone", rest);
  snprintf(out->environment[0], sizeof out->environment[0], "HONE_CC=%.40s-linux-gnu-gcc", rest);
  return add_word(ctx, out, program ? program : path);
}

static const struct kind {
  const char *name;
  const struct transport *transport;
  hone_status (*parse)(struct ctx *ctx, const char *rest, const char *program, struct device *out);
} kinds[] = {{"cpu", &transport_local, parse_cpu},
             {"ssh", &transport_stream, parse_ssh},
             {"adb", &transport_stream, parse_adb},
             {"qemu", &transport_local, parse_qemu}};

hone_status device_parse(struct ctx *ctx, const char *name, const char *program,
                         struct device *out) {
  const size_t length = strcspn(name, ":");
  if (strlen(name) >= sizeof out->name)
    return fail(ctx, HONE_E_USAGE, place_name(name), "a device's name is too long");
  for (size_t i = 0; i < COUNT(kinds); i++) {
    if (strlen(kinds[i].name) != length || strncmp(name, kinds[i].name, length)) continue;
    *out = (struct device){.transport = kinds[i].transport};
    snprintf(out->name, sizeof out->name, "%s", name);
    const bool is_other = kinds[i].parse != parse_cpu;
    if (is_other && program) TRY(check_generic(ctx, "program", program));
    return kinds[i].parse(ctx, name[length] ? name + length + 1 : "", is_other ? program : NULL,
                          out);
  }
  return fail(ctx, HONE_E_USAGE, place_name(name),
              "unknown device; choose cpu, ssh:HOST, qemu:ARCHITECTURE or adb[:SERIAL]");
}
