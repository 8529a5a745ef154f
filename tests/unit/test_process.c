/* process.c: arguments reach the child literally, the environment is the allow-listed one, output is
 * kept as head and tail, and a child that ignores SIGTERM is gone with its group 2 s after the limit. */
#include "core/os/os.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static struct process_result run(const char *const *argv, uint64_t timeout_ns, size_t limit) {
  struct ctx ctx;
  ctx_init(&ctx);
  struct process_result result;
  struct process_options options = {
      .argv = argv, .fd_in = -1, .fd_out = -1, .timeout_ns = timeout_ns, .output_limit = limit};
  assert_int_equal(process_run(&ctx, &options, &result), HONE_OK);
  return result;
}

static void arguments_are_literal(void **state) {
  (void)state;
  const char *argv[] = {"printf", "%s|", "$(id)", "; rm -rf ~", "*", "a\nb", NULL};
  struct process_result result = run(argv, 0, 0);
  assert_int_equal(result.exit_code, 0);
  assert_string_equal(result.output.at, "$(id)|; rm -rf ~|*|a\nb|");
  assert_true(result.peak_rss_bytes > 0);
  strbuf_deinit(&result.output);
}

static void exit_code_and_signal(void **state) {
  (void)state;
  const char *failing[] = {"sh", "-c", "echo out; echo err >&2; exit 7", NULL};
  struct process_result result = run(failing, 0, 0);
  assert_int_equal(result.exit_code, 7);
  assert_int_equal(result.signal, 0);
  assert_string_equal(result.output.at, "out\nerr\n");
  strbuf_deinit(&result.output);
  const char *killed[] = {"sh", "-c", "kill -SEGV $$", NULL};
  result = run(killed, 0, 0);
  assert_int_equal(result.exit_code, -1);
  assert_int_equal(result.signal, SIGSEGV);
  strbuf_deinit(&result.output);
}

static void missing_program(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  struct process_result result;
  const char *argv[] = {"hone-no-such-program", NULL};
  struct process_options options = {.argv = argv, .fd_in = -1, .fd_out = -1};
  assert_int_equal(process_run(&ctx, &options, &result), HONE_E_MISSING);
  assert_non_null(strstr(ctx.message, "hone-no-such-program"));
}

static void output_is_head_and_tail(void **state) {
  (void)state;
  const char *argv[] = {"sh", "-c",
                        "printf HEAD; head -c 300000 /dev/zero | tr '\\0' x; printf TAIL", NULL};
  struct process_result result = run(argv, 0, 1000);
  assert_int_equal(result.exit_code, 0);
  assert_true(result.output.length > 2000 && result.output.length < 2100);
  assert_memory_equal(result.output.at, "HEADxxx", 7);
  assert_string_equal(result.output.at + result.output.length - 6, "xxTAIL");
  assert_non_null(strstr(result.output.at, "298008 bytes left out"));
  strbuf_deinit(&result.output);
}

static void environment_is_clean(void **state) {
  (void)state;
  setenv("LD_PRELOAD_X", "no", 1);
  setenv("CC", "gcc; id", 1);
  setenv("HONE_MARK", "yes", 1);
  setenv("LC_ALL", "tr_TR", 1);
  const char *argv[] = {"env", NULL};
  struct process_result result = run(argv, 0, 0);
  assert_null(strstr(result.output.at, "LD_PRELOAD_X"));
  assert_null(strstr(result.output.at, "CC=gcc"));
  assert_non_null(strstr(result.output.at, "HONE_MARK=yes"));
  assert_non_null(strstr(result.output.at, "LC_ALL=C.UTF-8"));
  strbuf_deinit(&result.output);
  unsetenv("LC_ALL");
}

static void variables_are_added_to_the_clean_environment(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  const char *argv[] = {"env", NULL},
             *extra[] = {"GLIBC_TUNABLES=a.b=1", "HONE_TEST_EXTRA=2", NULL};
  const struct process_options options = {
      .argv = argv, .extra_environment = extra, .fd_in = -1, .fd_out = -1};
  struct process_result result;
  assert_int_equal(process_run(&ctx, &options, &result), HONE_OK);
  assert_non_null(strstr(result.output.at, "GLIBC_TUNABLES=a.b=1\n"));
  assert_non_null(strstr(result.output.at, "HONE_TEST_EXTRA=2\n"));
  assert_non_null(strstr(result.output.at, "LC_ALL=C.UTF-8\n"));
  strbuf_deinit(&result.output);
}

/* True unless the process has ended or is a zombie that is not reaped yet. */
static bool is_running(pid_t pid) {
  char path[64], state_letter = 'Z';
  snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
  FILE *file = fopen(path, "r");
  if (!file) return false;
  if (fscanf(file, "%*d %*s %c", &state_letter) != 1) state_letter = 'Z'; /* it went meanwhile */
  fclose(file);
  return state_letter != 'Z' && state_letter != 'X';
}

static void timeout_ends_the_whole_group(void **state) {
  (void)state;
  const char *argv[] = {"sh", "-c", "trap '' TERM; sleep 600 & echo $!; while :; do sleep 1; done",
                        NULL};
  struct process_result result = run(argv, 200000000, 0);
  /* a busy machine may not even have begun the shell by then */
  for (uint64_t limit_ns = 2000000000; !result.output.length && limit_ns < 600000000000;
       limit_ns *= 10) {
    strbuf_deinit(&result.output);
    result = run(argv, limit_ns, 0);
  }
  assert_true(result.timed_out);
  assert_int_equal(result.signal, SIGKILL);
  assert_true(result.wall_ns < 300000000000ull); /* its child sleeps for 600 s */
  int64_t grandchild;
  result.output.at[strcspn(result.output.at, "\n")] = 0;
  assert_true(parse_i64(result.output.at, 2, INT32_MAX, &grandchild));
  for (int i = 0; i < 6000 && is_running((pid_t)grandchild); i++) usleep(10000);
  assert_false(is_running((pid_t)grandchild));
  strbuf_deinit(&result.output);
}

static void descriptors_are_handed_over(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  int to[2], from[2], stray = open("/dev/null", O_RDONLY); /* not close-on-exec on purpose */
  assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
  assert_int_equal(write(to[1], "ping\n", 5), 5);
  const char *argv[] = {"sh", "-c", "read x <&3; echo \"got $x\" >&4; ls /proc/self/fd | wc -l",
                        NULL};
  struct process_options options = {.argv = argv, .fd_in = to[0], .fd_out = from[1]};
  struct process_result result;
  assert_int_equal(process_run(&ctx, &options, &result), HONE_OK);
  char reply[16] = "";
  assert_int_equal(read(from[0], reply, sizeof reply), 9);
  assert_memory_equal(reply, "got ping\n", 9);
  assert_string_equal(result.output.at, "6\n"); /* 0 to 4 and the folder that ls reads */
  strbuf_deinit(&result.output);
  int fds[] = {to[0], to[1], from[0], from[1], stray};
  for (size_t i = 0; i < COUNT(fds); i++) close(fds[i]);
}

static void many_children_leak_nothing(void **state) {
  (void)state;
  const char *argv[] = {"true", NULL};
  int before = dup(0);
  close(before);
  for (int i = 0; i < 200; i++) {
    struct process_result result = run(argv, 60000000000, 0);
    assert_int_equal(result.exit_code, 0);
    strbuf_deinit(&result.output);
  }
  int after = dup(0);
  close(after);
  assert_int_equal(after, before);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(arguments_are_literal),
      cmocka_unit_test(exit_code_and_signal),
      cmocka_unit_test(missing_program),
      cmocka_unit_test(output_is_head_and_tail),
      cmocka_unit_test(environment_is_clean),
      cmocka_unit_test(variables_are_added_to_the_clean_environment),
      cmocka_unit_test(timeout_ends_the_whole_group),
      cmocka_unit_test(descriptors_are_handed_over),
      cmocka_unit_test(many_children_leak_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
