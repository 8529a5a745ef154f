/* Lays the linked file around its weights. They were written while the compiler worked, at an
 * offset that leaves room for the code; the stub holds their place with one page, which is replaced
 * here. So they are written once; assembler and linker would read and write all of them again (600
 * MB: 2 s instead of 15 s).
 *
 * On x86-64 the linker puts .lrodata at the end of the address space, so no resolved address
 * changes: the segment grows at its end, and only offsets in the file change (ELF header, program
 * headers, section headers). Any other layout is refused, and the caller links the usual way.
 * Source: System V ABI, chapter 4 and 5 (ELF-64 object file format).
 */
#include "core/os/os.h"
#include "toolchain_internal.h"

#include <elf.h>
#include <stdlib.h>

struct image {
  uint8_t *bytes; /* a copy of the linked file, to be patched */
  size_t size;
  Elf64_Ehdr *header;
  Elf64_Phdr *segments;
  Elf64_Shdr *sections;
};

static bool fits(size_t offset, size_t count, size_t size, size_t end) {
  size_t bytes, last;
  return checked_mul(count, size, &bytes) && checked_add(offset, bytes, &last) && last <= end &&
         offset % 8 == 0;
}

static bool read_image(struct image *image) {
  if (image->size < sizeof(Elf64_Ehdr)) return false;
  Elf64_Ehdr *header = image->header = (Elf64_Ehdr *)image->bytes;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_machine != EM_X86_64 ||
      header->e_phentsize != sizeof(Elf64_Phdr) || header->e_shentsize != sizeof(Elf64_Shdr) ||
      !fits(header->e_phoff, header->e_phnum, sizeof(Elf64_Phdr), image->size) ||
      !fits(header->e_shoff, header->e_shnum, sizeof(Elf64_Shdr), image->size) ||
      header->e_shstrndx >= header->e_shnum)
    return false;
  image->segments = (Elf64_Phdr *)(image->bytes + header->e_phoff);
  image->sections = (Elf64_Shdr *)(image->bytes + header->e_shoff);
  return true;
}

static Elf64_Shdr *find_section(const struct image *image, const char *name) {
  const Elf64_Shdr *names = &image->sections[image->header->e_shstrndx];
  size_t length = strlen(name) + 1;
  if (names->sh_offset > image->size || names->sh_size > image->size - names->sh_offset)
    return NULL;
  for (size_t i = 0; i < image->header->e_shnum; i++) {
    size_t at = image->sections[i].sh_name;
    if (at < names->sh_size && names->sh_size - at >= length &&
        !memcmp(image->bytes + names->sh_offset + at, name, length))
      return &image->sections[i];
  }
  return NULL;
}

/* The section must be last in the address space and end its segment, with the page at its end:
   the linker may start the section anywhere in the page before. */
static Elf64_Phdr *last_segment(const struct image *image, const Elf64_Shdr *page) {
  Elf64_Phdr *holder = NULL;
  uint64_t end = page->sh_addr + page->sh_size;
  for (size_t i = 0; i < image->header->e_phnum; i++) {
    Elf64_Phdr *segment = &image->segments[i];
    if (segment->p_type != PT_LOAD) continue;
    uint64_t segment_end = segment->p_vaddr + segment->p_memsz;
    if (segment_end > end) return NULL;
    if (segment_end == end && segment->p_filesz == segment->p_memsz &&
        segment->p_offset + segment->p_filesz == page->sh_offset + page->sh_size)
      holder = segment;
  }
  return holder;
}

/* Moves the page and its segment by `shift` in the file, and everything after it further by the
   size of the weights less the page. */
static void move_offsets(struct image *image, Elf64_Shdr *page, Elf64_Phdr *holder, size_t shift,
                         size_t growth) {
  size_t end = page->sh_offset + page->sh_size;
  for (size_t i = 0; i < image->header->e_phnum; i++)
    if (image->segments[i].p_offset >= end) image->segments[i].p_offset += shift + growth;
  for (size_t i = 0; i < image->header->e_shnum; i++)
    if (image->sections[i].sh_offset >= end) image->sections[i].sh_offset += shift + growth;
  holder->p_offset += shift;
  holder->p_filesz += growth;
  holder->p_memsz += growth;
  page->sh_offset += shift;
  page->sh_size += growth;
  if (image->header->e_shoff >= end) image->header->e_shoff += shift + growth;
}

static hone_status insert(struct ctx *ctx, struct image *image, size_t weights_bytes,
                          const struct output *file, size_t at, bool *out_done) {
  Elf64_Shdr *page = read_image(image) ? find_section(image, WEIGHTS_SECTION) : NULL;
  if (!page || page->sh_size < WEIGHTS_PAGE || page->sh_size >= 2 * WEIGHTS_PAGE ||
      page->sh_offset > image->size || image->size - page->sh_offset < page->sh_size ||
      (page->sh_addr + page->sh_size) % WEIGHTS_PAGE)
    return HONE_OK;
  Elf64_Phdr *holder = last_segment(image, page);
  size_t padded, from = page->sh_offset, end = from + page->sh_size, before = end - WEIGHTS_PAGE;
  if (!holder || holder->p_offset != from || before % WEIGHTS_PAGE || before > at ||
      at % WEIGHTS_PAGE || !checked_align(weights_bytes, WEIGHTS_PAGE, &padded))
    return HONE_OK;
  move_offsets(image, page, holder, at - before, padded - WEIGHTS_PAGE);
  *out_done = true;
  TRY(output_put(ctx, file, 0, image->bytes, from));
  TRY(output_put(ctx, file, at - (before - from), image->bytes + from, before - from));
  return output_put(ctx, file, at + padded, image->bytes + end, image->size - end);
}

hone_status insert_weights(struct ctx *ctx, const char *product, size_t weights_bytes,
                           const struct output *file, size_t at, bool *out_done) {
  *out_done = false;
  struct mapping map;
  TRY(file_map(ctx, product, &map));
  struct image image = {.bytes = malloc(map.size + 1), .size = map.size};
  if (image.bytes) memcpy(image.bytes, map.data, map.size);
  file_unmap(&map);
  if (!image.bytes) return fail(ctx, HONE_E_OOM, place_file(product), "no memory to link");
  hone_status status = insert(ctx, &image, weights_bytes, file, at, out_done);
  free(image.bytes);
  return status;
}
