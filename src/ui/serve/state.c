/* Facts of a running server and of a request, for handlers: client addresses, deadlines, comparison of secrets. */
#include "server.h"

#include <netinet/in.h>

struct server_facts server_facts(struct server *server) {
  return (struct server_facts){.options = &server->options,
                               .post_token = server->post_token,
                               .session = server->session,
                               .url = server->url,
                               .jobs = server->jobs,
                               .port = server->port};
}

/* An IPv4 address, or the /64 network of an IPv6 address, because a host has all addresses of it. */
static void address_of(struct request *request, unsigned char out[8]) {
  const union MHD_ConnectionInfo *info =
      request->http->get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  const struct sockaddr *address = info ? info->client_addr : NULL;
  memset(out, 0, 8);
  if (address && address->sa_family == AF_INET) {
    memcpy(out, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
  } else if (address && address->sa_family == AF_INET6) {
    const unsigned char *bytes =
        ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr;
    const bool is_mapped = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)bytes);
    memcpy(out, is_mapped ? bytes + 12 : bytes, is_mapped ? 4 : 8);
  }
}

bool is_guessing(struct request *request) {
  enum { WRONG_MOST = 10 };
  struct server *server = request->server;
  unsigned char address[8];
  address_of(request, address);
  pthread_mutex_lock(&server->lock);
  const uint64_t now = clock_ns();
  struct guesser *at = &server->guessers[0];
  for (size_t i = 0; i < COUNT(server->guessers); i++) {
    struct guesser *other = &server->guessers[i];
    if (other->wrong && !memcmp(other->address, address, sizeof address)) {
      at = other;
      break;
    }
    if (other->since_ns < at->since_ns) at = other;
  }
  if (memcmp(at->address, address, sizeof address) || now - at->since_ns > UINT64_C(60000000000)) {
    *at = (struct guesser){.since_ns = now};
    memcpy(at->address, address, sizeof address);
  }
  const bool is_too_many = ++at->wrong > WRONG_MOST;
  pthread_mutex_unlock(&server->lock);
  return is_too_many;
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

bool is_media_type(const char *type, const char *wanted) {
  const size_t n = strlen(wanted);
  return type && !strncasecmp(type, wanted, n) && (!type[n] || strchr("; \t", type[n]));
}
