/* profile: limits of steps from measured peaks. */
#include "compiler/profile/profile.h"
#include "unit.h"

#include <math.h>

/* bf16 steps are compared with the measured bf16 peak, not with the level's typical ratio. */
static void limits_by_type(void **state) {
  (void)state;
  struct profiled_step steps[2] = {{.work = {.algorithm_flops = 1e6, .dtype = HONE_F32}},
                                   {.work = {.algorithm_flops = 1e6, .dtype = HONE_BF16}}};
  struct peaks peaks = {.f32_flops = 200e9, .bf16_flops = 50e9};
  struct profile profile = {.plan = {.steps = steps, .step_count = 2}, .peaks = &peaks};
  profile.target.features = CPU_AVX512_BF16 | CPU_AMX_BF16;
  profile.target.speeds = (struct speeds){.f32_macs = 32, .bf16_macs = 64};
  assert_true(fabs(profile_limit_ns(&profile, 0) - 5000) < 1e-6);
  assert_true(fabs(profile_limit_ns(&profile, 1) - 20000) < 1e-6);
  profile.target.features = 0; /* no probe took what it has */
  assert_true(fabs(profile_limit_ns(&profile, 1) - 2500) < 1e-6);
}

/* Operations on the results of an int8 matmul run at the f32 rate. */
static void results_of_bytes(void **state) {
  (void)state;
  struct profiled_step step = {
      .work = {.algorithm_flops = 8e6, .stored_flops = 1e6, .dtype = HONE_I8}};
  struct peaks peaks = {.f32_flops = 200e9};
  struct profile profile = {.plan = {.steps = &step, .step_count = 1}, .peaks = &peaks};
  profile.target.speeds = (struct speeds){.f32_macs = 32, .i8_macs = 128};
  assert_true(fabs(profile_limit_ns(&profile, 0) - (10000 + 5000)) < 1e-6);
}

/* A step that was faster than its limit: the limit is not shown, and the peaks are remeasured. */
static void a_limit_that_was_passed_is_none(void **state) {
  (void)state;
  struct profiled_step steps[2] = {{.work = {.algorithm_flops = 1e6, .dtype = HONE_F32}},
                                   {.work = {.algorithm_flops = 1e6, .dtype = HONE_F32}}};
  struct profile_time times[2] = {{.ns = 20000}, {.ns = 6000}};
  struct peaks peaks = {.f32_flops = 1}; /* disturbed */
  struct profile profile = {
      .plan = {.steps = steps, .step_count = 2}, .peaks = &peaks, .times = times};
  assert_true(profile_passes_peaks(&profile) && isnan(profile_limit_ns(&profile, 1)));
  peaks_raise(&peaks, &(struct peaks){.f32_flops = 200e9});
  assert_false(profile_passes_peaks(&profile));
  assert_true(fabs(profile_limit_ns(&profile, 1) - 5000) < 1e-6);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(limits_by_type),
                                     cmocka_unit_test(results_of_bytes),
                                     cmocka_unit_test(a_limit_that_was_passed_is_none)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
