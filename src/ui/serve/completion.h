/* completion: a request to the language model, between its connection and the thread that generates. */
#ifndef HONE_SERVE_COMPLETION_H
#define HONE_SERVE_COMPLETION_H

#include "completions.h"
#include "http.h"

struct completion {
  struct completions *owner;
  struct MHD_Connection *connection;
  json_t *body; /* the request, whose texts are used in place */
  struct generate_request request;
  const char *stops[STOPS_MOST];
  char id[40], model[65];
  uint64_t created_s;
  bool is_chat, is_stream, has_usage;
  int users;
  /* below: under the owner's lock */
  struct strbuf ready; /* of a stream: to be sent */
  size_t sent;
  struct strbuf text; /* else: the answer */
  bool is_waiting, is_done, is_cancelled, has_role;
  struct ctx ctx;
  hone_status status;
  struct generate_result result;
};

/* completions.c */
MUST_USE hone_status completion_submit(struct ctx *ctx, struct completions *all,
                                       struct completion *completion);
/* True if the connection was suspended: there is nothing to send yet. */
bool completion_waits(struct completion *completion);
const struct hone_generator *completions_generator(const struct completions *completions);
/* Ends the thread; requests that wait get an error. */
void completions_end(struct completions *completions);

/* completion_answer.c */
void completion_put_piece(struct completion *completion, const char *bytes, size_t size);
/* The end of a stream. */
void completion_finish(struct completion *completion);
/* The whole answer. */
json_t *completion_answer(const struct completion *completion);

#endif
