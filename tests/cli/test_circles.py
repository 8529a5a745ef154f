"""tools/check_circles.py: what counts as a dependency of one file on another."""
import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("check_circles", ROOT / "tools/check_circles.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)


def circles(tmp_path, **texts):
    for name, text in texts.items():
        (tmp_path / f"{name}.c").write_text(text)
    return [set(circle) for circle in check.circles_of(check.needs_of(tmp_path))]


def test_a_circle_is_seen_through_a_third_file(tmp_path):
    assert circles(tmp_path, a="int fa(int x) {\n  return fb(x);\n}\n", b="int fb(int x) {\n  return table[x];\n}\n",
                   c="const int table[2] = {0};\nint fc(int x) {\n  return fa(x);\n}\n",
                   d="int fd(void) {\n  return fa(1);\n}\n") == [{"a", "b", "c"}]


def test_words_in_comments_strings_and_static_names_are_no_needs(tmp_path):
    assert not circles(tmp_path, a='/* fb */\nint fa(int x) {\n  return x + helper("fb");\n}\n',
                       b="static int helper(int x) {\n  return x;\n}\nint fb(int x) {\n  return fa(helper(x));\n}\n")
