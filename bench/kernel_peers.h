/* Other libraries' kernels that bench-kernels compares with hone's: those whose headers are installed when it is built. */
#ifndef HONE_BENCH_KERNEL_PEERS_H
#define HONE_BENCH_KERNEL_PEERS_H

#include <stdbool.h>

#include "compiler/kernels/kernels.h"

enum { PEERS = 3 };

/* One problem as the library does it: made once, weights in the library's own layout, run often. */
struct peer_job {
  void *of_peer;
  void (*run)(void *of_peer);
  /* Once, when nothing is timed any more: c is at the address that peer_open was given, in the problem's layout. */
  void (*finish)(void *of_peer);
};

struct peer {
  const char *name; /* NULL: its headers were not there */
  const char *remedy;
  bool spared_epilogue;
  /* False: the library has nothing for the problem. a, b and c as the problem says, bias a value a column or NULL, which
     is without ReLU too. One thread. */
  bool (*open)(const struct problem *problem, const float *a, const float *b, const float *bias,
               float *c, struct peer_job *out);
};
extern const struct peer peers[PEERS];

#endif
