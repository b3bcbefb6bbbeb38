"""Small files of rows, rules, claims and proofs that would need much memory."""

import gzip
import io
import json
import zipfile
import zlib
from pathlib import Path
from typing import Any

from numpy.random import Generator

from fuzz.hostile_models import size
from fuzz.networks import pick
from nn2rules.datasets import network_file

MOST_MADE = 600_000_000
"""Bytes that a packed file unpacks to at most, so that writing it takes seconds."""

RULES = {
    "format": "nn2rules-rules/1",
    "features": [
        {"name": "color", "values": ["red", "yellow"]},
        {"name": "size", "values": ["small", "medium", "big"]},
    ],
    "classes": ["unripe", "ripe"],
    "rules": [{"if": {"color": ["red"]}, "then": "ripe"}],
    "default": "unripe",
}


def _model(folder: Path) -> str:
    (folder / "model.json").write_bytes(Path(network_file("tomato")).read_bytes())
    return "model.json"


def _rows_command(rng: Generator, folder: Path, name: str) -> list[str]:
    model = _model(folder)
    kind = pick(rng, ["extract", "predict", "explain", "audit", "verify", "train"])
    if kind == "predict":
        (folder / "rules.json").write_text(json.dumps(RULES))
        output = ["-o", "answers.csv"] if rng.integers(2) else []
        return ["predict", "rules.json", name, *output]
    if kind == "explain":
        return ["explain", model, name, "--time", "5"]
    if kind == "verify":
        return ["verify", model, "--claims", name]
    if kind == "train":
        return ["train", name, "--labels", "size", "-o", "out"]
    return [kind, model, "--data", name, "--time", "5"]


# JSON


def json_file(rng: Generator, folder: Path) -> list[str]:
    """Write a network, rules or boxes with depth, size or repetition."""
    text = pick(rng, [_deep, _long_number, _repeated, _many_empty, _declared])(rng)
    (folder / "hostile.json").write_text(text)
    (folder / "rows.csv").write_text("color,size\nred,big\n")
    model = _model(folder)
    return list(
        pick(
            rng,
            [
                ["extract", "hostile.json", "--data", "rows.csv"],
                ["predict", "hostile.json", "rows.csv"],
                ["check", model, "hostile.json"],
                ["compare", "hostile.json", model],
                ["verify", model, "--claims", "hostile.json"],
                ["explain", model, "rows.csv", "--impossible", "hostile.json"],
                ["export", "hostile.json", "--format", "python"],
            ],
        )
    )


def _deep(rng: Generator) -> str:
    depth = int(rng.choice([500, 900, 1100, 10**5, 10**6]))
    opening, closing = pick(rng, [("[", "]"), ('{"a":', "}"), ("[[", "]]")])
    return f"{opening * depth}1{closing * depth}"


def _long_number(rng: Generator) -> str:
    number = pick(
        rng,
        ["9" * int(rng.choice([400, 4301, 10**6])), "1e999999999", "-1e-999999999"],
    )
    return json.dumps(RULES).replace('"no"', number, 1)


def _repeated(rng: Generator) -> str:
    return "{" + ",".join(['"a": 1'] * int(rng.integers(2, 10**5))) + "}"


def _many_empty(rng: Generator) -> str:
    n = int(rng.choice([10**4, 10**6, 3 * 10**6]))
    inner = ",".join([pick(rng, ["[]", "{}", "0", '""'])] * n)
    if rng.integers(2):
        return f"[{inner}]"
    document = json.dumps({**RULES, "rules": "HERE"})
    return document.replace('"HERE"', f"[{inner}]")


def _declared(rng: Generator) -> str:
    """Return a network whose domain, layers or ranges are large."""
    document = json.loads(Path(network_file("tomato")).read_text())
    n = int(rng.choice([100, 3000, 20000]))
    kind = int(rng.integers(4))
    if kind == 0:
        names = [{"name": f"f{i}", "values": ["a", "b"]} for i in range(n)]
        document["features"] = names
    elif kind == 1:
        document["features"][0]["values"] = [str(i) for i in range(n * 10)]
    elif kind == 2:
        document["classes"] = [str(i) for i in range(n * 10)]
    else:
        document["features"][0] = {
            "name": "color",
            "values": ["x"],
            "limits": [0, size(rng)],
            "edges": [],
            "ordered": True,
            "whole": True,
        }
    return json.dumps(document)


# CSV


def csv_file(rng: Generator, folder: Path) -> list[str]:
    """Write a CSV file with one long line, one long cell or many columns."""
    (folder / "rows.csv").write_bytes(_csv(rng, 3_000_000))
    return _rows_command(rng, folder, "rows.csv")


def packed_csv_file(rng: Generator, folder: Path) -> list[str]:
    """Write a small file that gzip unpacks to a large one."""
    stream = io.BytesIO()
    with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=1) as packed:
        piece = _csv(rng, 4_000_000)
        header, _, rest = piece.partition(b"\n")
        packed.write(piece if not rest else header + b"\n")
        for _ in range(int(rng.integers(1, MOST_MADE // max(len(rest), 10**6)))):
            packed.write(rest)
    (folder / "rows.csv.gz").write_bytes(stream.getvalue())
    return _rows_command(rng, folder, "rows.csv.gz")


def _csv(rng: Generator, n: int) -> bytes:
    kind = int(rng.integers(8))
    if kind == 0:
        return b"color,size\n" + b"x" * n + b",big\n"
    if kind == 1:
        return b"color,size\n" + b'"' + b"\n" * n + b'",big\n'
    if kind == 2:
        names = [f"c{i}" for i in range(n // 8)]
        return f"{','.join(names)}\n{','.join(['1'] * len(names))}\n".encode()
    if kind == 3:
        return b"color,size\n" + b"," * n + b"\n"
    if kind == 4:
        return b"color,size\n" + b"\n" * n
    if kind == 5:
        return b"color\n" + b"1\n" * (n // 2)
    if kind == 6:
        wide = 200
        row = b",".join([b"1"] * wide) + b"\n"
        names = [f"c{i}" for i in range(wide)]
        return ",".join(names).encode() + b"\n" + row * (n // len(row))
    return b"color,size\n" + b"red,big\n" * (n // 8)


# Excel


def excel_file(rng: Generator, folder: Path) -> list[str]:
    """Write a workbook that unpacks to much, or whose size is a lie."""
    import openpyxl

    stream = io.BytesIO()
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append(["color", "size"])
    sheet.append(["red", "big"])
    book.save(stream)
    with zipfile.ZipFile(stream) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files.update(
        pick(rng, [_far_cell, _many_cells, _many_texts, _long_text])(rng, files)
    )
    with zipfile.ZipFile(folder / "rows.xlsx", "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return _rows_command(rng, folder, "rows.xlsx")


SHEET = "xl/worksheets/sheet1.xml"


def _far_cell(rng: Generator, files: dict[str, bytes]) -> dict[str, bytes]:
    row = pick(rng, [1048576, 10**7, 10**9])
    column = pick(rng, ["C", "XFD", "ZZZ"])
    cell = f'<row r="{row}"><c r="{column}{row}"><v>1</v></c></row></sheetData>'
    return {SHEET: files[SHEET].replace(b"</sheetData>", cell.encode())}


def _many_cells(rng: Generator, files: dict[str, bytes]) -> dict[str, bytes]:
    n = int(rng.choice([10**5, 4 * 10**6, 12 * 10**6]))
    cells = pick(rng, [b"<row/>", b"<row><c><v>1</v></c></row>", b"<row><c/></row>"])
    return {SHEET: files[SHEET].replace(b"</sheetData>", cells * n + b"</sheetData>")}


TEXTS = "xl/sharedStrings.xml"


def _with_texts(files: dict[str, bytes], inside: bytes) -> dict[str, bytes]:
    """Return the files that have to change for a workbook to have shared texts."""
    home = "http://schemas.openxmlformats.org"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    types, links = "[Content_Types].xml", "xl/_rels/workbook.xml.rels"
    part = f'<Override PartName="/{TEXTS}" ContentType="{kind}.sharedStrings+xml"/>'
    link = (
        f'<Relationship Id="rId99" Target="sharedStrings.xml" Type="{home}/'
        f'officeDocument/2006/relationships/sharedStrings"/>'
    )
    opening = f'<sst xmlns="{home}/spreadsheetml/2006/main">'.encode()
    cells = b'<row><c t="s"><v>0</v></c></row></sheetData>'
    return {
        TEXTS: opening + inside + b"</sst>",
        types: files[types].replace(b"</Types>", f"{part}</Types>".encode()),
        links: files[links].replace(
            b"</Relationships>", f"{link}</Relationships>".encode()
        ),
        SHEET: files[SHEET].replace(b"</sheetData>", cells),
    }


def _many_texts(rng: Generator, files: dict[str, bytes]) -> dict[str, bytes]:
    n = int(rng.choice([10**5, 10**7]))
    text = pick(rng, [b"<si/>", b"<si><t/></si>", b"<si><t>abc</t></si>"])
    return _with_texts(files, text * n)


def _long_text(rng: Generator, files: dict[str, bytes]) -> dict[str, bytes]:
    long = b"x" * int(rng.choice([10**6, 10**8, 4 * 10**8]))
    return _with_texts(files, b"<si><t>" + long + b"</t></si>")


# Parquet


def parquet_file(rng: Generator, folder: Path) -> list[str]:
    """Write a Parquet file of many equal cells, of long texts, or of many columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n = int(rng.choice([10**5, 10**7, 3 * 10**7]))
    kind = int(rng.integers(5))
    columns: dict[str, Any] = {}
    if kind == 0:
        columns = {"color": pa.repeat("red", n), "size": pa.repeat("big", n)}
    elif kind == 1:
        columns = {"color": pa.repeat("x" * 10**6, min(n // 100, 2000))}
        columns["size"] = pa.repeat("big", len(columns["color"]))
    elif kind == 2:
        columns = {f"c{i}": pa.repeat(1, 10) for i in range(3000)}
    elif kind == 3:
        columns = {"color": pa.nulls(n), "size": pa.nulls(n, pa.string())}
    else:
        columns = {"color": pa.repeat(pa.scalar([1] * 100), n // 1000)}
    pq.write_table(
        pa.table(columns),
        folder / "rows.parquet",
        compression=pick(rng, ["zstd", "snappy", "gzip"]),
        use_dictionary=bool(rng.integers(2)),
        row_group_size=pick(rng, [None, 1000, 10**8]) if n < 10**6 else None,
    )
    return _rows_command(rng, folder, "rows.parquet")


# Books, plans, proofs and checkpoints


def book_file(rng: Generator, folder: Path) -> list[str]:
    """Write claims, or a decision table, with depth or repetition."""
    model = _model(folder)
    n = int(rng.choice([100, 5000, 10**5]))
    claim = pick(
        rng,
        [
            "not " * n + "class is ripe",
            "if " + "(" * n + "color is red" + ")" * n + " then class is ripe",
            "if color in {" + "red," * n + "} then class is ripe",
            "if " + " and ".join(["color is red"] * n) + " then class is ripe",
            f"if size > {'9' * n} then class is ripe",
            'equivalent to "' + "../" * n + 'etc/passwd"',
        ],
    )
    if rng.integers(2):
        (folder / "book.csv").write_text(
            f'claim\n"{claim.replace(chr(34), chr(34) * 2)}"\n'
        )
        return ["verify", model, "--claims", "book.csv"]
    table = folder / "table.csv"
    header = "rule,color,size,then\n"
    table.write_text(header + f'1,"{claim[: 10**5].replace(chr(34), "")}",big,yes\n')
    (folder / "rows.csv").write_text("color,size\nred,big\n")
    return ["predict", "table.csv", "rows.csv"]


def plan_file(rng: Generator, folder: Path) -> list[str]:
    """Write a models.toml with depth, repetition, or many models."""
    model = _model(folder)
    n = int(rng.choice([100, 2000, 10**5]))
    text = pick(
        rng,
        [
            f"a = {'[' * n}{']' * n}\n",
            f"[{'.'.join(['a'] * n)}]\n",
            "".join(f"[a{i}]\n" for i in range(n)),
            f"a = {'9' * n}\n",
            f'[[model]]\nname = "{"x" * n}"\nmodel = "{model}"\n',
            f'[[model]]\nname = "x"\nmodel = "{"a/" * n}"\n',
            f'[[model]]\nname = "x"\nmodel = "{model}"\n'
            f"time = {size(rng)}\nseed = {size(rng)}\n",
            f'[[model]]\nname = "x"\nmodel = "{model}"\nclasses = {["a"] * n}\n',
        ],
    )
    (folder / "models.toml").write_text(text)
    return ["extract-many", "models.toml", "-o", "out", "--jobs", "1"]


def proofs_file(rng: Generator, folder: Path) -> list[str]:
    """Write proofs, or a checkpoint, that unpack to much."""
    model = _model(folder)
    n = int(rng.choice([10**4, 10**7, 3 * 10**8]))
    if rng.integers(2):
        (folder / "rules.json").write_text(json.dumps(RULES))
        head = {"format": "nn2rules-proofs/1", "network": "x", "rules": "y"}
        steps = zlib.compress(b"\4" * n)
        data = json.dumps(head).encode() + b"\n" + len(steps).to_bytes(4, "little")
        (folder / "proofs.bin").write_bytes(data + steps)
        return ["check", model, "rules.json", "--proofs", "proofs.bin"]
    with zipfile.ZipFile(folder / "point", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("about.json", "allowed.npy", "answers.npy"):
            archive.writestr(name, b"0" * n)
    checkpoint = ["--checkpoint", "point", "--resume", "--engine", "search"]
    return ["extract", model, *checkpoint, "--time", "5"]
