/* Facts of a running server and of a request, for handlers: who they are asked by, how long they may take, whether a secret
 * is the right one. */
#include "server.h"

struct server_facts server_facts(struct server *server) {
  return (struct server_facts){.options = &server->options,
                               .post_token = server->post_token,
                               .session = server->session,
                               .url = server->url,
                               .jobs = server->jobs,
                               .port = server->port};
}

bool server_may_log_in(struct server *server, bool was_wrong) {
  enum { WRONG_MOST = 10 };
  pthread_mutex_lock(&server->lock);
  const uint64_t now = clock_ns();
  if (now - server->wrong_since_ns > UINT64_C(60000000000)) {
    server->wrong_since_ns = now;
    server->wrong_tokens = 0;
  }
  server->wrong_tokens += was_wrong;
  const bool may = server->wrong_tokens < WRONG_MOST;
  pthread_mutex_unlock(&server->lock);
  return may;
}

bool same_secret(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  volatile unsigned char differs = n != m;
  for (size_t i = 0; i < n; i++) differs |= (unsigned char)(a[i] ^ b[i < m ? i : 0]);
  return !differs;
}

uint64_t in_seconds(int seconds) { return clock_ns() + (uint64_t)seconds * UINT64_C(1000000000); }

static struct peer *peer_of(struct server *server, struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      server->http.get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}
void peer_deadline(struct server *server, struct MHD_Connection *connection, uint64_t deadline_ns) {
  struct peer *peer = peer_of(server, connection);
  pthread_mutex_lock(&server->lock);
  if (peer) peer->deadline_ns = deadline_ns;
  pthread_mutex_unlock(&server->lock);
}
void peer_listen(struct server *server, struct MHD_Connection *connection, bool is_listened) {
  struct peer *peer = peer_of(server, connection);
  pthread_mutex_lock(&server->lock);
  if (peer) peer->is_listened = is_listened, peer->ended_ns = 0;
  pthread_mutex_unlock(&server->lock);
}
void request_deadline(struct request *request, int seconds) {
  peer_deadline(request->server, request->connection, in_seconds(seconds));
}

void server_wake(struct server *server) {
  pthread_mutex_lock(&server->lock);
  server->has_news = true;
  pthread_cond_signal(&server->wake);
  pthread_mutex_unlock(&server->lock);
}

const char *request_query(struct request *request, const char *name) {
  return request->http->lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}
const char *request_header(struct request *request, const char *name) {
  return request->http->lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}
