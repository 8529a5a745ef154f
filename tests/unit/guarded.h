/* Memory that ends at an inaccessible page, for tests of out-of-bounds accesses. */
#ifndef HONE_GUARDED_H
#define HONE_GUARDED_H
#include <sys/mman.h>

#include "unit.h"

struct guarded {
  void *at; /* `bytes` asked for, up to the page */
  void *map;
  size_t bytes;
};
static inline struct guarded guarded_create(size_t bytes) {
  size_t used = (bytes + 4095) / 4096 * 4096;
  struct guarded g = {.bytes = used + 4096};
  g.map = mmap(NULL, g.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(g.map, MAP_FAILED);
  assert_int_equal(mprotect((char *)g.map + used, 4096, PROT_NONE), 0);
  g.at = (char *)g.map + used - bytes;
  return g;
}
static inline void guarded_destroy(struct guarded *g) { munmap(g->map, g->bytes); }

#endif
