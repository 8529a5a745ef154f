/* What a unit of C text is, by which the compiler is told how hard to try. Whoever writes the text knows it. */
#ifndef HONE_UNIT_KIND_H
#define HONE_UNIT_KIND_H

/* Stands before a function that is made from a text of --kernel-dir, with the file's name: an error from there on is
   the text's. */
#define OWN_TEXT "/* text of --kernel-dir: "

enum unit_kind {
  UNIT_VECTORS, /* vectors stand in it: the compiler's own would only spill */
  UNIT_TILES, /* the same, around tiles whose loops need not be unrolled before all else (UNROLLS_LATE) */
  UNIT_LOOPS, /* plain loops: the compiler makes vectors of them */
  UNIT_CALLS  /* addresses and calls: no loop of theirs is worth the compiler's time */
};

#endif
