import types

import stand_in
import torch

__version__ = "2.0"


class Compiled:
    def __init__(self, module):
        self.module = module

    def named_children(self):
        return [("_run_on_acc_0", None), ("_run_on_gpu_1", types.SimpleNamespace(graph=torch.nodes_of("placeholder", "call_function")))]

    def __call__(self, *inputs):
        assert all(x.is_on_device for x in inputs)
        results = self.module.run([x.array for x in inputs])
        return tuple(torch.Tensor(y, True) for y in results)


def compile_(exported, inputs, disable_tf32):
    stand_in.act("load")
    assert disable_tf32
    return Compiled(exported.module)


dynamo = types.SimpleNamespace(compile=compile_)
