"""Small sets that follow from a definition: tomatoes, monks, a balance, a game.

Each is complete (for tic-tac-toe: every board on which a game can end) and free of
noise, so a network can learn it perfectly and its rules can be read against the
definition.
"""

from collections.abc import Callable
from itertools import product

from nn2rules.datasets.dataset import Dataset, LabelledRows, rows_of, split
from nn2rules.space import Domain, Feature


def load_tomato() -> Dataset:
    """Return the paper's illustration (section 3.2): a ripe tomato is red, not small.

    All six inputs are training rows; there is no test part.

    Examples
    --------
    >>> tomato = load_tomato()
    >>> tomato.train.rows[1], tomato.train.labels[1]
    ({'color': 'red', 'size': 'medium'}, 'ripe')
    """
    domain = Domain(
        (
            Feature("color", ("red", "yellow")),
            Feature("size", ("small", "medium", "big"), ordered=True),
        )
    )
    train = _every_input(
        domain,
        lambda color, size: "ripe" if color == "red" and size != "small" else "unripe",
    )
    return Dataset(
        name="tomato",
        title="Ripe tomatoes",
        domain=domain,
        classes=("unripe", "ripe"),
        train=train,
        test=LabelledRows({name: [] for name in domain.names}, []),
        source="G. R. Lal and V. Mithal: NN2Rules: Extracting Rule List from Neural "
        "Networks, 2022, section 3.2",
    )


_MONKS: dict[int, Callable[..., bool]] = {
    1: lambda a1, a2, _a3, _a4, a5, _a6: a1 == a2 or a5 == 1,
    2: lambda *values: values.count(1) == 2,
    3: lambda _a1, a2, _a3, a4, a5, _a6: (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3),
}


def load_monks(problem: int) -> Dataset:
    """Return one of the three MONK's problems: robots described by six features.

    Class 1 is, in problem 1, a1 = a2 or a5 = 1; in problem 2, exactly two features
    are 1; in problem 3, a5 = 3 and a4 = 1, or a5 ≠ 4 and a2 ≠ 3. The published
    training rows of problem 3 carry noise; these do not.

    Examples
    --------
    >>> load_monks(2).title
    "MONK's problem 2"
    """
    domain = Domain(
        tuple(
            Feature(f"a{number}", tuple(range(1, size + 1)))
            for number, size in enumerate((3, 3, 2, 3, 4, 2), start=1)
        )
    )
    holds = _MONKS[problem]
    train, test = split(_every_input(domain, lambda *row: str(int(holds(*row)))))
    return Dataset(
        name=f"monks-{problem}",
        title=f"MONK's problem {problem}",
        domain=domain,
        classes=("0", "1"),
        train=train,
        test=test,
        source="S. Thrun and others: The MONK's Problems, Carnegie Mellon University, "
        "CMU-CS-91-197, 1991; J. Wnek: MONK's Problems, UCI Machine Learning "
        "Repository, 1993, CC BY 4.0; computed from the definition",
    )


def load_balance_scale() -> Dataset:
    """Return Balance Scale: to which side it tips.

    Examples
    --------
    >>> scale = load_balance_scale()
    >>> scale.domain.names
    ('left-weight', 'left-distance', 'right-weight', 'right-distance')
    """
    names = ("left-weight", "left-distance", "right-weight", "right-distance")
    domain = Domain(
        tuple(Feature(name, (1, 2, 3, 4, 5), ordered=True) for name in names)
    )
    train, test = split(_every_input(domain, _heavier_side))
    return Dataset(
        name="balance-scale",
        title="Balance Scale",
        domain=domain,
        classes=("left", "balanced", "right"),
        train=train,
        test=test,
        source="R. Siegler: Balance Scale, UCI Machine Learning Repository, 1976, "
        "https://doi.org/10.24432/C5488X, CC BY 4.0; computed from the definition",
    )


def load_tic_tac_toe() -> Dataset:
    """Return Tic-Tac-Toe Endgame: whether x, who moved first, has won.

    A square holds x, o or b (blank). Most inputs of the domain are not among the
    rows: they are no board on which a game can end.

    Examples
    --------
    >>> game = load_tic_tac_toe()
    >>> game.domain.n_inputs, len(game.train) + len(game.test)
    (19683, 958)
    """
    names = [
        f"{line}-{column}"
        for line in ("top", "middle", "bottom")
        for column in ("left", "middle", "right")
    ]
    domain = Domain(tuple(Feature(name, ("x", "o", "b")) for name in names))
    rows = (
        (*board, "x wins" if _has_line(board, "x") else "no win")
        for board in product("xob", repeat=9)
        if _is_final(board)
    )
    train, test = split(rows_of(names, rows))
    return Dataset(
        name="tic-tac-toe",
        title="Tic-Tac-Toe Endgame",
        domain=domain,
        classes=("no win", "x wins"),
        train=train,
        test=test,
        source="D. Aha: Tic-Tac-Toe Endgame, UCI Machine Learning Repository, 1991, "
        "https://doi.org/10.24432/C5688J, CC BY 4.0; computed from the definition",
    )


_LINES = (
    *((0, 1, 2), (3, 4, 5), (6, 7, 8)),
    *((0, 3, 6), (1, 4, 7), (2, 5, 8)),
    *((0, 4, 8), (2, 4, 6)),
)


def _has_line(board: tuple[str, ...], player: str) -> bool:
    return any(all(board[square] == player for square in line) for line in _LINES)


def _is_final(board: tuple[str, ...]) -> bool:
    """Tell whether a game that x began can end with `board`."""
    lead = board.count("x") - board.count("o")
    x_wins, o_wins = _has_line(board, "x"), _has_line(board, "o")
    if x_wins or o_wins:
        return lead == x_wins and x_wins != o_wins  # the winner moved last
    return lead == 1 and "b" not in board


def _heavier_side(
    left_weight: int, left_distance: int, right_weight: int, right_distance: int
) -> str:
    left, right = left_weight * left_distance, right_weight * right_distance
    return "left" if left > right else "right" if right > left else "balanced"


def _every_input(domain: Domain, class_of: Callable[..., str]) -> LabelledRows:
    """Return every input of `domain` with its class, the last feature fastest."""
    inputs = product(*(feature.values for feature in domain.features))
    return rows_of(domain.names, ((*row, class_of(*row)) for row in inputs))
