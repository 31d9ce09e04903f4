#include "tests/cudaemu/ptx/form.h"

#include <stdio.h>
#include <string.h>

const ptx_form ptx_forms[] = {
#define FORM(op, pattern, operands, action, version, target) \
  { PTX_OP_##op, pattern, operands, PTX_DO_##action, version, target },
#include "tests/cudaemu/ptx/forms.h"
#undef FORM
};

const size_t ptx_form_count = sizeof ptx_forms / sizeof *ptx_forms;

static const char *const op_names[PTX_OP_COUNT] = {
#define X(name) #name,
  PTX_OPS(X)
#undef X
};

/* Instructions that exist and are not emulated: prefix and what they are. */
static const struct refusal {
  const char *prefix, *what;
} refusals[] = {
  { "wmma", "tensor-core instructions" },
  { "mma", "tensor-core instructions" },
  { "wgmma", "tensor-core instructions" },
  { "tcgen05", "tensor-core instructions" },
  { "ldmatrix", "tensor-core instructions" },
  { "stmatrix", "tensor-core instructions" },
  { "movmatrix", "tensor-core instructions" },
  { "cp", "asynchronous copies" },
  { "mbarrier", "asynchronous barriers" },
  { "tex", "textures" },
  { "tld4", "textures" },
  { "txq", "textures" },
  { "suld", "surfaces" },
  { "sust", "surfaces" },
  { "sured", "surfaces" },
  { "suq", "surfaces" },
  { "griddepcontrol", "dependent launches" },
  { "elect", "elections" },
  { "setmaxnreg", "register hand-over" },
  { "clusterlaunchcontrol", "clusters" },
  { "mapa", "clusters" },
  { "getctarank", "clusters" },
  { "multimem", "multicast memory" },
  { "createpolicy", "cache policies" },
  { "applypriority", "cache policies" },
  { "discard", "cache policies" },
  { "alloca", "stacks" },
  { "stacksave", "stacks" },
  { "stackrestore", "stacks" },
  { "vadd", "video instructions" },
  { "vsub", "video instructions" },
  { "vadd4", "video instructions" },
  { "vsub4", "video instructions" },
  { "vabsdiff4", "video instructions" },
  { "fns", "bit searches" },
  { "szext", "sign extensions" },
  { "bmsk", "bit masks" },
  { "ldu", "uniform loads" },
  { "brkpt", "breakpoints" },
  { "pmevent", "performance events" },
};

const char *ptx_op_name(ptx_op op)
{
  return op_names[op];
}

/* One dotted word of a name. */
typedef struct piece {
  const char *text;
  size_t length;
} piece;

enum { MAX_PIECES = 16 };

static size_t word_length(const char *text)
{
  return strcspn(text, ".,{}[]");
}

/* Cuts ".a.b" into pieces; more than MAX_PIECES counts as one more. */
static unsigned cut(const char *text, piece *pieces)
{
  unsigned count = 0;
  while (*text == '.') {
    size_t length = word_length(++text);
    if (count == MAX_PIECES)
      return MAX_PIECES + 1;
    pieces[count++] = (piece) { text, length };
    text += length;
  }
  return *text ? MAX_PIECES + 1 : count;
}

static bool is_one_of(const char *choices, const char *end, piece word)
{
  while (choices < end) {
    size_t length = word_length(choices);
    if (length == word.length && memcmp(choices, word.text, length) == 0)
      return true;
    choices += length + 1;
  }
  return false;
}

/* Whether the words are what the pattern wants. */
static bool matches(const char *pattern, const piece *words, unsigned count)
{
  unsigned at = 0;
  while (*pattern) {
    bool optional = *pattern == '[';
    pattern += optional + 1;
    bool group = *pattern == '{';
    pattern += group;
    size_t length = group ? strcspn(pattern, "}") : word_length(pattern);
    bool met = at < count && is_one_of(pattern, pattern + length, words[at]);
    if (!met && !optional)
      return false;
    at += met;
    pattern += length + group + optional;
  }
  return at == count;
}

static ptx_op op_find(const char *text, size_t length)
{
  for (int i = 0; i < PTX_OP_COUNT; i++)
    if (strlen(op_names[i]) == length && memcmp(op_names[i], text, length) == 0)
      return (ptx_op)i;
  return PTX_OP_COUNT;
}

static void explain_unknown(const char *text, size_t length, char *reason,
                            size_t reason_size)
{
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    if (strlen(refusals[i].prefix) == length &&
        memcmp(refusals[i].prefix, text, length) == 0) {
      snprintf(reason, reason_size, "\"%s\": %s are not emulated", text,
               refusals[i].what);
      return;
    }
  snprintf(reason, reason_size, "unknown opcode \"%.*s\" in \"%s\"",
           (int)length, text, text);
}

static bool keep_words(ptx_mnemonic *found, const piece *words, unsigned count,
                       char *reason, size_t reason_size)
{
  unsigned types = 0;
  for (unsigned i = 0; i < count; i++) {
    ptx_type type = ptx_type_find(words[i].text, words[i].length);
    ptx_word word = ptx_word_find(words[i].text, words[i].length);
    if (type && types < 3)
      found->types[types++] = type;
    else if (!type && word != PTX_WORD_COUNT)
      found->words.bits[word / 64] |= UINT64_C(1) << (word % 64);
    else {
      snprintf(reason, reason_size, "unknown modifier \".%.*s\" in \"%s\"",
               (int)words[i].length, words[i].text, found->text);
      return false;
    }
  }
  return true;
}

bool ptx_mnemonic_find(const char *text, unsigned version, unsigned target,
                       ptx_mnemonic *found, char *reason, size_t reason_size)
{
  *found = (ptx_mnemonic) { .text = text };
  size_t length = strcspn(text, ".");
  ptx_op op = op_find(text, length);
  if (op == PTX_OP_COUNT) {
    explain_unknown(text, length, reason, reason_size);
    return false;
  }
  piece words[MAX_PIECES];
  unsigned count = cut(text + length, words);
  if (count > MAX_PIECES) {
    snprintf(reason, reason_size, "\"%s\" is not an instruction's name", text);
    return false;
  }
  if (!keep_words(found, words, count, reason, reason_size))
    return false;
  snprintf(reason, reason_size, "\"%s\": no such form of %s is emulated", text,
           op_names[op]);
  for (size_t i = 0; i < ptx_form_count; i++) {
    const ptx_form *form = &ptx_forms[i];
    if (form->op != op || !matches(form->pattern, words, count))
      continue;
    if (form->version > version)
      snprintf(reason, reason_size,
               "\"%s\" needs .version %u.%u, the module has %u.%u", text,
               form->version / 10, form->version % 10, version / 10,
               version % 10);
    else if (form->target > target)
      snprintf(reason, reason_size,
               "\"%s\" needs .target sm_%u, the module has sm_%u", text,
               form->target, target);
    else {
      found->form = form;
      return true;
    }
  }
  return false;
}
