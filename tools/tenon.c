/* tenon: what the library finds on this machine, told to people and
 * programs. */
#include "config.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/command.h"

static const tn_command *const commands[] = {
  &tn_conform_command,
  &tn_devices_command,
  &tn_doctor_command,
  &tn_memory_command,
  &tn_new_backend_command,
  &tn_version_command,
};

#define COMMAND_COUNT (sizeof commands / sizeof commands[0])

void tn_complain(const char *format, ...)
{
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  for (char *at = text; *at; at++)
    if (iscntrl((unsigned char)*at)) *at = ' ';
  fprintf(stderr, "tenon: %s\n", text);
}

double tn_time_limit(const char *option, const char *text)
{
  if (!text) return 20;
  char *end;
  double seconds = strtod(text, &end);
  if (end != text && !*end && seconds >= 0.1 && seconds <= 3600)
    return seconds;
  tn_complain("%s \"%s\": not a number of seconds from 0.1 to 3600", option,
              text);
  return 0;
}

/* "conform, devices, doctor, memory, new-backend, version" */
static const char *command_names(void)
{
  static char names[128];
  size_t used = 0;
  for (size_t i = 0; i < COMMAND_COUNT && used < sizeof names; i++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                             i ? ", " : "", commands[i]->name);
  return names;
}

static void print_help(void)
{
  puts("Usage: tenon COMMAND [OPTION]...\n"
       "Shows which compute devices programs can name on this machine,\n"
       "whether they keep the rules, and what programs did with memory.\n"
       "\n"
       "Commands:");
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    printf("  %-11s %s\n", commands[i]->name, commands[i]->summary);
  puts("\n"
       "Options:\n"
       "  --help     print this text (after COMMAND: its own)\n"
       "  --version  the same as the command version\n"
       "\n"
       "Exit status: 0 if all is well, 1 if something is missing, refused or\n"
       "broken, 2 if the command line is wrong.\n"
       "\n"
       "More in tenon(1), and in tenon(7) for environment variables.");
}

static void print_option(const tn_option *option)
{
  char name[32];
  if (!option->text) return;
  snprintf(name, sizeof name, "%s%s%s", option->name,
           option->argument ? " " : "",
           option->argument ? option->argument : "");
  printf("  %-19s %s\n", name, option->text);
}

static void print_command_help(const tn_command *command)
{
  printf("Usage: tenon %s [OPTION]...", command->name);
  if (command->operand) printf(" %s", command->operand);
  if (command->second) printf(" [%s]", command->second);
  printf("\n%s\n\nOptions:\n", command->text);
  for (const tn_option *o = command->options; o->name; o++) print_option(o);
  print_option(&(tn_option){ "--help", NULL, "print this text" });
}

/* ", --json, --timeout SECONDS" would be long: names are enough. */
static void refuse_option(const tn_command *command, const char *text)
{
  char known[256] = "";
  const tn_option *o = command->options;
  for (; o->name && o->text; o++) {
    size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s, ", o->name);
  }
  tn_complain("%s: unknown %s \"%s\": options are %s--help", command->name,
              text[0] == '-' ? "option" : "argument", text, known);
}

static int find_option(const tn_command *command, const char *text)
{
  for (int i = 0; command->options[i].name; i++)
    if (strcmp(command->options[i].name, text) == 0) return i;
  return -1;
}

/* Arguments that are no options, where there are to be such. */
static int read_operand(const tn_command *command, const char *text,
                        const char **values)
{
  const char **value = &values[TN_OPTIONS_MAX];
  if (!command->operand || text[0] == '-') return 0;
  if (*value && command->second) value++;
  if (*value) return 0;
  *value = text;
  return 1;
}

static int check_operand(const tn_command *command, const char *const *values)
{
  if (!command->operand || command->is_operand_optional ||
      values[TN_OPTIONS_MAX])
    return 1;
  tn_complain("%s: needs %s", command->name, command->operand);
  return 0;
}

/* Fills `values`; false after a complaint. */
static int read_options(const tn_command *command, char **arguments,
                        const char **values)
{
  for (; *arguments; arguments++) {
    int i = find_option(command, *arguments);
    if (i < 0 && read_operand(command, *arguments, values)) continue;
    if (i < 0) {
      refuse_option(command, *arguments);
      return 0;
    }
    const tn_option *option = &command->options[i];
    values[i] = option->name;
    if (!option->argument) continue;
    if (!arguments[1]) {
      tn_complain("%s: %s needs %s", command->name, option->name,
                  option->argument);
      return 0;
    }
    values[i] = *++arguments;
  }
  return check_operand(command, values);
}

static int asks_for_help(char **arguments)
{
  for (; *arguments; arguments++)
    if (strcmp(*arguments, "--help") == 0) return 1;
  return 0;
}

/* What was printed must have arrived: a full disk is a failure. */
static int finish(tn_exit status)
{
  if (fflush(stdout) == 0 && !ferror(stdout)) return status;
  tn_complain("cannot write to standard output");
  return TN_EXIT_FOUND;
}

static int run_command(const tn_command *command, char **arguments)
{
  const char *values[TN_VALUES_MAX] = { NULL };
  if (asks_for_help(arguments)) {
    print_command_help(command);
    return finish(TN_EXIT_OK);
  }
  if (!read_options(command, arguments, values)) return TN_EXIT_USAGE;
  return finish(command->run(values));
}

int main(int argc, char **argv)
{
  if (argc < 2) {
    tn_complain("a command is needed: %s (or --help)", command_names());
    return TN_EXIT_USAGE;
  }
  if (strcmp(argv[1], "--help") == 0) {
    print_help();
    return finish(TN_EXIT_OK);
  }
  const char *name =
      strcmp(argv[1], "--version") == 0 ? tn_version_command.name : argv[1];
  for (size_t i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(commands[i]->name, name) == 0)
      return run_command(commands[i], argv + 2);
  tn_complain("unknown %s \"%s\": commands are %s (see tenon --help)",
              argv[1][0] == '-' ? "option" : "command", argv[1],
              command_names());
  return TN_EXIT_USAGE;
}
