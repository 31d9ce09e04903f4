"""Where Tenon differs from PyTorch on purpose. A program that meets such a
place ends there. docs/from-pytorch.md tells users the same."""
import re


class Skip(Exception):
    """The program ends here."""


COMPARISONS = '(eq|ne|lt|le|gt|ge)'

# What a step says of later mismatches: its name, the event's.
EVENTS = [
    (f'copy_|fill_|zero_|{COMPARISONS}_(scalar_)?', 'overwriting'),
    ('mse_loss', 'mse_loss'),
    ('rdiv_scalar', 'rdiv_scalar'),
    ('(var|std)(_dim)?', 'var'),
    ('scaled_dot_product_attention', 'attention'),
    ('gather', 'gather'),
    ('div', 'div'),
]


def events_of(step):
    events = {event for names, event in EVENTS
              if re.match(f'(?:{names})$', step.name)}
    return events | ({'no_grad'} if step.no_grad and step.target else set())


# (operations, kind of mismatch, its text, reason), the first three patterns.
TABLE = [
    ('(floor_divide|remainder).*', 'refusal', 'PyTorch: ZeroDivisionError',
     'N4: integer division by zero has a result, on every device the same'),
    ('floor_divide.*', 'requires_grad', 'PyTorch True',
     'its gradient is 0, or none: PyTorch makes a node whose backward fails'),
    (COMPARISONS + '_.*', 'requires_grad', 'PyTorch True',
     'what a comparison writes is no function of its operands: no gradient'),
    ('.*', 'requires_grad', 'without gradients: PyTorch True',
     'a view made in tn_no_grad requires none; PyTorch says that it does'),
    ('(clamp|sign|add_alpha|scatter_add)(_|_out)?', 'refusal',
     'PyTorch: accepts; Tenon: .*bool',
     'of truth values, where numbers are meant: a cast says which'),
    ('relu_?', 'refusal', 'PyTorch: accepts; Tenon: .*not of dtype',
     'relu takes floats'),
    ('(log_)?softmax', 'refusal', 'PyTorch: accepts; Tenon: .*dtype',
     'of integers PyTorch takes empty ones'),
    ('arg(max|min).*', 'refusal', "not implemented for 'Bool'; Tenon: acc",
     'PyTorch has none for truth values'),
    ('masked_fill_?', 'refusal', 'PyTorch: accepts; Tenon: .*does not go',
     'a number that the dtype does not have is refused, not cut'),
    ('backward|grad_of', 'refusal',
     'PyTorch: Trying to backward.* a second time.*Tenon: accepts',
     'what kept nothing can be gone through again'),
    ('backward|grad_of', 'refusal',
     'PyTorch: one of the variables.*Tenon: accepts.*; after overwriting',
     'B4: what was overwritten is not gone through, so it may have changed'),
    ('backward|grad_of', 'refusal',
     'PyTorch: one of the variables.*Tenon: accepts.*; after mse_loss',
     'mse_loss keeps the difference, so its operands may change'),
    ('backward|grad_of', 'refusal',
     'PyTorch: one of the variables.*Tenon: accepts.*; after gather',
     'gather keeps its indices only, so its operand may change'),
    ('backward|grad_of', 'refusal',
     'PyTorch: one of the variables.*Tenon: accepts.*; after div',
     'a quotient is kept, so the dividend may change'),
    ('backward|grad_of', 'refusal',
     'PyTorch: one of the variables.*Tenon: accepts.*; after var',
     'what is kept is how far elements are from the mean'),
    ('backward|grad_of', 'refusal',
     'PyTorch: one of the variables.*output 0 of PowBackward1.*Tenon: accepts',
     'a power is kept for the gradient of its exponent alone'),
    ('backward|grad_of', 'refusal',
     'PyTorch: derivative for aten::floor_divide_ .*Tenon: accepts',
     'its gradient is 0'),
    ('floor_divide.*', 'value', 'PyTorch nan, Tenon -?inf',
     'a quotient that overflows: PyTorch subtracts infinity from itself'),
    ('remainder.*', 'value', r'PyTorch nan, Tenon -?\d',
     'where the quotient overflows PyTorch has no remainder; ours is exact'),
    ('pow_scalar_?', 'value', 'PyTorch (nan, Tenon 0.0|-inf, Tenon inf)',
     '(-inf)^-0.5 is 0, (-0)^-0.5 inf, as in C; PyTorch takes rsqrt'),
    ('backward|grad_of', 'refusal',
     'PyTorch: Function (Var|Std)Backward0 returned an inv.*Tenon: accepts',
     'of one element with correction 1: PyTorch fails, here it is NaN'),
    ('backward|grad_of', 'value', 'PyTorch -?inf, Tenon nan.*; after var',
     'the variance of one element is NaN, and so is its gradient'),
    ('backward|grad_of', 'value', 'PyTorch 0.0, Tenon nan.*; after attention',
     'a row of which all is masked is NaN, and so are its gradients'),
    ('backward|grad_of', 'value',
     'PyTorch nan, Tenon -?inf.*; after rdiv_scalar',
     'PyTorch squares 1 / x, which becomes 0, times infinity'),
    ('grad_of', 'gradient', 'PyTorch none, Tenon some.*; after no_grad',
     'B4: a view changed in tn_no_grad keeps its history, as a base does'),
    ('backward|grad_of', 'refusal',
     'PyTorch: accepts; Tenon: backward of (div|rdiv_scalar): .* saved',
     'B4: a quotient is kept; PyTorch keeps a dividend or a reciprocal'),
    ('fill_', 'refusal', 'PyTorch: value cannot be converted',
     'N4: the number is cut to the dtype'),
    ('grad_of', 'refusal', 'Tenon: backward of .* cannot be differentiated',
     'B5: these backward passes have no derivative yet, and say so'),
    ('backward|grad_of', 'gradient', 'PyTorch zeros, Tenon none',
     'what was overwritten has no influence, and no gradient'),
    ('dropout', 'value', 'PyTorch nan, Tenon 0',
     'what is dropped is 0, be it NaN or infinite; PyTorch multiplies by 0'),
    ('.*_', 'refusal', 'PyTorch: unsupported operation: some elements.*acc',
     'T7: an operand that overlaps the result is copied first'),
    ('.*_', 'refusal', 'PyTorch: accepts.*share memory',
     'T7: writing where elements share memory is refused'),
    ('.*', 'refusal', 'PyTorch: A view was created in no_grad mode',
     'such a view is a tensor of its own, without gradient'),
    ('(ceil|floor|round|abs|neg|sign)_out', 'refusal',
     'PyTorch: Found dtype .* but expected',
     'the result is cast, as in other operations'),
    ('scatter_add_', 'side effect', 'PyTorch',
     'with a wrong index PyTorch has changed some elements already'),
    ('(all|any).*', 'dtype', 'PyTorch torch.uint8',
     'results are truth values, of uint8 too'),
    ('addmm', 'requires_grad', 'PyTorch True',
     'with beta = 0 the first operand has no influence, and no gradient'),
    ('matmul|mm|bmm', 'refusal', 'PyTorch: accepts; Tenon: .*differ',
     'dtypes have to be the same; PyTorch looks only at some shapes'),
]


def is_allowed(name, mismatch):
    return any(re.match(f'(?:{names})$', name) and
               kind == mismatch.kind and re.search(text, str(mismatch))
               for names, kind, text, _ in TABLE)
