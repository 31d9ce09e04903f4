"""A program runs here on PyTorch and on Tenon, step by step.

After each step the results are compared; PyTorch's are then set to ours,
within the tolerance, and made contiguous where ours are, so that one step's
rounding never adds to the next one's.
"""
import contextlib
import re

import torch

import differences
from compare import Mismatch, compare_tensors, compare_zeros

DTYPES = {'TN_F32': torch.float32, 'TN_F64': torch.float64,
          'TN_I32': torch.int32, 'TN_I64': torch.int64,
          'TN_U8': torch.uint8, 'TN_BOOL': torch.bool}
C_NAMES = {'TN_F32': 'float', 'TN_F64': 'double', 'TN_I32': 'int32_t',
           'TN_I64': 'int64_t', 'TN_U8': 'uint8_t', 'TN_BOOL': 'bool'}
NAMES = {dtype: name for name, dtype in DTYPES.items()}


class Leaf:
    """A tensor given by its numbers, contiguous."""

    def __init__(self, out, dtype, shape, data, requires_grad=False):
        self.out, self.dtype, self.shape = out, dtype, list(shape)
        self.data, self.requires_grad = data, requires_grad
        self.uses, self.name = [], 'leaf'

    def torch_text(self):
        text = (f'{self.out} = torch.tensor({self.data}, '
                f'dtype={DTYPES[self.dtype]}).reshape({self.shape}).clone()')
        return text + ('.requires_grad_()' if self.requires_grad else '')

    def our_text(self):
        numbers = ', '.join(c_number(x) for x in self.data)
        shape = (f'TN_SHAPE({", ".join(map(str, self.shape))})'
                 if self.shape else 'TN_SCALAR')
        data = f'(({C_NAMES[self.dtype]}[]){{ {numbers} }})'
        options = f', .dtype = {self.dtype}'
        if self.requires_grad:
            options += ', .requires_grad = true'
        return (f'tn_tensor *{self.out} = tn_from_data('
                f'{data if self.data else "NULL"}, {shape}{options});')


class Step:
    """One call: its text for PyTorch and for Tenon, both of which are also
    run; ours is C that happens to be Python too, options excepted."""

    def __init__(self, name, theirs, ours, out=None, uses=(), bound=None,
                 scale=None, view=False, target=None, no_grad=False,
                 kind='value'):
        self.name, self.theirs, self.ours = name, theirs, ours
        self.out, self.uses, self.target = out, list(uses), target
        self.bound, self.scale, self.view = bound, scale, view
        self.no_grad, self.kind = no_grad, kind

    def torch_text(self):
        text = f'{self.out} = {self.theirs}' if self.out else self.theirs
        return f'with torch.no_grad(): {text}' if self.no_grad else text

    def our_text(self):
        text = re.sub(r'TENSORS\(([^)]*)\)', r'((tn_tensor *[]){ \1 })',
                      self.ours)
        text = re.sub(r', (\w+)=', r', .\1 = ', text)
        if self.out:
            text = f'tn_tensor *{self.out} = {text}'
        return f'tn_no_grad {{ {text}; }}' if self.no_grad else text + ';'


def c_number(x):
    if isinstance(x, bool):
        return 'true' if x else 'false'
    return {'inf': 'INFINITY', '-inf': '-INFINITY', 'nan': 'NAN'}.get(
        str(x), str(x))


class OurNames(dict):
    """What the texts of our calls mean in Python."""

    def __init__(self, tn):
        super().__init__(
            TN_SHAPE=lambda *sizes: list(sizes), TN_SCALAR=[], NULL=None,
            TENSORS=lambda *tensors: list(tensors), true=True, false=False,
            INFINITY=float('inf'), NAN=float('nan'), TN_END=2**63 - 1,
            TN_DIMS=lambda *sizes: list(sizes), gradients=tn.gradients)
        self.tn = tn

    def __missing__(self, name):
        if name in self.tn.headers.constants:
            return self.tn.headers.constants[name]
        if name in self.tn.headers.calls:
            return getattr(self.tn, name)
        options = re.sub('(_?)$', r'_with\1', name, count=1)
        for call in (options, name + '_options'):
            if call in self.tn.headers.calls:
                return getattr(self.tn, call)
        raise KeyError(name)


class Scope(dict):
    """The variables, then the names."""

    def __init__(self, names, variables):
        super().__init__(__builtins__={})
        self.names, self.variables = names, variables

    def __getitem__(self, name):
        if name in self.variables:
            return self.variables[name]
        return self.names[name]


class Session:
    def __init__(self, tn):
        self.tn = tn
        self.theirs, self.ours, self.leaves = {}, {}, []
        self.events = set()  # of differences.EVENTS, so far
        self.names = OurNames(tn)
        self.torch_names = {'torch': torch, 'F': torch.nn.functional,
                            'inf': float('inf'), 'nan': float('nan'),
                            'attention': attention, 'size': size}

    def run(self, step):
        """Raises Mismatch or Skip; False where both refused."""
        if isinstance(step, Leaf):
            return self.run_leaf(step)
        try:
            return self.run_step(step)
        except Mismatch as mismatch:
            mismatch = Mismatch(mismatch.kind, ''.join(
                [str(mismatch), *('; after ' + e for e in self.events)]))
            if step.no_grad and mismatch.kind == 'requires_grad':
                mismatch = Mismatch(mismatch.kind,
                                    f'without gradients: {mismatch}')
            if differences.is_allowed(step.name, mismatch):
                raise differences.Skip() from None
            raise mismatch from None

    def run_step(self, step):
        self.events |= differences.events_of(step)
        theirs, their_error = self.evaluate_theirs(step)
        ours, our_error = self.evaluate_ours(step)
        if bool(their_error) != bool(our_error):
            raise Mismatch('refusal', f'PyTorch: {their_error or "accepts"}; '
                           f'Tenon: {our_error or "accepts"}')
        if their_error:
            self.check_all()  # nothing may have changed
            return False
        self.check(step, theirs, ours)
        return True

    def run_leaf(self, leaf):
        data = torch.tensor(leaf.data, dtype=DTYPES[leaf.dtype])
        self.theirs[leaf.out] = data.reshape(leaf.shape).clone()
        self.theirs[leaf.out].requires_grad_(leaf.requires_grad)
        numbers = data.view(torch.uint8) if leaf.dtype == 'TN_BOOL' else data
        self.ours[leaf.out] = self.tn.from_list(
            numbers.tolist(), leaf.shape, self.tn.headers.constants[
                leaf.dtype], requires_grad=leaf.requires_grad)
        self.leaves.append(leaf.out)
        return True

    def evaluate_theirs(self, step):
        if re.match('floor_divide|remainder', step.name) and any(
                kills(self.theirs.get(name)) for name in step.uses):
            raise differences.Skip()
        for name in step.uses:
            follow(self.theirs.get(name))
        with torch.no_grad() if step.no_grad else contextlib.nullcontext():
            try:
                return eval(step.theirs, self.torch_names, self.theirs), None
            except (RuntimeError, IndexError, ValueError, TypeError) as error:
                return None, error

    def evaluate_ours(self, step):
        from tenon import Error
        scope = Scope(self.names, self.ours)
        with self.tn.no_grad() if step.no_grad else contextlib.nullcontext():
            try:
                return eval(step.ours, {'__builtins__': {}}, scope), None
            except Error as error:
                return None, error

    def check(self, step, theirs, ours):
        if step.kind == 'backward':
            leaves = [v for v in self.leaves if self.theirs[v].is_leaf]
            self.own_gradients(leaves)
            return self.check_gradients(
                [self.theirs[v].grad for v in leaves],
                [self.our_grad(v) for v in leaves], leaves,
                [self.theirs[v] for v in step.uses[1:]])
        if step.kind == 'gradients':
            # One may be the memory of what grad_of was given.
            theirs = [g if g is None else g.clone() for g in theirs]
            ours = [g if g is None else self.tn.clone(g) for g in ours]
            self.check_gradients(theirs, ours, step.uses)
            theirs, ours = theirs[0], ours[0]
            if theirs is None:
                return
            # PyTorch makes nodes for gradients that depend on nothing.
            if not self.tn.requires_grad(ours):
                theirs = theirs.detach()
        elif step.kind == 'value':
            scale = step.scale and eval(step.scale, self.torch_names,
                                        self.theirs)
            compare_tensors(theirs, ours, step.bound, scale)
            self.align(step, theirs, ours)
        if step.out:
            self.theirs[step.out], self.ours[step.out] = theirs, ours

    def own_gradients(self, leaves):
        """PyTorch's may be the memory of what backward was given."""
        for name in leaves:
            leaf = self.theirs[name]
            if leaf.grad is not None:
                leaf.grad = leaf.grad.clone()

    def our_grad(self, name):
        return self.tn.grad(self.ours[name])

    def check_gradients(self, theirs, ours, names, given=()):
        """Within a share of the largest of them all, of what backward was
        given, or of 1."""
        largest = max([g.detach().abs().nan_to_num(0, 0, 0).max().item()
                       for g in (*theirs, *given)
                       if g is not None and g.numel()], default=0)
        largest = max(largest, 1)
        rounds = any(isinstance(t, torch.Tensor) and t.dtype == torch.float32
                     for t in self.theirs.values())
        for their, our, name in zip(theirs, ours, names):
            if their is None or our is None:
                compare_zeros(their, our, name)
                continue
            compare_tensors(their, our, ('gradient', name), largest *
                            (2**29 if rounds and
                             their.dtype == torch.float64 else 1))
            if not torch.equal(their.data, our.values):
                their.data = our.values

    def align(self, step, theirs, ours):
        """What only rounding, the sign of a zero or layout distinguishes
        becomes the same."""
        if step.view:
            return
        if step.bound or differ_in_zeros(theirs.data, ours.values):
            theirs.data.copy_(ours.values)
        if not step.target and not theirs.is_contiguous():
            theirs.data = theirs.data.contiguous()

    def check_all(self):
        """Nothing else changed."""
        for name, theirs in self.theirs.items():
            if isinstance(theirs, torch.Tensor):
                try:
                    compare_tensors(theirs, self.ours[name], None, None)
                except Mismatch as mismatch:
                    raise Mismatch('side effect', f'{name}: {mismatch}')


def differ_in_zeros(theirs, ours):
    return bool(((theirs.signbit() != ours.signbit()) & (ours == 0)).any())


def follow(t):
    """PyTorch takes a view whose base has got a history for a leaf until it
    is asked."""
    try:
        return isinstance(t, torch.Tensor) and t.is_leaf
    except RuntimeError:  # of a view made in no_grad
        return False


def kills(t):
    """Divided by -1 it ends PyTorch's process (SIGFPE)."""
    return (isinstance(t, torch.Tensor) and
            t.dtype in (torch.int32, torch.int64) and
            bool((t == torch.iinfo(t.dtype).min).any()))


def size(t):
    return t.detach().double().abs()


def attention(q, k, v, mask, causal, scale):
    """PyTorch 1.13 has none of this interface."""
    scores = (q * (scale or q.shape[-1] ** -0.5)) @ k.transpose(-1, -2)
    if causal:
        seen = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
        scores = scores.masked_fill(~seen, float('-inf'))
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, float('-inf'))
    elif mask is not None:
        scores = scores + mask
    return torch.softmax(scores, -1) @ v
