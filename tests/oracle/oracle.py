"""oracle.py PROGRAMS [SEED]: random programs, on PyTorch and on Tenon.

Program N of seed S is the same every time. `oracle.py 1 S` runs the one of
seed S alone. A program that fails is made smaller and printed for both. The
last line says how many ran. Exit status 1: some failed. Tenon's tensors are
on TN_TEST_DEVICE, else on cpu.

A child process runs the programs, so that one that kills it is a failure
like others.
"""
import os
import sys
import traceback

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'python'))
import operations
import tenon
from compare import Mismatch
from differences import Skip
from generator import Generator
from session import Session
from shrink import Shrinker, leaf_of, outcome

STEPS = 12
REPORTED = int(os.environ.get('TN_ORACLE_REPORTED', '5'))


def steps_of(g):
    """Draws steps until there are enough; raises Mismatch, Skip."""
    weights = [weight for weight, _ in operations.TABLE]
    draws = [draw for _, draw in operations.TABLE]
    while len(g.program) < STEPS:
        draw, = g.random.choices(draws, weights)
        draw(g)
        if os.environ.get('TN_ORACLE_TRACE'):
            print(*(s.torch_text()[:150] for s in g.program[-1:]), flush=True)
    g.session.check_all()


def in_child(work):
    """(what it wrote, whether it died): work(write) in a process of its
    own."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            work(lambda text: os.write(writer, text.encode()))
        except BaseException:
            traceback.print_exc()
            os._exit(2)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit('the oracle itself failed')
    return text, os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def run_seed(seed, tn):
    """None, or the report of what is wrong."""
    g = Generator(seed, tn)
    try:
        steps_of(g)
    except Skip:
        return None
    except Mismatch as mismatch:
        return report(seed, g.program, mismatch, tn)
    return None


def report(seed, program, mismatch, tn):
    def fails(candidate):
        again = outcome(candidate, tn)
        return again is not None and again.kind == mismatch.kind

    def values(steps, i):
        session = Session(tn)
        for step in steps[:i + 1]:
            session.run(step)
        return leaf_of(session, steps[i])

    if fails(program):
        program = Shrinker(program, fails).run(values)
        mismatch = outcome(program, tn)
    return text_of(seed, program, f'{mismatch.kind}: {mismatch}')


def report_death(seed, signal, tn):
    """Each attempt has a process of its own."""
    def drawn(write):
        g = Generator(seed, tn)
        add = g.add

        def noted(step):
            import pickle
            write(pickle.dumps(step).hex() + '\n')
            return add(step)
        g.add = noted
        steps_of(g)

    def fails(candidate):
        return in_child(lambda _: outcome(candidate, tn))[1] == signal

    import pickle
    text, _ = in_child(drawn)
    program = [pickle.loads(bytes.fromhex(line))
               for line in text.splitlines()]
    if fails(program):
        program = Shrinker(program, fails).run(lambda *_: None)
    return text_of(seed, program, f'killed by signal {signal}')


def text_of(seed, program, wrong):
    lines = [f'seed {seed}: {program[-1].name}: {wrong}', '  in PyTorch:']
    lines += ['    ' + shortened(step.torch_text()) for step in program]
    lines += ['  in C:']
    lines += ['    ' + shortened(step.our_text()) for step in program]
    return '\n'.join(lines) + '\n'


def shortened(text):
    return text if len(text) < 2000 else text[:900] + ' ... ' + text[-900:]


def run_seeds(first, last, tn):
    """(how many failed, reports): until the child dies, then on."""
    failed, reports, seed = 0, [], first

    def work(write):
        torch.set_num_threads(1)
        for i in range(seed, last):
            write(f'\0{i}\n')
            said = run_seed(i, tn)
            if said:
                write(said)

    while seed < last:
        text, signal = in_child(work)
        parts = [part.split('\n', 1) for part in text.split('\0')[1:]]
        for number, said in parts:
            if said:
                failed += 1
                show(said, reports)
        seed = int(parts[-1][0]) + 1
        if signal:
            failed += 1
            show(report_death(seed - 1, signal, tn), reports)
    return failed


def show(said, reports):
    reports.append(said)
    if len(reports) <= REPORTED:
        print(said, flush=True)


def main():
    count = int(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    tn = tenon.load()
    device = os.environ.get('TN_TEST_DEVICE')
    if device:
        tn.set_default_device(tn.device_of(device))
    plant(tn)
    failed = run_seeds(first, first + count, tn)
    print(f'{count} programs from seed {first}: {failed} differ')
    return failed > 0


def plant(tn):
    """TN_ORACLE_PLANT=mul: a fault that the oracle has to find."""
    name = os.environ.get('TN_ORACLE_PLANT')
    if not name:
        return
    right = getattr(tn, 'tn_' + name)

    def wrong(*arguments):
        result = right(*arguments)
        if tn.tn_ndim(result) > 0 and tn.tn_dtype_of(result) == tn.TN_F32:
            with tn.no_grad():
                tn.neg_(tn.detach(result))
        return result
    setattr(tn, 'tn_' + name, wrong)


if __name__ == '__main__':
    sys.exit(main())
