/* Allocates a + b bytes for a new string of the run; NULL: the space is used up. */
HONE_SCALAR_FUNCTION char *text_room_(void *texts, uint64_t a, uint64_t b) {
  struct texts *const t = texts;
  if (a > t->size || b > t->size) return NULL;
#if defined __GNUC__
  const uint64_t from = __atomic_fetch_add(&t->used, a + b, __ATOMIC_RELAXED);
#else /* one thread at a time */
  const uint64_t from = t->used;
  t->used += a + b;
#endif
  if (from + a + b > t->size) {
    t->used = t->size; /* stays full */
    return NULL;
  }
  return t->at + from;
}

/* Byte i of a string in the other case: ASCII, Latin-1, Greek and Cyrillic, one character at a
   time. */
HONE_SCALAR_FUNCTION char text_case_(const char *text, uint64_t length, uint64_t i, int upper) {
  static const unsigned ranges[][3] = {{0xc0, 0xd6, 32},   {0xd8, 0xde, 32},   {0x391, 0x3a1, 32},
                                       {0x3a3, 0x3a9, 32}, {0x410, 0x42f, 32}, {0x400, 0x40f, 80}};
  const unsigned c = (unsigned char)text[i];
  const int is_second = (c & 0xc0) == 0x80 && i && ((unsigned char)text[i - 1] & 0xe0) == 0xc0;
  const int is_first = (c & 0xe0) == 0xc0 && i + 1 < length && ((unsigned char)text[i + 1] & 0xc0) == 0x80;
  if (!is_first && !is_second)
    return (char)((upper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') ? c ^ 32 : c);
  unsigned point = ((unsigned char)text[i - (uint64_t)is_second] & 31u) << 6 |
                   ((unsigned char)text[i + (uint64_t)is_first] & 63u);
  for (int k = 0; k < 6; k++) {
    const unsigned apart = upper ? ranges[k][2] : 0;
    if (point < ranges[k][0] + apart || point > ranges[k][1] + apart) continue;
    point = upper ? point - apart : point + ranges[k][2];
    break;
  }
  return (char)(is_first ? 0xc0 | point >> 6 : 0x80 | (point & 63));
}
