/* Loader: opens a compiled .so, checks that it is complete (checksum.c), has this ABI and matches
 * its weights (weights.c), and makes the arena of its first run (arenas.c).
 *
 * An artifact is code: it is loaded only because the user named it. A damaged file is an error; a
 * hostile one is not defended against.
 *
 * Invariant: on failure nothing stays open; on success every pointer of struct loaded stays valid
 * until artifact_unload.
 */
#include "core/os/os.h"
#include "run_internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>

#define DEFAULT_SYMBOL "hone_model_artifact"
#define SYMBOL_ENDING "_artifact"
#define MAX_SYMBOL 128
#define MAX_IO 65536

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#elif defined(__riscv)
#define THIS_MACHINE EM_RISCV
#else
#define THIS_MACHINE EM_NONE
#endif

/* dlopen maps what the headers declare, and a truncated file would end the process by SIGBUS. */
static hone_status check_library(struct ctx *ctx, const char *path, const struct mapping *file) {
  Elf64_Ehdr header;
  if (file->size < sizeof header)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "not a shared library");
  memcpy(&header, file->data, sizeof header);
  if (memcmp(header.e_ident, ELFMAG, SELFMAG) || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_type != ET_DYN || header.e_phentsize != sizeof(Elf64_Phdr))
    return fail(ctx, HONE_E_FORMAT, place_file(path), "not a shared library");
  if (header.e_machine != THIS_MACHINE)
    return fail(ctx, HONE_E_UNSUP, place_file(path), "compiled for another kind of processor");
  size_t table = (size_t)header.e_phnum * sizeof(Elf64_Phdr), end;
  if (!checked_add((size_t)header.e_phoff, table, &end) || end > file->size)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "the library is truncated");
  for (size_t i = 0; i < header.e_phnum; i++) {
    Elf64_Phdr segment;
    memcpy(&segment, file->data + header.e_phoff + i * sizeof segment, sizeof segment);
    if (!checked_add((size_t)segment.p_offset, (size_t)segment.p_filesz, &end) || end > file->size)
      return fail(ctx, HONE_E_FORMAT, place_file(path), "the library is truncated");
  }
  return HONE_OK;
}

static size_t later(size_t a, size_t offset, size_t bytes) {
  size_t end;
  return checked_add(offset, bytes, &end) && end > a ? end : a;
}

/* The end of everything that the headers name; a seal comes after it. */
static size_t library_end(const struct mapping *file) {
  Elf64_Ehdr header;
  Elf64_Shdr section;
  memcpy(&header, file->data, sizeof header);
  const size_t table = (size_t)header.e_shnum * sizeof section;
  size_t end = later(0, (size_t)header.e_phoff, (size_t)header.e_phnum * sizeof(Elf64_Phdr));
  if (header.e_shentsize != sizeof section || later(0, (size_t)header.e_shoff, table) > file->size)
    return end;
  end = later(end, (size_t)header.e_shoff, table);
  for (size_t i = 0; i < header.e_shnum; i++) {
    memcpy(&section, file->data + header.e_shoff + i * sizeof section, sizeof section);
    if (section.sh_type != SHT_NOBITS)
      end = later(end, (size_t)section.sh_offset, (size_t)section.sh_size);
  }
  return end;
}

/* For a library linked by hone. One that ends with its last section was linked by other tools. */
static hone_status check_seal(struct ctx *ctx, const char *path, const struct mapping *file) {
  struct hone_artifact_seal seal = {0};
  const size_t end = library_end(file), rest = file->size > end ? file->size - end : 0;
  if (rest >= sizeof seal) memcpy(&seal, file->data + file->size - sizeof seal, sizeof seal);
  const bool is_sealed = !memcmp(seal.magic, HONE_ARTIFACT_SEAL, sizeof seal.magic);
  if (!is_sealed && (!rest || rest > sizeof seal)) return HONE_OK;
  if (!is_sealed || seal.bytes != file->size - sizeof seal)
    return advise(
        ctx, fail(ctx, HONE_E_FORMAT, place_file(path), "damaged: its end is not what hone wrote"),
        "restore the file, or compile the model again");
  return checksum_check(ctx, path, file, (size_t)seal.bytes, seal.checksum);
}

/* True if the name ends in "_artifact" and is the first such name; a second one makes the result
   empty. */
static bool take_symbol(const char *name, char out[MAX_SYMBOL]) {
  size_t length = strlen(name), ending = strlen(SYMBOL_ENDING);
  if (length < ending || length >= MAX_SYMBOL || strcmp(name + length - ending, SYMBOL_ENDING))
    return true;
  bool first = !out[0];
  memcpy(out, name, length + 1);
  return first;
}

/* The one exported function PREFIX_artifact, for any prefix; "" if there is none or several. */
static void find_symbol(const struct mapping *file, char out[MAX_SYMBOL]) {
  Elf64_Ehdr header;
  Elf64_Shdr symbols = {0}, names = {0};
  out[0] = 0;
  memcpy(&header, file->data, sizeof header);
  size_t end;
  if (header.e_shentsize != sizeof symbols ||
      !checked_add((size_t)header.e_shoff, header.e_shnum * sizeof symbols, &end) ||
      end > file->size)
    return;
  const uint8_t *table = file->data + header.e_shoff;
  for (size_t i = 0; i < header.e_shnum && symbols.sh_type != SHT_DYNSYM; i++)
    memcpy(&symbols, table + i * sizeof symbols, sizeof symbols);
  if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= header.e_shnum) return;
  memcpy(&names, table + symbols.sh_link * sizeof names, sizeof names);
  if (!checked_add((size_t)symbols.sh_offset, (size_t)symbols.sh_size, &end) || end > file->size ||
      !checked_add((size_t)names.sh_offset, (size_t)names.sh_size, &end) || end > file->size ||
      !names.sh_size || file->data[end - 1])
    return;
  for (size_t i = 0; i < symbols.sh_size / sizeof(Elf64_Sym); i++) {
    Elf64_Sym symbol;
    memcpy(&symbol, file->data + symbols.sh_offset + i * sizeof symbol, sizeof symbol);
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC ||
        symbol.st_name >= names.sh_size)
      continue;
    if (take_symbol((const char *)file->data + names.sh_offset + symbol.st_name, out)) continue;
    out[0] = 0;
    return;
  }
}

static hone_status open_library(struct ctx *ctx, const char *path, void **out,
                                char symbol[MAX_SYMBOL]) {
  struct mapping file;
  TRY(file_map(ctx, path, &file));
  hone_status status = check_library(ctx, path, &file);
  if (!status) status = check_seal(ctx, path, &file);
  if (!status) find_symbol(&file, symbol);
  file_unmap(&file);
  if (status) return status;
  /* dlopen would search a name without a slash in the system's folders */
  char *absolute = realpath(path, NULL);
  if (!absolute) return fail(ctx, HONE_E_NOFILE, place_file(path), "cannot resolve its path");
  *out = dlopen(absolute, RTLD_NOW | RTLD_LOCAL);
  free(absolute);
  if (*out) return HONE_OK;
  const char *words = dlerror();
  return fail(ctx, HONE_E_FORMAT, place_file(path), "cannot load it: %s", words ? words : "?");
}

static hone_status check_io(struct ctx *ctx, const char *path, const struct hone_io_info *io,
                            int32_t count) {
  if (count < 0 || count > MAX_IO || (count && !io))
    return fail(ctx, HONE_E_FORMAT, place_file(path), "damaged table of inputs or outputs");
  for (int32_t i = 0; i < count; i++) {
    bool ok = io[i].name && io[i].rank >= 0 && io[i].rank <= HONE_MAX_RANK &&
              (!io[i].rank || (io[i].dims && io[i].extents)) &&
              (io[i].dtype == HONE_STRING || dtype_bits((hone_dtype)io[i].dtype));
    for (int32_t d = 0; ok && d < io[i].rank; d++) ok = io[i].dims[d] >= 0 && io[i].extents[d] >= 0;
    if (!ok) return fail(ctx, HONE_E_FORMAT, place_file(path), "damaged input or output %d", i);
  }
  return HONE_OK;
}

static hone_status find_info(struct ctx *ctx, const char *path, const char *symbol,
                             struct loaded *out) {
  const struct hone_artifact_info *(*entry)(void);
  void *address = dlsym(out->library, symbol);
  if (!address)
    return fail(ctx, HONE_E_FORMAT, place_file(path),
                "no symbol %s: not compiled by hone, or with another --prefix", symbol);
  memcpy(&entry, &address, sizeof entry);
  const struct hone_artifact_info *info = entry();
  if (!info) return fail(ctx, HONE_E_FORMAT, place_file(path), "%s returns nothing", symbol);
  if (info->abi != HONE_ARTIFACT_ABI)
    return fail(ctx, HONE_E_UNSUP, place_file(path),
                "artifact ABI %u, but this hone needs %d: compile the model again", info->abi,
                HONE_ARTIFACT_ABI);
  if (!info->run || !info->build_id || strnlen(info->build_id, 33) != 32)
    return fail(ctx, HONE_E_FORMAT, place_file(path), "damaged artifact description");
  TRY(check_io(ctx, path, info->inputs, info->input_count));
  TRY(check_io(ctx, path, info->outputs, info->output_count));
  out->info = info;
  return HONE_OK;
}

hone_status artifact_load(struct ctx *ctx, const char *path, const char *symbol,
                          struct loaded *out) {
  memset(out, 0, sizeof *out);
  char found[MAX_SYMBOL];
  hone_status status = open_library(ctx, path, &out->library, found);
  if (!symbol) symbol = found[0] ? found : DEFAULT_SYMBOL;
  if (!status) status = find_info(ctx, path, symbol, out);
  if (!status) status = weights_load(ctx, path, out);
  if (!status) {
    out->arena_bytes = (size_t)out->info->arena_bytes;
    status = arenas_create(ctx, out->arena_bytes, &out->arenas, &out->arena);
  }
  if (status) artifact_unload(out);
  return status;
}

void artifact_unload(struct loaded *loaded) {
  arenas_destroy(loaded->arenas);
  weights_unload(loaded);
  if (loaded->library) dlclose(loaded->library);
  memset(loaded, 0, sizeof *loaded);
}
