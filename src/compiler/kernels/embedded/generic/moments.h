/* The mean of the LENGTH elements at `from` and the sum of their squared distances from it, in double. */
double mean = 0, variance = 0;
#pragma omp simd reduction(+ : mean)
for (int64_t i = 0; i < LENGTH; i++) mean += (double)from[i];
mean /= (double)LENGTH;
#pragma omp simd reduction(+ : variance)
for (int64_t i = 0; i < LENGTH; i++)
  variance += ((double)from[i] - mean) * ((double)from[i] - mean);
#undef LENGTH
