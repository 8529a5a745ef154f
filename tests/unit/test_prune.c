/* Pruning of C source: conditions with known values are evaluated, and unused definitions are not
 * printed. */
#include "compiler/source/preprocess.h"
#include "unit.h"

struct fixture {
  struct ctx ctx;
  struct arena *arena;
  struct strbuf out;
};

static void begin(struct fixture *f) {
  *f = (struct fixture){0};
  ctx_init(&f->ctx);
  assert_int_equal(arena_create(&f->ctx, 0, &f->arena), HONE_OK);
}

static void end(struct fixture *f) {
  strbuf_deinit(&f->out);
  arena_destroy(f->arena);
}

/* -- pieces */

static const struct kept {
  const char *text, *use, *want;
} kept[] = {
    {"typedef float vec;\nint unused;\n", "vec x;", "typedef float vec;\n"},
    /* used definitions use others; names in comments, strings and numbers do not count */
    {"#define A B\n#define B 1\n#define C 2\n", "A", "#define A B\n#define B 1\n"},
    {"#define A 1\n#define e5f 2\n", "/* A */ \"A\" 'A' 1e5f 0xA", ""},
    /* functions, also of two lines, of one line, with directives and brackets in strings */
    {"static int f(int x,\n             int y) {\n  return g(\"}\") + '{' + x + y;\n}\nint "
     "h(void);\n",
     "f", "static int f(int x,\n             int y) {\n  return g(\"}\") + '{' + x + y;\n}\n"},
    {"int f(void) {\n#define ONE {\n  return 1;\n#undef ONE\n}\nint g(void) { return 2; }\n", "g",
     "int g(void) { return 2; }\n"},
    /* what is declared */
    {"typedef struct __attribute__((may_alias)) {\n  int x;\n} words;\n", "words",
     "typedef struct __attribute__((may_alias)) {\n  int x;\n} words;\n"},
    {"typedef struct {\n  int x;\n} words;\ntypedef int other;\n", "other", "typedef int other;\n"},
    {"struct config {\n  int rows;\n} __attribute__((aligned(64)));\n", "rows", ""},
    {"struct config {\n  int rows;\n};\n", "struct config c;",
     "struct config {\n  int rows;\n};\n"},
    {"enum { ONE = 1, TWO };\nenum { THREE };\n", "TWO", "enum { ONE = 1, TWO };\n"},
    {"static const int table[] = {1, 2}, other = 3;\n", "table",
     "static const int table[] = {1, 2}, other = 3;\n"},
    {"void PASTE_(NAME, tile)(int x) {\n}\nvoid PASTE_(NAME, rest)(int x) {\n}\n",
     "PASTE_(NAME, tile)(1)", "void PASTE_(NAME, tile)(int x) {\n}\n"},
    {"#define MAKE(name, T) T name(void) { return 0; }\nMAKE(f, int)\nMAKE(g, int)\n", "g()",
     "#define MAKE(name, T) T name(void) { return 0; }\nMAKE(g, int)\n"},
    {"int widen_u8(int x) { return x; }\nint widen_i8(int x) { return x; }\n",
     "PASTE_(widen, u8)(1)", "int widen_u8(int x) { return x; }\n"},
    /* if a condition is unknown, both branches and the condition's names are kept */
    {"#define HAS 1\n#ifdef HAS\nint f(void) { return 1; }\n#else\nint f(void) { return 2; "
     "}\n#endif\n",
     "f",
     "#define HAS 1\n#ifdef HAS\nint f(void) { return 1; }\n#else\nint f(void) { return 2; "
     "}\n#endif\n"},
    {"#if X\nint f;\n#elif Y\nint g;\n#else\nint h;\n#endif\n", "g",
     "#if X\n#elif Y\nint g;\n#endif\n"},
    {"#if X\n#if Y\nint f;\n#endif\nint g;\n#endif\n", "g", "#if X\nint g;\n#endif\n"},
    /* undefined only where it was defined */
    {"#define A 1\nint f(void) { return A; }\n#undef A\n#undef B\n", "f",
     "#define A 1\nint f(void) { return A; }\n#undef A\n"},
    /* always */
    {"#include <stdint.h>\n#include <stdint.h>\n#pragma once\n", "",
     "#include <stdint.h>\n#pragma once\n"},
    /* headers of libc by what they declare */
    {"#include <math.h>\n#include <string.h>\n#include <math.h>\n", "y = sqrtf(x);",
     "#include <math.h>\n"},
    {"#include <math.h>\n#include <string.h>\n#define f32_exp_ expf\n#define ZERO memset\n",
     "f32_exp_(x)", "#include <math.h>\n#define f32_exp_ expf\n"},
    {"#include <math.h>\n#include <string.h>\n", "memcpy(to, from, 4);", "#include <string.h>\n"},
    {"#include <math.h>\n#include <string.h>\n", "veci nan = x != x; /* sqrtf */", ""},
    /* a text in its guard is one piece */
    {"#ifndef H\n#define H\nint f;\nstruct s {\n  int x;\n};\n#endif\nint g;\n", "struct s x;",
     "#ifndef H\n#define H\nint f;\nstruct s {\n  int x;\n};\n#endif\n"},
    /* comments of what is kept, the first one of all */
    {"/* Text. */\n/* f. */\nint f;\n/* g and h. */\nint g;\nint h;\n\n/* i. */\nint i;\n", "h",
     "/* Text. */\n/* g and h. */\nint h;\n"},
    {"/* Text. */\nint f;\n", "g", ""},
    /* brackets that never close: all from there on */
    {"int f;\nint g(void) {\n  return 1;\nint h;\n", "x", "int g(void) {\n  return 1;\nint h;\n"},
};

static void only_what_is_named_is_kept(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(kept); i++) {
    struct fixture f;
    struct pruner *pieces;
    begin(&f);
    assert_int_equal(pruner_make(&f.ctx, f.arena, &pieces), HONE_OK);
    assert_int_equal(pruner_parse(pieces, kept[i].text, strlen(kept[i].text)), HONE_OK);
    for (int turn = 0; turn < 2; turn++) { /* names used by one source do not affect the next */
      pruner_reset(pieces);
      if (!turn) pruner_keep_used(pieces, kept[i].text, strlen(kept[i].text));
    }
    pruner_keep_used(pieces, kept[i].use, strlen(kept[i].use));
    assert_int_equal(pruner_print(pieces, NULL, &f.out), HONE_OK);
    assert_string_equal(f.out.at ? f.out.at : "", kept[i].want);
    end(&f);
  }
}

static void a_comment_stands_once(void **state) {
  static const char text[] = "/* once */\nint f;\n";
  struct fixture f;
  struct pruner *pieces;
  (void)state;
  begin(&f);
  struct comments_seen seen = {.ctx = &f.ctx, .arena = f.arena};
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pruner_make(&f.ctx, f.arena, &pieces), HONE_OK);
    assert_int_equal(pruner_parse(pieces, text, strlen(text)), HONE_OK);
    pruner_keep_used(pieces, "f", 1);
    assert_int_equal(pruner_print(pieces, &seen, &f.out), HONE_OK);
  }
  assert_string_equal(f.out.at, "/* once */\nint f;\nint f;\n");
  end(&f);
}

/* -- conditions */

/* After the definitions of N as 4 and WIDE as (N > 2). */
static const struct decided {
  const char *text, *want;
} decided[] = {
    {"#if N == 4\nyes\n#else\nno\n#endif\n", "yes\n"},
    {"#if N != 4\nno\n#elif WIDE\nyes\n#else\nno\n#endif\n", "yes\n"},
    {"#if 0\nno\n#elif 0\nno\n#else /* rest */\nyes\n#endif\n", "yes\n"},
    {"#ifdef N\nyes\n#endif\n#ifndef N\nno\n#endif\n#ifdef M\nno\n#endif\n#ifndef M\nyes\n#endif\n",
     "yes\nyes\n"},
    /* operators and their order */
    {"#if 1 + 2 * 3 == 7 && 7 - 2 - 1 == 4 && 8 / 2 / 2 == 2 && 7 % 4 == 3\nyes\n#endif\n",
     "yes\n"},
    {"#if 2 > 1 && 1 < 2 && 2 >= 2 && 2 <= 2 && !(1 > 2) && -1 < 0 && 0x10 == 16l\nyes\n#endif\n",
     "yes\n"},
    {"#if 0 && 1 || 1\nyes\n#endif\n#if !defined M && defined(N) && \\\n  N\nyes\n#endif\n",
     "yes\nyes\n"},
    {"#if 1 && (6 & 3) == 2 && 6 & 1 + 2 && 1\nyes\n#endif\n#if 6 & 3 == 3\nno\n#endif\n", "yes\n"},
    {"#if N % 2 /* of two */ || M\nno\n#endif\n", ""},
    /* unknown conditions stay; conditions that the known terms decide do not */
    {"#if defined __clang__\nmaybe\n#else\nor\n#endif\n",
     "#if defined __clang__\nmaybe\n#else\nor\n#endif\n"},
    {"#if N == 4 || defined __clang__\nyes\n#endif\n", "yes\n"},
    {"#if N == 3 && defined __clang__\nno\n#endif\n", ""},
    {"#if N == 3\nno\n#elif __GNUC__ > 3\nmaybe\n#elif N\nor\n#else\nno\n#endif\n",
     "#if __GNUC__ > 3\nmaybe\n#else\nor\n#endif\n"},
    {"#if __GNUC__\na\n#elif 0\nno\n#elif HONE_X\nb\n#endif\n",
     "#if __GNUC__\na\n#elif HONE_X\nb\n#endif\n"},
    {"#if __GNUC__\n#if N\na\n#else\nno\n#endif\n#endif\n", "#if __GNUC__\na\n#endif\n"},
    {"#if 0\n#if __GNUC__\nno\n#else\nno\n#endif\n#define N 5\n#endif\n#if N == 4\nyes\n#endif\n",
     "yes\n"},
    /* macros that are not a number, or that an operator would split */
    {"#define A(x) x\n#if A(1)\nmaybe\n#endif\n", "#define A(x) x\n#if A(1)\nmaybe\n#endif\n"},
    {"#define B 1 + 1\n#if B * 2 == 3\nmaybe\n#endif\n",
     "#define B 1 + 1\n#if B * 2 == 3\nmaybe\n#endif\n"},
    {"#define D e[0]\n#if D\nmaybe\n#endif\n", "#define D e[0]\n#if D\nmaybe\n#endif\n"},
    {"#define R R\n#if R\nmaybe\n#endif\n", "#define R R\n#if R\nmaybe\n#endif\n"},
    {"#if 1 / 0\nmaybe\n#endif\n", "#if 1 / 0\nmaybe\n#endif\n"},
    {"#if 1 +\nmaybe\n#endif\n", "#if 1 +\nmaybe\n#endif\n"},
    {"#define M -1\n#if M == -1 && 1 - M == 2\nyes\n#endif\n", "#define M -1\nyes\n"},
    /* definitions are followed; after a conditional definition the value is unknown */
    {"#define M 1\n#undef M\n#undef M\n#if M\nno\n#endif\n", "#define M 1\n#undef M\n"},
    {"#ifdef __clang__\n#define N 5\n#endif\n#if N == 4\nmaybe\n#endif\n",
     "#ifdef __clang__\n#define N 5\n#endif\n#if N == 4\nmaybe\n#endif\n"},
    /* not directives: inside comments and continued lines */
    {"/*\n#if 0\n*/\nx = \"#if 0\";\n#define L \\\n  #if\n",
     "/*\n#if 0\n*/\nx = \"#if 0\";\n#define L \\\n  #if\n"},
};

static void what_is_known_is_decided(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(decided); i++) {
    struct fixture f;
    struct macros outer = {0}, macros = {.outer = &outer};
    begin(&f);
    assert_int_equal(macros_add(&f.ctx, f.arena, &outer, "N", "4"), HONE_OK);
    assert_int_equal(macros_add(&f.ctx, f.arena, &outer, "WIDE", " (N > 2)"), HONE_OK);
    assert_int_equal(
        preprocess(&f.ctx, f.arena, &macros, decided[i].text, strlen(decided[i].text), &f.out),
        HONE_OK);
    assert_string_equal(f.out.at ? f.out.at : "", decided[i].want);
    end(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_is_named_is_kept),
      cmocka_unit_test(a_comment_stands_once),
      cmocka_unit_test(what_is_known_is_decided),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
