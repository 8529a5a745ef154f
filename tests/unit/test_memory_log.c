/* The log of a worker's memory over time: bounded in length, ordered, with its peak kept. */
#include "unit.h"

#include "bench/study/study.h"

static void memory_is_logged_in_bounded_space(void **state) {
  (void)state;
  static struct memory_log log;
  memory_log_begin(&log);
  memory_log_add(NULL, log.start_ns, 1);
  memory_log_add(&log, log.start_ns, -1); /* the process is gone */
  assert_int_equal(log.count, 0);
  memory_log_add(&log, log.start_ns - 1, 1);
  assert_int_equal(log.count, 0);
  const uint64_t distance = log.least_ns, points = 20 * MEMORY_POINTS, peak = points / 3;
  for (uint64_t i = 0; i < points; i++) {
    memory_log_add(&log, log.start_ns + i * distance, i == peak ? 1000000 : (int64_t)i);
    assert_true(log.count <= MEMORY_POINTS);
  }
  assert_true(log.count > MEMORY_POINTS / 4);
  assert_int_equal(log.when_ns[0], 0);
  bool has_peak = false;
  for (size_t i = 0; i < log.count; i++) {
    has_peak |= log.bytes[i] == 1000000;
    if (i) assert_true(log.when_ns[i] >= log.when_ns[i - 1] + log.least_ns);
  }
  assert_true(has_peak); /* the highest is never thinned out */
  assert_true(log.when_ns[log.count - 1] + 2 * log.least_ns > (points - 1) * distance);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(memory_is_logged_in_bounded_space),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
