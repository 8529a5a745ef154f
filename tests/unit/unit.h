/* cmocka with what it needs; its fail() macro gives way to hone's function. */
#ifndef HONE_UNIT_H
#define HONE_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#undef fail
#include "base/base.h"
#endif
