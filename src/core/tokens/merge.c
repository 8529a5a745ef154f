/* Joins neighbouring symbols, the pair with the smallest key first, and of equal ones the left. A heap with
 * stale entries, as in the reference implementation of SentencePiece: O(n log n).
 */
#include "tokeniser.h"

static bool is_before(const struct pair *a, const struct pair *b) {
  return a->key < b->key || (a->key == b->key && a->left < b->left);
}

static void push(struct merger *m, struct pair pair) {
  size_t at = m->heap_count++;
  while (at && is_before(&pair, &m->heap[(at - 1) / 2])) {
    m->heap[at] = m->heap[(at - 1) / 2];
    at = (at - 1) / 2;
  }
  m->heap[at] = pair;
}

static struct pair pop(struct merger *m) {
  const struct pair first = m->heap[0], last = m->heap[--m->heap_count];
  size_t at = 0;
  for (size_t child; (child = 2 * at + 1) < m->heap_count; at = child) {
    if (child + 1 < m->heap_count && is_before(&m->heap[child + 1], &m->heap[child])) child++;
    if (!is_before(&m->heap[child], &last)) break;
    m->heap[at] = m->heap[child];
  }
  m->heap[at] = last;
  return first;
}

static void offer(const struct tokeniser *t, struct merger *m, int32_t left, int32_t right) {
  double key;
  if (left < 0 || right < 0) return;
  const struct symbol *a = &m->symbols[left], *b = &m->symbols[right];
  if (m->find(t, m->text + a->at, a->size, b->size, &key))
    push(m, (struct pair){key, left, a->size + b->size});
}

void merge_symbols(const struct tokeniser *t, struct merger *m, size_t count) {
  m->heap_count = 0;
  for (size_t i = 0; i < count; i++) {
    m->symbols[i].before = (int32_t)i - 1;
    m->symbols[i].after = i + 1 < count ? (int32_t)i + 1 : -1;
  }
  for (size_t i = 1; i < count; i++) offer(t, m, (int32_t)i - 1, (int32_t)i);
  while (m->heap_count) {
    const struct pair pair = pop(m);
    struct symbol *left = &m->symbols[pair.left];
    if (!left->size || left->after < 0) continue;
    struct symbol *right = &m->symbols[left->after];
    if (left->size + right->size != pair.size) continue; /* one of them was joined since */
    left->size += right->size;
    right->size = 0;
    left->after = right->after;
    if (left->after >= 0) m->symbols[left->after].before = pair.left;
    offer(t, m, left->before, pair.left);
    offer(t, m, pair.left, left->after);
  }
}
