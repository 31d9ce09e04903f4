#!/usr/bin/env python3
"""Prints the polynomials of include/tenon/kernel_math_f64.h, and those of pow
for both types (needs mpmath).

Each is the Chebyshev interpolation of a smooth function, which is within a
factor of about two of the best polynomial, its coefficients rounded to the
type.
"""
from mpmath import mp, mpf
import mpmath, struct

mp.dps = 50


def rounded(x, form):
    return mpf(struct.unpack(form, struct.pack(form, float(x)))[0])


def fit(name, target, low, high, degree, form='d'):
    """Coefficients of the polynomial near to target on [low, high]."""
    low, high = mpf(low), mpf(high)
    done = [rounded(c, form)
            for c in mpmath.chebyfit(target, [low, high], degree + 1)[::-1]]
    points = [low + (high - low) * (i + mpf(1) / 3) / 400 for i in range(400)]
    worst = max(abs(target(x) - sum(c * x ** p for p, c in enumerate(done)))
                for x in points)
    print(f'{name}: error 2^{float(mpmath.log(worst, 2)):.1f}')
    for power, c in enumerate(done):
        digits = '.9g}f' if form == 'f' else '.17g}'
        print(f'  {power:2d}  ' + ('{:' + digits).format(float(c)))


def squared(g):
    """g as a function of z = x * x."""
    return lambda z: g(mpmath.sqrt(z))


def atanh_rest(z):
    """2 atanh(s) / s - 2 - 2 z / 3, over z^2, from its series."""
    return sum(2 * z ** (k - 2) / (2 * k + 1) for k in range(2, 40))


tiny = mpf('1e-9')
half_ln2 = mpmath.log(2) / 2 * mpf('1.003')
quarter = mpmath.pi / 4 * mpf('1.001')
z_most = ((mpmath.sqrt(2) - 1) / (mpmath.sqrt(2) + 1)) ** 2 * mpf('1.001')

fit('exp: (e^r - 1 - r) / r^2',
    lambda r: (mpmath.expm1(r) - r) / r ** 2 if abs(r) > tiny
    else mpf(1) / 2 + r / 6, -half_ln2, half_ln2 * mpf('1.0001'), 10)
fit('log: (2 atanh(s) / s - 2) / s^2, of s^2',
    lambda z: mpf(2) / 3 + z * atanh_rest(z), tiny, z_most, 6)
fit('pow: (2 atanh(s) / s - 2 - 2 s^2 / 3) / s^4, of s^2',
    atanh_rest, tiny, z_most, 8)
fit('pow of f32: the same', atanh_rest, tiny, z_most, 2, 'f')
fit('sin: (sin r - r) / r^3, of r^2',
    squared(lambda r: (mpmath.sin(r) - r) / r ** 3), tiny, quarter ** 2, 5)
fit('cos: (cos r - 1 + r^2/2) / r^4, of r^2',
    squared(lambda r: (mpmath.cos(r) - 1 + r ** 2 / 2) / r ** 4),
    tiny, quarter ** 2, 5)
fit('tanh: (tanh x - x) / x^3, of x^2, |x| < 0.625',
    squared(lambda x: (mpmath.tanh(x) - x) / x ** 3),
    tiny, mpf('0.625') ** 2, 11)
fit('erf: erf(x) / x - 1, of x^2, |x| < 1',
    squared(lambda x: mpmath.erf(x) / x - 1), tiny, mpf(1), 13)
fit('erfc: log(erfc(t)), 1 <= t < 2.25, of u = t - 1',
    lambda u: mpmath.log(mpmath.erfc(u + 1)), 0, mpf('1.25'), 16)
fit('erfc: the same for 2.25 <= t < 6, of u = t - 2.25',
    lambda u: mpmath.log(mpmath.erfc(u + mpf('2.25'))), 0, mpf('3.75'), 16)

# 2/pi in words of 64 bits, the first of weights 2^63 ... 1 (so 0).
mp.dps = 400
print('two_over_pi_f64:')
w = int(mpmath.floor(2 / mpmath.pi * mpf(2) ** (64 * 19)))
words = [w >> 64 * (18 - i) & (2 ** 64 - 1) for i in range(-1, 19)]
for i in words:
    print(f'  0x{i:016x}u,')
