/* PoolRegions (hone): ROI pooling and ROI align: a grid of bins over each region of an image, with
 * the largest pixel of each bin, or the mean of interpolated samples. The mean's samples are
 * separable: the scratch first gets the pixel weights per axis, of all columns of bins and one row.
 * A work item is a region.
 */
#define HIGH dims[2]
#define WIDE dims[3]
#define BOUNDED(x) fminf(fmaxf((x), -1e6f), 1e6f)
#ifndef ATTR_output_height
#define ATTR_output_height 1
#endif
#ifndef ATTR_output_width
#define ATTR_output_width 1
#endif
#define ROWS ATTR_output_height
#define COLUMNS ATTR_output_width
#define MOST_BINS (ROWS > COLUMNS ? ROWS : COLUMNS)
#ifndef ATTR_spatial_scale
#define ATTR_spatial_scale 1.0f
#endif
#ifndef ATTR_whole_pixels
#define ATTR_whole_pixels 0
#endif
#ifndef ATTR_half_pixel
#define ATTR_half_pixel 0
#endif
int NAME(const void *const *in, void *const *out, void *scratch, long begin, long end) {
  const float *restrict x = in[0], *restrict boxes = in[1];
  const int64_t *restrict pictures = in[2];
  const int64_t dims[] = IN0_DIMS;
  const int64_t bins[2] = {ROWS, COLUMNS}, sizes[2] = {HIGH, WIDE};
  float *const across = scratch, *const down = across + COLUMNS * WIDE;
  float *restrict to = (float *)out[0] + begin * dims[1] * ROWS * COLUMNS;
  for (long r = begin; r < end; r++) {
    float start[2], bin[2];
    if (pictures[r] < 0 || pictures[r] >= dims[0]) return 8;
    for (int s = 0; s < 2; s++) { /* down, across */
      const float from = boxes[4 * r + 1 - s] * ATTR_spatial_scale,
                  behind = boxes[4 * r + 3 - s] * ATTR_spatial_scale;
      if (ATTR_whole_pixels) {
        start[s] = roundf(BOUNDED(from));
        bin[s] = fmaxf(roundf(BOUNDED(behind)) - start[s] + 1, 1) / (float)bins[s];
      } else {
        const float half = ATTR_half_pixel ? 0.5f : 0;
        start[s] = BOUNDED(from - half);
        float length = BOUNDED(behind - half) - start[s];
        if (!(ATTR_half_pixel)) length = fmaxf(length, 1);
        bin[s] = length / (float)bins[s];
      }
    }
    /* pixels [first, last) of each bin along an axis; for the mean also their weights */
    int64_t first[2][MOST_BINS], last[2][MOST_BINS];
    for (int s = 0; s < 2; s++)
      for (int64_t i = 0; i < bins[s]; i++) {
        const int64_t size = sizes[s];
        int64_t low = size, high = 0;
        if (ATTR_whole_pixels) {
          const float a = floorf((float)i * bin[s]) + start[s],
                      b = ceilf((float)(i + 1) * bin[s]) + start[s];
          low = a < 0 ? 0 : a > (float)size ? size : (int64_t)a;
          high = b < 0 ? 0 : b > (float)size ? size : (int64_t)b;
        } else {
          float *const weights = (s ? across : down) + i * size;
          const int64_t samples = (int64_t)ceilf(bin[s]);
          for (int64_t k = 0; k < size; k++) weights[k] = 0;
          for (int64_t k = 0; k < samples; k++) {
            float at = start[s] + (float)i * bin[s] + ((float)k + 0.5f) * bin[s] / (float)samples;
            if (at < -1 || at > (float)size) continue;
            at = fmaxf(at, 0);
            const int64_t lower = (int64_t)at < size - 1 ? (int64_t)at : size - 1;
            const int64_t upper = lower < size - 1 ? lower + 1 : lower;
            const float part = upper > lower ? at - (float)lower : 0;
            weights[lower] += (1 - part) / (float)samples;
            weights[upper] += part / (float)samples;
            low = lower < low ? lower : low;
            high = upper + 1 > high ? upper + 1 : high;
          }
        }
        first[s][i] = low, last[s][i] = high;
      }
    for (int64_t c = 0; c < dims[1]; c++) {
      const float *const plane = x + (pictures[r] * dims[1] + c) * HIGH * WIDE;
      for (int64_t i = 0; i < ROWS; i++)
        for (int64_t j = 0; j < COLUMNS; j++) {
          const int is_empty = first[0][i] >= last[0][i] || first[1][j] >= last[1][j];
          float y = ATTR_whole_pixels && !is_empty ? -INFINITY : 0;
          for (int64_t h = first[0][i]; h < last[0][i]; h++) {
            const float *const row = plane + h * WIDE;
            float sum = 0;
            for (int64_t w = first[1][j]; w < last[1][j]; w++)
              if (ATTR_whole_pixels)
                y = row[w] > y ? row[w] : y;
              else
                sum += across[j * WIDE + w] * row[w];
            if (!(ATTR_whole_pixels)) y += down[i * HIGH + h] * sum;
          }
          *to++ = y;
        }
    }
  }
  return 0;
}
#undef HIGH
#undef WIDE
#undef BOUNDED
#undef ROWS
#undef COLUMNS
#undef MOST_BINS
#undef ATTR_output_height
#undef ATTR_output_width
#undef ATTR_spatial_scale
#undef ATTR_whole_pixels
#undef ATTR_half_pixel
