/* cmocka and the headers that it needs; its fail() macro is replaced by hone's function. */
#ifndef HONE_UNIT_H
#define HONE_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#undef fail
#include "core/base/base.h"

/* Of this process; the one that counts is among them. */
static inline int open_descriptors(void) {
  int count = 0;
  DIR *dir = opendir("/proc/self/fd");
  assert_non_null(dir);
  while (readdir(dir)) count++;
  closedir(dir);
  return count;
}
#endif
