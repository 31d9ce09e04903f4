"""The operations that programs are made of: how each is drawn, its text for
PyTorch and for Tenon, and within what bound results agree.

Bounds are (relative, absolute) in units of the dtype's epsilon; no bound: the
same values. Both sides' functions are within 1 or 2 units of the truth."""
from generator import ALL, FLOATS, INTEGERS, c_shape

TABLE = []  # (weight, function)


def operation(weight):
    def add(function):
        TABLE.append((weight, function))
        return function
    return add


def truth(condition):
    return 'true' if condition else 'false'


# ---- elementwise ----

BINARY = {'add': None, 'sub': None, 'mul': None, 'div': None,
          'floor_divide': None, 'remainder': None, 'pow': (8, 0),
          'maximum': None, 'minimum': None}
COMPARISONS = ('eq', 'ne', 'lt', 'le', 'gt', 'ge')
# Sums of 64 elements and sqrt are exactly rounded, the others nearly.
UNARY = {name: None for name in (
    'neg', 'abs', 'sign', 'floor', 'ceil', 'round', 'sqrt', 'reciprocal',
    'relu')}
UNARY.update({name: (4, 0) for name in (
    'exp', 'expm1', 'log', 'log1p', 'rsqrt', 'sin', 'cos', 'tan', 'tanh',
    'sigmoid', 'erf')})
UNARY.update({'gelu': (8, 4), 'silu': (8, 0)})
FUNCTIONAL = ('gelu', 'silu')
SMOOTH = [name for name, bound in UNARY.items() if bound]


def torch_call(name, *arguments):
    module = 'F' if name in FUNCTIONAL else 'torch'
    return f'{module}.{name}({", ".join(arguments)})'


@operation(20)
def binary(g):
    a = g.any()
    b = g.mate(a)
    if g.chance(0.3):
        a, b = b, a
    name = g.choose([*BINARY, *COMPARISONS])
    g.call(name, f'torch.{name}({a}, {b})', f'tn_{name}({a}, {b})', [a, b],
           BINARY.get(name))


@operation(8)
def binary_in_place(g):
    a = g.any()
    b = g.mate(a)
    name = g.choose([name for name in [*BINARY, *COMPARISONS]
                     if name not in ('maximum', 'minimum')])
    g.call(name + '_', f'{a}.{name}_({b})', f'tn_{name}_({a}, {b})', [a, b],
           BINARY.get(name), is_new=False, target=a)


@operation(3)
def binary_out(g):
    a = g.any()
    b = g.mate(a)
    if a == b or g.theirs(a).requires_grad or g.theirs(b).requires_grad:
        return
    import torch
    try:
        shape = torch.broadcast_shapes(g.theirs(a).shape, g.theirs(b).shape)
    except RuntimeError:
        return
    name = g.choose([*BINARY, *COMPARISONS])
    out = g.leaf(shape, g.dtype(a) if g.chance(0.8) else None, False)
    g.call(name + '_out', f'torch.{name}({a}, {b}, out={out})',
           f'tn_{name}_out({out}, {a}, {b})', [a, b, out], BINARY.get(name),
           is_new=False, target=out)


@operation(10)
def scalar(g):
    a = g.any()
    name, number = g.choose([*BINARY, *COMPARISONS]), None
    number = g.number(g.dtype(a))
    if g.dtype(a) == 'TN_U8' and name in COMPARISONS:
        number = number.lstrip('-')  # PyTorch makes 254 of -2
    if name in ('maximum', 'minimum'):
        if not g.theirs(a).ndim:
            return  # PyTorch has it with tensors only
        theirs = f'torch.{name}({a}, torch.tensor({number}))'
        in_place = False
    else:
        in_place = g.chance(0.3)
        theirs = f'{a}.{name}{"_" if in_place else ""}({number})'
    form = 'scalar_' if in_place else 'scalar'
    g.call(f'{name}_{form}', theirs, f'tn_{name}_{form}({a}, {number})', [a],
           BINARY.get(name), is_new=not in_place,
           target=a if in_place else None)


@operation(3)
def scalar_first(g):
    a = g.any()
    number = g.number(g.dtype(a))
    name, theirs = g.choose((
        ('rsub', f'{number} - {a}'), ('rdiv', f'{number} / {a}'),
        ('rpow', f'torch.pow({number}, {a})')))
    g.call(f'{name}_scalar', theirs, f'tn_{name}_scalar({a}, {number})', [a],
           (8, 0) if name == 'rpow' else (1, 0))


@operation(3)
def with_alpha(g):
    a = g.any()
    b = g.mate(a)
    name, alpha = g.choose(('add', 'sub')), g.number(g.dtype(a))
    # One rounding here, one or two there.
    bound = (1, 1)
    scale = f'size({b} * {alpha}) + size({a})'
    if g.chance(0.3):
        g.call(f'{name}_alpha_', f'{a}.{name}_({b}, alpha={alpha})',
               f'tn_{name}_alpha_({a}, {b}, {alpha})', [a, b],
               floats_only(g, a, bound), scale if is_float(g, a) else None,
               is_new=False, target=a)
        return
    g.call(f'{name}_alpha', f'torch.{name}({a}, {b}, alpha={alpha})',
           f'tn_{name}_alpha({a}, {b}, {alpha})', [a, b],
           *((bound, scale) if is_float(g, a) or is_float(g, b) else ()))


def is_float(g, v):
    return g.theirs(v).is_floating_point()


def floats_only(g, v, bound):
    return bound if is_float(g, v) else None


@operation(14)
def unary(g):
    a = g.any()
    name = g.choose(UNARY)
    g.call(name, torch_call(name, a), f'tn_{name}({a})', [a], UNARY[name],
           f'size({a})' if name == 'gelu' else None)


@operation(6)
def unary_in_place(g):
    a = g.any()
    name = g.choose([name for name in UNARY if name not in FUNCTIONAL])
    g.call(name + '_', f'{a}.{name}_()', f'tn_{name}_({a})', [a],
           floats_only(g, a, UNARY[name]), is_new=False, target=a)


@operation(2)
def unary_out(g):
    a = g.any()
    if g.theirs(a).requires_grad:
        return
    name = g.choose([name for name in UNARY
                     if name not in FUNCTIONAL + ('relu',)])
    # Into another dtype PyTorch computes in that one.
    is_exact = UNARY[name] is None
    out = g.leaf(g.theirs(a).shape,
                 None if is_exact and g.chance(0.2) else g.dtype(a), False)
    g.call(name + '_out', f'torch.{name}({a}, out={out})',
           f'tn_{name}_out({out}, {a})', [a, out],
           floats_only(g, out, UNARY[name]), is_new=False, target=out)


@operation(2)
def other_unary(g):
    a = g.any(FLOATS)
    name, theirs, bound = g.choose((
        ('gelu_tanh', f'F.gelu({a}, approximate="tanh")', (8, 8)),
        ('isnan', f'torch.isnan({a})', None)))
    g.call(name, theirs, f'tn_{name}({a})', [a], bound,
           bound and f'size({a})')


@operation(3)
def logical(g):
    a = g.any()
    name = g.choose(('and', 'or', 'xor', 'not'))
    if name == 'not':
        g.call('logical_not', f'torch.logical_not({a})',
               f'tn_logical_not({a})', [a])
        return
    b = g.mate(a)
    g.call(f'logical_{name}', f'torch.logical_{name}({a}, {b})',
           f'tn_logical_{name}({a}, {b})', [a, b])


@operation(4)
def choosing(g):
    a = g.any()
    mask = g.mate(a, 'TN_BOOL')
    if g.chance(0.5):
        b = g.mate(a)
        g.call('where', f'torch.where({mask}, {a}, {b})',
               f'tn_where({mask}, {a}, {b})', [mask, a, b])
        return
    number = g.number(g.dtype(a))
    mark = g.choose(('', '_'))
    g.call('masked_fill' + mark,
           f'{a}.masked_fill{mark}({mask}, {number})',
           f'tn_masked_fill{mark}({a}, {mask}, {number})', [a, mask],
           is_new=not mark, target=a if mark else None)


@operation(3)
def clamp(g):
    a = g.any()
    low, high = g.choose(((-1, 1), (-2, 0.5), (0, None), (None, 2),
                          (-0.5, 1.5)))
    if g.dtype(a) == 'TN_U8' and low is not None and low < 0:
        low = 0  # PyTorch makes 255 of -1
    mark = g.choose(('', '', '_'))
    g.call('clamp' + mark, f'{a}.clamp{mark}({low}, {high})',
           f'tn_clamp{mark}({a}, '
           f'{"-INFINITY" if low is None else low}, '
           f'{"INFINITY" if high is None else high})', [a],
           is_new=not mark, target=a if mark else None)


@operation(3)
def filling(g):
    a = g.any()
    if g.chance(0.4):
        g.call('zero_', f'{a}.zero_()', f'tn_zero_({a})', [a], is_new=False,
               target=a)
    elif g.chance(0.4):
        number = g.number(g.dtype(a))
        g.call('fill_', f'{a}.fill_({number})', f'tn_fill_({a}, {number})',
               [a], is_new=False, target=a)
    else:
        b = g.mate(a)
        if g.dtype(a) in INTEGERS and is_float(g, b) and not (
                (g.theirs(b) >= 0) & (g.theirs(b) <= 100)).all():
            return  # what PyTorch makes of the others the machine decides
        g.call('copy_', f'{a}.copy_({b})', f'tn_copy_({a}, {b})', [a, b],
               is_new=False, target=a)


@operation(5)
def casting(g):
    a = g.any()
    if g.chance(0.3):
        name = g.choose(('clone', 'detach', 'contiguous'))
        g.call(name, f'{a}.{name}()', f'tn_{name}({a})', [a], view=True)
        return
    from session import DTYPES
    dtype = g.choose(ALL)
    if dtype in INTEGERS and is_float(g, a):
        a = g.call('clamp', f'{a}.clamp(0, 100).nan_to_num(0)',
                   f'tn_where(tn_isnan({a}), tn_zeros_like({a}), '
                   f'tn_clamp({a}, 0, 100))', [a])
    if a:
        g.call('to', f'{a}.to({DTYPES[dtype]})',
               f'tn_to({a}, dtype={dtype})', [a], view=True)


# ---- reductions ----

REDUCTIONS = ('sum', 'mean', 'prod', 'amax', 'amin', 'argmax', 'argmin',
              'all', 'any', 'norm', 'var', 'std')


def reduction_bound(name, v, rest):
    """Additions in any order: a share of the sum of absolute values."""
    if name in ('sum', 'mean'):
        return (4, 8), f'torch.{name}(size({v}){rest})'
    if name == 'prod':
        return (64, 0), None
    if name == 'std':
        return (64, 8), f'size({v}).max()'
    if name == 'var':
        # What rounding the mean leaves: its square of equal numbers, else
        # in proportion to how far they are from it.
        return (64, 8), (f'size({v}).max() * (size({v}).max() * 2**-20 + '
                         f'size(torch.std({v}{rest})))')
    if name == 'norm':
        return (64, 8), None
    return None, None


@operation(12)
def reduction(g):
    name = g.choose(REDUCTIONS)
    a = g.any(FLOATS) if g.chance(0.7) else g.any()
    if name in ('prod', 'var', 'std', 'norm') and not g.is_tame:
        return  # the order decides what overflows
    whole = g.chance(0.35)
    dim = g.dim(a)
    keep = g.chance(0.4)
    rest = '' if whole else f', dim={dim}, keepdim={keep}'
    ours_rest = '' if whole else f', {dim}, {truth(keep)}'
    function = {'norm': 'torch.linalg.vector_norm'}.get(name,
                                                        f'torch.{name}')
    theirs, ours = f'{function}({a}{rest})', None
    if name in ('var', 'std'):
        correction = g.choose((0, 1))
        theirs = (f'torch.{name}({a}, dim={None if whole else dim}, '
                  f'correction={correction}'
                  f'{"" if whole else f", keepdim={keep}"})')
        ours_rest = (f', {correction}' if whole else
                     f', {dim}, {correction}, {truth(keep)}')
    ours = f'tn_{name}{"" if whole else "_dim"}({a}{ours_rest})'
    bound, scale = reduction_bound(name, a, rest)
    if name in ('var', 'std') and not g.theirs(a).numel():
        scale = None
    g.call(name if whole else name + '_dim', theirs, ours, [a],
           floats_only(g, a, bound), scale if is_float(g, a) else None)


@operation(3)
def over_dims(g):
    a = g.any(FLOATS)
    ndim = g.theirs(a).ndim
    name, keep = g.choose(('sum', 'mean')), g.chance(0.4)
    dims = g.random.sample(range(ndim), g.random.randrange(ndim + 1))
    rest = f', dim={dims}, keepdim={keep}'
    bound, scale = reduction_bound(name, a, rest)
    g.call(f'{name}_dims', f'torch.{name}({a}{rest})',
           f'tn_{name}_dims({a}, {c_shape(dims)}, {truth(keep)})', [a],
           bound, scale)


@operation(2)
def cumsum(g):
    """Added in order, so that errors grow with the length."""
    a = g.any()
    dim = g.dim(a)
    g.call('cumsum', f'torch.cumsum({a}, {dim})', f'tn_cumsum({a}, {dim})',
           [a], floats_only(g, a, (4, 64)),
           f'torch.cumsum(size({a}), {dim})' if is_float(g, a) else None)


# ---- products ----

def product_scale(a, b):
    return f'torch.matmul(size({a}), size({b}))'


@operation(7)
def matmul(g):
    a = g.any(ALL[:4], (1, 2, 2, 3, 4))
    shape = list(g.theirs(a).shape)
    dtype = g.dtype(a) if g.chance(0.95) else None
    k, n = shape[-1], g.size()
    other = [k, n]
    if g.chance(0.25):
        other = [k]
    elif len(shape) > 2 and g.chance(0.6):
        other = [1 if g.chance(0.3) else s for s in shape[:-2]] + other
    elif g.chance(0.2):
        other = [g.choose((1, 2, 3))] + other
    if g.chance(0.02):
        other[max(len(other) - 2, 0)] += 1
    b = g.new(other, dtype)
    if not b:
        return
    # Additions in order, there, err more the more there are.
    bound = (4, 8 + k // 16) if is_float(g, a) or is_float(g, b) else None
    name = 'matmul'
    if len(shape) == 2 and len(other) == 2 and g.chance(0.4):
        name = 'mm'
    if len(shape) == 3 and len(other) == 3 and g.chance(0.4):
        name = 'bmm'
    g.call(name, f'torch.{name}({a}, {b})', f'tn_{name}({a}, {b})', [a, b],
           bound, bound and product_scale(a, b))


@operation(4)
def affine(g):
    dtype = g.choose(FLOATS)
    m, k, n = g.size(), g.size(), g.size()
    if g.chance(0.5):
        x = g.new(g.shape(g.choose((0, 1, 2)))[:2] + [k], dtype)
        weight = g.new([n, k], dtype)
        bias = g.new([n], dtype) if g.chance(0.7) else None
        if not (x and weight):
            return
        scale = f'F.linear(size({x}), size({weight})' + (
            f', size({bias}))' if bias else ')')
        g.call('linear', f'F.linear({x}, {weight}, {bias})',
               f'tn_linear({x}, {weight}, {bias or "NULL"})',
               [v for v in (x, weight, bias) if v], (4, 8), scale)
        return
    c = g.new(g.choose(([m, n], [n], [1, n], [m, 1], [1])), dtype)
    a, b = g.new([m, k], dtype), g.new([k, n], dtype)
    if not (a and b and c):
        return
    beta, alpha = g.number(dtype), g.number(dtype)
    alpha = '1' if alpha == '0' else alpha  # it takes PyTorch's NaN away
    options = f'beta={beta}, alpha={alpha}'
    g.call('addmm', f'torch.addmm({c}, {a}, {b}, {options})',
           f'tn_addmm({c}, {a}, {b}, {beta}, {alpha})', [c, a, b], (4, 8),
           f'torch.addmm(size({c}), size({a}), size({b}), '
           f'beta=abs({beta}), alpha=abs({alpha}))'.replace(
               f'abs({beta})', beta.lstrip('-')).replace(
               f'abs({alpha})', alpha.lstrip('-')))


@operation(3)
def attention(g):
    dtype = g.choose(FLOATS)
    if not g.is_tame:
        return  # 0 times what is infinite, or left out
    batch = g.choose(([], [2], [2, 1], [1, 3]))
    rows, columns = g.choose((1, 2, 5, 65)), g.choose((1, 3, 64, 66))
    width, out = g.choose((1, 4, 8)), g.choose((1, 3, 8))
    q = g.new(batch + [rows, width], dtype)
    k = g.new(batch + [columns, width], dtype)
    v = g.new(batch + [columns, out], dtype)
    if not (q and k and v):
        return
    causal, mask = g.chance(0.4), None
    if not causal and g.chance(0.5):
        mask = g.new(g.choose(([rows, columns], [1, columns])),
                     g.choose((dtype, 'TN_BOOL')))
    scale = g.choose((0, 0.5))
    g.call('scaled_dot_product_attention',
           f'attention({q}, {k}, {v}, {mask}, {causal}, {scale})',
           f'tn_scaled_dot_product_attention({q}, {k}, {v}, '
           f'{mask or "NULL"}, {truth(causal)}, {scale})',
           [t for t in (q, k, v, mask) if t], (32, 128))


# ---- rows ----

@operation(5)
def softmax(g):
    a = g.any(FLOATS) if g.chance(0.9) else g.any()
    dim, name = g.dim(a), g.choose(('softmax', 'log_softmax'))
    g.call(name, f'torch.{name}({a}, {dim})', f'tn_{name}({a}, {dim})', [a],
           (16, 8))


@operation(4)
def layer_norm(g):
    a = g.any(FLOATS, (1, 2, 3))
    if not g.is_tame or (g.theirs(a).abs() > 1e15).any():
        return  # squares overflow
    shape = list(g.theirs(a).shape)
    over = shape[-g.choose((1, 1, 2)):]
    weight = g.new(over, g.dtype(a)) if g.chance(0.7) else None
    bias = g.new(over, g.dtype(a)) if weight and g.chance(0.7) else None
    # What rounding leaves of a row of equal numbers is divided by sqrt(eps).
    scale = f'size({a}).nan_to_num(0, 0, 0).max() * 10 + 1'
    if not g.theirs(a).numel():
        scale = None
    elif weight and g.theirs(weight).numel():
        scale = f'({scale}) * (size({weight}).nan_to_num(0, 0, 0).max() + 1)'
    g.call('layer_norm',
           f'F.layer_norm({a}, {over}, {weight}, {bias}, 0.01)',
           f'tn_layer_norm({a}, {c_shape(over)}, {weight or "NULL"}, '
           f'{bias or "NULL"}, 0.01)',
           [v for v in (a, weight, bias) if v], (32, 16), scale)


@operation(2)
def dropout(g):
    a = g.any(FLOATS)
    p, training = g.choose(((0, True), (1, True), (0.5, False), (0, False)))
    if p == 1 and not g.is_tame:
        return  # PyTorch multiplies by 0 what is infinite
    g.call('dropout', f'F.dropout({a}, {p}, {training})',
           f'tn_dropout({a}, {p}, {truth(training)})', [a],
           (1, 0) if p == 1 else None, view=p == 0 or not training)


@operation(4)
def losses(g):
    a = g.any(FLOATS, (2,))
    rows, classes = g.theirs(a).shape
    if g.chance(0.25):
        b = g.mate(a, g.dtype(a))
        if g.theirs(a).shape == g.theirs(b).shape:
            g.call('mse_loss', f'F.mse_loss({a}, {b})',
                   f'tn_mse_loss({a}, {b})', [a, b], (64, 0))
        return
    if not classes:
        return
    targets = g.leaf([rows], 'TN_I64', values=[
        -100 if g.chance(0.1) else
        classes if g.chance(0.01) else g.random.randrange(classes)
        for _ in range(rows)])
    name = g.choose(('cross_entropy', 'nll_loss'))
    reduction = g.choose(('mean', 'sum', 'none'))
    ignore = g.choose((-100, 1))
    g.call(name, f'F.{name}({a}, {targets}, reduction="{reduction}", '
           f'ignore_index={ignore})',
           f'tn_{name}_with({a}, {targets}, TN_LOSS_{reduction.upper()}, '
           f'{ignore})', [a, targets], (64, 32), f'size({a}).sum() + 1')


# ---- by index ----

def indices(g, shape, count):
    total = 1
    for size in shape:
        total *= size
    wrong = -1 if g.chance(0.2) else count
    return g.leaf(shape, 'TN_I64', values=[
        wrong if g.chance(0.003) else g.random.randrange(max(count, 1))
        for _ in range(total)])


@operation(3)
def embedding(g):
    a = g.any(FLOATS, (2,))
    count = g.theirs(a).shape[0]
    index = indices(g, g.shape(g.choose((0, 1, 2))), count)
    g.call('embedding', f'F.embedding({index}, {a})',
           f'tn_embedding({a}, {index})', [a, index])


@operation(5)
def by_index(g):
    a = g.any(None, (1, 2, 3))
    shape = list(g.theirs(a).shape)
    dim = g.dim(a)
    if not -len(shape) <= dim < len(shape):
        return
    if g.chance(0.4):
        index = indices(g, [g.size()], shape[dim])
        g.call('index_select', f'torch.index_select({a}, {dim}, {index})',
               f'tn_index_select({a}, {dim}, {index})', [a, index])
        return
    smaller = [g.random.randrange(1, size + 1) if size else 0
               for size in shape]
    smaller[dim] = g.size()
    index = indices(g, smaller, shape[dim])
    if g.chance(0.5):
        g.call('gather', f'torch.gather({a}, {dim}, {index})',
               f'tn_gather({a}, {dim}, {index})', [a, index])
        return
    values = g.new(smaller, g.dtype(a))
    mark = g.choose(('', '_'))
    if values:
        g.call('scatter_add' + mark,
               f'{a}.scatter_add{mark}({dim}, {index}, {values})',
               f'tn_scatter_add{mark}({a}, {dim}, {index}, {values})',
               [a, index, values], floats_only(g, a, (4, 8)),
               is_new=not mark, target=a if mark else None)


@operation(4)
def joining(g):
    a = g.any()
    tensors, shape = [a], list(g.theirs(a).shape)
    name = g.choose(('cat', 'stack'))
    dim = g.dim(a)
    for _ in range(g.choose((0, 1, 2))):
        other = list(shape)
        if name == 'cat' and shape and -len(shape) <= dim < len(shape):
            other[dim] = g.size()
        if other and g.chance(0.02):
            other[0] += 1
        tensors.append(g.new(other, g.dtype(a) if g.chance(0.9) else None))
    if not all(tensors):
        return
    many = ', '.join(tensors)
    g.call(name, f'torch.{name}([{many}], {dim})',
           f'tn_{name}(TENSORS({many}), {len(tensors)}, {dim})', tensors)


@operation(3)
def triangle(g):
    a = g.any(None, (2, 2, 3))
    name, diagonal = g.choose(('tril', 'triu')), g.choose((-1, 0, 0, 1, 2))
    g.call(name, f'torch.{name}({a}, {diagonal})',
           f'tn_{name}({a}, {diagonal})', [a])


@operation(1)
def one_hot(g):
    classes = g.choose((1, 3, 5))
    index = indices(g, g.shape(g.choose((0, 1, 2))), classes)
    g.call('one_hot', f'F.one_hot({index}, {classes})',
           f'tn_one_hot({index}, {classes})', [index])


# ---- views ----

@operation(8)
def reshaping(g):
    a = g.any()
    shape = list(g.theirs(a).shape)
    name = g.choose(('view', 'reshape', 'flatten', 'squeeze', 'unsqueeze',
                     'squeeze_dim'))
    if name in ('view', 'reshape'):
        new = regroup(g, shape)
        theirs, ours = f'{a}.{name}({new})', f'tn_{name}({a}, {c_shape(new)})'
    elif name == 'flatten':
        i, j = g.dim(a), g.dim(a)
        theirs, ours = f'{a}.flatten({i}, {j})', f'tn_flatten({a}, {i}, {j})'
    elif name == 'squeeze':
        theirs, ours = f'{a}.squeeze()', f'tn_squeeze({a})'
    else:
        i = g.dim(a)
        theirs = f'{a}.{name.replace("_dim", "")}({i})'
        ours = f'tn_{name}({a}, {i})'
    g.view(name, a, theirs, ours)


def regroup(g, shape):
    """Sizes of the same product, mostly."""
    new = [size for size in shape if size != 1 or g.chance(0.5)]
    for i in range(len(new) - 1, 0, -1):
        if g.chance(0.4):
            new[i - 1:i + 1] = [new[i - 1] * new[i]]
    for i in range(len(new)):
        if new[i] in (4, 6, 8, 12, 16, 64) and g.chance(0.4):
            new[i:i + 1] = [new[i] // 2, 2]
            break
    if new and g.chance(0.2):
        new[g.random.randrange(len(new))] = -1
    if new and g.chance(0.02):
        new[0] += 1
    return new


@operation(8)
def viewing(g):
    a = g.any()
    shape = list(g.theirs(a).shape)
    ndim, i = len(shape), g.dim(a)
    size = shape[i] if -ndim <= i < ndim else 3
    name = g.choose(('transpose', 'permute', 'slice', 'select', 'narrow',
                     'expand', 'as_strided'))
    if name == 'transpose':
        j = g.dim(a)
        arguments = (f'{i}, {j}',) * 2
    elif name == 'permute':
        dims = g.random.sample(range(ndim), ndim)
        arguments = f'{dims}', c_shape(dims).replace('TN_SCALAR',
                                                     'TN_SCALAR')
    elif name == 'slice':
        start, end, step = (g.choose((-3, -1, 0, 0, 1)),
                            g.choose((-1, 1, 2, 100)), g.choose((1, 1, 2)))
        return g.view('slice', a,
                      f'torch.ops.aten.slice({a}, {i}, {start}, {end}, '
                      f'{step})', f'tn_slice({a}, {i}, {start}, {end}, '
                      f'{step})')
    elif name == 'select':
        at = g.random.randrange(-size, size) if size else 0
        at += size if g.chance(0.02) else 0
        arguments = (f'{i}, {at}',) * 2
    elif name == 'narrow':
        start = g.random.randrange(size + 1)
        length = g.random.randrange(size - start + 1)
        arguments = (f'{i}, {start}, {length}',) * 2
    elif name == 'expand':
        new = [g.choose((2, 3)) if s == 1 and g.chance(0.7) else
               -1 if g.chance(0.1) else s for s in shape]
        if g.chance(0.3):
            new = [g.choose((1, 2))] + new
        arguments = f'{new}', c_shape(new)
    else:
        return as_strided(g, a)
    g.view(name, a, f'{a}.{name}({arguments[0]})',
           f'tn_{name}({a}, {arguments[1]})')


def as_strided(g, a):
    count = g.theirs(a).numel()
    if not g.theirs(a).is_contiguous() or g.theirs(a).storage_offset():
        return
    sizes = [g.choose((1, 2, 3)), g.choose((1, 2))]
    strides = [g.choose((0, 1, 2)), g.choose((1, 2, 3))]
    reach = sum((n - 1) * s for n, s in zip(sizes, strides)) + 1
    if reach > count:
        return
    offset = g.random.randrange(count - reach + 1)
    g.view('as_strided', a, f'{a}.as_strided({sizes}, {strides}, {offset})',
           f'tn_as_strided({a}, {c_shape(sizes)}, {c_shape(strides)}, '
           f'{offset})')


# ---- gradients ----

def with_history(g):
    return [name for name, t in g.session.theirs.items()
            if t.requires_grad and t.grad_fn is not None
            and t.numel() <= 20000]


@operation(10)
def backward(g):
    there = with_history(g)
    if not there:
        return
    v = g.choose(there[-4:])
    keep = g.chance(0.4)
    if g.theirs(v).numel() == 1 and g.chance(0.5):
        seed = None
    else:
        seed = g.leaf(g.theirs(v).shape, g.dtype(v), False)
    g.call('backward', f'{v}.backward({seed}, retain_graph={keep})',
           f'tn_backward_with({v}, {seed or "NULL"}, '
           f'retain_graph={truth(keep)})', [v] + ([seed] if seed else []),
           is_new=False, kind='backward')


@operation(4)
def gradients(g):
    there = with_history(g)
    if not there:
        return
    v = g.choose(there[-4:])
    seed = g.leaf(g.theirs(v).shape, g.dtype(v), False)
    inputs = [name for name, t in g.session.theirs.items()
              if t.requires_grad and name != v]
    inputs = g.random.sample(inputs, min(len(inputs), g.choose((1, 2))))
    again = g.chance(0.6)
    if not inputs:
        return
    many = ', '.join(inputs)
    g.call('grad_of', f'torch.autograd.grad([{v}], [{many}], [{seed}], '
           f'retain_graph=True, create_graph={again}, allow_unused=True)',
           f'gradients(TENSORS({v}), TENSORS({many}), retain_graph=true, '
           f'create_graph={truth(again)}, allow_unused=true, '
           f'grad_outputs=TENSORS({seed}))', inputs + [v, seed],
           kind='gradients')


@operation(2)
def grad_of_leaf(g):
    there = [name for name in g.session.leaves
             if g.theirs(name).grad is not None]
    if not there:
        return
    v = g.choose(there)
    g.call('grad', f'{v}.grad.clone()', f'tn_clone(tn_grad({v}))', [v])
