"""Files of torch.export: no file runs code, and honest ones are read."""

import io
import json
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from torch import nn
from torch._export.serde.serialize import serialize
from torch.export import Dim

from nn2rules import FormatError, load_model


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


class Scaled(nn.Module):
    """Has parameters, buffers, constants and a word as an argument."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 4), nn.Linear(4, 2)
        self.register_buffer("mean", torch.ones(3))
        self.shift = torch.ones(3) * 2

    def forward(self, x):
        """Answer rows."""
        x = (x - self.mean + self.shift) * torch.tensor([1.0, 2.0, 3.0])
        x = nn.functional.gelu(self.first(x), approximate="tanh")
        return torch.softmax(self.last(x), dim=1)


def exported(module, *args):
    shapes = tuple({0: Dim.DYNAMIC} for _ in args)
    return torch.export.export(module.eval(), args, dynamic_shapes=shapes)


@pytest.fixture(scope="module")
def program():
    torch.manual_seed(0)
    return exported(Scaled(), torch.zeros(2, 3))


@pytest.fixture
def newer(program):
    """Return the files of an archive as this PyTorch writes it."""
    stream = io.BytesIO()
    torch.export.save(program, stream)
    with zipfile.ZipFile(stream) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def older(program):
    """Return the files of an archive as PyTorch 2.7 wrote it."""
    made = serialize(program)
    return {
        "version": b"8.19",
        "serialized_exported_program.json": made.exported_program,
        "serialized_state_dict.pt": made.state_dict,
        "serialized_constants.pt": made.constants,
        "serialized_example_inputs.pt": made.example_inputs,
    }


def written(files, path):
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def member(files, ending):
    [name] = [name for name in files if name.endswith(ending)]
    return name


def root(files):
    return next(iter(files)).split("/")[0]


def edited(files, ending, change):
    """Return the files with one JSON document changed."""
    name = member(files, ending)
    document = json.loads(files[name])
    change(document)
    return {**files, name: json.dumps(document).encode()}


def pickled(content):
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


@pytest.mark.parametrize("kind", ["newer", "older"])
def test_an_honest_program_answers_as_before(kind, program, request, tmp_path):
    path = written(request.getfixturevalue(kind), tmp_path / "model.pt2")
    rows = torch.randn(7, 3, generator=torch.Generator().manual_seed(1))
    found = load_model(path)
    assert torch.equal(found.module()(rows), program.module()(rows))
    assert "nn_module_stack" in next(
        node.meta for node in found.graph.nodes if node.op == "call_function"
    )


class Several(nn.Module):
    """Takes words and, in a dict, numbers."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(5, 3)
        self.norm = nn.BatchNorm1d(5)
        self.last = nn.Linear(5, 1)

    def forward(self, word, rest):
        """Answer rows."""
        with torch.no_grad():
            scaled = torch.div(rest["a-b, %"], 2, rounding_mode="floor")
        both = torch.cat([self.words(word), scaled], dim=1)
        both = torch.where(both > 0, both, 0.1 * both).clamp(-3, 3)
        both = torch.einsum("ij,jk->ik", self.norm(both), torch.eye(5))
        return self.last(both.reshape(both.shape[0], -1)).squeeze(1)


def test_programs_of_many_operations_are_read(tmp_path):
    args = (torch.zeros(2, dtype=torch.int64), {"a-b, %": torch.ones(2, 2)})
    shapes = ({0: Dim.DYNAMIC}, {"a-b, %": {0: Dim.DYNAMIC}})
    program = torch.export.export(Several().eval(), args, dynamic_shapes=shapes)
    torch.export.save(program, tmp_path / "model.pt2")
    found = load_model(tmp_path / "model.pt2")
    assert torch.equal(found.module()(*args), program.module()(*args))


# Attacks: each is a function from honest files and the file to make to hostile files


def by_pickled_weight(files, mark):
    def change(document):
        document["config"]["mean"]["use_pickle"] = True
        document["config"]["mean"]["path_name"] = "weight_99"

    files = edited(files, "model_weights_config.json", change)
    return {**files, f"{root(files)}/data/weights/weight_99": pickled(Touch(mark))}


def by_pickled_constant(files, mark):
    def change(document):
        document["config"]["shift"]["use_pickle"] = True

    files = edited(files, "model_constants_config.json", change)
    return {**files, member(files, "constants/tensor_0"): pickled(Touch(mark))}


def by_opaque_constant(files, mark):
    def change(document):
        document["config"]["shift"]["path_name"] = "opaque_obj_0"
        document["config"]["shift"]["use_pickle"] = True

    files = edited(files, "model_constants_config.json", change)
    return {
        **files,
        f"{root(files)}/data/constants/opaque_obj_0": pickle.dumps(Touch(mark)),
    }


def by_whole_weights(files, mark):
    return {**files, f"{root(files)}/data/weights/model.pt": pickled(Touch(mark))}


def by_whole_constants(files, mark):
    return {**files, f"{root(files)}/data/constants/model.pt": pickled(Touch(mark))}


def by_compiled_code(files, _mark):
    return {**files, f"{root(files)}/data/aotinductor/model/x.wrapper.so": b"\x7fELF"}


def by_expression(files, mark):
    def change(document):
        for tensor in document["graph_module"]["graph"]["tensor_values"].values():
            for size in tensor["sizes"]:
                if "as_expr" in size:
                    size["as_expr"]["expr_str"] = touching(mark)

    return edited(files, "models/model.json", change)


def by_guard(files, mark):
    def change(document):
        document["guards_code"] = [touching(mark)]

    return edited(files, "models/model.json", change)


def by_name(files, mark):
    name = member(files, "models/model.json")
    evil = json.dumps(f"x={touching(mark)}").encode()
    return {**files, name: files[name].replace(b'"x"', evil)}


def by_operation(files, mark):
    def change(document):
        node = document["graph_module"]["graph"]["nodes"][0]
        node["target"] = "torch.ops.aten.save.default"
        word = {"as_string": str(mark)}
        node["inputs"][1] = {"name": "filename", "arg": word, "kind": 1}

    return edited(files, "models/model.json", change)


def by_structure(files, mark):
    context = {"__enum__": True, "fqn": "this:d.clear", "name": "x"}
    spec = {"type": "builtins.dict", "context": json.dumps([context])}
    spec["children_spec"] = []

    def change(document):
        graph = document["graph_module"]["module_call_graph"][0]
        graph["signature"]["in_spec"] = json.dumps([1, spec])

    return edited(files, "models/model.json", change)


def touching(mark):
    return f"__import__('pathlib').Path({str(mark)!r}).touch()"


ATTACKS = (
    by_pickled_weight,
    by_pickled_constant,
    by_opaque_constant,
    by_whole_weights,
    by_whole_constants,
    by_expression,
    by_name,
    by_operation,
    by_structure,
    by_compiled_code,
)


@pytest.mark.parametrize("attack", ATTACKS)
def test_hostile_programs_are_refused(attack, newer, tmp_path):
    mark = tmp_path / "mark"
    path = written(attack(newer, mark), tmp_path / "model.pt2")
    with pytest.raises(FormatError, match="is not known to be harmless; if you trust"):
        load_model(path)
    assert not mark.exists()


@pytest.mark.parametrize("attack", ATTACKS[:6])
def test_the_attacks_are_real(attack, newer, tmp_path):
    mark = tmp_path / "mark"
    path = written(attack(newer, mark), tmp_path / "model.pt2")
    with suppress(FormatError):
        load_model(path, trust=True)
    assert mark.exists()


@pytest.mark.parametrize("trust", [False, True])
def test_what_is_not_needed_is_not_read(trust, newer, tmp_path):
    mark = tmp_path / "mark"
    sample = {member(newer, "sample_inputs/model.pt"): pickled((Touch(mark),))}
    for name, files in (("a", {**newer, **sample}), ("b", by_guard(newer, mark))):
        path = written(files, tmp_path / f"{name}.pt2")
        try:
            load_model(path, trust=trust).module()(torch.zeros(4, 3))
        except Exception:  # noqa: BLE001  after the attack, anything may happen
            assert trust
        assert mark.exists() == trust
        mark.unlink(missing_ok=True)


@pytest.mark.parametrize(
    "name", ["serialized_state_dict.pt", "serialized_constants.pt"]
)
def test_hostile_older_programs_are_refused(name, older, tmp_path):
    mark = tmp_path / "mark"
    files = {**older, name: pickled({"x": Touch(mark)})}
    path = written(files, tmp_path / "model.pt2")
    with pytest.raises(FormatError, match="a pickle with more than tensors"):
        load_model(path)
    assert not mark.exists()
    with pytest.raises(FormatError):
        load_model(path, trust=True)
    assert mark.exists()


def test_examples_in_older_programs_are_not_read(older, tmp_path):
    mark = tmp_path / "mark"
    files = {**older, "serialized_example_inputs.pt": pickled((Touch(mark), {}))}
    path = written(files, tmp_path / "model.pt2")
    assert load_model(path).module()(torch.zeros(4, 3)).shape == (4, 2)
    assert not mark.exists()


@pytest.mark.parametrize(
    "expression",
    ["s0**9", "Pow(s0, 9)", "Symbol(open('x', 'w'))", "x.y", "Symbol('s0', x=f())"],
)
def test_odd_sizes_are_refused(expression, newer, tmp_path):
    name = member(newer, "models/model.json")
    known = b"Symbol('s77', positive=True, integer=True)"
    assert known in newer[name]
    files = {**newer, name: newer[name].replace(known, expression.encode())}
    with pytest.raises(FormatError, match="the program holds the expression"):
        load_model(written(files, tmp_path / "model.pt2"))


def test_numbers_that_would_fill_the_memory_are_refused(newer, tmp_path):
    def change(document):
        document["config"]["mean"]["tensor_meta"]["sizes"] = [{"as_int": 1 << 40}]

    files = edited(newer, "model_weights_config.json", change)
    with pytest.raises(FormatError, match=r"the program holds 1,099,511,\d+,\d+ numb"):
        load_model(written(files, tmp_path / "model.pt2"))
