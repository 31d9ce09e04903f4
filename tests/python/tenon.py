"""Tenon in Python, by way of ctypes alone.

    import tenon
    tn = tenon.load()
    x = tn.rand_with([8, 42])
    w = tn.randn_with([42, 7], requires_grad=True)
    loss = tn.sum(tn.relu(tn.matmul(x, w)))
    tn.backward(loss)

The calls and structs are those of <tenon/tenon.h>, read from what the C
preprocessor makes of it (TENON_HEADERS names that file; TENON_LIBRARIES the
folder of the libraries). A last parameter of options takes its fields as
keyword arguments. What fails raises tenon.Error.
"""
import ctypes
import os
import re

PLAIN = {
    'void': None, 'int': ctypes.c_int, 'unsigned': ctypes.c_uint,
    'float': ctypes.c_float, 'double': ctypes.c_double,
    '_Bool': ctypes.c_bool, 'size_t': ctypes.c_size_t,
    'char': ctypes.c_char, 'int16_t': ctypes.c_int16,
    'int32_t': ctypes.c_int32, 'uint32_t': ctypes.c_uint32,
    'int64_t': ctypes.c_int64, 'uint64_t': ctypes.c_uint64,
}
ARRAYS = {'TN_F32': 'f', 'TN_F64': 'd', 'TN_I32': 'i', 'TN_I64': 'q',
          'TN_U8': 'B', 'TN_BOOL': 'B'}
BORROWED = {'tn_grad'}  # the caller's reference is one more


class Error(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Tensor:
    """A reference to a tensor, given back when Python is done with it."""

    def __init__(self, library, handle):
        self.library = library
        self.handle = handle

    def __del__(self):
        self.library.release(self.handle)

    @property
    def dtype(self):
        return self.library.tn_dtype_of(self)

    @property
    def shape(self):
        return [self.library.tn_size(self, i)
                for i in range(self.library.tn_ndim(self))]

    def read(self):
        """All elements as bytes, row by row."""
        size = self.library.tn_numel(self) * self.library.tn_dtype_size(
            self.dtype)
        room = ctypes.create_string_buffer(size)
        self.library.tn_read(self, room, size)
        return room.raw

    def tolist(self):
        code = ARRAYS[self.library.dtype_names[self.dtype]]
        return memoryview(self.read()).cast(code).tolist()


class Headers:
    """Prototypes, structs and constants of the preprocessed header."""

    def __init__(self, text):
        text = re.sub(r'__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)', '',
                      text)
        self.constants = {}
        self.types = dict(PLAIN)
        for body, name in re.findall(
                r'typedef enum \w+ \{([^}]*)\} (tn_\w+);', text):
            self.add_enum(name, body)
        for name, body in re.findall(
                r'typedef struct (tn_\w+) \{([^{}]*)\} \1;', text):
            self.add_struct(name, body)
        self.calls = {
            name: (result.strip(), parameters) for result, name, parameters
            in re.findall(r'(?:^|;|\})\s*((?:const )?\w+ \**)(tn_\w+)'
                          r'\(([^(){}]*)\)\s*(?=;)', text)}

    def add_enum(self, name, body):
        self.types[name] = ctypes.c_int
        value = -1
        for item in filter(None, (part.strip() for part in body.split(','))):
            constant, _, given = (part.strip() for part in
                                  item.partition('='))
            value = int(given, 0) if given else value + 1
            self.constants[constant] = value

    def add_struct(self, name, body):
        fields = []
        for line in filter(None, (part.strip() for part in body.split(';'))):
            kind, names = re.match(r'((?:const )?\w+(?: const)?)\s*(.*)',
                                   line, re.S).groups()
            for field in names.split(','):
                match = re.match(r'\s*(\**\s*(?:const )?\**)\s*(\w+)'
                                 r'(?:\[(\d+)\])?', field)
                of = match and self.type_of(kind + ' ' + match[1])
                if not of:
                    return  # not for calls from here
                field, count = match[2], match[3]
                fields.append((field, of * int(count) if count else of))
        self.types[name] = type(name, (ctypes.Structure,),
                                {'_fields_': fields})

    def type_of(self, text):
        """The ctypes of a C type; None if it is not known."""
        text = text.replace('const', ' ').strip()
        if text.replace(' ', '') == 'char*':
            return ctypes.c_char_p
        if '*' in text:
            return ctypes.c_void_p
        return self.types.get(text)


def type_and_name(parameter):
    kind, name = re.match(r'(.*?)(\w*)\s*(?:\[\])?$', parameter.strip(),
                          re.S).groups()
    return kind.strip() or name


class Library:
    """tn_NAME and, shorter, NAME for every call of the headers."""

    def __init__(self, headers, folder):
        self.headers = headers
        ctypes.CDLL(os.path.join(folder, 'libtenon.so'),
                    mode=ctypes.RTLD_GLOBAL)
        self.shared = ctypes.CDLL(os.path.join(folder, 'libtenon-tensor.so'))
        for name, value in headers.constants.items():
            setattr(self, name, value)
        self.dtype_names = {headers.constants[name]: name for name in ARRAYS}
        self.release = self.shared.tn_release
        self.release.argtypes, self.release.restype = [ctypes.c_void_p], None
        self.error_message = self.shared.tn_error_message
        self.error_message.restype = ctypes.c_char_p
        self.last_status = self.shared.tn_last_status
        self.retain = self.shared.tn_retain
        self.retain.argtypes = [ctypes.c_void_p]
        self.retain.restype = ctypes.c_void_p

    def __getattr__(self, name):
        full = name if name.startswith('tn_') else 'tn_' + name
        if full not in self.headers.calls:
            raise AttributeError(name)
        call = self.make_call(full, *self.headers.calls[full])
        setattr(self, name, call)
        return call

    def fail(self):
        raise Error(self.last_status(), self.error_message().decode())

    def tensor(self, name, handle, first):
        """A result; calls that return their first operand add no reference."""
        if not handle:
            if name in BORROWED:
                return None
            self.fail()
        changes = name.endswith('_') or name.endswith('_out')
        if changes and isinstance(first, Tensor) and first.handle == handle:
            return first
        if name in BORROWED:
            self.retain(handle)
        return Tensor(self, handle)

    def make_call(self, name, result, parameters):
        kinds = [type_and_name(part) for part in parameters.split(',')
                 if part.strip() not in ('', 'void')]
        function = getattr(self.shared, name)
        function.argtypes = [self.headers.type_of(kind) for kind in kinds]
        function.restype = (ctypes.c_void_p if result == 'tn_tensor *' else
                            self.headers.type_of(result))
        options = (function.argtypes[-1]
                   if kinds and kinds[-1].endswith('_options') else None)
        shapes = [i for i, kind in enumerate(kinds) if kind == 'tn_shape']

        def call(*given, **named):
            values = [self.value(argument) for argument in given]
            for i in shapes:
                if not isinstance(given[i], ctypes.Structure):
                    values[i] = self.shape(given[i])
            if options:
                values.append(options(**named))
            got = function(*values)
            if result == 'tn_tensor *':
                return self.tensor(name, got, given[0] if given else None)
            if result == 'tn_status' and got and name != 'tn_last_status':
                self.fail()
            return got
        return call

    def value(self, argument):
        if isinstance(argument, Tensor):
            return argument.handle
        if isinstance(argument, (list, tuple)) and argument and isinstance(
                argument[0], Tensor):
            return (ctypes.c_void_p * len(argument))(
                *(t.handle for t in argument))
        return argument.encode() if isinstance(argument, str) else argument

    def shape(self, sizes):
        room = (ctypes.c_int64 * len(sizes))(*sizes)
        shape = self.headers.types['tn_shape'](
            ctypes.cast(room, ctypes.c_void_p), len(sizes))
        shape.room = room
        return shape

    def from_list(self, numbers, shape, dtype, **options):
        """A tensor of these numbers, row by row."""
        from array import array
        data = array(ARRAYS[self.dtype_names[dtype]], numbers)
        return self.from_data_with(data.buffer_info()[0] if data else None,
                                   shape, dtype=dtype, **options)

    def gradients(self, outputs, inputs, **options):
        """tn_grad_of: a list, with None for what does not matter."""
        grads = (ctypes.c_void_p * len(inputs))()
        grad_outputs = options.pop('grad_outputs', None)
        room = None
        if grad_outputs is not None:
            room = self.value(grad_outputs)
            options['grad_outputs'] = ctypes.cast(room, ctypes.c_void_p)
        self.grad_of_with(outputs, len(outputs), inputs, len(inputs), grads,
                          **options)
        return [Tensor(self, handle) if handle else None for handle in grads]

    def no_grad(self, enabled=False):
        return GradMode(self, enabled)


class GradMode:
    """with tn.no_grad(): ..."""

    def __init__(self, library, enabled):
        self.library, self.enabled = library, enabled

    def __enter__(self):
        self.guard = self.library.grad_mode_push(self.enabled)

    def __exit__(self, *_):
        self.library.grad_mode_pop(ctypes.addressof(self.guard))


def load(headers=None, folder=None):
    headers = headers or os.environ['TENON_HEADERS']
    folder = folder or os.environ['TENON_LIBRARIES']
    with open(headers) as file:
        return Library(Headers(file.read()), folder)
