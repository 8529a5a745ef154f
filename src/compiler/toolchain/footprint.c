/* The memory that an archive needs on a microcontroller: sections of its objects (ELF, System V
 * ABI), and the stack from the compiler's report per function (-fstack-usage).
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <elf.h>
#include <stdlib.h>

/* Sections in memory: read-only ones are flash, the rest RAM, and initialised RAM needs flash as
   well. */
static void add_object(const uint8_t *at, size_t size, struct board_footprint *out) {
  Elf32_Ehdr header;
  if (size < sizeof header) return;
  memcpy(&header, at, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS32) return;
  for (size_t i = 0; i < header.e_shnum; i++) {
    Elf32_Shdr section;
    size_t place = header.e_shoff + i * sizeof section;
    if (place > size || size - place < sizeof section) return;
    memcpy(&section, at + place, sizeof section);
    if (!(section.sh_flags & SHF_ALLOC)) continue;
    if (section.sh_flags & SHF_WRITE) out->ram_bytes += section.sh_size;
    if (section.sh_type != SHT_NOBITS) out->flash_bytes += section.sh_size;
  }
}

/* Members of a System V archive: a header of 60 bytes each, whose bytes 48 to 57 are the size. */
static void add_archive(const struct mapping *file, struct board_footprint *out) {
  enum { MAGIC = 8, HEADER = 60, SIZE_AT = 48, SIZE_DIGITS = 10 };
  for (size_t at = MAGIC; at + HEADER <= file->size;) {
    char digits[SIZE_DIGITS + 1] = "";
    memcpy(digits, file->data + at + SIZE_AT, SIZE_DIGITS);
    size_t size = strtoull(digits, NULL, 10), rest = file->size - at - HEADER;
    if (size > rest) return;
    add_object(file->data + at + HEADER, size, out);
    at += HEADER + size + size % 2;
  }
}

/* Call depth of the functions of a kind: PREFIX_run calls run, that calls next or work, that a
   row of steps, that a step, that a kernel, and that its helpers. */
enum depth {
  DEPTH_ENTRY,
  DEPTH_RUN,
  DEPTH_STAGE,
  DEPTH_ROW,
  DEPTH_STEP,
  DEPTH_KERNEL,
  DEPTH_HELPER,
  DEPTHS
};

static bool is_numbered(const char *name, const char *front) {
  size_t n = strlen(front);
  return !strncmp(name, front, n) && name[n] >= '0' && name[n] <= '9';
}

static enum depth depth_of(const char *name, const char *prefix) {
  if (!strcmp(name, "run")) return DEPTH_RUN;
  if (!strcmp(name, "next") || !strcmp(name, "work")) return DEPTH_STAGE;
  if (is_numbered(name, "row")) return DEPTH_ROW;
  if (is_numbered(name, "s")) return DEPTH_STEP;
  size_t n = strlen(prefix);
  if (!strncmp(name, prefix, n) && !strcmp(name + n, "_run")) return DEPTH_ENTRY;
  return !strncmp(name, prefix, n) && !strncmp(name + n, "_k", 2) ? DEPTH_KERNEL : DEPTH_HELPER;
}

/* "unit0.c:12:6:name\tbytes\tstatic" */
static void add_stack(char *text, const char *prefix, size_t most[DEPTHS]) {
  char *rest = NULL;
  for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    char *tab = strchr(line, '\t'), *name;
    if (!tab) continue;
    *tab = 0;
    name = strrchr(line, ':');
    size_t bytes = strtoull(tab + 1, NULL, 10);
    enum depth depth = depth_of(name ? name + 1 : line, prefix);
    if (bytes > most[depth]) most[depth] = bytes;
  }
}

hone_status footprint_read(struct ctx *ctx, const struct build *build,
                           struct board_footprint *out) {
  char path[4200];
  size_t most[DEPTHS] = {0};
  struct mapping file;
  *out = (struct board_footprint){0};
  snprintf(path, sizeof path, "%s/product", build->directory);
  TRY(file_map(ctx, path, &file));
  add_archive(&file, out);
  file_unmap(&file);
  for (size_t i = 0; i < build->input->unit_count; i++) {
    struct ctx quiet = *ctx; /* a compiler without stack reports */
    snprintf(path, sizeof path, "%s/unit%zu.su", build->directory, i);
    if (file_map(&quiet, path, &file)) continue;
    struct strbuf text = {0};
    strbuf_append(&text, (const char *)file.data, file.size);
    file_unmap(&file);
    hone_status status = strbuf_finish(ctx, &text);
    if (!status && text.at) add_stack(text.at, build->prefix, most);
    strbuf_deinit(&text);
    TRY(status);
  }
  for (size_t d = 0; d < DEPTHS; d++) out->stack_bytes += most[d];
  return HONE_OK;
}
