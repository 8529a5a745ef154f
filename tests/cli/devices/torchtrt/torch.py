"""The part of PyTorch that the worker uses; a tensor is on the device or not."""

import contextlib
import types

import stand_in


class Tensor:
    def __init__(self, array, is_on_device=False):
        self.array, self.is_on_device = array, is_on_device

    def cuda(self):
        return Tensor(self.array, True)

    def cpu(self):
        stand_in.copy_to_host()
        return Tensor(self.array.copy())

    def numpy(self):
        assert not self.is_on_device
        return self.array


from_numpy, inference_mode = Tensor, contextlib.nullcontext
cuda = types.SimpleNamespace(is_available=lambda: stand_in.FAULT != "no_device", get_device_name=lambda i: "Stand-in GPU",
                             Event=stand_in.Clock)


def nodes_of(*kinds):
    return types.SimpleNamespace(nodes=[types.SimpleNamespace(op=kind) for kind in kinds])


def traced(module, inputs):
    assert all(x.is_on_device for x in inputs)
    if stand_in.FAULT == "unsupported":
        raise RuntimeError("no such operator\nsecond line")
    return types.SimpleNamespace(module=module, graph=nodes_of("placeholder", *["call_function"] * 4, "output"))


export = types.SimpleNamespace(export=traced)
