/* The identity of this build, for keys of caches. */
#include <link.h>

#include "os.h"

struct search {
  struct strbuf hashes;
  bool is_found;
};

static bool contains(const struct dl_phdr_info *info, const ElfW(Phdr) * part, uintptr_t address) {
  const uintptr_t begin = info->dlpi_addr + part->p_vaddr;
  return part->p_type == PT_LOAD && address >= begin && address - begin < part->p_memsz;
}

/* Read-only parts have no relocations in them, so they are the same in each process. */
static int visit(struct dl_phdr_info *info, size_t size, void *user) {
  struct search *search = user;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++)
    search->is_found |= contains(info, &info->dlpi_phdr[i], (uintptr_t)&program_hash);
  for (int i = 0; search->is_found && i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    char hash[33];
    if (part->p_type != PT_LOAD || part->p_flags & PF_W) continue;
    hash_hex(hash, (const void *)(info->dlpi_addr + part->p_vaddr), part->p_memsz);
    strbuf_puts(&search->hashes, hash);
  }
  return search->is_found;
}

void program_hash(char out[33]) {
  struct search search = {{0}, false};
  dl_iterate_phdr(visit, &search);
  hash_hex(out, search.hashes.at ? search.hashes.at : "", search.hashes.length);
  strbuf_deinit(&search.hashes);
}
