#include "options.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "complain.h"

static const options defaults = {
  .steps = 300, .seed = 1, .sample = 300, .batch = 32, .context = 64,
  .width = 128, .layers = 2, .heads = 4, .lr = 4e-3,
};

typedef struct number_option {
  const char *name;
  size_t offset;
  int64_t least, most;
  const char *help;
} number_option;

#define NUMBER(name, least, most, help) \
  { "--" #name, offsetof(options, name), least, most, help }
static const number_option numbers[] = {
  NUMBER(steps, 0, 1000000000, "of training"),
  NUMBER(seed, 0, INT64_MAX, "of all random numbers"),
  NUMBER(sample, 0, 1000000000, "characters to write at the end"),
  NUMBER(batch, 1, 65536, "pieces of text in a step"),
  NUMBER(context, 1, 65536, "characters that the model sees"),
  NUMBER(width, 1, 65536, "of the model, a multiple of the heads"),
  NUMBER(layers, 1, 1000, "of the model"),
  NUMBER(heads, 1, 1024, "of the attention"),
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

typedef struct text_option {
  const char *name;
  size_t offset;
  const char *value, *help;
} text_option;

static const text_option texts[] = {
  { "--device", offsetof(options, device), "STRING",
    "where to compute; else TENON_DEVICE, or the processor" },
  { "--text", offsetof(options, text), "FILE",
    "to learn from (- is standard input);\n"
    "                    else Tenon's own documentation" },
  { "--plot", offsetof(options, plot), "FILE",
    "for a picture of the loss, in SVG" },
};
enum { TEXTS = sizeof texts / sizeof *texts };

static bool read_number(const number_option *of, const char *text,
                        options *o)
{
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  bool is_number = *text && *text != ' ' && !*end;
  if (!is_number || errno || value < of->least || value > of->most)
    return complain("%s %s: a whole number from %" PRId64 " to %" PRId64
                    " is needed", of->name, text, of->least, of->most);
  memcpy((char *)o + of->offset, &(int64_t){ value }, sizeof(int64_t));
  return true;
}

static bool read_rate(const char *text, options *o)
{
  char *end;
  double value = strtod(text, &end);
  if (!*text || *end || !(value > 0 && value <= 100))
    return complain("--lr %s: a number above 0, up to 100, is needed", text);
  o->lr = value;
  return true;
}

static bool refuse(const char *name)
{
  return complain("unknown option \"%s\": charlm --help lists those that "
                  "there are", name);
}

/* An option with its value, which is NULL if there is none. */
static bool read_option(const char *name, const char *value, options *o)
{
  for (int i = 0; i < TEXTS; i++)
    if (strcmp(name, texts[i].name) == 0) {
      if (!value)
        return complain("%s needs %s", name, texts[i].value);
      memcpy((char *)o + texts[i].offset, &value, sizeof value);
      return true;
    }
  for (int i = 0; i < NUMBERS; i++)
    if (strcmp(name, numbers[i].name) == 0)
      return value ? read_number(&numbers[i], value, o)
                   : complain("%s needs a number", name);
  if (strcmp(name, "--lr") == 0)
    return value ? read_rate(value, o) : complain("--lr needs a number");
  return refuse(name);
}

/* An option without a value. */
static bool read_switch(const char *name, options *o)
{
  bool *is_on = strcmp(name, "--help") == 0       ? &o->help
                : strcmp(name, "--graph") == 0    ? &o->graph
                : strcmp(name, "--callable") == 0 ? &o->callable
                : strcmp(name, "--stream") == 0   ? &o->stream
                                                  : NULL;
  if (is_on) *is_on = true;
  return is_on != NULL;
}

bool options_read(char **arguments, options *o)
{
  *o = defaults;
  for (char **a = arguments + 1; *a; a++) {
    if (read_switch(*a, o)) continue;
    if (!read_option(*a, a[1], o)) return false;
    a++;
  }
  if (o->graph && o->callable)
    return complain("--graph and --callable: one of them is possible");
  if (o->width % o->heads != 0)
    return complain("--width %" PRId64 " --heads %" PRId64 ": the width must "
                    "be a multiple of the heads", o->width, o->heads);
  return true;
}

void options_explain(void)
{
  puts("Usage: charlm [OPTION [VALUE]]...\n"
       "Trains a small transformer to continue a text character by "
       "character,\n"
       "prints its loss on the way, and then what it writes.\n");
  for (int i = 0; i < TEXTS; i++) {
    char option[32];
    snprintf(option, sizeof option, "%s %s", texts[i].name, texts[i].value);
    printf("  %-17s %s\n", option, texts[i].help);
  }
  for (int i = 0; i < NUMBERS; i++) {
    int64_t value;
    char option[32];
    memcpy(&value, (const char *)&defaults + numbers[i].offset, sizeof value);
    snprintf(option, sizeof option, "%s N", numbers[i].name);
    printf("  %-17s %s (%" PRId64 ")\n", option, numbers[i].help, value);
  }
  printf("  %-17s the learning rate (%g)\n", "--lr X", defaults.lr);
  puts("  --graph           a training step is captured as a graph and "
       "replayed\n"
       "  --callable        the model's passes are: forward and backward\n"
       "  --stream          all work is queued on a stream of its own");
  puts("Exit status: 0, 1 if something failed, 2 for a wrong command line.");
}
