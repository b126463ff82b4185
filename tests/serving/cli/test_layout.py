"""Tables: nothing is cut, no line is wider than the room, wide characters count as two."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tenure.serving.cli.layout import Column, Line, cells_of, lay_out, wrapped
from tenure.serving.cli.output import visible
from tests.strategies import texts

WIDTHS = st.integers(2, 120)


def plain(line: Line) -> str:
    return "".join(text for text, _ in line)


@given(texts().map(visible), WIDTHS)
def test_no_wrapped_line_is_wider_than_the_room_and_every_character_that_is_seen_is_kept(text: str, width: int) -> None:
    lines = list(map(plain, wrapped([(text, "")], width)))
    assert all(cells_of(line.rstrip()) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(texts().map(visible))
def test_lines_stay_lines_where_there_is_room(text: str) -> None:
    assert [plain(line).rstrip() for line in wrapped([(text, "")], 10_000)] == [line.expandtabs(4).rstrip() for line in text.split("\n")]


@given(st.lists(st.tuples(texts(3).map(visible), st.sampled_from(("", "bold", "dim"))), min_size=1, max_size=4), WIDTHS)
def test_styles_change_no_text(pieces: list[tuple[str, str]], width: int) -> None:
    for line in wrapped(pieces, width):
        assert all(text and (not text.isspace() or text.strip("\n") == text) for text, _ in line)
    kept = {"".join("".join(text for text, style in pieces if style == wanted).split()) for wanted in ("", "bold", "dim")}
    shown = [piece for line in wrapped(pieces, width) for piece in line]
    assert kept == {"".join("".join(text for text, style in shown if style == wanted).split()) for wanted in ("", "bold", "dim")}


@given(st.lists(st.tuples(texts(3).map(visible), texts(6).map(visible)), min_size=1, max_size=4), st.integers(10, 150))
def test_a_table_holds_every_character_of_its_cells_and_keeps_to_the_width(rows: list[tuple[str, str]], width: int) -> None:
    columns = (Column(title="id"), Column(title="text", wraps=True))
    lines = [plain(line) for line in lay_out(columns, [[[(cell, "")] for cell in row] for row in rows], width=width, headed=False)]
    assert all(cells_of(line.rstrip()) <= width for line in lines)
    assert sorted("".join("".join(lines).split())) == sorted("".join("".join("".join(row).split()) for row in rows))


def lines_of(*rows: tuple[str, ...], width: int = 40) -> list[str]:
    columns = (Column(title="id"), Column(title="text", wraps=True), Column(title="n", right=True, optional=True))
    return [plain(line).rstrip() for line in lay_out(columns, [[[(cell, "")] for cell in row] for row in rows], width=width, headed=True)]


def test_columns_stand_under_each_other_and_numbers_to_the_right() -> None:
    assert lines_of(("a-1", "first words of a longer text that needs two lines", "7"), ("b", "多币种", "12")) == [
        "id   text".ljust(39) + "n",
        "a-1  first words of a longer text".ljust(39) + "7",
        "     that needs two lines",
        "b    多币种".ljust(35) + "12",
    ]


def test_a_column_without_values_is_left_out() -> None:
    assert lines_of(("a-1", "text", "")) == ["id   text", "a-1  text"]


def test_on_a_narrow_terminal_texts_stand_below() -> None:
    assert lines_of(("a-1", "first words of a text", "7"), width=16) == ["a-1  7", "  first words of", "  a text"]


def test_a_word_wider_than_the_room_is_broken_and_a_wide_character_is_never_halved() -> None:
    assert [plain(line).rstrip() for line in wrapped([("多币种发票 abc", "")], 5)] == ["多币", "种发", "票", "abc"]


def figures_of(columns: int, rows: int, width: int) -> list[str]:
    titles = [Column(title="arm"), *(Column(title=f"title{n}", right=True) for n in range(1, columns))]
    cells = [[[(f"arm-{row}" if not n else f"{row}.{n}", "")] for n in range(columns)] for row in range(rows)]
    return [plain(line).rstrip() for line in lay_out(titles, cells, width=width, headed=True)]


@given(st.integers(2, 30), st.integers(1, 12), st.integers(16, 120))
def test_a_table_of_figures_keeps_its_titles_and_the_names_of_its_rows_however_narrow(columns: int, rows: int, width: int) -> None:
    lines = figures_of(columns, rows, width)
    assert all(len(line) <= width for line in lines)
    shown = " ".join(lines).split()
    assert {f"title{n}" for n in range(1, columns)} <= set(shown)
    assert {f"arm-{row}" for row in range(rows)} <= set(shown)
    assert sorted(one for one in shown if "." in one) == sorted(f"{row}.{n}" for row in range(rows) for n in range(1, columns))


def test_many_columns_of_few_rows_are_turned_around_and_others_go_on_below() -> None:
    assert figures_of(5, 2, 24) == [
        "arm     arm-0  arm-1",
        "title1    0.1    1.1",
        "title2    0.2    1.2",
        "title3    0.3    1.3",
        "title4    0.4    1.4",
    ]
    assert figures_of(4, 3, 24) == [
        *["arm    title1  title2", "arm-0     0.1     0.2", "arm-1     1.1     1.2", "arm-2     2.1     2.2", ""],
        *["arm    title3", "arm-0     0.3", "arm-1     1.3", "arm-2     2.3"],
    ]
