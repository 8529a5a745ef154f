/* Large weights go into a linked file after the linker is done: the stub held their place with one
 * page, here that page is replaced by the weights while the result is written. The weights are
 * written once, where assembler and linker would read and write all of them again (600 MB: 2 s
 * instead of 15 s).
 *
 * On x86-64 the linker puts .lrodata behind everything else of the address space, so nothing that
 * was resolved moves: the segment grows at its end, and only file offsets behind the page change
 * (ELF header, program headers, section headers). Any other layout is refused, and the caller links
 * the usual way. Source: System V ABI, chapter 4 and 5 (ELF-64 object file format).
 */
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

/* The section must be the last thing of the address space and end its segment, with the page at its
   end: the linker may start the section anywhere in the page before. */
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

static void move_offsets(struct image *image, Elf64_Shdr *page, Elf64_Phdr *holder, size_t delta) {
  size_t end = page->sh_offset + page->sh_size;
  for (size_t i = 0; i < image->header->e_phnum; i++)
    if (image->segments[i].p_offset >= end) image->segments[i].p_offset += delta;
  for (size_t i = 0; i < image->header->e_shnum; i++)
    if (image->sections[i].sh_offset >= end) image->sections[i].sh_offset += delta;
  holder->p_filesz += delta;
  holder->p_memsz += delta;
  page->sh_size += delta;
  if (image->header->e_shoff >= end) image->header->e_shoff += delta;
}

/* Writes the image with `weights` in the place of the page. */
static hone_status write_image(struct ctx *ctx, const struct image *image, size_t at,
                               const struct build_input *input, const char *path) {
  static const uint8_t zeros[WEIGHTS_PAGE];
  size_t end = at + WEIGHTS_PAGE;
  struct file_part parts[] = {
      {image->bytes, at},
      {input->weights, input->weights_bytes},
      {zeros, (WEIGHTS_PAGE - input->weights_bytes % WEIGHTS_PAGE) % WEIGHTS_PAGE},
      {image->bytes + end, image->size - end},
  };
  return file_write_parts(ctx, path, parts, COUNT(parts), 0755);
}

static hone_status insert(struct ctx *ctx, struct image *image, const struct build_input *input,
                          const char *path, bool *out_done) {
  Elf64_Shdr *page = read_image(image) ? find_section(image, WEIGHTS_SECTION) : NULL;
  if (!page || page->sh_size < WEIGHTS_PAGE || page->sh_size >= 2 * WEIGHTS_PAGE ||
      page->sh_offset > image->size || image->size - page->sh_offset < page->sh_size ||
      (page->sh_addr + page->sh_size) % WEIGHTS_PAGE)
    return HONE_OK;
  Elf64_Phdr *holder = last_segment(image, page);
  size_t padded;
  if (!holder || !checked_align(input->weights_bytes, WEIGHTS_PAGE, &padded)) return HONE_OK;
  size_t at = page->sh_offset + page->sh_size - WEIGHTS_PAGE;
  move_offsets(image, page, holder, padded - WEIGHTS_PAGE);
  *out_done = true;
  return write_image(ctx, image, at, input, path);
}

hone_status insert_weights(struct ctx *ctx, const char *product, const struct build_input *input,
                           const char *path, bool *out_done) {
  *out_done = false;
  struct mapping map;
  TRY(file_map(ctx, product, &map));
  struct image image = {.bytes = malloc(map.size + 1), .size = map.size};
  if (image.bytes) memcpy(image.bytes, map.data, map.size);
  file_unmap(&map);
  if (!image.bytes) return fail(ctx, HONE_E_OOM, place_file(path), "no memory to link");
  hone_status status = insert(ctx, &image, input, path, out_done);
  free(image.bytes);
  return status;
}
