/* serve: host names that count as our own, comparison of secrets, a folder as a tar archive that
 * other programs read. */
#include "core/os/os.h"
#include "unit.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "ui/serve/serve.h"

static void only_names_of_this_machine_are_ours(void **state) {
  (void)state;
  static const struct {
    const char *host, *address;
    int port;
    bool has_token, is_ours;
  } rows[] = {
      {"127.0.0.1:80", "127.0.0.1", 80, false, true},
      {"127.0.0.1", "127.0.0.1", 80, false, true},
      {"127.0.0.1", "127.0.0.1", 8090, false, false},
      {"localhost:8090", "127.0.0.1", 8090, false, true},
      {"[::1]:8090", "127.0.0.1", 8090, false, true},
      {"[::1]:8090", "::1", 8090, false, true},
      {"127.0.0.2:8090", "127.0.0.2", 8090, false, true},
      {"evil.com:8090", "127.0.0.1", 8090, false, false},
      {"localhost.evil.com:8090", "127.0.0.1", 8090, false, false},
      {"localhost:80901", "127.0.0.1", 8090, false, false},
      {"localhost:8090.", "127.0.0.1", 8090, false, false},
      {"", "127.0.0.1", 80, false, false},
      {"", "0.0.0.0", 80, true, false},
      {"box.example:8090", "0.0.0.0", 8090, true, true},
      {"box\"x:8090", "0.0.0.0", 8090, true, false},
  };
  for (size_t i = 0; i < COUNT(rows); i++)
    assert_int_equal(host_is_ours(rows[i].host, rows[i].address, rows[i].port, rows[i].has_token),
                     rows[i].is_ours);
}

static void secrets_are_equal_or_not(void **state) {
  (void)state;
  assert_true(same_secret("abcdef", "abcdef"));
  assert_true(same_secret("", ""));
  static const char *const others[] = {"", "abcde", "abcdefg", "Abcdef", "abcdeF", "abcdefabcdef"};
  for (size_t i = 0; i < COUNT(others); i++) {
    assert_false(same_secret("abcdef", others[i]));
    assert_false(same_secret(others[i], "abcdef"));
  }
}

static void write_file(const char *folder, const char *name, const char *text) {
  char path[4200];
  struct ctx ctx;
  ctx_init(&ctx);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(file_write_atomic(&ctx, path, text, strlen(text), 0600), HONE_OK);
}

/* Headers and sums by hand; a link and what it points at stay out. */
static void a_folder_becomes_a_tar(void **state) {
  (void)state;
  struct ctx ctx;
  char root[4096], folder[4110], path[4200], packed[4150];
  ctx_init(&ctx);
  assert_int_equal(dir_temporary(&ctx, root), HONE_OK);
  snprintf(folder, sizeof folder, "%s/folder", root);
  assert_int_equal(mkdir(folder, 0700), 0);
  snprintf(packed, sizeof packed, "%s.tar", folder);
  snprintf(path, sizeof path, "%s/sub", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_file(folder, "b.txt", "two");
  write_file(folder, "sub/a.txt", "one");
  snprintf(path, sizeof path, "%s/link", folder);
  assert_int_equal(symlink("/etc/passwd", path), 0);
  assert_int_equal(tar_folder(&ctx, folder, "bundle", packed), HONE_OK);
  unsigned char tar[4 * 512 + 2 * 512 + 1];
  const int fd = open(packed, O_RDONLY | O_CLOEXEC);
  assert_int_equal(read(fd, tar, sizeof tar), (ssize_t)sizeof tar - 1);
  close(fd);
  assert_int_equal(unlink(packed), 0);
  assert_string_equal((char *)tar, "bundle/b.txt");
  assert_memory_equal(tar + 512, "two", 4);
  assert_string_equal((char *)tar + 1024, "bundle/sub/a.txt");
  for (int at = 0; at <= 1024; at += 1024) {
    unsigned sum = 0;
    for (int i = 0; i < 512; i++) sum += i >= 148 && i < 156 ? ' ' : tar[at + i];
    assert_int_equal(strtoul((char *)tar + at + 148, NULL, 8), sum);
    assert_memory_equal(tar + at + 257,
                        "ustar\0"
                        "00",
                        8);
    assert_int_equal(strtoul((char *)tar + at + 124, NULL, 8), 3);
  }
  assert_int_equal(tar_folder(&ctx, "/nowhere/at/all", "bundle", packed), HONE_E_NOFILE);
  assert_int_equal(access(packed, F_OK), -1); /* nor a part of one */
  snprintf(path, sizeof path, "%s.part", packed);
  assert_int_equal(access(path, F_OK), -1);
  dir_temporary_remove(root);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_names_of_this_machine_are_ours),
      cmocka_unit_test(secrets_are_equal_or_not),
      cmocka_unit_test(a_folder_becomes_a_tar),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
