"""Comparing tensors, within stated bounds."""
import torch

from differences import Skip

EPSILON = {torch.float32: 2.0**-23, torch.float64: 2.0**-52}
TINY = {torch.float32: 2.0**-126, torch.float64: 2.0**-1022}

# Gradients: a share of the largest of the pass, in units of epsilon.
GRADIENT = 256


class Mismatch(Exception):
    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def dtype_of(ours):
    from session import DTYPES
    return DTYPES[ours.library.dtype_names[ours.dtype]]


def values_of(ours):
    """Our tensor's values as one of PyTorch's."""
    data, dtype = ours.read(), dtype_of(ours)
    if not data:
        return torch.empty(ours.shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(ours.shape)


def compare_zeros(theirs, ours, name):
    """No gradient on one side: zeros on the other would be the same, but
    both libraries tell them apart."""
    if (theirs is None) != (ours is None):
        kind = 'none' if theirs is None else 'some'
        if theirs is not None and not theirs.nan_to_num(0).any():
            kind = 'zeros'
        raise Mismatch('gradient', f'of {name}: PyTorch {kind}, Tenon '
                       f'{"none" if ours is None else "some"}')


def compare_tensors(theirs, ours, bound, scale):
    """bound: None for the same values, (relative, absolute) in units of the
    dtype's epsilon, of the value and of scale."""
    if not isinstance(theirs, torch.Tensor):
        return
    theirs = theirs.detach() if bound and bound[0] == 'gradient' else theirs
    if list(theirs.shape) != ours.shape:
        raise Mismatch('shape', f'shape: PyTorch {list(theirs.shape)}, '
                       f'Tenon {ours.shape}')
    if theirs.dtype != dtype_of(ours):
        raise Mismatch('dtype', f'dtype: PyTorch {theirs.dtype}, Tenon '
                       f'{ours.library.dtype_names[ours.dtype]}')
    compare_state(theirs, ours, bound)
    values = ours.values = values_of(ours)
    if bound is None or not theirs.is_floating_point():
        is_wrong = theirs != values
    else:
        is_wrong = (theirs - values).abs() > tolerance(theirs, bound, scale)
        is_wrong |= theirs.isinf() & (theirs != values)
    is_wrong &= ~(theirs.isnan() & values.isnan())
    is_wrong |= theirs.isnan() != values.isnan()
    if is_wrong.any():
        raise Mismatch('value', describe(theirs.detach(), values, is_wrong,
                                         bound))


def compare_state(theirs, ours, bound):
    if bound and bound[0] == 'gradient':
        return
    if theirs.requires_grad != ours.library.requires_grad(ours):
        raise Mismatch('requires_grad',
                       f'PyTorch {theirs.requires_grad}')
    try:
        is_leaf = theirs.is_leaf
    except RuntimeError:  # of a view made in no_grad, whose base changed
        raise Skip() from None
    if is_leaf != ours.library.is_leaf(ours):
        raise Mismatch('is_leaf', f'is_leaf: PyTorch {theirs.is_leaf}')


def tolerance(theirs, bound, scale):
    epsilon, tiny = EPSILON[theirs.dtype], TINY[theirs.dtype]
    if bound[0] == 'gradient':
        return GRADIENT * epsilon * scale + tiny
    relative, absolute = bound
    amount = relative * epsilon * theirs.detach().abs().nan_to_num(0, 0, 0)
    if absolute:
        if scale is None:
            scale = theirs.detach().abs().nan_to_num(0, 0, 0)
            scale = scale.max() if scale.numel() else 0
        elif isinstance(scale, torch.Tensor):
            scale = scale.detach().to(theirs.dtype).nan_to_num(0, 0, 0)
        amount = amount + absolute * epsilon * scale
    return amount + tiny


def describe(theirs, values, is_wrong, bound):
    where = is_wrong.nonzero()
    at = tuple(where[0].tolist())
    text = (f'at {list(at)}: PyTorch {theirs[at].item()!r}, Tenon '
            f'{values[at].item()!r}; {len(where)} of {theirs.numel()} differ')
    if bound is None:
        return text + '; the same is wanted'
    return text + f'; bound {bound}'
