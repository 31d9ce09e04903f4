"""page.py PAGE ROWS RESULTS: what each row of docs/from-pytorch.md gives in
PyTorch, beside what its C gave: "N same", "N runs" or "N wrong: WHY"."""
import re
import sys

import torch

from session import NAMES, attention


def variables(page):
    text = re.search(r'```python\n(.*?)```', page, re.S)[1]
    functions = torch.nn.functional
    if not hasattr(functions, 'scaled_dot_product_attention'):
        functions.scaled_dot_product_attention = (
            lambda q, k, v, mask=None, is_causal=False:
            attention(q, k, v, mask, is_causal, 0))
    names = {'torch': torch, 'F': functions}
    exec(text, names)
    return names


def value_of(text, page):
    names = variables(page)
    *before, last = text.split('; ')
    for statement in before:
        exec(statement, names)
    return eval(last, names)


def verdict(theirs, result, page):
    if result.startswith('failed: '):
        return 'wrong: ' + result
    if result == 'true':
        return 'runs'
    wanted = value_of(theirs, page)
    dtype, shape, *numbers = result.split(' ')
    if dtype != NAMES[wanted.dtype][3:].lower():
        return f'wrong: dtype {dtype} for {wanted.dtype}'
    if shape != str(list(wanted.shape)).replace(' ', ''):
        return f'wrong: shape {shape} for {list(wanted.shape)}'
    got = torch.tensor([float(x) for x in numbers], dtype=torch.float64)
    wanted = wanted.detach().double().flatten()
    if not torch.allclose(got, wanted, 1e-6, 1e-6, equal_nan=True):
        return f'wrong: {got.tolist()} for {wanted.tolist()}'
    return 'same'


def main():
    page, rows, results = (open(name).read() for name in sys.argv[1:])
    lines = dict(line.split(' ', 1) for line in results.splitlines())
    for row in rows.splitlines():
        number, theirs, _ = row.split('\t')
        print(number, verdict(theirs, lines.get(number, 'failed: nothing'),
                              page))


main()
