/* Amounts as a user writes them: a number and a unit, "5ms", "200MB", "2.5 %", "60s". One parser for all flags. */
#include "base.h"

static const struct {
  enum amount_kind kind;
  const char *suffix;
  double factor;
} suffixes[] = {
    {AMOUNT_MS, "ms", 1},        {AMOUNT_MS, "us", 1e-3},      {AMOUNT_MS, "s", 1e3},
    {AMOUNT_MS, "", 1},          {AMOUNT_SECONDS, "ms", 1e-3}, {AMOUNT_SECONDS, "s", 1},
    {AMOUNT_SECONDS, "min", 60}, {AMOUNT_SECONDS, "", 1},      {AMOUNT_BYTES, "kB", 1e3},
    {AMOUNT_BYTES, "MB", 1e6},   {AMOUNT_BYTES, "GB", 1e9},    {AMOUNT_BYTES, "TB", 1e12},
    {AMOUNT_BYTES, "K", 1e3},    {AMOUNT_BYTES, "M", 1e6},     {AMOUNT_BYTES, "G", 1e9},
    {AMOUNT_BYTES, "T", 1e12},   {AMOUNT_BYTES, "B", 1},       {AMOUNT_BYTES, "", 1},
    {AMOUNT_SHARE, "%", 1e-2},   {AMOUNT_SHARE, "", 1},        {AMOUNT_PERCENT, "%", 1e-2},
    {AMOUNT_PERCENT, "", 1e-2},  {AMOUNT_NUMBER, "", 1},       {AMOUNT_MJ, "uJ", 1e-3},
    {AMOUNT_MJ, "mJ", 1},        {AMOUNT_MJ, "J", 1e3},        {AMOUNT_MJ, "", 1},
};

const char *amount_example(enum amount_kind kind) {
  static const char *const examples[] = {
      [AMOUNT_MS] = "a time as 5ms, 300us or 0.5s",   [AMOUNT_SECONDS] = "a time in seconds as 60s",
      [AMOUNT_BYTES] = "a size as 4G or 200MB",       [AMOUNT_SHARE] = "a share as 0.99 or 99%",
      [AMOUNT_PERCENT] = "a share in per cent as 5%", [AMOUNT_NUMBER] = "a number",
      [AMOUNT_MJ] = "an energy as 5mJ or 0.2J"};
  return examples[kind];
}

/* The unit is the text after the number's last digit or point; one blank between them is allowed.
 */
bool parse_amount(const char *text, enum amount_kind kind, double min, double max, double *out) {
  char number[32];
  size_t digits = strlen(text);
  while (digits && !strchr("0123456789.", text[digits - 1])) digits--;
  const char *suffix = text + digits + (text[digits] == ' ');
  if (!digits || digits >= sizeof number) return false;
  memcpy(number, text, digits);
  number[digits] = 0;
  for (size_t i = 0; i < COUNT(suffixes); i++) {
    double x;
    if (suffixes[i].kind != kind || strcmp(suffixes[i].suffix, suffix)) continue;
    if (!parse_f64(number, -1e300, 1e300, &x)) return false;
    x *= suffixes[i].factor;
    if (!(x >= min && x <= max)) return false;
    *out = x;
    return true;
  }
  return false;
}
