"""Trains a net of two layers to tell the classes of XOR apart, on the device
of TN_TEST_DEVICE. Prints TAP."""
import os

import tenon

tn = tenon.load()
device = tn.device_of(os.environ.get('TN_TEST_DEVICE', 'cpu'))
WIDTH, STEPS, RATE = 16, 300, 0.5


def parameters():
    tn.manual_seed(7)
    shapes = ([WIDTH, 2], [WIDTH], [2, WIDTH], [2])
    return [tn.randn_with(shape, device=device, requires_grad=True)
            for shape in shapes]


def scores(x, w1, b1, w2, b2):
    return tn.linear(tn.tanh(tn.linear(x, w1, b1)), w2, b2)


def train():
    """The losses of all steps and the classes found at the end."""
    x = tn.from_list([0, 0, 0, 1, 1, 0, 1, 1], [4, 2], tn.TN_F32,
                     device=device)
    classes = tn.from_list([0, 1, 1, 0], [4], tn.TN_I64, device=device)
    weights, losses = parameters(), []
    for _ in range(STEPS):
        loss = tn.cross_entropy(scores(x, *weights), classes)
        losses.append(tn.item(loss))
        tn.backward(loss)
        with tn.no_grad():
            for weight in weights:
                tn.sub_alpha_(weight, tn.grad(weight), RATE)
                tn.set_grad(weight, None)
    found = tn.argmax_dim(scores(x, *weights), 1, False)
    return losses, found.tolist()


def refusal():
    try:
        tn.matmul(tn.ones_with([2, 3]), tn.ones_with([4, 5]))
    except tenon.Error as error:
        return str(error), error.status == tn.TN_SHAPE_MISMATCH
    return 'accepted', False


def ok(number, condition, text):
    print(f'{"" if condition else "not "}ok {number} - {text}')
    return condition


def main():
    losses, found = train()
    text, is_shape = refusal()
    before = tn.memory_allocated(device)
    again, _ = train()
    print(f'# {device.backend}: loss {losses[0]:.9g} to {losses[-1]:.9g}, '
          f'classes {found}')
    print(f'# {text}')
    good = [
        ok(1, found == [0, 1, 1, 0], 'the net knows XOR'),
        ok(2, losses[-1] < 0.02 < losses[0], 'its loss falls'),
        ok(3, again == losses, 'T8 the same seed, the same losses'),
        ok(4, tn.memory_allocated(device) == before,
           'M2 what was used is given back'),
        ok(5, is_shape and '[2, 3]' in text and '[4, 5]' in text,
           'an error says which shapes do not fit'),
    ]
    print(f'1..{len(good)}')
    return not all(good)


if __name__ == '__main__':
    raise SystemExit(main())
