"""tools/check_layers.py: what it refuses."""
import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_layers", ROOT / "tools/check_layers.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)


def complaints(monkeypatch, root, room, text, allowed):
    monkeypatch.setattr(check, "ROOT", root)
    for name in ("core/graph/graph.h", "ui/cli/cli.h"):
        (root / "src" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "src" / name).write_text("")
    path = root / "src" / room / "a.c"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return check.check_file(path, {}, {path.parent.name, *allowed})


def test_a_room_includes_what_its_row_names(monkeypatch, tmp_path):
    text = '#include "core/graph/graph.h"\n'
    assert not complaints(monkeypatch, tmp_path, "compiler/plan", text, {"graph"})
    assert "may not include core/graph/graph.h" in complaints(monkeypatch, tmp_path, "compiler/plan", text, set())[0]
    assert "no file" in complaints(monkeypatch, tmp_path, "compiler/plan", '#include "core/graph/none.h"\n', {"graph"})[0]


def test_the_source_room_does_not_know_the_graph(monkeypatch, tmp_path):
    assert "does not know struct node" in complaints(monkeypatch, tmp_path, "compiler/source", "struct node *node;\n", set())[0]


def test_a_package_is_for_its_rooms(monkeypatch, tmp_path):
    assert complaints(monkeypatch, tmp_path, "bench/store", "#include <sqlite3.h>\n", set()) == []
    assert "does not use sqlite3.h" in complaints(monkeypatch, tmp_path, "ui/cli", "#include <sqlite3.h>\n", set())[0]


def test_a_room_may_not_use_a_later_wing():
    rows = {"graph": ("core", []), "plan": ("compiler", []), "cli": ("ui", []), "zoo": (None, [])}
    assert check.above(rows, "plan", {"plan", "graph", "zoo"}) == []
    assert check.above(rows, "plan", {"plan", "cli"}) == ["cli"]
