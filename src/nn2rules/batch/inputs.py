"""What the rules of a model are made from, so that it can be sent, and compared."""

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from nn2rules.batch.plan import Wish
from nn2rules.errors import Nn2RulesError
from nn2rules.files import leads_out_of, read_bytes
from nn2rules.version import __version__

_MANY = 2  # files that so many models have are sent once
_SHORT = 4


@dataclass(frozen=True, slots=True)
class Inputs:
    """A model to extract, with the content of its files, by their paths and digests.

    `contents` leaves out those that are sent apart.
    """

    wish: Wish
    digests: Mapping[Path, str]
    contents: Mapping[str, bytes] = field(repr=False)

    @property
    def digest(self) -> str:
        """What changes with the files, the options and the version of nn2rules."""
        roles = {role: self.digests[path] for role, path in self.wish.files.items()}
        own = set(self.wish.files.values())
        beside = {p.name: d for p, d in self.digests.items() if p not in own}
        names = {role: path.name for role, path in self.wish.files.items()}
        said = [__version__, roles, names, beside, dict(self.wish.options)]
        return digest_of(json.dumps(said, sort_keys=True).encode())


def digest_of(data: bytes) -> str:
    """Return what tells a content from others."""
    return sha256(data).hexdigest()


def read_inputs(wish: Wish) -> Inputs:
    """Read the files of a model."""
    contents = {path: read_bytes(path) for path in wish.files.values()}
    model = wish.files["model"]
    if model.suffix.lower() == ".onnx":
        contents |= _beside(model, contents[model])
    digests = {path: digest_of(data) for path, data in contents.items()}
    return Inputs(wish, digests, {digests[p]: data for p, data in contents.items()})


def _beside(model: Path, data: bytes) -> dict[Path, bytes]:
    """Read files that an ONNX model names: numbers may be in a second one.

    Links that lead out of the model's folder are left out, as `load_model` refuses
    them: a copy of such a file, for a worker elsewhere, would pass for a file inside.
    """
    return {
        path: read_bytes(path)
        for path in sorted(model.parent.iterdir())
        if len(path.name) > _SHORT
        and path.name.encode() in data
        and path.is_file()
        and not leads_out_of(model.parent, path)
    }


def set_apart(inputs: list[Inputs]) -> tuple[dict[str, bytes], list[Inputs]]:
    """Take out the files that several models have, so that they are sent once."""
    counts: dict[str, int] = {}
    for each in inputs:
        for digest in each.contents:
            counts[digest] = counts.get(digest, 0) + 1
    common: dict[str, bytes] = {}
    rest = []
    for each in inputs:
        own: dict[str, bytes] = {}
        for digest, data in each.contents.items():
            (common if counts[digest] >= _MANY else own)[digest] = data
        rest.append(Inputs(each.wish, each.digests, own))
    return common, rest


@contextmanager
def at_hand(inputs: Inputs, common: Mapping[str, bytes]) -> Iterator[dict[str, Path]]:
    """Name the files of a model: its own, or copies where these cannot be seen."""
    if all(_is_same(path, digest) for path, digest in inputs.digests.items()):
        yield dict(inputs.wish.files)
        return
    with tempfile.TemporaryDirectory() as folder:
        places = {}
        for path, digest in inputs.digests.items():
            data = inputs.contents.get(digest, common.get(digest, b""))
            parent = digest_of(str(path.parent).encode())[:16]  # names may be the same
            places[path] = Path(folder, parent, path.name)
            places[path].parent.mkdir(exist_ok=True)
            places[path].write_bytes(data)
        try:
            yield {role: places[path] for role, path in inputs.wish.files.items()}
        except Nn2RulesError as error:
            said = str(error)
            for path, copy in places.items():
                said = said.replace(str(copy), str(path))
            error.args = (said,)
            raise


def _is_same(path: Path, digest: str) -> bool:
    try:
        return digest_of(path.read_bytes()) == digest
    except OSError:
        return False
