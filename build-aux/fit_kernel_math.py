#!/usr/bin/env python3
"""Prints the polynomials of include/tenon/kernel_math.h (needs mpmath).

Each is fitted by iterated reweighting (Lawson) to the smallest largest error
relative to the whole function, on Chebyshev points, at 40 digits.  Then the
coefficients are rounded to f32 one by one, lowest power first, the rest being
fitted again each time, so that rounding errors are absorbed.
"""
from mpmath import mp, mpf, matrix, lu_solve
import mpmath, struct, sys

mp.dps = 40


def to_f32(x):
    """The nearest f32 (ties cannot happen here)."""
    return mpf(struct.unpack('f', struct.pack('f', float(x)))[0])


def solve(points, target, weight, powers):
    """Weighted least squares by the normal equations."""
    k = len(powers)
    a, b = matrix(k, k), matrix(k, 1)
    for x, t, w in zip(points, target, weight):
        row = [x ** p for p in powers]
        for i in range(k):
            b[i] += w * row[i] * t
            for j in range(k):
                a[i, j] += w * row[i] * row[j]
    return list(lu_solve(a, b))


def minimax(points, target, scale, powers):
    weight = [s * s for s in scale]
    best, best_error = None, None
    for _ in range(25):
        c = solve(points, target, weight, powers)
        error = [abs(sum(ci * x ** p for ci, p in zip(c, powers)) - t) * s
                 for x, t, s in zip(points, target, scale)]
        worst = max(error)
        if best is None or worst < best_error:
            best, best_error = c, worst
        weight = [w * (e / worst + mpf('1e-3'))
                  for w, e in zip(weight, error)]
    return best, best_error


def fit(name, target, scale, low, high, degree, count=120):
    """Coefficients of the polynomial nearest to target on [low, high], the
    error being multiplied by scale(x)."""
    points = [(low + high) / 2 - (high - low) / 2
              * mpmath.cos(mpmath.pi * (i + mpf(1) / 2) / count)
              for i in range(count)]
    values = [target(x) for x in points]
    scales = [scale(x) for x in points]
    done = []
    for power in range(degree + 1):
        powers = list(range(power, degree + 1))
        c, error = minimax(points, values, scales, powers)
        fixed = to_f32(c[0])
        done.append(fixed)
        values = [v - fixed * x ** power for v, x in zip(values, points)]
    worst = max(abs(v) * s for v, s in zip(values, scales))
    print(f'{name}: relative error 2^{float(mpmath.log(worst, 2)):.1f}')
    for power, c in enumerate(done):
        print(f'  {power:2d}  {float(c).hex():>24s}  {float(c):.9g}f')


def squared(g):
    """g as a function of z = x * x."""
    return lambda z: g(mpmath.sqrt(z))


tiny = mpf('1e-6')
half_ln2 = mpmath.log(2) / 2 * mpf('1.003')
quarter = mpmath.pi / 4 * mpf('1.001')

fit('exp: (e^r - 1 - r) / r^2',
    lambda r: (mpmath.expm1(r) - r) / r ** 2,
    lambda r: r ** 2 / mpmath.exp(r), -half_ln2, half_ln2, 4)
fit('log: (log(1 + f) - f + f^2/2) / f^3',
    lambda f: (mpmath.log1p(f) - f + f ** 2 / 2) / f ** 3,
    lambda f: abs(f ** 3 / mpmath.log1p(f)),
    mpmath.sqrt(mpf(1) / 2) - 1, mpmath.sqrt(2) - 1, 8)
fit('sin: (sin r - r) / r^3, of r^2',
    squared(lambda r: (mpmath.sin(r) - r) / r ** 3),
    squared(lambda r: r ** 3 / mpmath.sin(r)), tiny, quarter ** 2, 2)
fit('cos: (cos r - 1 + r^2/2) / r^4, of r^2',
    squared(lambda r: (mpmath.cos(r) - 1 + r ** 2 / 2) / r ** 4),
    squared(lambda r: r ** 4 / mpmath.cos(r)), mpf('1e-4'), quarter ** 2, 2)
fit('tanh: (tanh x - x) / x^3, of x^2, |x| < 0.625',
    squared(lambda x: (mpmath.tanh(x) - x) / x ** 3),
    squared(lambda x: x ** 3 / mpmath.tanh(x)), tiny, mpf('0.625') ** 2, 4)
fit('erf: erf(x) / x - 1, of x^2, |x| < 1',
    squared(lambda x: mpmath.erf(x) / x - 1),
    squared(lambda x: x / mpmath.erf(x)), tiny, mpf(1), 7)
fit('erfc: log(erfc(x)), 1 <= x < 4',
    lambda x: mpmath.log(mpmath.erfc(x)),
    lambda x: mpmath.erfc(x) / mpmath.erf(x), mpf('0.99'), mpf('3.93'), 7)

# 2/pi as needed by the reduction of sin and cos: for x = m 2^(e - 150), m of
# 24 bits, the 96 bits of 2/pi of weights 2^63 ... 2^-32 after a shift by
# e - 88, three words for each e = 126 ... 254.
mp.dps = 120
print('two_over_pi:')
for e in range(126, 255):
    w = int(mpmath.floor(2 / mpmath.pi * mpf(2) ** (e - 88 + 32))) % 2 ** 96
    print(f'  0x{w >> 64:08x}, 0x{w >> 32 & 0xffffffff:08x}, '
          f'0x{w & 0xffffffff:08x},')
