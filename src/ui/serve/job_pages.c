/* job_pages: upload a model and follow its recommendation.
 *
 * An upload is one POST: the body is the file, the query has the constraints. A constraint is found by name in a table and its
 * value is checked by its characters; `hone recommend` gets it as a separate argument and parses it as on a command line.
 */
#include "core/os/os.h"
#include "serve.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define AMOUNT DIGITS, LETTERS DIGITS ".,%", 16
#define SIZES LETTERS DIGITS "_/", LETTERS DIGITS ".,:/_-<=[]", 120
/* Allowed first characters, other characters, and length of the value: never a flag. */
static const struct constraint {
  const char *name, *flag, *label, *hint, *first, *letters;
  size_t most;
} constraints[] = {
    {"max-latency", "--max-latency", "maximum latency", "5ms", AMOUNT},
    {"max-memory", "--max-memory", "maximum memory", "200MB", AMOUNT},
    {"min-accuracy", "--min-accuracy", "minimum relative accuracy", "0.99", AMOUNT},
    {"max-size", "--max-size", "maximum size", "50MB", AMOUNT},
    {"max-start", "--max-start", "maximum start-up time", "100ms", AMOUNT},
    {"max-compile", "--max-compile", "maximum compile time", "10s", AMOUNT},
    {"max-energy", "--max-energy", "maximum energy", "5mJ", AMOUNT},
    {"min-throughput", "--min-throughput", "minimum samples/s", "200", AMOUNT},
    {"budget", "--budget", "time budget", "60s", AMOUNT},
    {"threads", "--threads", "threads", "1,4", AMOUNT},
    {"shape", "--shape", "dynamic dimensions", "x[1,3,224,224]", SIZES},
};
static const char *const objectives[] = {"latency", "throughput", "memory",   "size",
                                         "start",   "compile",    "accuracy", "energy"};

/* -- reading */

static MUST_USE hone_status add_word(struct ctx *ctx, struct job *job, const char *word) {
  if (job->word_count >= JOB_WORDS || strlen(word) >= sizeof job->words[0])
    return fail(ctx, HONE_E_USAGE, place_name(word), "too many constraints, or one is too long");
  snprintf(job->words[job->word_count++], sizeof job->words[0], "%s", word);
  return HONE_OK;
}

static bool is_value_of(const struct constraint *constraint, const char *text) {
  const size_t n = strlen(text);
  return n && n <= constraint->most && strspn(text, constraint->first) &&
         strspn(text, constraint->letters) == n;
}

static MUST_USE hone_status read_constraints(struct request *request, struct job *job) {
  const char *objective = request_query(request, "objective");
  for (size_t i = 0; i < COUNT(constraints); i++) {
    const char *value = request_query(request, constraints[i].name);
    if (!value || !*value) continue;
    if (!is_value_of(&constraints[i], value))
      return fail(&request->ctx, HONE_E_USAGE, place_name(constraints[i].name),
                  "is not a value such as %s", constraints[i].hint);
    TRY(add_word(&request->ctx, job, constraints[i].flag));
    TRY(add_word(&request->ctx, job, value));
  }
  for (size_t i = 0; objective && i < COUNT(objectives); i++) {
    if (strcmp(objective, objectives[i])) continue;
    TRY(add_word(&request->ctx, job, "--objective"));
    return add_word(&request->ctx, job, objectives[i]);
  }
  return objective && *objective
             ? fail(&request->ctx, HONE_E_USAGE, place_name("objective"), "no such objective")
             : HONE_OK;
}

hone_status job_create_begin(struct request *request) {
  struct job job = {0};
  int64_t length = 0;
  const char *name = request_query(request, "name"),
             *text = request_header(request, "Content-Length");
  if (!name || !*name)
    return fail(&request->ctx, HONE_E_USAGE, place_none(), "?name=FILE is missing");
  slug(job.name, name);
  TRY(read_constraints(request, &job));
  if (!text || !parse_i64(text, 0, INT64_MAX, &length)) length = 0;
  const hone_status status = upload_begin(&request->ctx, server_facts(request->server).jobs, &job,
                                          (uint64_t)length, &request->upload);
  if (status == HONE_E_BUSY) request->status = 429;
  return status;
}

hone_status job_create(struct request *request) {
  char id[17];
  if (!request->upload) return fail(&request->ctx, HONE_E_USAGE, place_none(), "the file is empty");
  TRY(upload_finish(&request->ctx, request->upload, id));
  snprintf(request->location, sizeof request->location, "/job/%s", id);
  request->status = 201;
  request->type = "application/json";
  strbuf_printf(&request->out, "{\"job\": \"/job/%s\"}\n", id);
  return strbuf_finish(&request->ctx, &request->out);
}

static MUST_USE hone_status answer_with(struct request *request, bool was_done) {
  if (!was_done) {
    request->status = 409;
    return fail(&request->ctx, HONE_E_USAGE, place_name(request->id),
                "not possible in its current state");
  }
  request->type = "application/json";
  strbuf_puts(&request->out, "{}\n");
  return strbuf_finish(&request->ctx, &request->out);
}
hone_status job_cancel(struct request *request) {
  return answer_with(request, jobs_end(server_facts(request->server).jobs, request->id));
}
hone_status job_remove(struct request *request) {
  return answer_with(request, jobs_forget(server_facts(request->server).jobs, request->id));
}

static MUST_USE hone_status find_job(struct request *request, struct job *out) {
  return jobs_find(server_facts(request->server).jobs, request->id, out)
             ? HONE_OK
             : fail(&request->ctx, HONE_E_NOFILE, place_name(request->id), "no such upload");
}

static MUST_USE hone_status path_in_job(struct request *request, const struct job *job,
                                        const char *name, const char **out) {
  return arena_printf(&request->ctx, request->arena, out, "%s/%s/%s",
                      jobs_folder(server_facts(request->server).jobs), job->id, name);
}

hone_status job_bundle(struct request *request) {
  struct job job;
  struct stat facts;
  const char *path;
  TRY(find_job(request, &job));
  TRY(path_in_job(request, &job, "bundle.tar", &path));
  request->out_fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (request->out_fd < 0 || fstat(request->out_fd, &facts))
    return fail(&request->ctx, HONE_E_NOFILE, place_name(request->id), "it has no bundle");
  request->out_fd_bytes = (uint64_t)facts.st_size;
  snprintf(request->file_name, sizeof request->file_name, "bundle-%.64s.tar", job.name);
  request->type = "application/x-tar";
  request_deadline(request, DOWNLOAD_S);
  return HONE_OK;
}

hone_status job_answer(struct request *request) {
  struct job job;
  const char *path;
  struct mapping mapping;
  TRY(find_job(request, &job));
  TRY(path_in_job(request, &job, "answer.json", &path));
  TRY(file_map(&request->ctx, path, &mapping));
  strbuf_append(&request->out, (const char *)mapping.data, mapping.size);
  file_unmap(&mapping);
  request->type = "application/json";
  return strbuf_finish(&request->ctx, &request->out);
}

/* -- pages */

static void put_form(struct request *request, struct html html) {
  const struct server_facts facts = server_facts(request->server);
  LITERAL(html.out, "<form id=\"upload\" class=\"form\" data-token=\"");
  html_attribute(html, facts.post_token);
  strbuf_printf(html.out, "\" data-most=\"%llu\">",
                (unsigned long long)facts.options->upload_bytes);
  LITERAL(html.out,
          "<label class=\"file\">model <input id=\"file\" type=\"file\" required "
          "accept=\".onnx,.tflite,.pt2\"></label><label>objective <select name=\"objective\">");
  for (size_t i = 0; i < COUNT(objectives); i++)
    strbuf_printf(html.out, "<option>%s</option>", objectives[i]);
  LITERAL(html.out, "</select></label>");
  for (size_t i = 0; i < COUNT(constraints); i++)
    strbuf_printf(
        html.out,
        "<label>%s <input name=\"%s\" placeholder=\"%s\" maxlength=\"%zu\" size=\"%zu\"></label>",
        constraints[i].label, constraints[i].name, constraints[i].hint, constraints[i].most,
        constraints[i].most < 32 ? constraints[i].most / 2 : 16);
  LITERAL(html.out,
          "<button class=\"action\">Recommend</button><progress id=\"sent\" max=\"1\" value=\"0\" "
          "hidden></progress><p id=\"said\" role=\"status\" aria-live=\"polite\"></p></form>\n");
  LITERAL(html.out, "<p class=\"quiet\">One file of at most ");
  put_bytes(html.out, (double)facts.options->upload_bytes);
  LITERAL(html.out,
          ", with its weights inside. Models are measured one after the other, because two "
          "measurements at the same time disturb each other. The same from a command line:</p>\n");
  struct strbuf command = {0};
  strbuf_printf(
      &command,
      "curl --fail-with-body -H 'X-Hone-Token: %s' -H 'Content-Type: application/octet-stream' "
      "--data-binary @model.onnx '%sjobs?name=model.onnx&objective=latency'",
      facts.post_token, facts.url);
  html_repeat(html, command.at ? command.at : "");
  strbuf_deinit(&command);
}

static void put_state(struct html html, const struct job *job) {
  static const char *const classes[JOB_STATE_COUNT] = {"undecided", "tie",       "faster",
                                                       "bad",       "undecided", "undecided"};
  strbuf_printf(html.out, "<span class=\"pill %s\" id=\"state\">%s</span>", classes[job->state],
                job_state_text(job->state));
}

hone_status page_jobs(struct request *request) {
  const struct html html = {&request->out};
  const struct html_frame frame = page_frame("jobs");
  struct job *jobs;
  TRY(NEW_ARRAY(&request->ctx, request->arena, jobs, JOBS_MOST));
  const size_t count = jobs_list(server_facts(request->server).jobs, jobs);
  TRY(html_head(&request->ctx, html, "Recommend", &frame));
  LITERAL(html.out,
          "<p class=\"answer\">Upload a model: every installed engine is measured, and the best "
          "one that meets your constraints is recommended, with reasons.</p>\n");
  put_form(request, html);
  LITERAL(html.out, "<section><h2>Uploaded models</h2>\n<ul class=\"failures\">");
  for (size_t i = 0; i < count; i++) {
    strbuf_printf(html.out, "<li><a href=\"/job/%s\">", jobs[i].id);
    html_text(html, jobs[i].name);
    LITERAL(html.out, "</a> ");
    put_state(html, &jobs[i]);
    LITERAL(html.out, "<p>");
    put_time(html.out, jobs[i].created_unix_ms);
    LITERAL(html.out, ", ");
    put_bytes(html.out, (double)jobs[i].bytes);
    if (jobs[i].word_count) LITERAL(html.out, ",");
    for (int w = 0; w < jobs[i].word_count; w++) {
      LITERAL(html.out, " ");
      html_text(html, jobs[i].words[w]);
    }
    LITERAL(html.out, "</p></li>\n");
  }
  strbuf_puts(html.out, count ? "</ul></section>\n" : "<li>nothing yet</li></ul></section>\n");
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}

/* The answer of `hone recommend`: a table of rows with their status; the log has the rest. */
static void put_row(struct html html, const json_t *row) {
  const char *standing = json_string_value(json_object_get(row, "standing")),
             *backend = json_string_value(json_object_get(row, "backend")),
             *reason = json_string_value(json_object_get(row, "reason")),
             *precision = json_string_value(json_object_get(row, "precision"));
  const long long threads = json_integer_value(json_object_get(row, "threads"));
  const json_t *latency = json_object_get(row, "latency");
  if (!standing) standing = json_object_get(row, "look") ? "dropped" : NULL;
  if (!backend || !standing) return;
  strbuf_printf(html.out, "<tbody><tr class=\"row\"><th scope=\"row\" class=\"name\"><b>");
  html_text(html, backend);
  LITERAL(html.out, "</b><small>");
  html_text(html, precision ? precision : "");
  strbuf_printf(html.out, " \xc2\xb7 %lld thread%s</small>", threads, threads == 1 ? "" : "s");
  LITERAL(html.out, "</th><td data-label=\"status\"><span class=\"pill ");
  strbuf_puts(html.out, !strcmp(standing, "chosen") ? "faster\">" : "undecided\">");
  html_text(html, standing);
  LITERAL(html.out, "</span></td><td class=\"num\" data-label=\"latency\">");
  if (json_is_number(latency))
    put_latency(html.out, json_number_value(latency));
  else
    LITERAL(html.out, "\xe2\x80\x93");
  LITERAL(html.out, "</td><td class=\"reason\" data-label=\"why\">");
  html_text(html, reason ? reason : "");
  LITERAL(html.out, "</td></tr></tbody>\n");
}

static void put_answer(struct request *request, struct html html, const struct job *job) {
  const char *path = NULL;
  json_t *root =
      path_in_job(request, job, "answer.json", &path) ? NULL : json_load_file(path, 0, NULL);
  if (!root) return;
  const char *study = json_string_value(json_object_get(root, "study"));
  const json_t *rows = json_object_get(root, "rows"), *dropped = json_object_get(root, "dropped");
  const char *conclusion = json_string_value(json_object_get(root, "conclusion"));
  LITERAL(html.out, "<section><h2>The answer</h2>\n");
  if (conclusion) {
    LITERAL(html.out, "<p class=\"answer\">");
    html_text(html, conclusion);
    LITERAL(html.out, "</p>\n");
  }
  if (json_array_size(rows)) {
    LITERAL(html.out,
            "<div class=\"scroll\"><table class=\"rows plain\"><thead><tr><th "
            "scope=\"col\">engine</th><th scope=\"col\">status</th><th scope=\"col\" "
            "class=\"num\">latency</th><th scope=\"col\">why</th></tr></thead>\n");
    for (size_t i = 0; i < json_array_size(rows); i++) put_row(html, json_array_get(rows, i));
    for (size_t i = 0; i < json_array_size(dropped); i++) put_row(html, json_array_get(dropped, i));
    LITERAL(html.out, "</table></div>\n");
  }
  LITERAL(html.out, "<p class=\"pager\">");
  if (study && strlen(study) == 32 && strspn(study, "0123456789abcdef") == 32)
    strbuf_printf(html.out, "<a href=\"/study/%s\">study</a> ", study);
  strbuf_printf(html.out, "<a href=\"/job/%s/answer.json\">answer.json</a> ", job->id);
  if (!path_in_job(request, job, "bundle.tar", &path) && !access(path, R_OK))
    strbuf_printf(html.out,
                  "<a class=\"action\" href=\"/job/%s/bundle.tar\">Download the bundle</a>",
                  job->id);
  LITERAL(html.out, "</p></section>\n");
  json_decref(root);
}

/* The error that ended the job, without the path of the server's folder. */
static void put_failure(struct request *request, struct html html, const struct job *job) {
  struct strbuf log = {0};
  char folder[64];
  const char *error = NULL;
  jobs_log(server_facts(request->server).jobs, job->id, 0, &log);
  for (char *at = log.at; at && *at; at += *at == '\n') {
    if (!strncmp(at, "hone: E_", 8)) error = at + strlen("hone: ");
    at += strcspn(at, "\n");
  }
  if (error) {
    char *end = log.at + (error - log.at) + strcspn(error, "\n");
    *end = 0;
    snprintf(folder, sizeof folder, "/%s/model/", job->id);
    const char *path = strstr(error, folder), *quote = path ? strchr(error, '"') : NULL;
    LITERAL(html.out, "<p class=\"notice\">");
    if (quote && quote < path) {
      char before[80];
      snprintf(before, sizeof before, "%.*s", (int)(quote + 1 - error), error);
      html_text(html, before);
      error = path + strlen(folder);
    }
    html_text(html, error);
    LITERAL(html.out, "</p>\n");
  }
  strbuf_deinit(&log);
}

static void put_log(struct request *request, struct html html, const struct job *job) {
  struct strbuf log = {0};
  const size_t end = jobs_log(server_facts(request->server).jobs, job->id, 0, &log);
  const bool goes_on = job->state == JOB_queued || job->state == JOB_running;
  strbuf_printf(
      html.out,
      "<section><h2>Log</h2>\n<pre id=\"log\" tabindex=\"0\" data-job=\"%s\" data-at=\"%zu\"%s>",
      job->id, end, goes_on ? " data-live" : "");
  /* line by line, with control characters escaped */
  for (char *at = log.at, *next; at && *at; at = next) {
    next = at + strcspn(at, "\n");
    const bool has_more = *next;
    *next = 0;
    html_text(html, at);
    LITERAL(html.out, "\n");
    next += has_more;
  }
  LITERAL(html.out, "</pre></section>\n");
  strbuf_deinit(&log);
}

hone_status page_job(struct request *request) {
  const struct html html = {&request->out};
  const struct server_facts facts = server_facts(request->server);
  struct html_frame frame = page_frame("jobs");
  struct job job;
  TRY(find_job(request, &job));
  const bool goes_on = job.state == JOB_queued || job.state == JOB_running;
  if (goes_on) frame.head = "<noscript><meta http-equiv=\"refresh\" content=\"3\"></noscript>\n";
  TRY(html_head(&request->ctx, html, job.name, &frame));
  LITERAL(html.out, "<p class=\"facts\">");
  put_state(html, &job);
  LITERAL(html.out, "<time>");
  put_time(html.out, job.created_unix_ms);
  LITERAL(html.out, "</time><span>");
  put_bytes(html.out, (double)job.bytes);
  LITERAL(html.out, "</span></p>\n");
  if (job.state == JOB_failed) put_failure(request, html, &job);
  if (job.state == JOB_done || job.state == JOB_failed) put_answer(request, html, &job);
  put_log(request, html, &job);
  strbuf_printf(
      html.out,
      "<p><button class=\"action\" data-post=\"/job/%s/%s\" data-token=\"%s\">%s</button></p>\n",
      job.id, goes_on ? "cancel" : "remove", facts.post_token, goes_on ? "Cancel" : "Remove");
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}
