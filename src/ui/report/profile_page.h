/* profile_page: a profile as a picture, and as a page in the style of a study's. */
#ifndef HONE_PROFILE_PAGE_H
#define HONE_PROFILE_PAGE_H

#include "compiler/profile/profile.h"

/* A standalone picture: threads over time, then the longest steps with their limits. */
MUST_USE hone_status profile_svg(struct ctx *ctx, const struct profile *profile,
                                 struct strbuf *out);
/* A page with the pictures and a table of all steps. */
MUST_USE hone_status profile_html(struct ctx *ctx, const struct profile *profile,
                                  struct strbuf *out);

#endif
