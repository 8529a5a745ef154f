/* The kind of a translation unit, which selects the optimisation flags. The source generator sets
 * it.
 */
#ifndef HONE_UNIT_KIND_H
#define HONE_UNIT_KIND_H

/* Marks a function made from a source of --kernel-dir, with the file's name: compile errors
   after it belong to that file. */
#define OWN_SOURCE "/* text of --kernel-dir: "

enum unit_kind {
  UNIT_VECTORS, /* explicit vectors: auto-vectorisation would only spill */
  UNIT_TILES,   /* the same, with tiles whose loops may be unrolled late (UNROLLS_LATE) */
  UNIT_LOOPS,   /* simple loops: the compiler vectorises them */
  UNIT_CALLS    /* addresses and calls: optimising them is not worth the compile time */
};

#endif
