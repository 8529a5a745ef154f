import onnx

import stand_in


class Module(stand_in.Model):
    def eval(self):
        return self

    cuda = eval


def convert(model):
    onnx.save(model, "converted.onnx")
    return Module("converted.onnx")
