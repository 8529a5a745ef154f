/* Pre-tokenisers: how a text is split into words before byte-pair encoding. The patterns are those of the
 * models' tokenizer.json, in the form in which llama.cpp applies them; the names are those of
 * tokenizer.ggml.pre.
 */
#include "tokeniser.h"

#define CONTRACTIONS "'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|"
#define WORDS_OF(digits, tail)                                                \
  "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}" digits "| ?[^\\s\\p{L}\\p{N}]+" tail \
  "|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define LLAMA3 CONTRACTIONS WORDS_OF("{1,3}", "[\\r\\n]*")
#define QWEN2 CONTRACTIONS WORDS_OF("", "[\\r\\n]*")
#define LOWER "[^\\r\\n\\p{L}\\p{N}]?\\p{Lu}*\\p{Ll}+"
#define UPPER "[^\\r\\n\\p{L}\\p{N}]?\\p{Lu}+\\p{Ll}*"
#define CASED_TAIL "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
/* A word with the contraction that may follow it. */
#define CONTRACTED(word)                                                             \
  word "'[sS]|" word "'[tT]|" word "'[rR][eE]|" word "'[vV][eE]|" word "'[mM]|" word \
       "'[lL][lL]|" word "'[dD]|" word "|"
#define CJK "[\\x{4E00}-\\x{9FA5}\\x{800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+"

static const struct pre_tokeniser table[] = {
    {"default", {"[\\p{P}$+<=>^~|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}, false, false},
    {"gpt-2 phi-2 mpt olmo jais trillion exaone4 granite-docling gigachat mellum a.x-4.0",
     {GPT2},
     false,
     false},
    {"smollm starcoder refact command-r codeshell exaone minerva-7b mellum2",
     {"\\p{N}", GPT2},
     false,
     false},
    {"llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2", {LLAMA3}, true, true},
    {"smaug-bpe dbrx chatglm-bpe glm4", {LLAMA3}, false, false},
    {"qwen2 deepseek-r1-qwen kormo stablelm2 megrez hunyuan solar-open grok-2",
     {QWEN2},
     false,
     false},
    {"minicpm5", {"\\p{N}{1,3}", CONTRACTIONS WORDS_OF("+", "[\\r\\n]*")}, true, false},
    {"seed-coder",
     {CONTRACTIONS "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
                   "?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
     false,
     false},
    {"tekken", {LOWER "|" UPPER "|\\p{N}" CASED_TAIL}, true, true},
    {"gpt-4o llama4 kanana2",
     {CONTRACTED(LOWER) CONTRACTED(UPPER) "\\p{N}{1,3}" CASED_TAIL},
     false,
     false},
    {"deepseek-coder", {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", CJK, "\\p{N}"}, false, false},
    {"deepseek-v3 hunyuan-dense joyai-llm",
     {"\\p{N}{1,3}", "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
      "[!-/:-@\\[-`{-~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
      "?[\\p{P}\\p{S}]+[\\r\\n]*|"
      "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
     false,
     false},
    {"falcon", {"[\\p{P}$+<=>^~|`]+", GPT2, "[0-9][0-9][0-9]"}, false, false},
    {"bloom poro-chat gpt3-finnish",
     {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{964}\\x{6D4}\\x{60C})]+"},
     false,
     false},
    {"viking",
     {" ?[^(\\s|.,!?\\x{2026}\\x{3002}\\x{FF0C}\\x{3001}\\x{964}\\x{6D4}\\x{60C})]+", "\\p{N}"},
     false,
     false},
};

const struct pre_tokeniser *pre_tokeniser_find(const char *name) {
  const size_t length = strlen(name);
  for (size_t i = 0; i < COUNT(table); i++)
    for (const char *p = table[i].names; p && length;
         p = strchr(p, ' ') ? strchr(p, ' ') + 1 : NULL)
      if (!strncmp(p, name, length) && (p[length] == ' ' || !p[length])) return &table[i];
  return length ? NULL : &table[0];
}

bool pre_tokeniser_adds_bos(const char *name) {
  const struct pre_tokeniser *pre = pre_tokeniser_find(name);
  return pre && pre->adds_bos;
}

void pre_tokeniser_names(struct strbuf *out) {
  for (size_t i = 0; i < COUNT(table); i++)
    strbuf_printf(out, "%s%s", i ? " " : "", table[i].names);
}

/* Splits one part by a pattern: its matches, and what is between them. */
static size_t split_part(const struct pattern *pattern, const uint32_t *codes, uint32_t count,
                         uint32_t *out) {
  size_t words = 0;
  uint32_t begin = 0, at = 0;
  while (at < count) {
    const uint32_t length = (uint32_t)pattern_match(pattern, codes + at, count - at);
    if (!length) {
      at++;
      continue;
    }
    if (at > begin) out[words++] = at - begin;
    out[words++] = length;
    begin = at += length;
  }
  if (count > begin) out[words++] = count - begin;
  return words;
}

size_t split_words(const struct tokeniser *t, const uint32_t *codes, size_t count,
                   uint32_t *lengths, uint32_t *scratch) {
  size_t words = count > 0;
  lengths[0] = (uint32_t)count;
  for (int k = 0; k < PATTERNS && t->pre->patterns[k]; k++) {
    size_t made = 0, at = 0;
    memcpy(scratch, lengths, words * sizeof *lengths);
    for (size_t i = 0; i < words; at += scratch[i++])
      made += split_part(&t->patterns[k], codes + at, scratch[i], lengths + made);
    words = made;
  }
  return words;
}
