"""Random programs: operands, shapes, numbers. What is done with them is in
operations.py."""
import random

import torch

from session import NAMES, Leaf, Session, Step

FLOATS = ('TN_F32', 'TN_F64')
INTEGERS = ('TN_I64', 'TN_I32', 'TN_U8')
ALL = FLOATS + INTEGERS + ('TN_BOOL',)
WEIGHTS = {'TN_F32': 50, 'TN_F64': 15, 'TN_I64': 12, 'TN_I32': 8, 'TN_U8': 5,
           'TN_BOOL': 10}
SPECIAL = (float('inf'), -float('inf'), float('nan'), -0.0, 0.0, 1e30, 1e-30)


class Generator:
    def __init__(self, seed, tn):
        self.random = random.Random(seed)
        self.session = Session(tn)
        self.program = []
        self.count = 0
        self.is_tame = self.random.random() < 0.7  # no infinities, no NaN

    # ---- the program ----

    def add(self, step):
        """Appends and runs it; its result's name, None if both refused."""
        self.program.append(step)
        if self.session.run(step):
            return step.out or step.target
        return None

    def call(self, name, theirs, ours, uses, bound=None, scale=None,
             view=False, is_new=True, target=None, kind='value'):
        """A step with a new variable for its result."""
        return self.add(Step(
            name, theirs, ours, self.new_name() if is_new else None, uses,
            bound, scale, view, target, self.chance(0.05), kind))

    def new_name(self):
        self.count += 1
        return f'v{self.count - 1}'

    # ---- chance ----

    def chance(self, p):
        return self.random.random() < p

    def choose(self, things):
        return self.random.choice(list(things))

    def size(self):
        if self.chance(0.03):
            return 0
        if self.chance(0.02):
            return self.choose((17, 33, 64, 65, 130))
        return self.choose((1, 1, 2, 2, 3, 3, 4, 5, 7))

    def shape(self, ndim=None):
        if ndim is None:
            ndim = self.choose((0, 1, 1, 2, 2, 2, 3, 3, 4))
        if ndim and self.chance(0.01):
            return [2] * (ndim - 1) + [self.choose((4096, 4097, 5000))]
        return [self.size() for _ in range(ndim)]

    def dim(self, name):
        """Mostly one that the tensor has."""
        ndim = max(self.theirs(name).ndim, 1)
        if self.chance(0.02):
            return self.choose((ndim, -ndim - 1))
        return self.random.randrange(-ndim, ndim)

    def number(self, dtype=None):
        """As both languages write it; a whole one is an integer."""
        if dtype in FLOATS and self.chance(0.6):
            return repr(self.choose((-1.5, -0.5, 0.25, 0.5, 1.5, 2.5)))
        if dtype in (None, 'TN_BOOL') + INTEGERS and self.chance(0.05):
            return repr(self.choose((-1.5, 0.5, 2.5)))
        return repr(self.choose((-2, -1, 0, 1, 2, 3)))

    def value(self, dtype):
        if dtype == 'TN_BOOL':
            return self.chance(0.5)
        if dtype == 'TN_U8':
            return self.random.randrange(0, 20)
        if dtype in INTEGERS:
            if self.chance(0.02):
                return self.choose((2**31 - 1, -2**31))
            return self.random.randrange(-9, 10)
        if not self.is_tame and self.chance(0.05):
            return self.choose(SPECIAL)
        if self.chance(0.6):
            return self.random.randrange(-16, 17) / 4
        return self.random.gauss(0, 1)

    # ---- operands ----

    def theirs(self, name):
        return self.session.theirs[name]

    def dtype(self, name):
        return NAMES[self.theirs(name).dtype]

    def leaf(self, shape=None, dtype=None, grad=None, values=None):
        shape = self.shape() if shape is None else list(shape)
        if dtype is None:
            dtype = self.random.choices(ALL, [WEIGHTS[d] for d in ALL])[0]
        count = 1
        for size in shape:
            count *= size
        if count > 20000:
            return self.leaf([min(size, 3) for size in shape], dtype, grad)
        data = values or [self.value(dtype) for _ in range(count)]
        if dtype == 'TN_F32':
            data = torch.tensor(data, dtype=torch.float32).tolist()
        if grad is None:
            grad = self.chance(0.5)
        return self.add(Leaf(self.new_name(), dtype, shape, data,
                             grad and dtype in FLOATS))

    def strided(self, shape, dtype=None):
        """Of that shape, by way of a view of something else."""
        how = self.choose(('transpose', 'slice', 'expand', 'select'))
        ndim = len(shape)
        if how == 'transpose' and ndim >= 2:
            i, j = self.random.sample(range(ndim), 2)
            other = list(shape)
            other[i], other[j] = shape[j], shape[i]
            v = self.leaf(other, dtype)
            return self.view('transpose', v, f'{v}.transpose({i}, {j})',
                             f'tn_transpose({v}, {i}, {j})')
        if how == 'slice' and ndim:
            i, step = self.random.randrange(ndim), self.choose((1, 2, 3))
            other = list(shape)
            other[i] = shape[i] * step + 1
            v = self.leaf(other, dtype)
            colons = ':, ' * i
            return self.view('slice', v, f'{v}[{colons}1::{step}]',
                             f'tn_slice({v}, {i}, 1, TN_END, {step})')
        if how == 'select':
            i = self.random.randrange(ndim + 1)
            other = list(shape[:i]) + [2] + list(shape[i:])
            v = self.leaf(other, dtype)
            return self.view('select', v, f'{v}.select({i}, 1)',
                             f'tn_select({v}, {i}, 1)')
        if how == 'expand' and 1 in shape or not ndim:
            return self.leaf(shape, dtype)
        i = self.random.randrange(ndim)
        other = list(shape)
        other[i] = 1
        v = self.leaf(other, dtype)
        return self.view('expand', v, f'{v}.expand({list(shape)})',
                         f'tn_expand({v}, {c_shape(shape)})')

    def view(self, name, v, theirs, ours):
        return self.call(name, theirs, ours, [v], view=True)

    def new(self, shape, dtype=None):
        return (self.strided(shape, dtype) if self.chance(0.35)
                else self.leaf(shape, dtype))

    def any(self, dtypes=None, ndim=None):
        """A variable there is, or a new one."""
        def fits(name):
            t = self.theirs(name)
            return (t.numel() <= 20000 and
                    (dtypes is None or NAMES[t.dtype] in dtypes) and
                    (ndim is None or t.ndim in ndim))
        there = [name for name in self.session.theirs if fits(name)]
        if there and self.chance(0.75):
            return self.choose(there[-4:] if self.chance(0.7) else there)
        shape = self.shape(None if ndim is None else self.choose(ndim))
        dtype = None
        if dtypes is not None:
            dtype = self.random.choices(
                dtypes, [WEIGHTS[d] for d in dtypes])[0]
        return self.new(shape, dtype)

    def mate(self, v, dtype=None):
        """Something that mostly broadcasts with v."""
        shape = list(self.theirs(v).shape)
        there = [name for name, t in self.session.theirs.items()
                 if broadcasts(shape, t.shape)
                 and (dtype is None or NAMES[t.dtype] == dtype)]
        if there and self.chance(0.4):
            return self.choose(there)
        if self.chance(0.6):
            shape = [1 if self.chance(0.3) else size for size in shape]
            if self.chance(0.3):
                shape = shape[self.random.randrange(len(shape) + 1):]
            elif self.chance(0.15):
                shape = [self.choose((1, 2, 3))] + shape
        if shape and self.chance(0.02):
            shape[self.random.randrange(len(shape))] += 1
        if dtype is None and self.chance(0.7):
            dtype = self.dtype(v)
        return self.new(shape, dtype)


def c_shape(sizes):
    return f'TN_SHAPE({", ".join(map(str, sizes))})' if sizes else 'TN_SCALAR'


def broadcasts(a, b):
    try:
        shape = torch.broadcast_shapes(a, b)
    except RuntimeError:
        return False
    return shape.numel() <= 20000
