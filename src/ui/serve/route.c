/* route: access control. Every check of a request that needs no handler is here.
 *
 * The result is the route that answers, or a status and a message. The table has the access right of each route, which cannot
 * be omitted. Sources: RFC 9110 and 9112; OWASP on CSRF and DNS rebinding.
 */
#include "serve.h"

#include "completions.h"
#include "http.h"

static const struct route routes[] = {
    {"GET", "/", ACCESS_READ, page_studies, NULL},
    {"GET", "/study/*", ACCESS_READ, page_study, NULL},
    {"GET", "/matrix", ACCESS_READ, page_matrix, NULL},
    {"GET", "/trends", ACCESS_READ, page_trends, NULL},
    {"GET", "/trend/*", ACCESS_READ, page_trend, NULL},
    {"GET", "/machines", ACCESS_READ, page_machines, NULL},
    {"GET", "/compare", ACCESS_READ, page_compare, NULL},
    {"GET", "/jobs", ACCESS_READ, page_jobs, NULL},
    {"GET", "/job/*", ACCESS_READ, page_job, NULL},
    {"GET", "/job/*/events", ACCESS_READ, job_events, NULL},
    {"GET", "/job/*/bundle.tar", ACCESS_READ, job_bundle, NULL},
    {"GET", "/job/*/answer.json", ACCESS_READ, job_answer, NULL},
    {"POST", "/jobs", ACCESS_WRITE, job_create, job_create_begin},
    {"POST", "/job/*/cancel", ACCESS_WRITE, job_cancel, NULL},
    {"POST", "/job/*/remove", ACCESS_WRITE, job_remove, NULL},
    {"GET", "/v1/models", ACCESS_API, api_models, NULL},
    {"POST", "/v1/completions", ACCESS_API, api_completion, NULL},
    {"POST", "/v1/chat/completions", ACCESS_API, api_chat, NULL},
    {"GET", "/login", ACCESS_ANYONE, page_login, NULL},
    {"POST", "/login", ACCESS_ANYONE, login, NULL},
};

/* "NAME", or "NAME:PORT". */
static bool is_host(const char *host, const char *name, int port) {
  const size_t n = strlen(name);
  char with_port[16];
  if (strncasecmp(host, name, n)) return false;
  snprintf(with_port, sizeof with_port, ":%d", port);
  return !strcmp(host + n, with_port) || (!host[n] && port == 80);
}

/* Names that a browser resolves to this machine itself. If a token is required, a foreign name gains nothing, because the
   browser has no cookie for it. */
bool host_is_ours(const char *host, const char *address, int port, bool has_token) {
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
  char own[80];
  snprintf(own, sizeof own, strchr(address, ':') ? "[%s]" : "%s", address);
  for (size_t i = 0; i < COUNT(names); i++)
    if (is_host(host, names[i], port)) return true;
  return has_token
             ? host[0] &&
                   strspn(host,
                          "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-.:[]_") ==
                       strlen(host)
             : is_host(host, own, port);
}

/* -- headers */

struct seen {
  int count, hosts, lengths;
  bool has_encoding, has_bad_name;
};
static enum MHD_Result see_header(void *user, enum MHD_ValueKind kind, const char *key,
                                  const char *value) {
  struct seen *seen = user;
  (void)kind;
  (void)value;
  seen->count++;
  seen->hosts += !strcasecmp(key, "Host");
  seen->lengths += !strcasecmp(key, "Content-Length");
  seen->has_bad_name |= !*key || key[strcspn(key, " \t\r\n:")];
  seen->has_encoding |= !strcasecmp(key, "Transfer-Encoding");
  return MHD_YES;
}

static bool refuse(struct request *request, int status, const char *why) {
  request->status = status;
  if (request->route && request->route->access == ACCESS_API) {
    if (fail(&request->ctx, HONE_E_USAGE, place_none(), "%s", why)) api_failed(request);
    return false;
  }
  strbuf_deinit(&request->out);
  request->out = (struct strbuf){0};
  strbuf_puts(&request->out, why);
  strbuf_puts(&request->out, "\n");
  request->type = "text/plain; charset=utf-8";
  return false;
}

/* Content-Length, parsed strictly; -1: absent, -2: invalid. */
static int64_t length_of(struct request *request) {
  const char *text = request_header(request, "Content-Length");
  int64_t length;
  if (!text) return -1;
  return text[0] >= '0' && text[0] <= '9' && parse_i64(text, 0, INT64_MAX, &length) ? length : -2;
}

static bool is_foreign(struct request *request) {
  const char *site = request_header(request, "Sec-Fetch-Site"),
             *origin = request_header(request, "Origin"), *host = request_header(request, "Host");
  if (site && strcasecmp(site, "same-origin") && strcasecmp(site, "none")) return true;
  if (!origin) return false;
  const char *name = strstr(origin, "://");
  return !name || strncasecmp(origin, "http", 4) || !host || strcasecmp(name + 3, host);
}

static bool admit_headers(struct request *request, const char *method, const char *version) {
  const struct server_facts facts = server_facts(request->server);
  struct seen seen = {0};
  request->http->get_connection_values(request->connection, MHD_HEADER_KIND, see_header, &seen);
  if (strcmp(version, "HTTP/1.1") && strcmp(version, "HTTP/1.0"))
    return refuse(request, 505, "only HTTP/1.0 and HTTP/1.1 are supported");
  if (strcmp(method, "GET") && strcmp(method, "HEAD") && strcmp(method, "POST"))
    return refuse(request, 405, "only GET, HEAD and POST are supported");
  if (seen.count > HEADER_MAX) return refuse(request, 431, "too many headers");
  if (seen.has_bad_name) return refuse(request, 400, "a header has an invalid name");
  if (seen.hosts != 1) return refuse(request, 400, "exactly one Host header is required");
  if (seen.lengths > 1 || (seen.lengths && seen.has_encoding))
    return refuse(request, 400, "the body's length is ambiguous");
  if (seen.has_encoding) return refuse(request, 411, "Content-Length is required");
  if (!host_is_ours(request_header(request, "Host"),
                    facts.options->address ? facts.options->address : "127.0.0.1", facts.port,
                    facts.options->token))
    return refuse(request, 421, "wrong Host for this server");
  return !is_foreign(request) || refuse(request, 403, "the request is from another site");
}

/* -- routes */

static bool matches(const char *pattern, const char *path, char id[33]) {
  id[0] = 0;
  for (; *pattern; pattern++) {
    if (*pattern != '*') {
      if (*path++ != *pattern) return false;
      continue;
    }
    const size_t n = strspn(path, "0123456789abcdef");
    if (n != 16 && n != 32) return false;
    memcpy(id, path, n);
    id[n] = 0;
    path += n;
  }
  return !*path;
}

static bool find_route(struct request *request, const char *method, const char *path) {
  bool is_path = false;
  for (size_t i = 0; i < COUNT(routes); i++) {
    if (!matches(routes[i].path, path, request->id)) continue;
    is_path = true;
    if (strcmp(routes[i].method, method)) continue;
    request->route = &routes[i];
    return true;
  }
  if (is_path) return refuse(request, 405, "method not allowed");
  return fail(&request->ctx, HONE_E_NOFILE, place_none(), "no such page") &&
         request_failed(request) && refuse(request, 404, "no such page");
}

/* From the cookie that a login set, or as a bearer token. */
static bool is_known(struct request *request) {
  const struct server_facts facts = server_facts(request->server);
  const char *bearer = request_header(request, "Authorization");
  const char *cookie =
      request->http->lookup_connection_value(request->connection, MHD_COOKIE_KIND, "hone");
  if (!facts.options->token) return true;
  if (bearer && !strncasecmp(bearer, "Bearer ", 7)) {
    const bool is_right = same_secret(bearer + 7, facts.options->token);
    if (!is_right && is_guessing(request)) request->status = 429;
    return is_right;
  }
  return cookie && same_secret(cookie, facts.session);
}

/* A page of another site cannot send this type or this header without a preflight request, which is not answered. */
static bool admit_write(struct request *request) {
  const char *type = request_header(request, "Content-Type"),
             *token = request_header(request, "X-Hone-Token");
  if (!is_media_type(type, "application/octet-stream") && !is_media_type(type, "application/json"))
    return refuse(request, 415, "the type must be application/octet-stream or application/json");
  if (!token || !same_secret(token, server_facts(request->server).post_token))
    return refuse(request, 403, "X-Hone-Token is missing or wrong: reload the page");
  return true;
}

bool request_admit(struct request *request, const char *method, const char *path,
                   const char *version) {
  if (!admit_headers(request, method, version)) return false;
  request->is_head = !strcmp(method, "HEAD");
  if (!find_route(request, request->is_head ? "GET" : method, path)) return false;
  if (request->route->access != ACCESS_ANYONE && !is_known(request)) {
    if (request->status) return refuse(request, request->status, TOO_MANY_GUESSES);
    request->status = 401;
    if (request->route->access == ACCESS_API) return refuse(request, 401, "a token is required");
    return page_login(request) ? refuse(request, 401, "a token is required") : false;
  }
  const int64_t length = length_of(request);
  if (length == -2) return refuse(request, 400, "Content-Length is not a number");
  if (strcmp(method, "POST")) return length <= 0 || refuse(request, 400, "unexpected body");
  if (length < 0) return refuse(request, 411, "Content-Length is required");
  if (request->route->access == ACCESS_WRITE && !admit_write(request)) return false;
  /* pages of other sites cannot send this type without asking first, which is not answered */
  if (request->route->access == ACCESS_API &&
      !is_media_type(request_header(request, "Content-Type"), "application/json"))
    return refuse(request, 415, "the type must be application/json");
  const int64_t most = request->route->access == ACCESS_API ? COMPLETION_BODY : SMALL_BODY;
  return request->route->begin || length <= most || refuse(request, 413, "the body is too long");
}

/* -- failures */

static int http_status(hone_status status) {
  static const struct {
    hone_status id;
    int status;
  } table[] = {{HONE_E_NOFILE, 404}, {HONE_E_USAGE, 400}, {HONE_E_LIMIT, 413}, {HONE_E_BUSY, 503},
               {HONE_E_OOM, 503},    {HONE_E_PATH, 404},  {HONE_E_TRUST, 403}, {HONE_E_WRITE, 507}};
  for (size_t i = 0; i < COUNT(table); i++)
    if (table[i].id == status) return table[i].status;
  return 500;
}

hone_status request_failed(struct request *request) {
  const struct html html = {&request->out};
  const struct html_frame frame = page_frame("");
  char message[sizeof request->ctx.message], hint_text[sizeof request->ctx.hint];
  if (!request->status || request->status < 400) request->status = http_status(request->ctx.status);
  if (request->route && request->route->access == ACCESS_API) {
    api_failed(request);
    return HONE_OK;
  }
  snprintf(message, sizeof message, "%s", request->ctx.message);
  snprintf(hint_text, sizeof hint_text, "%s", ctx_hint(&request->ctx));
  ctx_clear(&request->ctx);
  strbuf_deinit(&request->out);
  request->out = (struct strbuf){0};
  request->type = NULL;
  TRY(html_head(&request->ctx, html, request->status == 404 ? "Not found" : "Error", &frame));
  LITERAL(html.out, "<p class=\"notice\">");
  html_text(html, message);
  LITERAL(html.out, "</p>\n<p>");
  html_text(html, hint_text);
  LITERAL(html.out, "</p>\n<p><a href=\"/\">All studies</a></p>\n");
  html_foot(html);
  return strbuf_finish(&request->ctx, &request->out);
}
