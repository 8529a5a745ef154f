"""The command's own documentation: grouped help with examples, suggestions, the manual page, shell completion."""

import csv
import io
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import threading

import pytest

from hone import HONE, ROOT, refused, sound, until


def test_suggestions(hone):
    refused(hone("help", "bnech"), "E_USAGE", "did you mean bench?")
    refused(hone("bnech"), "E_USAGE", "did you mean bench?")
    refused(hone("bench", "zoo:mlp", "--backend", "onxruntime"), "E_USAGE", "did you mean onnxruntime?")
    refused(hone("backends", "install", "openvin"), "E_USAGE", "did you mean openvino?")
    assert "did you mean" not in hone("help", "x").errors
    assert hone("zoo").text == hone("zoo", "list").text


def test_help_is_grouped(hone):
    text = hone("help", "bench").text
    titles = re.findall(r"^([A-Z][^:\n]*):$", text, flags=re.M)
    assert len(titles) >= 5 and "Examples" in titles and len(set(titles)) == len(titles), titles
    for block in text.split("\n\n")[1:]:  # no empty group
        assert len(block.splitlines()) > 1, block


def test_examples_are_of_this_command(hone):
    verbs = [line.split()[0] for line in hone("list", "verbs").text.splitlines()]
    seen = 0
    for verb in verbs:
        text = hone("help", verb).text
        for command in re.findall(r"^  (hone .*)$", text.partition("Examples:")[2], flags=re.M):
            words = shlex.split(command)
            assert words[1] == verb
            for flag in (w for w in words if w.startswith("--")):
                assert flag in text.partition("Examples:")[0], command
            seen += 1
    assert seen > 8


def test_manual(hone, tmp_path):
    page = subprocess.run([ROOT / "tools/manpage.sh", HONE], capture_output=True, text=True, check=True,
                          env=hone.env).stdout
    assert "\\&.fi" not in page and "\\&.SH" not in page and "\\&.nf" not in page
    for title in ("EXAMPLES", "FILES", "EXIT STATUS", "ERRORS"):
        assert f".SH {title}\n" in page
    verbs = page.partition(".SH VERBS\n")[2].partition(".SH ERRORS\n")[0].replace("\\-", "-")
    too_wide = [line for line in verbs.splitlines() if len(line) > 72 and not line.startswith(("  hone ", "hone list "))]
    assert not too_wide, too_wide  # 80 columns with the page's own indentation
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    shown = subprocess.run(["groff", "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True)
    assert not shown.stderr, shown.stderr


@pytest.mark.parametrize("script", ["manpage.sh", "reference_docs.sh"])
@pytest.mark.parametrize("broken", ["list verbs", "help bench", "list errors"])
def test_pages_are_not_made_of_a_program_that_fails(hone, tmp_path, script, broken):
    program = tmp_path / "broken"
    program.write_text(f'#!/bin/sh\n[ "$*" != "{broken}" ] || exit 1\nexec "{HONE}" "$@"\n')
    program.chmod(0o755)
    made = subprocess.run([ROOT / "tools" / script, program], cwd=tmp_path, env=hone.env, capture_output=True, check=False)
    assert made.returncode != 0 and not (tmp_path / "docs").exists(), made


def complete(script, words):
    """Bash's completions of the last word."""
    line = " ".join(f"'{w}'" for w in words)
    text = (f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _hone; "
            "printf '%s\\n' \"${COMPREPLY[@]}\"; complete -p hone")
    done = subprocess.run(["bash", "--norc", "-uc", text], cwd=script.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done
    *offered, registered = done.stdout.splitlines()
    assert "-F _hone" in registered
    return offered


def test_completion_in_bash(hone, tmp_path):
    script = tmp_path / "hone.bash"
    script.write_bytes(hone("completion", "bash").out)
    assert complete(script, ["hone", "be"]) == ["bench"]
    assert set(complete(script, ["hone", "st"])) == {"studies"}
    assert "--min-time" in complete(script, ["hone", "bench", "zoo:mlp", "--min"])
    assert not [w for w in complete(script, ["hone", "inspect", "--"]) if w == "--rounds"]
    assert complete(script, ["hone", "studies", "ex"]) == ["export"]
    assert "statuses" in complete(script, ["hone", "list", "sta"])
    for verb in (line.split()[0] for line in hone("list", "verbs").text.splitlines()):
        offered = set(complete(script, ["hone", verb, "--"])) - {""}
        told = set(re.findall(r"^  .{4}(--[a-z-]+)", hone("help", verb).text, flags=re.M))
        assert offered == told, verb


VALUES = [
    ("--precision b", {"bf16"}), ("--precision fp32,b", {"fp32,bf16"}), ("--backend onnxr", {"onnxruntime", "runtime:off"}),
    ("--backend native,onnxruntime:of", {"off"}), ("--suite mi", {"micro"}), ("--scenario s", {"single", "server"}),
    ("--cache-state c", {"cold"}), ("--limit zip", set()), ("--fail-on wr", {"wrong"}), ("zoo:mobile", {"mobilebert"}),
    ("--color=al", {"always"}), ("--color = al", {"always"}), ("zoo : mobileb", {"mobilebert"}), ("--warmup -", {"--rounds"}),
]


@pytest.mark.parametrize("line, wanted", VALUES, ids=[line for line, _ in VALUES])
def test_values_are_completed_in_bash(hone, tmp_path, line, wanted):
    """As bash hands the line over: cut at blanks, and at ':' and '=' where COMP_WORDBREAKS has them; then what is offered replaces
    what follows the last of those."""
    script = tmp_path / "hone.bash"
    script.write_bytes(hone("completion", "bash").out)
    offered = complete(script, ["hone", "bench", *line.split()])
    assert all(any(word.endswith(part) for word in offered) for part in wanted), offered
    assert not [word for word in offered if " " in word]


@pytest.mark.parametrize("words, wanted", [
    ("compile --cpu av", "avx512"), ("compile --cpu port", "portable"), ("compile --dump-after pl", "plan"), ("list eng", "engines"),
    ("explain E_FO", "E_FORMAT"), ("zoo write resnet5", "resnet50"), ("backends install onnxr", "onnxruntime"), ("help comp", "compare"),
    ("quantise --to int", "int4-weights"), ("recommend --objective en", "energy"), ("report --columns energy", "energy_mj"),
    ("compile --target arm", "arm-none-eabi"), ("bisect --on zoo:ml", "mlp"), ("bench --engine iree", "iree=")])
def test_words_of_tables_are_completed_in_bash(hone, tmp_path, words, wanted):
    script = tmp_path / "hone.bash"
    script.write_bytes(hone("completion", "bash").out)
    assert any(wanted in word for word in complete(script, ["hone", *words.split()]))


def check_fish(script, functions):
    """What fish offers, as it says itself. functions: where fish's own are, if not at their place."""
    def offered(line):
        place = f"set fish_function_path {functions}; " if functions else ""
        done = subprocess.run(["fish", "--no-config", "-c", f"{place}source {script}; complete -C '{line}'"],
                              cwd=script.parent, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
        assert not done.stderr, done.stderr
        return [found.split("\t")[0] for found in done.stdout.splitlines()]

    assert offered("hone be") == ["bench"]
    assert offered("hone help qua") == ["quantise"]
    assert offered("hone studies ex") == ["export"]
    assert offered("hone list sta") == ["statuses"]
    assert offered("hone bench zoo:mlp --min-t") == ["--min-time"]
    assert not offered("hone inspect --round")
    assert not offered("hone studies export --rou")  # the verb is studies
    assert "--store" in offered("hone studies export --sto")
    assert offered("hone bench --precision b") == ["bf16"] and "fp32,bf16" in offered("hone bench --precision fp32,b")
    assert "zoo:mobilebert" in offered("hone bench zoo:mob") and offered("hone zoo write resnet50") == ["resnet50"]
    assert offered("hone explain E_FORM") == ["E_FORMAT"]


ZSHRC = """
PS1= RPS1=
fpath=($HONE_ZSH_FUNCTIONS $fpath)
autoload -Uz compinit
compinit -u -d $ZDOTDIR/dump
source $ZDOTDIR/script
answer() {
  zle complete-word
  print -r -- "$BUFFER" >>$ZDOTDIR/answers
  BUFFER=
}
zle -N answer
bindkey '^T' answer
print >$ZDOTDIR/ready
"""


BASHRC = """
PS1=
source ./script
answer() { printf '%s\\n' "$READLINE_LINE" >>answers; READLINE_LINE=; READLINE_POINT=0; }
bind -x '"\\C-xa": answer'
bind '"\\C-xb": complete'
bind '"\\C-t": "\\C-xb\\C-xa"'
>ready
"""
SHELLS = {"zsh": (".zshrc", ZSHRC, ["-d", "-i"]), "bash": (".bashrc", BASHRC, ["--rcfile", ".bashrc", "-i"])}


def complete_by_keys(shell, folder, lines):
    """What each line becomes when its last word is completed: an interactive shell on a terminal of its own, by its keys."""
    name, text, words = SHELLS[shell]
    (folder / name).write_text(text)
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(folder)
        os.execvpe(shell, [shell, *words], {**os.environ, "ZDOTDIR": str(folder), "TERM": "xterm", "COLUMNS": "200", "INPUTRC": "/dev/null"})

    def drain():
        try:
            while os.read(terminal, 1 << 16):
                pass
        except OSError:
            pass  # it ended

    reader = threading.Thread(target=drain)
    reader.start()
    answers = folder / "answers"
    try:
        until((folder / "ready").exists)
        for i, line in enumerate(lines):
            os.write(terminal, line.encode() + b"\x14")
            until(lambda: answers.exists() and answers.read_text().count("\n") > i)
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        reader.join()
        os.close(terminal)
    return [line.rstrip() for line in answers.read_text().splitlines()]


@pytest.mark.skipif(not shutil.which("zsh"), reason="no zsh here (apt-get install zsh)")
def test_completion_in_zsh(hone, tmp_path):
    (tmp_path / "script").write_bytes(hone("completion", "zsh").out)
    (tmp_path / "model.onnx").write_bytes(b"")
    lines = {"hone be": "hone bench", "hone help qua": "hone help quantise", "hone studies ex": "hone studies export",
             "hone list sta": "hone list statuses", "hone bench zoo:mlp --min-t": "hone bench zoo:mlp --min-time",
             "hone inspect --round": "hone inspect --round", "hone studies export --sto": "hone studies export --store",
             "hone inspect mod": "hone inspect model.onnx", "hone bench zoo:mobileb": "hone bench zoo:mobilebert",
             "hone bench --precision fp32,bf": "hone bench --precision fp32,bf16", "hone bench --color=al": "hone bench --color=always",
             "hone zoo write resnet5": "hone zoo write resnet50"}
    assert dict(zip(lines, complete_by_keys("zsh", tmp_path, lines))) == lines


def test_completion_by_keys_in_bash(hone, tmp_path):
    """Names of files as bash itself completes them, blanks and quotes too."""
    (tmp_path / "script").write_bytes(hone("completion", "bash").out)
    (tmp_path / "my model.onnx").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    lines = {"hone be": "hone bench", "hone fleet sl": "hone fleet slurm", "hone dataset ex": "hone dataset export",
             "hone bench zoo:mlp --min-t": "hone bench zoo:mlp --min-time", "hone inspect my": "hone inspect my\\ model.onnx",
             "hone inspect 'my mo": "hone inspect 'my model.onnx'", "hone run x.onnx -o fol": "hone run x.onnx -o folder/",
             "hone bench zoo:mobileb": "hone bench zoo:mobilebert", "hone bench --precision fp32,bf": "hone bench --precision fp32,bf16",
             "hone bench --color=al": "hone bench --color=always", "hone zoo write resnet5": "hone zoo write resnet50",
             "hone bench --backend native,openvino:asy": "hone bench --backend native,openvino:async",
             "hone compile --cpu avx2,portab": "hone compile --cpu avx2,portable"}
    assert dict(zip(lines, complete_by_keys("bash", tmp_path, lines))) == lines


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_of_other_shells(hone, tmp_path, shell):
    result = hone("completion", shell)
    sound(result)
    for word in ("bench", "min-time", "studies", "export"):
        assert word in result.text
    if shutil.which(shell):
        (tmp_path / "script").write_bytes(result.out)
        done = subprocess.run([shell, "-n", tmp_path / "script"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if shell == "fish":
            check_fish(tmp_path / "script", os.environ.get("HONE_FISH_FUNCTIONS"))
    refused(hone("completion", "tcsh"), "E_USAGE", "fish")


def test_list_and_explain_alone_name_their_words(hone):
    tables = re.findall(r"^hone list ([a-z]+) +\S", hone("list").text, flags=re.M)
    assert {"ops", "engines", "verbs"} <= set(tables)
    for table in tables:
        sound(hone("list", table))
    words = hone("explain").text.split("\n  ")[1:]
    assert {"E_FORMAT", "unsupported", "noisy"} <= {word.strip() for word in words}
    for word in words:
        sound(hone("explain", word.strip()))


def test_engines_as_a_table_of_a_document(hone):
    """Every engine has a licence, languages, tuning, dynamic shapes and a reference, alike in each form; a flag without a file is the
    standard output, and a file of its own may be written again."""
    rows = json.loads(hone("list", "engines", "--json").text)["engines"]
    assert len(rows) >= 19 and {"native", "onnxruntime", "tensorrt", "onnxmlir"} <= {row["engine"] for row in rows}
    for row in rows:
        assert all(row[key].strip() for key in row), row
        assert row["licence"] != "unknown" and row["reference"] != "unknown" and "://" not in row["reference"], row
    sound(hone("list", "engines", "--csv", "engines.csv"))
    sound(hone("list", "engines", "--csv", "engines.csv"))
    written = list(csv.DictReader(io.StringIO((hone.folder / "engines.csv").read_text())))
    assert [{key: value.lstrip("'") for key, value in row.items()} for row in written] == rows
    table = hone("list", "engines", "--md").text.replace("\\", "").splitlines()
    assert len([line for line in table if line.startswith("| ")]) == len(rows) + 1 and "written in" in table[0]
    for row in rows:
        assert any(row["licence"] in line and row["reference"] in line for line in table), row
        assert row["tuning"] in hone("list", "engines").text
    (hone.folder / "mine.csv").write_text("a,b\n")
    refused(hone("list", "engines", "--csv", "mine.csv"), "E_PATH")
    refused(hone("list", "ops", "--csv"), "E_USAGE", "hone list engines")


def test_lists_in_completion_are_the_tables(hone):
    words = re.search(r"list\) flags='[^']*' words='([^']*)'", hone("completion", "bash").text).group(1).split()
    for word in words:
        sound(hone("list", word))
    for verb, words_of_it in re.findall(r"^ +([a-z]+)\) flags='[^']*' words='([^']*)'", hone("completion", "bash").text, flags=re.M):
        for word in words_of_it.split() if verb in ("fleet", "dataset", "studies", "backends") else ():
            assert re.search(rf"\b{word}\b", hone("help", verb).text.splitlines()[0]), (verb, word)
    refused(hone("list", "nothing"), "E_USAGE", ", ".join(words))
    refused(hone("list", "studies"), "E_USAGE", "that is a verb of hone")
