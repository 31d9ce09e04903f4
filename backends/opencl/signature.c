#include "config.h"

#include "backends/opencl/signature.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/opencl/error.h"

/* What drivers call the types of the kernel language. int8, uint8, int16 and
 * uint16 are vectors in OpenCL C, so the language makes them char and so on;
 * the other names are typedefs, which drivers may look through. */
static const struct {
  const char *opencl, *other, *name;
  uint8_t size;
} types[] = {
  { "float", "float", "float", 4 },    { "double", "double", "double", 8 },
  { "char", "char", "int8", 1 },       { "uchar", "uchar", "uint8", 1 },
  { "short", "short", "int16", 2 },    { "ushort", "ushort", "uint16", 2 },
  { "int", "int32", "int32", 4 },      { "uint", "uint32", "uint32", 4 },
  { "long", "int64", "int64", 8 },     { "ulong", "uint64", "uint64", 8 },
};

#define TYPE_COUNT (sizeof types / sizeof *types)

static bool is_word(const char *word, const char *text, size_t length)
{
  return strlen(word) == length && !strncmp(word, text, length);
}

/* The type that a driver calls so; TYPE_COUNT if there is none. */
static size_t find_type(const char *text, size_t length)
{
  size_t i = 0;
  while (i < TYPE_COUNT && !is_word(types[i].opencl, text, length) &&
         !is_word(types[i].other, text, length))
    i++;
  return i;
}

static uint8_t size_of_type(const char *name, size_t length)
{
  for (size_t i = 0; i < TYPE_COUNT; i++)
    if (is_word(types[i].name, name, length)) return types[i].size;
  return 0;
}

typedef struct parameter_facts {
  cl_kernel_arg_address_qualifier space;
  cl_kernel_arg_type_qualifier qualifiers;
  char type[256], name[256];
} parameter_facts;

static cl_int read_facts(cl_kernel kernel, cl_uint index,
                         parameter_facts *facts)
{
  const struct {
    cl_kernel_arg_info what;
    size_t size;
    void *value;
  } queries[] = {
    { CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof facts->space, &facts->space },
    { CL_KERNEL_ARG_TYPE_QUALIFIER, sizeof facts->qualifiers,
      &facts->qualifiers },
    { CL_KERNEL_ARG_TYPE_NAME, sizeof facts->type, facts->type },
    { CL_KERNEL_ARG_NAME, sizeof facts->name, facts->name },
  };
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    cl_int code = cl_.GetKernelArgInfo(kernel, index, queries[i].what,
                                       queries[i].size, queries[i].value,
                                       NULL);
    if (code) return code;
  }
  return CL_SUCCESS;
}

static bool is_pointer(const parameter_facts *facts)
{
  return strchr(facts->type, '*') != NULL;
}

static size_t type_of(const parameter_facts *facts)
{
  return find_type(facts->type, strcspn(facts->type, "*"));
}

/* Why a launch cannot pass it, or NULL. */
static const char *find_trouble(const parameter_facts *facts)
{
  if (is_pointer(facts) && facts->space != CL_KERNEL_ARG_ADDRESS_GLOBAL &&
      facts->space != CL_KERNEL_ARG_ADDRESS_CONSTANT)
    return "is a pointer to local memory";
  if (type_of(facts) == TYPE_COUNT) return "is of a type without a name here";
  return NULL;
}

static void print_parameter(FILE *text, const parameter_facts *facts)
{
  const char *kind = "VAL";
  if (is_pointer(facts))
    kind = facts->space == CL_KERNEL_ARG_ADDRESS_CONSTANT ||
                   (facts->qualifiers & CL_KERNEL_ARG_TYPE_CONST)
               ? "IN"
               : "OUT";
  fprintf(text, "(%s, %s, %s)", kind, types[type_of(facts)].name,
          facts->name);
}

static cl_int print_parameters(FILE *text, cl_kernel kernel, cl_uint count)
{
  parameter_facts facts;
  for (cl_uint i = 0; i < count; i++) {
    cl_int code = read_facts(kernel, i, &facts);
    if (code) return code;
    const char *trouble = find_trouble(&facts);
    if (!trouble) continue;
    fprintf(text, "!parameter %u \"%s\" (%s) %s", i + 1, facts.name,
            facts.type, trouble);
    return CL_SUCCESS;
  }
  for (cl_uint i = 0; i < count; i++) {
    cl_int code = read_facts(kernel, i, &facts);
    if (code) return code;
    if (i) fputs(", ", text);
    print_parameter(text, &facts);
  }
  return CL_SUCCESS;
}

static cl_int print_kernel(FILE *text, cl_kernel kernel)
{
  char name[256] = "";
  cl_uint count = 0;
  cl_int code = cl_.GetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME,
                                  sizeof name, name, NULL);
  if (!code)
    code = cl_.GetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count,
                             NULL);
  if (code) return code;
  fprintf(text, "%s\t", name);
  code = print_parameters(text, kernel, count);
  fputc('\n', text);
  return code;
}

static char *print_kernels(const cl_kernel *kernels, cl_uint count,
                           cl_int *code)
{
  char *result = NULL;
  size_t size = 0;
  FILE *text = open_memstream(&result, &size);
  *code = text ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
  for (cl_uint i = 0; *code == CL_SUCCESS && i < count; i++)
    *code = print_kernel(text, kernels[i]);
  if (text && fclose(text) != 0 && *code == CL_SUCCESS)
    *code = CL_OUT_OF_HOST_MEMORY;
  if (*code == CL_SUCCESS) return result;
  free(result);
  return NULL;
}

char *tn_opencl_signatures(cl_program program,
                           const tn_backend_device *device)
{
  cl_uint count = 0;
  cl_int code = cl_.CreateKernelsInProgram(program, 0, NULL, &count);
  if (code) {
    tn_opencl_check(code, "clCreateKernelsInProgram", device);
    return NULL;
  }
  cl_kernel *kernels = calloc(count + 1, sizeof *kernels);
  char *result = NULL;
  if (!kernels) {
    code = CL_OUT_OF_HOST_MEMORY;
  } else {
    code = cl_.CreateKernelsInProgram(program, count, kernels, NULL);
    if (code == CL_SUCCESS) {
      result = print_kernels(kernels, count, &code);
      for (cl_uint i = 0; i < count; i++) cl_.ReleaseKernel(kernels[i]);
    }
  }
  free(kernels);
  tn_opencl_check(code, "asking for kernels' parameters", device);
  return result;
}

uint32_t tn_opencl_signature_count(const char *signature)
{
  uint32_t count = 0;
  for (; *signature; signature++) count += *signature == '(';
  return count;
}

void tn_opencl_signature_sizes(const char *signature, uint8_t *sizes)
{
  for (const char *at = strchr(signature, '('); at; at = strchr(at, '(')) {
    at++;
    bool is_value = !strncmp(at, "VAL, ", 5);
    *sizes++ = is_value ? size_of_type(at + 5, strcspn(at + 5, ",")) : 0;
  }
}
