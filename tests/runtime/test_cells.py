from __future__ import annotations

import pytest
from thunkad.runtime.cells import Cell


def test_a_cell_holds_a_value() -> None:
    cell = Cell(1)
    assert cell.value == 1
    cell.value = 2
    assert cell.value == 2


def test_a_cell_without_value_raises_name_error() -> None:
    with pytest.raises(NameError, match="before it has a value"):
        _ = Cell().value
    with pytest.raises(AttributeError, match="nothing"):
        _ = Cell(1).nothing
