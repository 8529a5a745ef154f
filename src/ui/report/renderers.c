/* renderers: the formats of a report. A new format is one file and one row. */
#include "report.h"

const struct renderer renderers[] = {
    {"table", ".txt", render_table}, {"json", ".json", render_json},
    {"csv", ".csv", render_csv},     {"latency", ".latency.csv", render_latency_csv},
    {"md", ".md", render_markdown},  {"html", ".html", render_html},
    {"svg", ".svg", render_svg},     {"png", ".png", render_png},
};
const size_t renderer_count = COUNT(renderers);

const struct renderer *renderer_find(const char *name) {
  for (size_t i = 0; i < renderer_count; i++)
    if (!strcmp(renderers[i].name, name)) return &renderers[i];
  return NULL;
}
