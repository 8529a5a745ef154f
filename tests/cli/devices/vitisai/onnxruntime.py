"""The part of ONNX Runtime's Python API that the worker uses, with AMD's provider."""

import json
import os
import types

import stand_in

__version__ = "1.0"
PROVIDER = "VitisAIExecutionProvider"


def get_available_providers():
    return ["CPUExecutionProvider"] + [PROVIDER] * (stand_in.FAULT != "no_device")


class SessionOptions:
    intra_op_num_threads, enable_profiling, profile_file_prefix = 0, False, ""


class InferenceSession(stand_in.Model):
    def __init__(self, path, options, providers, provider_options):
        assert providers == [PROVIDER] and os.path.isdir(provider_options[0]["cache_dir"]) and options.intra_op_num_threads == 1
        stand_in.act("load")
        super().__init__(path)
        self.options = options

    def get_providers(self):
        return [PROVIDER, "CPUExecutionProvider"]

    def get_inputs(self):
        return [types.SimpleNamespace(name=name) for name in self.inputs]

    def get_outputs(self):
        return [types.SimpleNamespace(name=name) for name in self.outputs]

    def run(self, names, given):
        assert names is None
        return super().run([given[name] for name in self.inputs])

    def end_profiling(self):
        assert self.options.enable_profiling
        path = self.options.profile_file_prefix + "_1.json"
        events = [("Session", {}, 1000), ("Node", {"provider": PROVIDER}, 30), ("Node", {"provider": "CPUExecutionProvider"}, 10)]
        with open(path, "w") as file:
            json.dump([{"cat": cat, "args": args, "dur": dur} for cat, args, dur in events], file)
        return path
