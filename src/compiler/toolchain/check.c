/* Checks that a product is complete and correct before it is published: compilers have exited with
 * 0 and written something else. The file must be ELF for the target's processor and define
 * PREFIX_artifact; a library for this processor is also loaded, and that function called, in a
 * child process.
 *
 * Source: System V ABI, chapters 4 and 5 (ELF); ar(5), the GNU variant.
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/statvfs.h>

#include "compiler/run/artifact.h"

#define LOADING_NS 60000000000ull
enum { WHY = 400 };

/* -- the format */

static const struct machine {
  const char *arch;
  uint16_t number;
  uint8_t class;
} machines[] = {{"x86_64-", EM_X86_64, ELFCLASS64},
                {"aarch64-", EM_AARCH64, ELFCLASS64},
                {"riscv64-", EM_RISCV, ELFCLASS64},
                {"riscv32-", EM_RISCV, ELFCLASS32},
                {"arm-", EM_ARM, ELFCLASS32}};

struct image {
  const uint8_t *at;
  size_t size;
  bool is_64;
  uint16_t type, section_count;
  uint64_t sections; /* offset of the section table */
};

/* The common part of both ELF classes. */
struct section {
  uint32_t type, link;
  uint64_t offset, size;
};

static bool holds(size_t size, uint64_t offset, uint64_t bytes) {
  return offset <= size && bytes <= size - offset;
}

/* The reason why it is not an ELF file for the triple's processor, or NULL. */
static const char *read_image(const uint8_t *at, size_t size, const char *triple,
                              struct image *out) {
  Elf32_Ehdr narrow;
  Elf64_Ehdr wide = {0};
  const struct machine *machine = NULL;
  for (size_t i = 0; i < COUNT(machines); i++)
    if (!strncmp(triple, machines[i].arch, strlen(machines[i].arch))) machine = &machines[i];
  if (size < sizeof narrow || memcmp(at, ELFMAG, SELFMAG)) return "not an object file (ELF)";
  memcpy(&narrow, at, sizeof narrow);
  *out = (struct image){.at = at, .size = size, .is_64 = at[EI_CLASS] == ELFCLASS64};
  if (out->is_64 && size < sizeof wide) return "cut off";
  if (out->is_64) memcpy(&wide, at, sizeof wide);
  out->type = narrow.e_type; /* at the same offset in both classes */
  out->sections = out->is_64 ? wide.e_shoff : narrow.e_shoff;
  out->section_count = out->is_64 ? wide.e_shnum : narrow.e_shnum;
  if (machine && (at[EI_CLASS] != machine->class || narrow.e_machine != machine->number))
    return "code for another kind of processor";
  size_t entry = out->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  return holds(size, out->sections, out->section_count * entry) ? NULL : "cut off";
}

static bool section_at(const struct image *image, size_t i, struct section *out) {
  if (i >= image->section_count) return false;
  if (image->is_64) {
    Elf64_Shdr header;
    memcpy(&header, image->at + image->sections + i * sizeof header, sizeof header);
    *out = (struct section){header.sh_type, header.sh_link, header.sh_offset, header.sh_size};
  } else {
    Elf32_Shdr header;
    memcpy(&header, image->at + image->sections + i * sizeof header, sizeof header);
    *out = (struct section){header.sh_type, header.sh_link, header.sh_offset, header.sh_size};
  }
  return out->type == SHT_NOBITS || holds(image->size, out->offset, out->size);
}

/* Name and section of a symbol; false past the last. */
static bool symbol_at(const struct image *image, const struct section *table, size_t i,
                      uint32_t *out_name, uint16_t *out_section) {
  size_t bytes = image->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  const uint8_t *at = image->at + table->offset + i * bytes;
  if (i >= table->size / bytes) return false;
  if (image->is_64) {
    Elf64_Sym symbol;
    memcpy(&symbol, at, sizeof symbol);
    *out_name = symbol.st_name, *out_section = symbol.st_shndx;
  } else {
    Elf32_Sym symbol;
    memcpy(&symbol, at, sizeof symbol);
    *out_name = symbol.st_name, *out_section = symbol.st_shndx;
  }
  return true;
}

/* True if a symbol table of that type defines the name; *out_any: there is such a table. */
static bool defines(const struct image *image, uint32_t type, const char *name, bool *out_any) {
  struct section table, names;
  const size_t length = strlen(name) + 1;
  for (size_t i = 0; i < image->section_count; i++) {
    uint32_t at;
    uint16_t section;
    if (!section_at(image, i, &table) || table.type != type ||
        !section_at(image, table.link, &names) || names.type == SHT_NOBITS)
      continue;
    *out_any = true;
    for (size_t k = 0; symbol_at(image, &table, k, &at, &section); k++)
      if (section != SHN_UNDEF && holds((size_t)names.size, at, length) &&
          !memcmp(image->at + names.offset + at, name, length))
        return true;
  }
  return false;
}

/* Members of an archive: a header of 60 bytes each, whose bytes 48 to 57 are the size. */
static const char *check_archive(const uint8_t *at, size_t size, const char *triple,
                                 const char *symbol) {
  enum { MAGIC = 8, HEADER = 60, SIZE_AT = 48, SIZE_DIGITS = 10 };
  bool is_defined = false, any = false;
  if (size < MAGIC || memcmp(at, "!<arch>\n", MAGIC)) return "not an archive";
  for (size_t from = MAGIC; from + HEADER <= size;) {
    char digits[SIZE_DIGITS + 1] = "";
    struct image image;
    memcpy(digits, at + from + SIZE_AT, SIZE_DIGITS);
    const size_t bytes = strtoull(digits, NULL, 10);
    if (bytes > size - from - HEADER) return "cut off";
    if (at[from] != '/') { /* else an index or a table of names */
      const char *why = read_image(at + from + HEADER, bytes, triple, &image);
      if (why) return why;
      is_defined |= defines(&image, SHT_SYMTAB, symbol, &any);
    }
    from += HEADER + bytes + bytes % 2;
  }
  return is_defined ? NULL : "it does not define the model's entry function";
}

static const char *check_format(const struct mapping *file, enum artifact_kind kind,
                                const char *triple, const char *symbol) {
  struct image image;
  bool any = false;
  if (kind == ARTIFACT_A) return check_archive(file->data, file->size, triple, symbol);
  const char *why = read_image(file->data, file->size, triple, &image);
  if (why) return why;
  if (kind == ARTIFACT_SO && image.type != ET_DYN) return "not a shared library";
  if (kind == ARTIFACT_EXE && image.type != ET_DYN && image.type != ET_EXEC) return "not a program";
  const uint32_t table = kind == ARTIFACT_SO ? SHT_DYNSYM : SHT_SYMTAB;
  /* a compiler may be told to strip programs */
  return defines(&image, table, symbol, &any) || (kind == ARTIFACT_EXE && !any)
             ? NULL
             : "it does not define the model's entry function";
}

/* -- loading it */

struct loading {
  const struct build_input *input;
  const char *file, *symbol;
  char *why; /* WHY bytes shared with the child; "": no error */
};

static void load(void *user) {
  const struct loading *loading = user;
  const struct build_input *input = loading->input;
  const struct hone_artifact_info *(*entry)(void);
  void *library = dlopen(loading->file, RTLD_NOW | RTLD_LOCAL);
  void *address = library ? dlsym(library, loading->symbol) : NULL;
  if (!address) {
    const char *words = dlerror();
    snprintf(loading->why, WHY, "cannot be loaded: %s", words ? words : "?");
    return;
  }
  memcpy(&entry, &address, sizeof entry);
  const struct hone_artifact_info *info = entry();
  if (!input->build_id) return; /* a kernel library: its entry returns something else */
  if (!info || info->abi != HONE_ARTIFACT_ABI || !info->run || !info->build_id ||
      strcmp(info->build_id, input->build_id) != 0 || (info->weights_bytes && !info->weights))
    snprintf(loading->why, WHY, "it describes another model than the one compiled");
}

/* False if the file system does not allow code to be mapped. */
static bool may_be_loaded(const char *file) {
  struct statvfs place;
  return !statvfs(file, &place) && !(place.f_flag & ST_NOEXEC);
}

static hone_status check_loads(struct ctx *ctx, const struct build *build, const char *file,
                               const char *symbol, char why[WHY]) {
  char how[128];
  struct loading loading = {build->input, file, symbol, NULL};
  loading.why = mmap(NULL, WHY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (loading.why == MAP_FAILED)
    return fail(ctx, HONE_E_OOM, place_file(file), "no memory to load it");
  if (call_in_child(load, &loading, LOADING_NS, how))
    snprintf(why, WHY, "%s", loading.why);
  else
    snprintf(why, WHY, "loading it %s", how);
  munmap(loading.why, WHY);
  return HONE_OK;
}

hone_status check_product(struct ctx *ctx, const struct build *build, const char *file,
                          enum artifact_kind kind) {
  const char *triple = build->options->target->triple;
  char symbol[128], why[WHY] = "";
  struct mapping map;
  struct ctx own = *ctx;
  own.limits[LIMIT_file_bytes] = INT64_MAX; /* which is for files of others */
  snprintf(symbol, sizeof symbol, "%s_artifact", build->prefix);
  if (file_map(&own, file, &map))
    return fail(ctx, own.status, place_file(file), "the compiled file cannot be read");
  const char *format = check_format(&map, kind, triple, symbol);
  file_unmap(&map);
  if (!format && kind == ARTIFACT_SO && triple_is_native(triple) && may_be_loaded(file))
    TRY(check_loads(ctx, build, file, symbol, why));
  if (format) snprintf(why, sizeof why, "%s", format);
  if (!*why) return HONE_OK;
  return advise(ctx,
                fail(ctx, HONE_E_CRASH, place_name(build->compiler.program),
                     "exited without an error, but its output is broken: %s", why),
                OTHER_COMPILER);
}
