"""Rules as an ONNX model: few nodes and one product of matrices, for many rows at once.

Each cell becomes the number of its part (see `parts`), that a row of 0 and 1, and all
rows of a case together pick from one matrix how many tests of each rule fail. The first
rule without a failing test determines the prediction. Nothing is approximate: sums are
small whole numbers, and ends of ranges are compared as 64-bit numbers.
"""

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nn2rules.errors import MissingExtraError, OptionError, UnsupportedModelError
from nn2rules.export.card_program import CardProgram
from nn2rules.export.cells import Cells
from nn2rules.export.columns import Column
from nn2rules.export.program import (
    NO_PREDICTION,
    Prediction,
    Program,
    RuleProgram,
    refuse_errors,
)
from nn2rules.export.program_text import check_doubles
from nn2rules.language import unused
from nn2rules.space import Value
from nn2rules.version import __version__

Table = NDArray[np.uint8]
"""A row for each part. Its columns: the rules, the default, and *outside the domain*;
1 where the test of a rule fails. The first column without a 1 determines the
prediction."""


def words_of(program: Program, place: int) -> tuple[str, ...]:
    """Return every text that a column is compared with."""
    found = chain.from_iterable(cells.words for cells in _questions(program, place))
    return tuple(dict.fromkeys(word for word in found if isinstance(word, str)))


def table_of_words(program: RuleProgram, place: int) -> Table:
    """Return the parts of a column of texts: its words, any other text, missing."""
    return _table(program, place, texts_of(program, place))


def texts_of(program: Program, place: int) -> list[Value]:
    """Return a cell of each part of a column of texts, in their order."""
    words = words_of(program, place)
    return [*words, unused("unlisted", words), None]


def cuts_of(program: Program, place: int) -> list[float]:
    """Return the numbers at which parts of a column of numbers begin.

    A part reaches from one of them to below the next. What is *above* a number begins
    at the float after it.
    """
    cuts: set[float] = set()
    for cells in _questions(program, place):
        for word in cells.words:
            cuts |= {_float(word), _after(word)}
        for each in cells.intervals:
            if each.low is not None:
                cuts.add(_after(each.low) if each.low_is_strict else _float(each.low))
            if each.high is not None:
                cuts.add(
                    _float(each.high) if each.high_is_strict else _after(each.high)
                )
    return sorted(cuts)


def table_of_numbers(program: RuleProgram, place: int) -> Table:
    """Return the parts of a column of numbers, or of true and false as 1 and 0.

    The first is below all cuts. If the column is of whole numbers, the same parts come
    again, for their numbers with a fraction. The last row is for missing.
    """
    return _table(program, place, numbers_of(program, place))


def numbers_of(program: Program, place: int) -> list[Value]:
    """Return a cell of each part of a column of numbers, in their order."""
    starts = [-math.inf, *cuts_of(program, place)]
    cells: list[Value] = [*starts]
    if program.columns[place].whole:
        cells = [math.ceil(s) if math.isfinite(s) else s for s in starts]
        cells += map(_first_fraction, starts)
    return [*cells, None]


def table_of_codes(program: RuleProgram, place: int) -> Table:
    """Return a row for each code of a feature, and one for any other."""
    start, stop = program.offsets[place : place + 2]
    table = np.zeros((stop - start + 1, len(program.branches) + 2), dtype=np.uint8)
    table[:-1, :-2] = ~program.boxes[:, start:stop].T
    table[-1, :-1] = 1
    return table


def _table(program: RuleProgram, place: int, cells: list[Value]) -> Table:
    column = program.columns[place]
    table = np.zeros((len(cells), len(program.branches) + 2), dtype=np.uint8)
    fails: dict[Cells, list[bool]] = {}
    for index, branch in enumerate(program.branches):
        test = branch.tests.get(place)
        if test is None:
            continue
        if test not in fails:
            fails[test] = [not test.matches(cell) for cell in cells]
        table[:, index] = fails[test]
    off = [not knows(column, cell) for cell in cells]
    table[off, :-1] = 1
    return table


def knows(column: Column, cell: Value) -> bool:
    """Tell whether a cell is on the domain, infinity included."""
    is_infinite = isinstance(cell, float) and math.isinf(cell)
    return column.known.matches(cell) if is_infinite else column.knows(cell)


def _questions(program: Program, place: int) -> Iterator[Cells]:
    """Yield all sets of cells that a column is compared with."""
    yield program.columns[place].known
    if isinstance(program, CardProgram):
        yield from (line.cells for line in program.lines[place])
    if isinstance(program, RuleProgram):
        for branch in program.branches:
            if place in branch.tests:
                yield branch.tests[place]


def _first_fraction(start: float) -> float:
    """Return the first number with a fraction from a number on, if there is one."""
    if math.isfinite(start) and start % 1:
        return start
    return _after(max(start, -(2.0**52)))  # there is none below


def _float(number: Value) -> float:
    return float(number)  # type: ignore[arg-type]


def _after(number: Value) -> float:
    return math.nextafter(_float(number), math.inf)


_OPSET, _ML_OPSET, _IR = 11, 2, 6  # those of ONNX 1.6, the first with what is needed

VALUES = (
    "Inputs are the columns, by name, with as many cells each as there are rows. Texts "
    "are strings, of which {missing} is missing; numbers are doubles, of which NaN is "
    "missing; true and false are doubles, too, 1 and 0."
)
_CODES = (
    "The input has a row for each case and a column for each feature: the positions of "
    "values, as nn2rules.Domain.encode gives them. Others are outside the domain."
)
_OUTPUTS = "A row without a prediction has an empty rule, and the class is {none}."


@dataclass
class Graph:
    """A graph in the making. Names in it are none of the user's."""

    taken: tuple[str, ...]
    nodes: list[Any] = field(default_factory=list)
    tensors: list[Any] = field(default_factory=list)

    def name(self, name: str) -> str:
        """Return a name that no column has."""
        return unused(name, self.taken)

    def node(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        """Add a node, and return the name of what it gives."""
        from onnx import helper

        made = self.name(f"{kind} {len(self.nodes)}")
        self.nodes.append(helper.make_node(kind, inputs, [made], **attributes))
        return made

    def tensor(self, array: Any) -> str:
        """Add a constant, and return its name."""
        from onnx import numpy_helper

        made = self.name(f"constant {len(self.tensors)}")
        self.tensors.append(numpy_helper.from_array(np.asarray(array), made))
        return made


def write(
    program: RuleProgram,
    *,
    inputs: Literal["values", "codes"] = "values",
    missing: str = "",
) -> bytes:
    """Return rules as an ONNX model, in bytes.

    Parameters
    ----------
    program : RuleProgram
    inputs : {"values", "codes"}
        An input for each column, or one with codes.
    missing : str
        The text that is missing in columns of texts, which have no other.
    """
    if inputs not in ("values", "codes"):
        raise OptionError(f"inputs: {inputs!r}, expected 'values' or 'codes'")
    check_doubles(program, "ONNX")
    check(program, missing, is_read=inputs == "values")
    return serialized(lambda: _model(program, graph_of(program), inputs, missing))


def graph_of(program: Program) -> Graph:
    """Return a graph without nodes."""
    return Graph(tuple(column.name for column in program.columns))


def serialized(make: Callable[[], Any]) -> bytes:
    """Return a model in bytes."""
    try:
        made = make()
    except UnicodeEncodeError:
        raise UnsupportedModelError(
            "a name or value contains half a character (a lone surrogate), which ONNX "
            "cannot store; rename it"
        ) from None
    content: bytes = made.SerializeToString(deterministic=True)
    return content


def check(program: Program, missing: str, *, is_read: bool) -> None:
    """Refuse what no model can hold, or a text for missing that is a value, if read."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise MissingExtraError("onnx", "onnx", "exporting to ONNX") from None
    if not isinstance(missing, str):
        raise OptionError(f"missing: {missing!r}, expected a text")
    refuse_errors(program, "an ONNX model")
    for place, column in enumerate(program.columns):
        values = (*words_of(program, place), column.feature.other)
        if is_read and missing in values and missing not in column.gaps:
            raise OptionError(
                f"missing: {missing!r} is a value of feature {column.name!r}, and "
                f"cannot stand for missing; give another text"
            )


def _model(program: RuleProgram, graph: Graph, inputs: str, missing: str) -> Any:

    if inputs == "codes":
        given, picked, tables = _by_codes(program, graph)
    else:
        given, picked, tables = _by_values(program, graph, missing)
    failing = graph.node(
        "MatMul",
        [
            graph.node("Concat", picked, axis=1),
            graph.node("Cast", [graph.tensor(np.vstack(tables))], to=type_of("FLOAT")),
        ],
    )
    position = graph.node("ArgMin", [failing], axis=1, keepdims=0)
    outputs = _outputs(program, graph, position)
    model = model_of(graph, "rules", given, outputs)
    text = _CODES if inputs == "codes" else VALUES.format(missing=ascii(missing))
    describe(model, program, "Rules", (text, _OUTPUTS), missing)
    return model


def model_of(graph: Graph, name: str, given: list[Any], outputs: list[Any]) -> Any:
    """Return a model with the nodes of a graph."""
    from onnx import helper

    made = helper.make_graph(
        graph.nodes, name, given, outputs, initializer=graph.tensors
    )
    return helper.make_model(
        made,
        opset_imports=[
            helper.make_opsetid("", _OPSET),
            helper.make_opsetid("ai.onnx.ml", _ML_OPSET),
        ],
        ir_version=_IR,
        producer_name="nn2rules",
        producer_version=__version__,
    )


_Inputs = tuple[list[Any], list[str], list[Table]]


def _by_values(program: RuleProgram, graph: Graph, missing: str) -> _Inputs:
    """Return the inputs, a row of 0 and 1 for each column, and the tables."""
    given, picked, tables = [], [], []
    for place, column in enumerate(program.columns):
        name = input_name(program, place)
        if column.kind == "text":
            table = table_of_words(program, place)
            index = word_index(program, place, graph, missing)
        else:
            table = table_of_numbers(program, place)
            index = number_index(program, place, graph, len(table))
        given.append(info(name, "STRING" if column.kind == "text" else "DOUBLE"))
        picked.append(_one_hot(graph, index, len(table)))
        tables.append(table)
    return given, picked, tables


def _by_codes(program: RuleProgram, graph: Graph) -> _Inputs:
    picked, tables = [], []
    name = graph.name("codes")
    for place in range(len(program.columns)):
        table = table_of_codes(program, place)
        size = graph.tensor(np.int64(len(table) - 1))
        code = graph.node("Gather", [name, graph.tensor(np.int64(place))], axis=1)
        is_below = graph.node("Less", [code, graph.tensor(np.int64(0))])
        is_code = graph.node(
            "And", [graph.node("Not", [is_below]), graph.node("Less", [code, size])]
        )
        picked.append(
            _one_hot(graph, graph.node("Where", [is_code, code, size]), len(table))
        )
        tables.append(table)
    return [info(name, "INT64", len(program.columns))], picked, tables


def input_name(program: Program, place: int) -> str:
    """Return the name of the column; an input cannot be called by an empty one."""
    names = [column.name for column in program.columns]
    return names[place] or unused(f"column {place + 1}", names)


def word_index(program: Program, place: int, graph: Graph, missing: str) -> str:
    """Return which part each cell of a column of texts is."""
    words = words_of(program, place)
    gaps = dict.fromkeys((missing, *program.columns[place].gaps), len(words) + 1)
    found = {**gaps, **{word: part for part, word in enumerate(words)}}
    return graph.node(
        "LabelEncoder",
        [input_name(program, place)],
        domain="ai.onnx.ml",
        keys_strings=[word.encode() for word in found],
        values_int64s=[*found.values()],
        default_int64=len(words),
    )


def number_index(program: Program, place: int, graph: Graph, n_parts: int) -> str:
    """Return which part each number of a column is: how many cuts it passed."""
    name, cuts = input_name(program, place), cuts_of(program, place)
    upright = graph.node("Reshape", [name, graph.tensor(np.array([-1, 1]))])
    is_below = graph.node("Less", [upright, graph.tensor(np.array([cuts]))])
    passed = graph.node("Cast", [graph.node("Not", [is_below])], to=type_of("INT64"))
    part = graph.node("ReduceSum", [passed], axes=[1], keepdims=0)
    if program.columns[place].whole:
        has_fraction = graph.node("Less", [graph.node("Floor", [name]), name])
        shift = [graph.tensor(np.int64(n)) for n in (len(cuts) + 1, 0)]
        part = graph.node("Add", [part, graph.node("Where", [has_fraction, *shift])])
    last = graph.tensor(np.int64(n_parts - 1))
    return graph.node("Where", [graph.node("IsNaN", [name]), last, part])


def _one_hot(graph: Graph, index: str, size: int) -> str:
    off_on = np.array([0, 1], dtype=np.float32)
    depth = graph.tensor(np.array([size]))
    return graph.node("OneHot", [index, depth, graph.tensor(off_on)])


def _outputs(program: RuleProgram, graph: Graph, position: str) -> list[Any]:
    """Give the class and the rule of each row."""
    from onnx import helper

    ends = [answer or NO_PREDICTION for answer in (program.otherwise, program.outside)]
    answers = [*(Prediction(b.label, b.name) for b in program.branches), *ends]
    labels, kind = labels_tensor(program, graph, [each.label for each in answers])
    rules = strings_tensor(graph, [(answer.rule or "").encode() for answer in answers])
    outputs = []
    for word, table, kind_ in (("class", labels, kind), ("rule", rules, "STRING")):
        name = graph.name(word)
        graph.nodes.append(helper.make_node("Gather", [table, position], [name]))
        outputs.append(info(name, kind_))
    return outputs


def labels_tensor(
    program: Program, graph: Graph, labels: Sequence[Value]
) -> tuple[str, str]:
    """Return the name of a constant with class labels, and its type."""
    if program.label_kind == "text":
        texts = [("" if label is None else str(label)).encode() for label in labels]
        return strings_tensor(graph, texts), "STRING"
    numbers = [np.nan if label is None else _float(label) for label in labels]
    return graph.tensor(np.array(numbers)), "DOUBLE"


def strings_tensor(graph: Graph, texts: list[bytes]) -> str:
    """Add a constant of texts, and return its name."""
    from onnx import TensorProto

    name = graph.name(f"constant {len(graph.tensors)}")
    made = TensorProto(name=name, data_type=type_of("STRING"), dims=[len(texts)])
    made.string_data.extend(texts)  # numpy would remove zeros at their ends
    graph.tensors.append(made)
    return name


def type_of(name: str) -> int:
    """Return the number of a type."""
    from onnx import TensorProto

    return int(getattr(TensorProto, name))


def info(name: str, kind: str, *more: int) -> Any:
    """Return an input or output with as many entries as there are rows."""
    from onnx import helper

    return helper.make_tensor_value_info(name, type_of(kind), ["rows", *more])


def describe(
    model: Any, program: Program, what: str, texts: Sequence[str], missing: str
) -> None:
    """Write what the model is into the model."""
    from onnx import helper

    header = dict(program.about)
    none = "an empty text" if program.label_kind == "text" else "NaN"
    lines = [f"{key}: {text}" for key, text in header.items()]
    shown = (text.replace("{none}", none) for text in texts)
    model.doc_string = "\n".join(
        (f"{what} extracted from a neural network.", "", *lines, "", *shown)
    )
    columns = [
        {"name": column.name, "kind": column.kind, "input": input_name(program, place)}
        for place, column in enumerate(program.columns)
    ]
    facts = {**header, "columns": json.dumps(columns), "missing": json.dumps(missing)}
    helper.set_model_props(model, facts)
