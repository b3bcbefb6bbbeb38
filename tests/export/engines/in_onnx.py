"""Exports that are ONNX models, checked by onnx and run by onnxruntime."""

import json
from typing import Any

import numpy as np
import onnx
import onnxruntime

from nn2rules.export.card_program import CardProgram, Scored
from nn2rules.export.program import Prediction, Program


def session_of(made: bytes) -> onnxruntime.InferenceSession:
    """Return a model, ready to run."""
    onnx.checker.check_model(onnx.load_from_string(made), full_check=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(
        made, options, providers=["CPUExecutionProvider"]
    )


def execute(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an exported model on the columns of rows."""
    session = session_of(made)
    facts = session.get_modelmeta().custom_metadata_map
    gap = json.loads(facts["missing"])
    feed = {}
    for column in json.loads(facts["columns"]):
        cells = [row[column["name"]] for row in rows]
        if column["kind"] == "text":
            texts = [gap if cell is None else cell for cell in cells]
            feed[column["input"]] = np.array(texts, dtype=object)
        else:
            feed[column["input"]] = np.array(cells, dtype=np.float64)  # None is NaN
    return answers_of(session, program, feed)


def execute_codes(made: Any, program: Program, rows: Any) -> list[Prediction | None]:
    """Run an exported model on codes."""
    session = session_of(made)
    codes = program.rules.domain.encode(rows, unknown="mark").astype(np.int64)
    return answers_of(session, program, {session.get_inputs()[0].name: codes})


def answers_of(
    session: onnxruntime.InferenceSession, program: Program, feed: dict[str, Any]
) -> list[Prediction | None]:
    """Return the answers, by the signs that the model's text speaks of."""
    labels, *beside = session.run(None, feed)
    found: list[Prediction | None] = []
    if isinstance(program, CardProgram):
        for label, *totals in zip(*map(list, (labels, *beside)), strict=True):
            is_none = label == "" if program.label_kind == "text" else np.isnan(label)
            shown = bool(label) if program.label_kind == "truth" else label
            known = tuple(None if np.isnan(t) else float(t) for t in totals)
            found.append(Scored(None if is_none else shown, None, known))
        return found
    [rules] = beside
    for label, rule in zip(labels.tolist(), rules.tolist(), strict=True):
        if rule == "":
            assert label == "" or np.isnan(label)
            found.append(Prediction(None, None))
        else:
            is_truth = program.label_kind == "truth"
            found.append(Prediction(bool(label) if is_truth else label, rule))
    return found
