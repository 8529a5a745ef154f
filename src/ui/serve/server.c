/* server: connections, their deadlines, and the path of a request from libmicrohttpd to a handler and back.
 *
 * A few threads of the library answer. One thread of ours is the clock: it closes connections whose time is over (for the
 * headers, then for the whole request), also if they still send slowly, and wakes streams that follow a job. Invariant: a
 * connection's descriptor is only used under `lock`, before the library closes it.
 */
#include "serve.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "completion.h"
#include "server.h"

const char *serve_url(const struct server *server) { return server->url; }

/* -- deadlines */

static void watch_peer(void *user, struct MHD_Connection *connection, void **context,
                       enum MHD_ConnectionNotificationCode code) {
  struct server *server = user;
  struct peer *peer = *context;
  pthread_mutex_lock(&server->lock);
  if (code == MHD_CONNECTION_NOTIFY_STARTED && (peer = calloc(1, sizeof *peer))) {
    const union MHD_ConnectionInfo *info =
        server->http.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *peer = (struct peer){.next = server->peers,
                          .fd = info ? info->connect_fd : -1,
                          .deadline_ns = in_seconds(HEADER_S),
                          .is_listened = true};
    if (server->peers) server->peers->before = peer;
    server->peers = peer;
    *context = peer;
  } else if (code == MHD_CONNECTION_NOTIFY_CLOSED && peer) {
    if (peer->before) peer->before->next = peer->next;
    if (server->peers == peer) server->peers = peer->next;
    if (peer->next) peer->next->before = peer->before;
    free(peer);
    *context = NULL;
  }
  pthread_mutex_unlock(&server->lock);
}

/* -- the clock */

/* The deadline has passed, or the client closed its side: the library does not notice an end that came together with the last
   bytes. */
static bool is_over(struct peer *peer, uint64_t now) {
  char byte;
  if (peer->is_listened && !peer->ended_ns &&
      recv(peer->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
    peer->ended_ns = now;
  return now > peer->deadline_ns ||
         (peer->ended_ns && now - peer->ended_ns > ENDED_S * UINT64_C(1000000000));
}

static void *run_clock(void *user) {
  struct server *server = user;
  pthread_mutex_lock(&server->lock);
  while (!server->is_ending) {
    const uint64_t now = clock_ns();
    for (struct peer *peer = server->peers; peer; peer = peer->next)
      if (peer->fd >= 0 && peer->deadline_ns != UINT64_MAX && is_over(peer, now)) {
        shutdown(peer->fd, SHUT_RDWR);
        peer->deadline_ns = UINT64_MAX;
        server->has_news = true; /* a sleeping stream must notice the end */
      }
    if (server->has_news) streams_wake(server);
    server->has_news = false;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 250000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&server->wake, &server->lock, &until);
  }
  streams_wake(server);
  pthread_mutex_unlock(&server->lock);
  return NULL;
}

/* -- requests */

static void request_free(struct request *request) {
  if (!request) return;
  upload_drop(request->upload);
  strbuf_deinit(&request->in);
  strbuf_deinit(&request->out);
  arena_destroy(request->arena);
  if (request->out_fd >= 0) close(request->out_fd);
  if (request->stream) stream_end(request->stream);
  if (request->completion) completion_end(request->completion);
  free(request);
}

static void forget_request(void *user, struct MHD_Connection *connection, void **context,
                           enum MHD_RequestTerminationCode code) {
  struct server *server = user;
  (void)code;
  request_free(*context);
  *context = NULL;
  peer_deadline(server, connection, in_seconds(IDLE_S));
  peer_listen(server, connection, true);
}

static struct MHD_Response *make_body(struct request *request) {
  if (request->is_stream) {
    struct completion *completion = request->completion;
    request->completion = NULL; /* now of the response */
    return request->http->create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, completion_read,
                                                        completion, completion_end);
  }
  if (request->stream)
    return request->http->create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, stream_read,
                                                        request->stream, stream_end);
  if (request->out_fd >= 0)
    return request->http->create_response_from_fd64(request->out_fd_bytes, request->out_fd);
  return request->http->create_response_from_buffer(
      request->out.length, request->out.at,
      request->out.at ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);
}

/* Security headers, which would only matter after a mistake in a page. */
static void put_headers(struct request *request, struct MHD_Response *response) {
  const struct {
    const char *name, *value;
  } headers[] = {
      {"Content-Type", request->type ? request->type : "text/html; charset=utf-8"},
      {"Content-Security-Policy", request->server->policy},
      {"X-Content-Type-Options", "nosniff"},
      {"X-Frame-Options", "DENY"},
      {"Referrer-Policy", "no-referrer"},
      {"Cache-Control", "no-store"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Allow", request->status == 405 ? "GET, HEAD, POST" : NULL},
      {"Retry-After", request->status == 503 || request->status == 429 ? "10" : NULL},
      {"WWW-Authenticate", request->status == 401 ? "Bearer" : NULL},
      {"Location", request->location[0] ? request->location : NULL},
      {"Set-Cookie", request->cookie[0] ? request->cookie : NULL},
  };
  for (size_t i = 0; i < COUNT(headers); i++)
    if (headers[i].value)
      request->http->add_response_header(response, headers[i].name, headers[i].value);
  if (!request->file_name[0]) return;
  char text[128]; /* a slug needs no quotes */
  snprintf(text, sizeof text, "attachment; filename=\"%s\"", request->file_name);
  request->http->add_response_header(response, "Content-Disposition", text);
}

static enum MHD_Result respond(struct request *request) {
  struct MHD_Response *response = make_body(request);
  if (!response) return MHD_NO;
  peer_listen(request->server, request->connection, request->stream != NULL);
  request->out = (struct strbuf){0}; /* now owned by the response */
  request->out_fd = -1;
  request->stream = NULL;
  put_headers(request, response);
  const unsigned status = (unsigned)(request->status ? request->status : 200);
  const enum MHD_Result result =
      request->http->queue_response(request->connection, status, response);
  request->http->destroy_response(response);
  return result;
}

static enum MHD_Result run_handler(struct request *request, handler *run) {
  peer_listen(request->server, request->connection, false);
  request->is_waiting = false;
  if (run(request) && request_failed(request)) {
    request->out = (struct strbuf){0};
    request->status = 500;
  }
  return request->is_waiting ? MHD_YES : respond(request);
}

static enum MHD_Result begin_request(struct server *server, struct MHD_Connection *connection,
                                     const char *url, const char *method, const char *version,
                                     void **context) {
  struct request *request = calloc(1, sizeof *request);
  if (!request) return MHD_NO;
  *request = (struct request){
      .server = server, .http = &server->http, .connection = connection, .out_fd = -1};
  ctx_init(&request->ctx);
  *context = request;
  request_deadline(request, REQUEST_S);
  if (arena_create(&request->ctx, 0, &request->arena)) return MHD_NO;
  if (!request_admit(request, method, url, version)) return respond(request);
  if (!request->route->begin || !request->route->begin(request)) return MHD_YES;
  /* a reply before the end of the body would break the client's connection: a short rest is read and discarded */
  const char *length = request_header(request, "Content-Length");
  int64_t bytes = 0;
  request->has_failed_early = length && parse_i64(length, 0, DRAINED_MOST, &bytes) && bytes > 0;
  if (request->has_failed_early) return MHD_YES;
  if (request_failed(request)) return MHD_NO;
  return respond(request);
}

/* Receives parts of a body. The deadline grows with the received bytes, so a slow connection is allowed, a trickle is not. */
static void take_body(struct request *request, const char *data, size_t size) {
  if (request->has_failed_early) return;
  if (!request->upload) {
    strbuf_append(&request->in, data, size);
    return;
  }
  request->has_failed_early = upload_add(&request->ctx, request->upload, data, size) != HONE_OK;
  const union MHD_ConnectionInfo *info =
      request->http->get_connection_info(request->connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  struct peer *peer = info ? info->socket_context : NULL;
  pthread_mutex_lock(&request->server->lock);
  if (peer && peer->deadline_ns != UINT64_MAX)
    peer->deadline_ns += (uint64_t)size * UINT64_C(1000000000) / SLOWEST_UPLOAD;
  pthread_mutex_unlock(&request->server->lock);
}

static enum MHD_Result answer(void *user, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **context) {
  struct request *request = *context;
  if (!request) return begin_request(user, connection, url, method, version, context);
  if (*size) {
    take_body(request, data, *size);
    *size = 0;
    return MHD_YES;
  }
  if (request->has_failed_early) return request_failed(request) ? MHD_NO : respond(request);
  return run_handler(request, request->route->run);
}

/* Decodes %XX. Control characters and invalid hex become 1, which no route and no value contains. */
static size_t unescape(void *user, struct MHD_Connection *connection, char *text) {
  char *out = text;
  (void)user;
  (void)connection;
  for (const char *at = text; *at; at++) {
    if (*at != '%') {
      *out++ = *at == '+' ? ' ' : *at;
      continue;
    }
    char pair[3] = {at[1], at[1] ? at[2] : 0, 0}, *end;
    const long byte = strtol(pair, &end, 16);
    const bool is_hex = pair[0] && pair[1] && !*end && pair[0] != '-' && pair[0] != '+' &&
                        pair[0] != ' ' && byte >= 32;
    *out++ = is_hex ? (char)byte : 1;
    at += pair[0] ? pair[1] ? 2 : 1 : 0;
  }
  *out = 0;
  return (size_t)(out - text);
}

/* -- start and end */

static MUST_USE hone_status load_library(struct ctx *ctx, struct server *server) {
  static const char *const names[] = {"libmicrohttpd.so.12", "libmicrohttpd.so"};
  for (size_t i = 0; i < COUNT(names) && !server->library; i++)
    server->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!server->library)
    return advise(ctx, fail(ctx, HONE_E_MISSING, place_name("libmicrohttpd"), "is not installed"),
                  "apt-get install libmicrohttpd12");
#define F(name)                                                        \
  *(void **)&server->http.name = dlsym(server->library, "MHD_" #name); \
  if (!server->http.name)                                              \
    return fail(ctx, HONE_E_MISSING, place_name("libmicrohttpd"), "lacks MHD_" #name);
  MHD_FUNCTIONS(F)
#undef F
  return HONE_OK;
}

static MUST_USE hone_status make_secret(struct ctx *ctx, char *out, size_t bytes) {
  unsigned char raw[32];
  if (bytes > sizeof raw || getrandom(raw, bytes, 0) != (ssize_t)bytes)
    return fail(ctx, HONE_E_IO, place_none(), "no random numbers: %s", strerror(errno));
  for (size_t i = 0; i < bytes; i++) snprintf(out + 2 * i, 3, "%02x", raw[i]);
  return HONE_OK;
}

static MUST_USE hone_status resolve(struct ctx *ctx, const struct serve_options *options,
                                    struct addrinfo **out) {
  char port[16];
  const struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
                                 .ai_socktype = SOCK_STREAM};
  const char *address = options->address ? options->address : "127.0.0.1";
  snprintf(port, sizeof port, "%d", options->port);
  if (getaddrinfo(address, port, &hints, out))
    return fail(ctx, HONE_E_USAGE, place_name(address), "is not an address of this machine");
  const struct sockaddr *at = (*out)->ai_addr;
  const bool is_loopback =
      at->sa_family == AF_INET
          ? ntohl(((const struct sockaddr_in *)(const void *)at)->sin_addr.s_addr) >> 24 == 127
          : IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)at)->sin6_addr);
  if (is_loopback || options->token) return HONE_OK;
  freeaddrinfo(*out);
  return advise(ctx,
                fail(ctx, HONE_E_USAGE, place_name(address),
                     "other machines can reach this address: a token is required"),
                "give --token-file FILE, with 16 characters or more in its first line");
}

static MUST_USE hone_status listen_on(struct ctx *ctx, struct server *server, int *out_fd) {
  struct addrinfo *where;
  struct sockaddr_storage bound = {0};
  socklen_t length = sizeof bound;
  char host[80], port[16];
  TRY(resolve(ctx, &server->options, &where));
  const int one = 1;
  const int fd = socket(where->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool is_bound = fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) &&
                        !bind(fd, where->ai_addr, where->ai_addrlen) && !listen(fd, 512) &&
                        !getsockname(fd, (struct sockaddr *)&bound, &length) &&
                        !getnameinfo((struct sockaddr *)&bound, length, host, sizeof host, port,
                                     sizeof port, NI_NUMERICHOST | NI_NUMERICSERV);
  const int error = errno;
  freeaddrinfo(where);
  if (!is_bound) {
    if (fd >= 0) close(fd);
    return advise(ctx,
                  fail(ctx, error == EADDRINUSE ? HONE_E_BUSY : HONE_E_IO, place_name("--port"),
                       "cannot listen on port %d: %s", server->options.port, strerror(error)),
                  "--port 0 uses any free port");
  }
  server->port = (int)strtol(port, NULL, 10);
  snprintf(server->url, sizeof server->url, strchr(host, ':') ? "http://[%s]:%s/" : "http://%s:%s/",
           host, port);
  *out_fd = fd;
  return HONE_OK;
}

static MUST_USE hone_status make_policy(struct ctx *ctx, struct server *server) {
  struct strbuf policy = {0};
  const struct html_frame frame = page_frame("");
  hone_status status = html_policy(ctx, &policy, &frame);
  strbuf_puts(&policy, "; frame-ancestors 'none'");
  if (!status) status = strbuf_finish(ctx, &policy);
  if (!status && policy.length >= sizeof server->policy)
    status = fail(ctx, HONE_E_INTERNAL, place_none(), "the policy is too long");
  if (!status) memcpy(server->policy, policy.at, policy.length + 1);
  strbuf_deinit(&policy);
  return status;
}

static void ignore_message(void *user, const char *format, va_list args) {
  (void)user;
  (void)format;
  (void)args;
}

static MUST_USE hone_status start(struct ctx *ctx, struct server *server) {
  int fd;
  TRY(load_library(ctx, server));
  TRY(make_secret(ctx, server->post_token, 16));
  TRY(make_secret(ctx, server->session, 32));
  TRY(make_policy(ctx, server));
  TRY(listen_on(ctx, server, &fd));
  hone_status status = jobs_open(ctx, server, &server->jobs);
  if (!status)
    status = completions_start(ctx, server, server->options.generator, &server->completions);
  if (status) {
    close(fd);
    return status;
  }
  server->has_clock = !pthread_create(&server->clock, NULL, run_clock, server);
  if (server->has_clock)
    server->daemon = server->http.start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, answer, server,
        MHD_OPTION_EXTERNAL_LOGGER, ignore_message, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_THREAD_POOL_SIZE, 4u, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_MAX, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_CONNECTION, watch_peer, server, MHD_OPTION_NOTIFY_COMPLETED,
        forget_request, server, MHD_OPTION_UNESCAPE_CALLBACK, unescape, NULL, MHD_OPTION_END);
  if (server->daemon) return HONE_OK;
  close(fd);
  return fail(ctx, HONE_E_IO, place_name("libmicrohttpd"), "the server could not be started");
}

hone_status serve_start(struct ctx *ctx, const struct serve_options *options, struct server **out) {
  *out = NULL;
  struct server *server = calloc(1, sizeof *server);
  if (!server) return fail(ctx, HONE_E_OOM, place_none(), "no memory for a server");
  server->options = *options;
  pthread_mutex_init(&server->lock, NULL);
  pthread_cond_init(&server->wake, NULL);
  const hone_status status = start(ctx, server);
  if (status) {
    serve_stop(server);
    return status;
  }
  *out = server;
  return HONE_OK;
}

void serve_stop(struct server *server) {
  if (!server) return;
  pthread_mutex_lock(&server->lock);
  server->is_ending = true;
  pthread_cond_signal(&server->wake);
  pthread_mutex_unlock(&server->lock);
  if (server->has_clock) pthread_join(server->clock, NULL);
  completions_end(server->completions);
  if (server->daemon) server->http.stop_daemon(server->daemon);
  jobs_close(server->jobs);
  completions_stop(server->completions);
  pthread_cond_destroy(&server->wake);
  pthread_mutex_destroy(&server->lock);
  if (server->library) dlclose(server->library);
  free(server);
}
