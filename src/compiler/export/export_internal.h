/* Shared by the exporters: a message with holes for weights, and the exporter's state. */
#ifndef HONE_EXPORT_INTERNAL_H
#define HONE_EXPORT_INTERNAL_H

#include "export.h"
#include "compiler/export/onnx/protobuf.h"

/* A message whose large payloads are copied only at the end: data[i] is inserted before
 * text[at]. */
struct hole {
  size_t at, bytes;
  const void *data;
};
struct message {
  struct strbuf text;
  struct {
    struct hole *at;
    size_t count, capacity;
  } holes;
  size_t hole_bytes;
};

/* Operator domains that other engines support, and the version that is written. */
enum { EXPORT_DOMAINS = 2 };
extern const struct export_domain {
  const char *name;
  int version;
} export_domains[EXPORT_DOMAINS];

struct exporter {
  struct ctx *ctx;
  struct arena *arena;
  int opset;
  const struct open_dimensions *open; /* or NULL */
  struct export_side *side;           /* or NULL: everything in one file */
  uint64_t fresh;                     /* counter for names of new values */
  struct graph_list graphs;           /* outer graphs first */
  struct message *messages;           /* the GraphProto of each */
  /* used entries of export_domains, besides the default domain */
  bool uses[EXPORT_DOMAINS];
};

/* -- values.c */
MUST_USE hone_status export_tensor(struct exporter *e, struct message *graph, unsigned field,
                                   const char *name, const struct tensor *tensor);
/* The last part of the side file. */
MUST_USE hone_status export_side_end(struct exporter *e);
/* AttributeProto fields of a node of `op`; subgraphs are written from their messages. */
MUST_USE hone_status export_attribute(struct exporter *e, struct strbuf *node,
                                      const struct attribute *attribute);
/* Appends the message with its holes filled. */
void message_put(struct strbuf *out, const struct message *message);

/* -- node.c */
/* Writes the node under `name`; new constants become initializers. */
MUST_USE hone_status export_node(struct exporter *e, struct message *graph, const struct node *node,
                                 const char *name);
MUST_USE hone_status export_fresh_name(struct exporter *e, const char **out);

/* -- boxes.c */
/* A hard SuppressBoxes (hone) as nodes of ONNX's default domain around NonMaxSuppression. */
MUST_USE hone_status export_suppress_boxes(struct exporter *e, struct message *graph,
                                           const struct node *node, const char *name);

#endif
