"""Text generation with a language model as an application runs it (src/bench/worker/loop_generate.c): a prompt goes in,
the most likely next token comes out and goes in again, together with growing caches of keys and values. If an engine has
fixed input sizes, the caches have a fixed size and the mask hides unused places. A step is all work between two tokens:
fill in ids and positions, bind the inputs, run the model, fetch its outputs, find the most likely token.
"""

import time

_, TOKENS, PAST, TOTAL = range(4)  # enum grows of src/bench/worker/generation.h
TYPES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 10: "float16",
         11: "float64", 12: "uint32", 13: "uint64"}


class Tensor:
    def __init__(self, take):
        self.dtype, self.axis, self.grows, rank = (take() for _ in range(4))
        self.dims = [take() for _ in range(rank)]

    def shape(self, past, tokens):
        sizes = {TOKENS: tokens, PAST: past, TOTAL: past + tokens}
        return [sizes.get(self.grows, dim) if axis == self.axis else dim for axis, dim in enumerate(self.dims)]


class Plan:
    """The numbers of generation_pack."""

    def __init__(self, numbers):
        take = iter(numbers).__next__
        self.token, self.mask, self.position, self.logits, self.takes_prompt, self.holds = (take() for _ in range(6))
        inputs, outputs, caches = (take() for _ in range(3))
        self.inputs = [Tensor(take) for _ in range(inputs)]
        self.outputs = [Tensor(take) for _ in range(outputs)]
        self.caches = [(take(), take()) for _ in range(caches)]

    def shapes(self, names):
        """Shapes of the inputs with caches of fixed size."""
        return {name: tensor.shape(self.holds, 1) for name, tensor in zip(names, self.inputs)} if self.holds else {}


def prompts_of(numpy, command):
    return [numpy.load(f"{command['generation_dir']}/tokens_{k}.npy")[:command["prompt"]].tolist() for k in range(4)]


class WholeGenerator:
    """For an engine that has the loop itself: generate(prompt, count) -> (tokens, the time at which each was there)."""

    def __init__(self, numpy, engine, command):
        self.engine, self.count, self.prompts = engine, command["count"], prompts_of(numpy, command)

    def generate(self, k):
        asked = time.perf_counter_ns()
        tokens, ends = self.engine.generate(self.prompts[k], self.count)
        if len(tokens) != self.count or len(ends) != self.count:
            raise RuntimeError(f"the engine made {len(tokens)} tokens, with {len(ends)} times, in place of {self.count}")
        return tokens, asked, list(zip([asked, *ends[:-1]], ends))


class Generator:
    def __init__(self, numpy, engine, plan, command, input_places, output_places):
        self.numpy, self.engine, self.plan, self.count = numpy, engine, plan, command["count"]
        self.put = engine.bind
        self.input_places, self.output_places = input_places, output_places
        self.prompts = prompts_of(numpy, command)

    def calls(self):
        """Number of tokens in the caches, and of new tokens, for each call of a generation."""
        prompt = len(self.prompts[0])
        if not self.plan.caches:
            return [(0, prompt + k) for k in range(self.count)]
        if not self.plan.takes_prompt:
            return [(k, 1) for k in range(prompt - 1 + self.count)]
        return [(0, prompt)] + [(prompt + k, 1) for k in range(self.count - 1)]

    def fill(self, past, tokens, text, caches):
        np, arrays, plan = self.numpy, [], self.plan
        for i, tensor in enumerate(plan.inputs):
            shape, kind = tensor.shape(plan.holds or past, tokens), TYPES[tensor.dtype]
            count = int(np.prod(shape))
            if i == plan.token:
                arrays.append(np.array(text[past:past + count], kind).reshape(shape))
            elif i == plan.position:
                arrays.append(np.arange(past, past + count).astype(kind).reshape(shape))
            elif i == plan.mask:
                arrays.append(np.ones(shape, kind))
                arrays[i][..., past:plan.holds] = 0  # no effect if caches grow
            else:
                arrays.append(caches[i] if i in caches else np.zeros(shape, kind))
        return arrays

    def step(self, turn, arrays, past):
        """(the most likely token, or -1 if the logits are not finite; the new caches)"""
        np, plan = self.numpy, self.plan
        self.put(turn, [arrays[place] for place in self.input_places])
        given = self.engine.fetch(self.engine.submit(turn))
        outputs = dict(zip(self.output_places, given))
        last = outputs[plan.logits].reshape(-1)[-plan.outputs[plan.logits].dims[-1]:]
        token = int(last.argmax()) if np.isfinite(last).all() else -1
        if not plan.holds:
            return token, {into: outputs[out] for into, out in plan.caches}
        self.put = getattr(self.engine, "copy_in", self.engine.bind)
        for into, out in plan.caches:  # moves the appended values to their place
            before = (slice(None),) * plan.inputs[into].axis
            arrays[into][(*before, past)] = outputs[out][(*before, plan.holds)]
        return token, {into: arrays[into] for into, _ in plan.caches}

    def generate(self, k):
        """(tokens of a generation, when it was requested, when the step of each token began and ended)"""
        text, made, times, caches = list(self.prompts[k]), [], [], {}
        calls, clock = self.calls(), time.perf_counter_ns
        asked = begin = clock()
        for turn, (past, tokens) in enumerate(calls):
            token, caches = self.step(0 if self.plan.holds else turn & 1, self.fill(past, tokens, text, caches), past)
            if turn < len(calls) - self.count:
                continue
            end = clock()
            made.append(token)
            text.append(token)
            times.append((begin, end))
            if token < 0:  # the comparison reports it
                break
            begin = clock()
        return made + [-1] * (self.count - len(made)), asked, times
