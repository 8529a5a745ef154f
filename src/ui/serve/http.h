/* http: libmicrohttpd, loaded at run time, so that hone runs without it; E_MISSING says how to install it. */
#ifndef HONE_SERVE_HTTP_H
#define HONE_SERVE_HTTP_H
#include <microhttpd.h>

#define MHD_FUNCTIONS(F)           \
  F(start_daemon)                  \
  F(stop_daemon)                   \
  F(create_response_from_buffer)   \
  F(create_response_from_callback) \
  F(create_response_from_fd64)     \
  F(add_response_header)           \
  F(queue_response)                \
  F(destroy_response)              \
  F(get_connection_info)           \
  F(get_connection_values)         \
  F(lookup_connection_value)       \
  F(suspend_connection)            \
  F(resume_connection)

struct http {
#define F(name) __typeof__(&MHD_##name) name;
  MHD_FUNCTIONS(F)
#undef F
};
#endif
