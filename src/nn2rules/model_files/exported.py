"""Programs of ``torch.export``, read without running what their files say.

`torch.export.load` unpickles, and more: it evaluates expressions for sizes, imports
modules that an input's structure names, and makes Python code of names and of guards.
So an archive is not handed to it as it is. What it may hold is listed here; all else is
refused, what is not needed is left out, and a new archive of the rest is read.
"""

import ast
import io
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from nn2rules.model_files.archive import parsed, zipped

MOST_NUMBERS = 200_000_000
"""Larger programs are refused: they are no classifiers of a table."""


class UnsafeProgramError(Exception):
    """A program holds something that may run code when it is read; says what."""


def clean_archive(files: Mapping[str, bytes], torch: Any) -> io.BytesIO:
    """Return an archive with the same program, from which no code can be run.

    Raises
    ------
    UnsafeProgramError
        If the program is not known to be harmless.
    """
    if "serialized_exported_program.json" in files:
        return zipped(_clean_older(files, torch))
    roots = {name.partition("/")[0] for name in files}
    if len(roots) != 1:
        raise UnsafeProgramError("files of no folder")
    inner = {name.partition("/")[2]: data for name, data in files.items()}
    return zipped({f"model/{name}": d for name, d in _clean_newer(inner).items()})


# Formats -------------------------------------------------------------------------


def _clean_newer(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of PyTorch 2.8 and later: tensors are bytes, not pickles."""
    clean = {}
    for name, data in files.items():
        if name in _PLAIN or re.fullmatch(_TENSOR_FILE, name, re.ASCII):
            clean[name] = data
        elif name == "models/model.json":
            clean[name] = _dumped(_clean(parsed(data)))
        elif re.fullmatch(r"data/\w+/model_\w+_config\.json", name, re.ASCII):
            clean[name] = _dumped(_clean_tensors(parsed(data)))
        elif name == "data/sample_inputs/model.pt":
            clean[name] = b""  # a pickle, and not needed
        elif not name.startswith("extra/"):
            raise UnsafeProgramError(f"the file {name!r}")
    return clean


def _clean_older(files: Mapping[str, bytes], torch: Any) -> dict[str, bytes]:
    """Return the files of PyTorch 2.7 and earlier, with pickles of our own making."""
    clean = {}
    for name, data in files.items():
        if name == "version":
            clean[name] = data
        elif name == "serialized_exported_program.json":
            clean[name] = _dumped(_clean(parsed(data)))
        elif name in ("serialized_state_dict.pt", "serialized_constants.pt"):
            clean[name] = _saved(_tensors(data, torch), torch)
        elif name == "serialized_example_inputs.pt":
            clean[name] = b""  # a pickle, and not needed
        elif not name.startswith("extra_files/"):
            raise UnsafeProgramError(f"the file {name!r}")
    return clean


_PLAIN = frozenset(
    (
        "archive_format",
        "archive_version",
        "byteorder",
        "version",
        ".data/version",
        ".data/serialization_id",
    )
)
_TENSOR_FILE = r"data/(?:weights/weight|constants/tensor)_\d+"


def _tensors(data: bytes, torch: Any) -> Any:
    if not data:
        return {}
    try:
        return torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
    except Exception:  # noqa: BLE001  a damaged pickle raises anything
        raise UnsafeProgramError("a pickle with more than tensors") from None


def _saved(content: Any, torch: Any) -> bytes:
    stream = io.BytesIO()
    torch.save(content, stream)
    return stream.getvalue()


def _dumped(document: Any) -> bytes:
    return json.dumps(document).encode()


# Tensors -------------------------------------------------------------------------


def _clean_tensors(document: Any) -> Any:
    """Check the list of tensors in an archive: all are bytes, none too large."""
    n_numbers = 0
    for name, tensor in document["config"].items():
        if tensor["use_pickle"] is not False or tensor["tensor_meta"] is None:
            raise UnsafeProgramError(f"a pickle, for {name!r}")
        if not re.fullmatch(r"(?:weight|tensor)_\d+", tensor["path_name"], re.ASCII):
            raise UnsafeProgramError(f"a pickle, for {name!r}")
        sizes = [size["as_int"] for size in tensor["tensor_meta"]["sizes"]]
        n_numbers += math.prod(sizes)
    if n_numbers > MOST_NUMBERS:
        raise UnsafeProgramError(f"{n_numbers:,} numbers")
    return _clean(document)


# Programs ------------------------------------------------------------------------


def _clean(value: Any) -> Any:
    """Return a document with strings that cannot become code."""
    if isinstance(value, dict):
        if "target" in value:
            _check_step(value)
        return {_text(key): _CLEAN.get(key, _clean)(v) for key, v in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    return _text(value) if isinstance(value, str) else value


def _text(text: str) -> str:
    """Return text without a character that Python needs to call or to quote."""
    if not re.fullmatch(r"[\w.+ -]*", text, re.ASCII):
        raise UnsafeProgramError(f"the text {text[:60]!r}")
    return text


def _check_step(step: Mapping[str, Any]) -> None:
    """Refuse an operation that is none on tensors, and words that it may not take."""
    target = str(step["target"])
    if not re.fullmatch(_OPERATION, target, re.ASCII):
        raise UnsafeProgramError(f"the operation {target[:60]!r}")
    words = _WORDS.get(target.split(".")[-2], "")
    for word in _words_in(step.get("inputs")):
        if not (words and re.fullmatch(words, word, re.ASCII)):
            raise UnsafeProgramError(f"the text {word[:60]!r} in {target!r}")


_OPERATION = (
    r"torch\.ops\.aten\.(?:_?[a-z]\w*|__(?:and|or|xor)__)\.[A-Za-z]\w*"
    r"|torch\.ops\.higher_order\.wrap_with_set_grad_enabled"
    r"|torch\.sym_[a-z]+"
    r"|_operator\.(?:getitem|add|sub|mul|floordiv|mod|neg|eq|ne|ge|gt|le|lt)"
)
_WORDS = {
    "div": "floor|trunc",
    "div_": "floor|trunc",
    "einsum": r"[a-zA-Z. ]+(?:, *[a-zA-Z. ]+)*->[a-zA-Z. ]*",
    "gelu": "none|tanh",
    "pad": "constant",
}
"""Operations that take a word, and which; no other text, such as a file's name."""


def _words_in(value: Any) -> list[str]:
    """Return the strings among the arguments of a step, in any depth."""
    if isinstance(value, list):
        return [word for item in value for word in _words_in(item)]
    if not isinstance(value, dict):
        return []
    found = [str(word) for word in (value.get("as_string"),) if word is not None]
    found += [str(word) for word in value.get("as_strings") or ()]
    inner = [item for key, item in value.items() if key not in ("nodes", "metadata")]
    return found + [word for item in inner for word in _words_in(item)]


def _word(value: Any) -> Any:
    """Return a word, or a list of them, if any operation takes it."""
    for word in value if isinstance(value, list) else [value]:
        known = any(re.fullmatch(words, word, re.ASCII) for words in _WORDS.values())
        if not known:
            raise UnsafeProgramError(f"the text {word[:60]!r}")
    return value


def _no_code(_value: Any) -> list[str]:
    return []  # conditions on sizes, as Python code; the program computes without


def _expression(text: Any) -> str:
    """Return an expression for a size: sums and products of sizes and numbers.

    PyTorch evaluates it, so it is parsed here first.
    """
    try:
        is_size = _is_size(ast.parse(str(text), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        is_size = False
    if not is_size:
        raise UnsafeProgramError(f"the expression {str(text)[:60]!r}")
    return str(text)


def _is_size(node: ast.expr) -> bool:
    """Tell whether an expression is such as ``Mul(Integer(2), Symbol('s7'))``."""
    if isinstance(node, ast.Name):
        return bool(re.fullmatch(_SIZE, node.id))
    if isinstance(node, ast.Constant):
        return type(node.value) is int and abs(node.value) < 1 << 63
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and _is_size(node.operand)
    if isinstance(node, ast.BinOp):
        is_simple = isinstance(node.op, ast.Add | ast.Sub | ast.Mult)
        return is_simple and _is_size(node.left) and _is_size(node.right)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        return False
    if node.func.id == "Symbol":
        return _is_symbol(node)
    is_known = node.func.id in ("Add", "Integer", "Mul") and not node.keywords
    return is_known and all(map(_is_size, node.args))


def _is_symbol(node: ast.Call) -> bool:
    names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    facts = [word.value for word in node.keywords]
    return (
        len(node.args) == len(names) == 1
        and bool(re.fullmatch(_SIZE, str(names[0])))
        and all(isinstance(fact, ast.Constant) for fact in facts)
        and all(word.arg in _FACTS for word in node.keywords)
    )


_SIZE = r"[a-z]{1,2}[0-9]{1,9}"
_FACTS = ("integer", "negative", "nonnegative", "positive", "zero")


def _place(metadata: Any) -> dict[str, str]:
    """Return where in the model a step comes from, for messages."""
    stack = (metadata or {}).get("nn_module_stack")
    if isinstance(stack, str) and stack.isprintable():
        return {"nn_module_stack": stack}
    return {}


def _structure(text: str) -> str:
    """Return the structure of inputs or outputs: tuples, lists and dicts, no more."""
    if text:
        try:
            _protocol, node = json.loads(text)
            _check_structure(node)
        except (KeyError, TypeError, ValueError):
            raise UnsafeProgramError(f"the structure {text[:60]!r}") from None
    return text


def _check_structure(node: Any) -> None:
    if node["type"] not in _CONTAINERS:
        raise UnsafeProgramError(f"inputs of the type {node['type']!r}")
    context = node["context"]
    keys = json.loads(context) if isinstance(context, str) else context
    for key in keys or ():
        if not isinstance(key, str) or re.search(r"[^\w .,:;%&/+<>=-]", key):
            raise UnsafeProgramError(f"an input of the name {str(key)[:60]!r}")
    for child in node["children_spec"]:
        _check_structure(child)


_CONTAINERS = (None, "builtins.tuple", "builtins.list", "builtins.dict")

_CLEAN: dict[str, Callable[[Any], Any]] = {
    "as_string": _word,
    "as_strings": _word,
    "expr_str": _expression,
    "guards_code": _no_code,
    "in_spec": _structure,
    "metadata": _place,
    "out_spec": _structure,
}
"""Keys of a program whose values are more than names and numbers."""
