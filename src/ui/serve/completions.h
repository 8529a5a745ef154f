/* completions: a language model for clients of OpenAI's API.
 *
 * One thread generates; requests wait in a queue. A connection is suspended until there is something to send.
 */
#ifndef HONE_SERVE_COMPLETIONS_H
#define HONE_SERVE_COMPLETIONS_H

#include "compiler/generate/generate.h"
#include "serve.h"

enum { COMPLETIONS_MOST = 16, STOPS_MOST = 16, COMPLETION_BODY = 4 << 20 };

struct completions;
/* NULL generator: no model is served; *out is NULL. */
MUST_USE hone_status completions_start(struct ctx *ctx, struct server *server,
                                       struct hone_generator *generator, struct completions **out);
void completions_stop(struct completions *completions); /* ends a generation; NULL is allowed */

/* One request. */
struct completion;
ssize_t completion_read(void *user, uint64_t position, char *buffer, size_t size);
void completion_end(void *user); /* the client is gone, or has everything */

handler api_models, api_completion, api_chat;
/* The failure in ctx as OpenAI's JSON. */
void api_failed(struct request *request);

#endif
