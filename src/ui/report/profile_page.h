/* profile_page: a profile as a picture and as a page in the style of a study's. */
#ifndef HONE_PROFILE_PAGE_H
#define HONE_PROFILE_PAGE_H

#include "compiler/profile/profile.h"

/* A picture that stands alone: the threads over time, then the longest steps with their limits. */
MUST_USE hone_status profile_svg(struct ctx *ctx, const struct profile *profile,
                                 struct strbuf *out);
/* The pictures and every step, as a page in the style of a report's. */
MUST_USE hone_status profile_html(struct ctx *ctx, const struct profile *profile,
                                  struct strbuf *out);

#endif
