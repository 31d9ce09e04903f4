"""From a program that fails at its last step, the smallest that fails so."""
import copy
import time

from compare import Mismatch
from differences import Skip
from session import NAMES, Leaf, Session


def outcome(program, tn):
    """The mismatch at the last step, or None."""
    session = Session(tn)
    try:
        for step in program[:-1]:
            session.run(step)
    except (Mismatch, Skip, KeyError, NameError, RuntimeError, ValueError):
        return None
    try:
        session.run(program[-1])
    except Mismatch as mismatch:
        return mismatch
    except (Skip, KeyError, NameError, RuntimeError, ValueError):
        pass
    return None


class Shrinker:
    def __init__(self, program, fails, seconds=10):
        """fails(program): whether it fails as the first one did."""
        self.program, self.fails = program, fails
        self.end = time.monotonic() + seconds

    def attempt(self, candidate):
        if time.monotonic() > self.end or not candidate:
            return False
        if candidate[-1].name != self.program[-1].name:
            return False
        if not self.fails(candidate):
            return False
        self.program = candidate
        return True

    def run(self, values):
        """values(program, i): the leaf that step i could be replaced by."""
        before = None
        while before != len(self.program):
            before = len(self.program)
            self.drop_steps()
            for i in range(len(self.program) - 2, -1, -1):
                if i < len(self.program) - 1:
                    self.replace(i, values)
        self.smaller_sizes()
        self.drop_steps()
        self.simpler_values()
        return self.program

    def drop_steps(self):
        i = len(self.program) - 2
        while i >= 0:
            if i < len(self.program) - 1:
                self.attempt(without(self.program, i))
            i -= 1

    def replace(self, i, values):
        if isinstance(self.program[i], Leaf) or not self.program[i].out:
            return
        leaf = values(self.program, i)
        if leaf:
            self.attempt(self.program[:i] + [leaf] + self.program[i + 1:])

    def smaller_sizes(self):
        sizes = sorted({size for leaf in self.leaves()
                        for size in leaf.shape if size > 1}, reverse=True)
        for size in sizes:
            for other in (1, 2, size // 2, size - 1):
                if other < size and self.attempt(resized(self.program, size,
                                                         other)):
                    break

    def leaves(self):
        return [step for step in self.program if isinstance(step, Leaf)]

    def simpler_values(self):
        for i, step in enumerate(self.program):
            if not isinstance(step, Leaf):
                continue
            for change in (lambda leaf: [type(x)(1) for x in leaf.data],
                           lambda leaf: [rounded(x) for x in leaf.data]):
                leaf = copy.copy(step)
                leaf.data = change(step)
                if leaf.data != step.data and self.attempt(
                        self.program[:i] + [leaf] + self.program[i + 1:]):
                    break


def rounded(x):
    return float(round(x)) if isinstance(x, float) and abs(x) < 1e9 else x


def without(program, i):
    """Without step i, and without what needs its result."""
    gone, rest = {program[i].out}, program[:i]
    for step in program[i + 1:]:
        if gone & set(step.uses) and step.out not in gone:
            if step is program[-1]:
                return None
            gone.add(step.out)
        elif step is not program[i]:
            rest.append(step)
    gone.discard(None)
    if any(gone & set(step.uses) for step in rest):
        return None
    return rest


def resized(program, size, other):
    result = []
    for step in program:
        if isinstance(step, Leaf) and size in step.shape:
            step = copy.copy(step)
            step.shape = [other if s == size else s for s in step.shape]
            count = 1
            for s in step.shape:
                count *= s
            step.data = step.data[:count]
        result.append(step)
    return result


def leaf_of(session, step):
    """The result of a step as numbers."""
    theirs = session.theirs.get(step.out)
    if theirs is None:
        return None
    data = theirs.detach().flatten().tolist()
    grad = theirs.requires_grad and theirs.is_floating_point()
    return Leaf(step.out, NAMES[theirs.dtype], theirs.shape, data, grad)
