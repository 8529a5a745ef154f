/* Side files: which files may be read, and every path out of the model's folder (rows 16 to 22). */
#include "import_case.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char folder[4096];

/* -- calls of the kernel and of libcrypto: the one that is refused, of those that the importer makes */

static struct {
  bool armed;
  int left; /* calls before it */
} refusal;

static bool is_refused(void) {
  if (!refusal.armed || refusal.left-- != 0) return false;
  errno = EIO;
  return true;
}

/* These replace libc's functions and call the system by other functions. */
int dup(int fd) { return is_refused() ? -1 : fcntl(fd, F_DUPFD, 0); }
int fstat(int fd, struct stat *out) {
  return is_refused() ? -1 : fstatat(fd, "", out, AT_EMPTY_PATH);
}
int openat(int at, const char *path, int flags, ...) {
  return is_refused() ? -1 : (int)syscall(SYS_openat, at, path, flags, 0600);
}
int open(const char *path, int flags, ...) {
  return is_refused() ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, 0600);
}
ssize_t readlinkat(int at, const char *restrict path, char *restrict out, size_t size) {
  return is_refused() ? -1 : syscall(SYS_readlinkat, at, path, out, size);
}
int EVP_Digest(const void *bytes, size_t n, unsigned char *out, unsigned *out_n, const EVP_MD *how,
               ENGINE *engine) {
  EVP_MD_CTX *digest = is_refused() ? NULL : EVP_MD_CTX_new();
  int done = digest && EVP_DigestInit_ex(digest, how, engine) &&
             EVP_DigestUpdate(digest, bytes, n) && EVP_DigestFinal_ex(digest, out, out_n);
  EVP_MD_CTX_free(digest);
  return done;
}

static const char *path_of(const char *name) {
  static char path[8][8192];
  static int next;
  char *out = path[next++ % 8];
  snprintf(out, sizeof path[0], "%s/%s", folder, name);
  return out;
}

static void write_file(const char *name, const void *bytes, size_t n) {
  FILE *file = fopen(path_of(name), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, n, file), n);
  assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state) {
  (void)state;
  struct ctx ctx;
  ctx_init(&ctx);
  assert_int_equal(dir_temporary(&ctx, folder), HONE_OK);
  const float weights[] = {1, 2, 3, 4};
  write_file("weights.bin", weights, sizeof weights);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  dir_remove_tree(folder);
  return 0;
}

/* One key and value of external_data; both may hold any bytes. */
struct entry {
  const char *key, *value;
  size_t length; /* 0: strlen(value) */
};

static void put_external(struct buf *t, const struct entry *entries, size_t count) {
  put_int(t, 14, 1);
  for (size_t i = 0; i < count; i++)
    external_entry(t, entries[i].key, entries[i].value,
                   entries[i].length ? entries[i].length : strlen(entries[i].value));
}

/* y = Identity(w), w f32 [4] outside */
static struct buf model_with(const struct entry *entries, size_t count) {
  struct buf graph = {0}, t = tensor_head("w", 1, (int64_t[]){4}, 1);
  put_external(&t, entries, count);
  put_msg(&graph, 5, &t);
  put_node(&graph, "Identity", "w", "y", NULL);
  put_output(&graph, "y");
  return model_of(13, &graph);
}

static struct loaded load_path(const char *path, const struct import_options *options) {
  struct loaded l = {0};
  ctx_init(&l.ctx);
  assert_int_equal(arena_create(&l.ctx, 0, &l.arena), HONE_OK);
  l.status = import_model(&l.ctx, l.arena, path, options, &l.file, &l.graph);
  return l;
}

/* The names of its side files, as many as there are up to two; added up. */
static struct buf model_of_files(const char *const *names) {
  struct buf graph = {0};
  for (int i = 0; i < 2; i++) {
    struct buf t = tensor_head(i ? "v" : "w", 1, (int64_t[]){4}, 1);
    put_external(&t, &(struct entry){"location", names[names[1] ? i : 0], 0}, 1);
    put_msg(&graph, 5, &t);
  }
  put_node(&graph, "Add", "w,v", "y", NULL);
  put_output(&graph, "y");
  return model_of(13, &graph);
}

static struct loaded load_from_folder(struct buf *model) {
  write_file("model.onnx", model->at, model->n);
  free(model->at);
  return load_path(path_of("model.onnx"), NULL);
}

static void expect_external(const struct entry *entries, size_t count, hone_status status,
                            const char *says) {
  struct buf model = model_with(entries, count);
  struct loaded l = load_from_folder(&model);
  if (l.status != status)
    print_error("location %.60s: expected %s, got %s\n", entries[0].value, hone_status_name(status),
                l.status ? l.ctx.message : "OK");
  assert_int_equal(l.status, status);
  if (says) assert_non_null(strstr(l.ctx.message, says));
  unload(&l);
}

static void expect_location(const char *location, hone_status status) {
  expect_external(&(struct entry){"location", location, 0}, 1, status, NULL);
}

static void weights_are_read_in_place(void **state) {
  (void)state;
  struct buf model = model_with((struct entry[]){{"location", "weights.bin", 0}}, 1);
  struct loaded l = load_from_folder(&model);
  assert_ok(&l);
  const struct tensor *w = l.graph->outputs.at[0]->constant;
  assert_true(tensor_f64(w, 3) == 4);
  assert_int_equal(l.file.sides.count, 1);
  assert_ptr_equal(w->data, l.file.sides.at[0].data);
  unload(&l);
  expect_location("./weights.bin", HONE_OK);
  expect_location("absent.bin", HONE_E_NOFILE);
}

static void row_16_locations(void **state) {
  (void)state;
  static const char *const locations[] = {"../../etc/passwd",
                                          "a/../../b",
                                          "/etc/passwd",
                                          "C:\\x",
                                          "C:x",
                                          "a\\..\\b",
                                          "..",
                                          "a/..",
                                          "weights.bin/",
                                          ".",
                                          "./",
                                          "../weights.bin"};
  for (size_t i = 0; i < COUNT(locations); i++) expect_location(locations[i], HONE_E_PATH);
  expect_external(&(struct entry){"location", "weights.bin\0.x", 14}, 1, HONE_E_PATH, "NUL");
  char deep[5001];
  memset(deep, 'a', 5000);
  deep[5000] = 0;
  expect_location(deep, HONE_E_PATH);
  struct buf graph = {0}, t = tensor_head("w", 1, (int64_t[]){4}, 1);
  put_int(&t, 14, 1);
  external_entry(&t, "location", "", 0);
  put_msg(&graph, 5, &t);
  put_node(&graph, "Identity", "w", "y", NULL);
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  struct loaded l = load_from_folder(&model);
  assert_int_equal(l.status, HONE_E_PATH);
  unload(&l);
}

static void row_17_links_and_special_files(void **state) {
  (void)state;
  assert_int_equal(symlink("/etc/passwd", path_of("out.bin")), 0);
  assert_int_equal(symlink("weights.bin", path_of("inside.bin")), 0);
  assert_int_equal(mkdir(path_of("real"), 0700), 0);
  write_file("real/w.bin", "0123456789abcdef", 16);
  assert_int_equal(symlink("real", path_of("linked")), 0);
  assert_int_equal(symlink("/", path_of("root")), 0);
  assert_int_equal(mkfifo(path_of("fifo"), 0600), 0);
  assert_int_equal(symlink("/proc/self/fd/0", path_of("proc")), 0);
  assert_int_equal(link(path_of("weights.bin"), path_of("hard.bin")), 0);
  expect_location("out.bin", HONE_E_PATH);
  expect_location("inside.bin", HONE_E_PATH);
  expect_location("linked/w.bin", HONE_E_PATH);
  expect_location("root/etc/passwd", HONE_E_PATH);
  expect_location("fifo", HONE_E_PATH);
  expect_location("proc", HONE_E_PATH);
  expect_location("real", HONE_E_PATH);
  expect_location("weights.bin/x", HONE_E_PATH);
  expect_location("real/w.bin", HONE_OK);
  expect_location("hard.bin", HONE_OK);
}

#define HASH "0123456789abcdef0123456789abcdef01234567"

static void row_17_hugging_face_cache(void **state) {
  (void)state;
  const char *const folders[] = {
      "repo",  "repo/blobs", "repo/snapshots", "repo/snapshots/main", "repo/snapshots/main/onnx",
      "other", "other/blobs"};
  for (size_t i = 0; i < COUNT(folders); i++) assert_int_equal(mkdir(path_of(folders[i]), 0700), 0);
  write_file("repo/blobs/" HASH, "0123456789abcdef", 16);
  write_file("other/blobs/" HASH, "0123456789abcdef", 16);
  static const struct {
    const char *file, *target;
    hone_status status;
  } links[] = {
      {"repo/snapshots/main/w.bin", "../../blobs/" HASH, HONE_OK},
      {"repo/snapshots/main/onnx/w.bin", "../../../blobs/" HASH, HONE_OK},
      {"repo/snapshots/main/x.bin", "../../../other/blobs/" HASH, HONE_E_PATH},
      {"repo/snapshots/main/y.bin", "../../blobs/../../weights.bin", HONE_E_PATH},
      {"repo/snapshots/main/z.bin", "../../../../blobs/" HASH, HONE_E_PATH},
      {"other/w.bin", "../other/blobs/" HASH, HONE_E_PATH},
      {"other/v.bin", "blobs/" HASH, HONE_E_PATH},
  };
  for (size_t i = 0; i < COUNT(links); i++) {
    assert_int_equal(symlink(links[i].target, path_of(links[i].file)), 0);
    const char *slash = strrchr(links[i].file, '/');
    struct buf model = model_with(&(struct entry){"location", slash + 1, 0}, 1);
    write_file("repo/blobs/model", model.at, model.n);
    free(model.at);
    char path[600];
    snprintf(path, sizeof path, "%.*s/model.onnx", (int)(slash - links[i].file), links[i].file);
    unlink(path_of(path));
    /* as the cache does */
    assert_int_equal(symlink(path_of("repo/blobs/model"), path_of(path)), 0);
    struct loaded l = load_path(path_of(path), NULL);
    if (l.status != links[i].status) print_error("%s: %s\n", links[i].file, l.ctx.message);
    assert_int_equal(l.status, links[i].status);
    unload(&l);
  }
}

/* Swaps race.bin between a file and a link to a file outside. */
static void *swap(void *stop) {
  while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
    unlink(path_of("race.tmp"));
    if (symlink("/etc/passwd", path_of("race.tmp"))) break;
    if (rename(path_of("race.tmp"), path_of("race.bin"))) break;
    int fd = open(path_of("race.tmp"), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, "insideinsideinsi", 16) != 16) break;
    close(fd);
    if (rename(path_of("race.tmp"), path_of("race.bin"))) break;
  }
  return NULL;
}

static void row_18_race(void **state) {
  (void)state;
  int stop = 0, read_count = 0;
  pthread_t thread;
  write_file("race.bin", "insideinsideinsi", 16);
  struct buf model = model_with(&(struct entry){"location", "race.bin", 0}, 1);
  write_file("race.onnx", model.at, model.n);
  free(model.at);
  char path[8192];
  memcpy(path, path_of("race.onnx"), sizeof path);
  assert_int_equal(pthread_create(&thread, NULL, swap, &stop), 0);
  for (int i = 0; i < 2000; i++) {
    struct loaded l = load_path(path, NULL);
    assert_true(l.status == HONE_OK || l.status == HONE_E_PATH || l.status == HONE_E_FORMAT);
    if (!l.status) {
      const struct tensor *w = l.graph->outputs.at[0]->constant;
      assert_memory_equal(w->data, "insideinsideinsi", 16);
      read_count++;
    }
    unload(&l);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  assert_true(read_count > 0);
}

static void row_19_offsets_and_keys(void **state) {
  (void)state;
  static const struct {
    const char *offset, *length;
    hone_status status;
  } cases[] = {
      {"-1", NULL, HONE_E_FORMAT},  {"9223372036854775808", NULL, HONE_E_FORMAT},
      {"1", NULL, HONE_E_FORMAT},   {"9223372036854775807", "16", HONE_E_FORMAT},
      {"0", "0", HONE_E_FORMAT},    {"0", "15", HONE_E_FORMAT},
      {"0", "17", HONE_E_FORMAT},   {"0", "18446744073709551615", HONE_E_FORMAT},
      {"0x0", NULL, HONE_E_FORMAT}, {" 0", NULL, HONE_E_FORMAT},
      {"", NULL, HONE_E_FORMAT},    {"0", "16", HONE_OK},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct buf graph = {0}, t = tensor_head("w", 1, (int64_t[]){4}, 1);
    put_int(&t, 14, 1);
    external_entry(&t, "location", "weights.bin", 11);
    external_entry(&t, "offset", cases[i].offset, strlen(cases[i].offset));
    if (cases[i].length) external_entry(&t, "length", cases[i].length, strlen(cases[i].length));
    put_msg(&graph, 5, &t);
    put_node(&graph, "Identity", "w", "y", NULL);
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct loaded l = load_from_folder(&model);
    if (l.status != cases[i].status) print_error("case %zu: %s\n", i, l.ctx.message);
    assert_int_equal(l.status, cases[i].status);
    unload(&l);
  }
  expect_external((struct entry[]){{"location", "weights.bin", 0}, {"__class__", "x", 0}}, 2,
                  HONE_E_FORMAT, "unknown key");
  expect_external((struct entry[]){{"location", "weights.bin", 0}, {"location", "b", 0}}, 2,
                  HONE_E_FORMAT, "duplicate location");
  expect_external((struct entry[]){{"offset", "0", 0}}, 1, HONE_E_FORMAT, "without a location");
  struct entry *many = calloc(100000, sizeof *many);
  assert_non_null(many);
  for (size_t i = 0; i < 100000; i++) many[i] = (struct entry){"checksum", "x", 0};
  expect_external(many, 100000, HONE_E_FORMAT, "duplicate checksum");
  free(many);
}

/* Malformed entries and fields, given as raw bytes after a tensor's name. */
static void row_19_malformed_entries(void **state) {
#define LOCATION "\x0a\x08location\x12\x0bweights.bin"
  static const struct {
    int dtype;
    const char *bytes;
    size_t length;
    const char *says; /* NULL: read */
  } rows[] = {
#define ROW(dtype, bytes, says) {dtype, bytes, sizeof bytes - 1, says}
      ROW(1, "\x70\x01\x6a\x17" LOCATION, NULL),
      ROW(1, "\x70\x01\x6a\x19" LOCATION "\x18\x01", NULL), /* a field that is ignored */
      ROW(1, "\x68\x01", "external_data (field 13) has wire type"),
      ROW(1, "\x6a\x02\x08\x01", "a key or value of external_data"),
      ROW(1, "\x6a\x06\x0a\x01k\x0a\x01k", "duplicate key or value"),
      ROW(1, "\x6a\x03\x12\x01v", "unknown key"),
      ROW(1, "\x6a\x0a\x0a\x08location", "unknown key"),
      ROW(1,
          "\x6a\x0c\x0a\x06offset\x12\x02"
          "1\0",
          "is not a number of bytes"),
      ROW(1,
          "\x6a\x24\x0a\x06offset\x12\x1a"
          "11111111111111111111111111",
          "is not a number of bytes"),
      ROW(1, "\x70\x01\x70\x01", "duplicate data_location"),
      ROW(1, "\x72\x01x", "data_location (field 14) has wire type"),
      ROW(1, "\x70\x01\x6a\x17" LOCATION "\x4a\x01x", "values in two places"),
      ROW(1,
          "\x70\x01\x6a\x17" LOCATION "\x22\x04"
          "1234",
          "values in two places"),
      ROW(1,
          "\x4a\x01x\x22\x04"
          "1234",
          "values in two places"),
      ROW(8, "\x4a\x01x", "a string tensor in raw_data"),
      ROW(8, "\x70\x01\x6a\x17" LOCATION, "a string tensor in a side file"),
#undef ROW
  };
#undef LOCATION
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct buf graph = {0}, t = tensor_head("w", rows[i].dtype, (int64_t[]){4}, 1);
    put_raw(&t, rows[i].bytes, rows[i].length);
    put_msg(&graph, 5, &t);
    put_node(&graph, "Identity", "w", "y", NULL);
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct loaded l = load_from_folder(&model);
    if (!l.status == !!rows[i].says || (rows[i].says && !strstr(l.ctx.message, rows[i].says)))
      print_error("row %zu: %s\n", i, l.status ? l.ctx.message : "was read");
    assert_true(rows[i].says ? strstr(l.ctx.message, rows[i].says) != NULL : !l.status);
    unload(&l);
  }
}

static void row_20_sparse_goes_through_the_same_door(void **state) {
  (void)state;
  for (int as_constant = 0; as_constant < 2; as_constant++) {
    struct buf graph = {0}, sparse = {0}, values = tensor_head("w", 1, (int64_t[]){4}, 1);
    put_external(&values, &(struct entry){"location", "../../etc/passwd", 0}, 1);
    put_msg(&sparse, 1, &values);
    put_int(&sparse, 3, 8);
    if (as_constant) {
      struct buf attributes = {0};
      attr_msg(&attributes, "sparse_value", 22, 11, &sparse);
      put_node(&graph, "Constant", "", "w", &attributes);
    } else {
      put_msg(&graph, 15, &sparse);
    }
    put_node(&graph, "Identity", "w", "y", NULL);
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct loaded l = load_from_folder(&model);
    assert_int_equal(l.status, HONE_E_PATH);
    unload(&l);
  }
}

static void row_21_shared_bytes(void **state) {
  (void)state;
  struct buf graph = {0};
  for (int i = 0; i < 3; i++) {
    const char *const names[] = {"a", "b", "c"}, *const offsets[] = {"0", "0", "4"};
    struct buf t = tensor_head(names[i], 1, (int64_t[]){3}, 1);
    put_external(&t,
                 (struct entry[]){{"location", i ? "weights.bin" : "./weights.bin", 0},
                                  {"offset", offsets[i], 0}},
                 2);
    put_msg(&graph, 5, &t);
  }
  put_node(&graph, "Add", "a,b", "s", NULL);
  put_node(&graph, "Add", "s,c", "y", NULL);
  put_output(&graph, "y");
  struct buf model = model_of(13, &graph);
  struct loaded l = load_from_folder(&model);
  assert_ok(&l);
  assert_int_equal(l.file.sides.count, 1);
  unload(&l);
}

static void row_22_weights_are_part_of_the_hash(void **state) {
  (void)state;
  char first[65];
  for (int i = 0; i < 2; i++) {
    write_file("changing.bin", i ? "0123456789abcdeF" : "0123456789abcdef", 16);
    struct buf model = model_with(&(struct entry){"location", "changing.bin", 0}, 1);
    struct loaded l = load_from_folder(&model);
    assert_ok(&l);
    if (!i) memcpy(first, l.file.sha256, sizeof first);
    if (i) assert_string_not_equal(first, l.file.sha256);
    unload(&l);
  }
}

static void another_folder_on_request(void **state) {
  (void)state;
  assert_int_equal(mkdir(path_of("away"), 0700), 0);
  struct buf model = model_with(&(struct entry){"location", "weights.bin", 0}, 1);
  write_file("away/model.onnx", model.at, model.n);
  struct loaded l = load_path(path_of("away/model.onnx"), NULL);
  assert_int_equal(l.status, HONE_E_NOFILE);
  unload(&l);
  struct import_options options = {.side_files_from = folder};
  l = load_path(path_of("away/model.onnx"), &options);
  assert_ok(&l);
  unload(&l);
  expect(&model, NULL, HONE_E_PATH, "without a folder"); /* bytes in memory */
}

/* Formats are detected by content: a damaged archive is E_FORMAT under any name, a pickle is
   E_TRUST unless it is named .onnx. */
static void other_formats_by_content(void **state) {
  (void)state;
  static const char zip[] = "PK\3\4 and more", pickle[] = "\x80\2}q\1(X\3";
  static const struct {
    const char *name, *bytes;
    hone_status status;
  } cases[] = {{"model.onnx", zip, HONE_E_FORMAT},
               {"model.pt", zip, HONE_E_FORMAT},
               {"m.pkl", pickle, HONE_E_TRUST},
               {"m.onnx", pickle, HONE_E_FORMAT},
               {"m.keras", "\x89HDF\r\n\x1a\n", HONE_E_TRUST}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    write_file(cases[i].name, cases[i].bytes, strlen(cases[i].bytes));
    struct loaded l = load_path(path_of(cases[i].name), NULL);
    if (l.status != cases[i].status) print_error("%s: %s\n", cases[i].name, l.ctx.message);
    assert_int_equal(l.status, cases[i].status);
    if (l.status == HONE_E_TRUST) assert_non_null(strstr(l.ctx.message, "code"));
    unload(&l);
  }
}

/* Links whose text is nearly that of the cache. */
static void links_that_are_no_cache(void **state) {
  static char long_target[4096];
  static const char *const targets[] = {
      "../blobs/",
      "../blobs/0123456789abcdef",
      "../../blobs/" HASH "0",
      "../../blobs/" HASH "/x",
      "../../blobs/" HASH HASH,
      "../../BLOBS/" HASH,
      "../../../../../../../../../../../../../../../../../../../../../../../../../blobs/" HASH,
      "../blobs/" HASH,
      "../../blobs/" HASH,
      long_target,
  };
  (void)state;
  assert_int_equal(mkdir(path_of("alone"), 0700), 0);
  memset(long_target, 'a', sizeof long_target - 1); /* as long as a link can be */
  for (size_t i = 0; i < COUNT(targets); i++) {
    char location[64];
    snprintf(location, sizeof location, "alone/link%zu.bin", i);
    assert_int_equal(symlink(targets[i], path_of(location)), 0);
    expect_location(location, HONE_E_PATH);
  }
}

static void parts_of_locations(void **state) {
  char long_part[400] = "real/";
  (void)state;
  memset(long_part + 5, 'a', 300);
  expect_location(long_part, HONE_E_PATH);
  expect_location("real//w.bin", HONE_OK);
  expect_location("./real/./w.bin", HONE_OK);
  expect_location("./.", HONE_E_PATH);
  expect_location("real/absent.bin", HONE_E_NOFILE);
  expect_location("absent/w.bin", HONE_E_NOFILE);
  expect_location("..a/w.bin", HONE_E_NOFILE);
}

/* More files than the list of them holds at first; each is mapped once and part of the hash. */
static void many_side_files(void **state) {
  struct buf graph = {0};
  char first_hash[33];
  (void)state;
  for (int again = 0; again < 2; again++) {
    for (int i = 0; i < 20; i++) {
      char name[32], file[32], out[32];
      float content[4] = {(float)i, 1, 2, (float)again};
      snprintf(name, sizeof name, "w%d", i);
      snprintf(file, sizeof file, "many%d.bin", i / 2);
      if (i % 2 == 0) write_file(file, content, sizeof content);
      struct buf t = tensor_head(name, 1, (int64_t[]){4}, 1);
      put_external(&t, &(struct entry){"location", file, 0}, 1);
      put_msg(&graph, 5, &t);
      snprintf(out, sizeof out, i ? "u%d" : "y", i);
      put_node(&graph, "Identity", name, out, NULL);
    }
    put_output(&graph, "y");
    struct buf model = model_of(13, &graph);
    struct loaded l = load_from_folder(&model);
    assert_ok(&l);
    assert_int_equal(l.file.sides.count, 10);
    if (again)
      assert_string_not_equal(first_hash, l.file.content_hash);
    else
      memcpy(first_hash, l.file.content_hash, sizeof first_hash);
    unload(&l);
  }
}

/* A hard link is followed where it is one's own or the folder's owner's, not another user's. */
static void hard_links_of_others(void **state) {
  (void)state;
  if (geteuid()) {
    print_message("skipped: only root can give a file away\n");
    return;
  }
  float content[4] = {0};
  write_file("given.bin", content, sizeof content);
  assert_int_equal(chown(path_of("given.bin"), 12345, (gid_t)-1), 0);
  expect_location("given.bin", HONE_OK);
  assert_int_equal(link(path_of("given.bin"), path_of("given-too.bin")), 0);
  expect_location("given.bin", HONE_E_PATH);
  assert_int_equal(chown(folder, 12345, (gid_t)-1), 0);
  expect_location("given.bin", HONE_OK);
  assert_int_equal(chown(folder, 0, (gid_t)-1), 0);
}

/* The folder that is named for side files is none; models that are not there. */
static void folders_that_are_not(void **state) {
  char long_name[5000];
  struct entry entry = {"location", "weights.bin", 0};
  (void)state;
  memset(long_name, 'a', sizeof long_name - 1);
  long_name[sizeof long_name - 1] = 0;
  const struct {
    const char *folder;
    hone_status status;
  } rows[] = {{path_of("absent"), HONE_E_NOFILE},
              {path_of("weights.bin"), HONE_E_NOFILE},
              {long_name, HONE_E_IO},
              {folder, HONE_OK}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct buf model = model_with(&entry, 1);
    struct loaded l = load(&model, &(struct import_options){.side_files_from = rows[i].folder});
    assert_int_equal(l.status, rows[i].status);
    unload(&l);
  }
  static const char *const absent[] = {"no-such-model.onnx", "/no-such-model.onnx"};
  for (size_t i = 0; i < COUNT(absent); i++) {
    struct loaded l = load_path(absent[i], NULL);
    assert_int_equal(l.status, HONE_E_NOFILE);
    unload(&l);
  }
}

/* Every system call and every allocation that a model with side files needs is refused once: the
   import reports that, or an error of the file, and leaves no file open. */
static void what_is_refused(void **state) {
  static const struct {
    const char *model, *files[2];
    hone_status status;
  } rows[] = {{"refused.onnx", {"real/w.bin", "weights.bin"}, HONE_OK},
              {"repo/snapshots/main/refused.onnx", {"w.bin", NULL}, HONE_OK},
              {"refused.onnx", {"absent/w.bin", NULL}, HONE_E_NOFILE},
              {"refused.onnx", {".", NULL}, HONE_E_PATH}};
  (void)state;
  for (size_t i = 0; i < COUNT(rows); i++) {
    struct buf model = model_of_files(rows[i].files);
    const int open_before = open_descriptors();
    const char *path = path_of(rows[i].model);
    bool was_reached = true;
    write_file(rows[i].model, model.at, model.n);
    free(model.at);
    for (int n = 0; was_reached; n++) {
      assert_true(n < 100);
      refusal.left = n;
      refusal.armed = true;
      struct loaded l = load_path(path, NULL);
      refusal.armed = false;
      was_reached = refusal.left < 0;
      if (!was_reached) assert_int_equal(l.status, rows[i].status);
      if (was_reached) assert_int_not_equal(l.status, HONE_OK);
      if (was_reached && l.status == HONE_E_INTERNAL)
        assert_non_null(strstr(l.ctx.message, "SHA-256"));
      unload(&l);
      assert_int_equal(open_descriptors(), open_before);
      assert_true(was_reached || n > 3);
    }
    refuse_allocations(path, NULL, NULL, 20000, rows[i].status);
    assert_int_equal(open_descriptors(), open_before);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(weights_are_read_in_place),
      cmocka_unit_test(row_16_locations),
      cmocka_unit_test(row_17_links_and_special_files),
      cmocka_unit_test(row_17_hugging_face_cache),
      cmocka_unit_test(links_that_are_no_cache),
      cmocka_unit_test(parts_of_locations),
      cmocka_unit_test(many_side_files),
      cmocka_unit_test(hard_links_of_others),
      cmocka_unit_test(folders_that_are_not),
      cmocka_unit_test(row_18_race),
      cmocka_unit_test(row_19_offsets_and_keys),
      cmocka_unit_test(row_19_malformed_entries),
      cmocka_unit_test(row_20_sparse_goes_through_the_same_door),
      cmocka_unit_test(row_21_shared_bytes),
      cmocka_unit_test(row_22_weights_are_part_of_the_hash),
      cmocka_unit_test(another_folder_on_request),
      cmocka_unit_test(other_formats_by_content),
      cmocka_unit_test(what_is_refused),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
