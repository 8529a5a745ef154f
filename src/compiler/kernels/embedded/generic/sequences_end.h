/* Closes the blocks of sequences.h. */
      }
#if OUT0_PRESENT
      REAL *y = (REAL *)out[0] + (ATTR_layout ? (b * steps + t) * directions + d
                                                : (t * directions + d) * batches + b) * hidden;
      for (int64_t j = 0; j < hidden; j++) y[j] = s < length ? h[j] : 0;
#endif
    }
#if OUT_COUNT > 1 && OUT1_PRESENT
    memcpy((REAL *)out[1] + state, h, (size_t)hidden * sizeof *h);
#endif
#ifdef CELL
#if OUT_COUNT > 2 && OUT2_PRESENT
    memcpy((REAL *)out[2] + state, CELL, (size_t)hidden * sizeof *CELL);
#endif
#endif
  }
  return 0;
}
#undef ACTIVATE
#undef SIGMOID
#undef REAL
#undef EXP_
#undef EXPM1_
#undef LOG1P_
#undef TANH_
#undef ACTIVATIONS
#undef USUAL
#undef STATE
#undef CELL
#undef CLIP
#undef ATTR_layout
