#!/usr/bin/python3
"""Manual pages and completion say what the program takes: every command, every option, every choice; no server."""
import glob, os, re, shutil, subprocess, sys, tempfile
from rack import BUILD, check, equal, tests_of
from terminal import Terminal

FULLRACK = os.path.join(BUILD, "fullrack")


def said(*args):
    return subprocess.run([FULLRACK, *args], capture_output=True, text=True, check=True, timeout=60).stdout


COMMANDS = re.findall(r"^  ([a-z]+) +\S", said("--help"), re.M)


def options(command):
    """(letter or None, name, what it takes or None) of each that --help lists."""
    return [(m[1] or None, m[2], m[3]) for m in re.finditer(r"^  (?:-(\w), |    )--([a-z-]+)(?: (\S+))?", said(command, "--help"), re.M)]


def text_of(page):
    """A page as a reader sees it, in one line."""
    out = subprocess.run(["mandoc", "-T", "utf8", "-O", "width=500"], input=page, capture_output=True, text=True, check=True, timeout=60).stdout
    return re.sub(r"\s+", " ", re.sub(".\b", "", out))


def test_every_command_has_a_page(_):
    check(len(COMMANDS) > 20, "commands", COMMANDS)
    for command in COMMANDS:
        path = os.path.join(BUILD, "man", "fullrack-%s.1" % command)
        page = open(path).read()
        equal(page, said("manual", "page", command), "page of %s, as it was built" % command)
        lint = subprocess.run(["mandoc", "-T", "lint", "-W", "style"], input=page, capture_output=True, text=True, timeout=60).stdout
        equal([l for l in lint.splitlines() if "referenced manual not found" not in l], [], "mandoc about " + command)
        groff = subprocess.run(["groff", "-mandoc", "-ww", "-Tutf8"], input=page, capture_output=True, text=True, timeout=60)
        equal(groff.stderr, "", "groff about " + command)
        text = text_of(page)
        listed = options(command)
        check(len(listed) >= 5, "options of " + command, listed)
        for letter, name, takes in listed:
            check("--" + name + (" " + takes if takes else "") in text, "--%s in the page of %s" % (name, command), text)
            check(letter is None or "-%s, --%s" % (letter, name) in text, "-%s in the page of %s" % (letter, command), text)
        for line in re.split(r"\n", said(command, "--help").partition("Examples:\n")[2]):
            check(re.sub(r"\s+", " ", line.strip()) in text, "an example of " + command, (line, text))


def complete_in_bash(words):
    """What bash offers for the last of the words."""
    script = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _fullrack; printf "%s\\n" "${COMPREPLY[@]}"'
    p = subprocess.run(["bash", "-c", script, "bash", os.path.join(BUILD, "man/bash/fullrack"), *words], capture_output=True, text=True, timeout=60)
    equal((p.returncode, p.stderr), (0, ""), "bash about %r" % (words,))
    return sorted(p.stdout.split())


def test_bash(_):
    equal(complete_in_bash(["fullrack", ""]), sorted(COMMANDS + ["--help", "--version"]), "commands")
    equal(complete_in_bash(["fullrack", "lo"]), ["load"], "one command")
    for command in COMMANDS:
        wanted = ["--" + name for _, name, _ in options(command)] + ["-" + letter for letter, _, _ in options(command) if letter]
        equal(complete_in_bash(["fullrack", command, "-"]), sorted(wanted), "options of " + command)
        for _, name, takes in options(command):
            if takes and re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)+", takes):
                equal(complete_in_bash(["fullrack", command, "--" + name, ""]), sorted(takes.split("|")), "choices of --%s of %s" % (name, command))
    equal(complete_in_bash(["spawnmany", "--worke"]), ["--workers"], "spawnmany")
    with tempfile.TemporaryDirectory() as folder:
        for name in ("a.csv", "b c.csv"):
            open(os.path.join(folder, name), "w").close()
        equal(complete_in_bash(["fullrack", "load", "t", folder + "/a"]), [folder + "/a.csv"], "a file")
        equal(complete_in_bash(["fullrack", "load", "--format-file", folder + "/a"]), [folder + "/a.csv"], "an option's file")
    equal(complete_in_bash(["fullrack", "load", "--database", ""]), [], "what is not known is not offered")


def complete_in_zsh(line, wanted):
    """What zsh lists for a line, once the last of the wanted is there."""
    t = Terminal(160, 180, os.environ)
    try:
        t.type("HISTFILE= PROMPT_EOL_MARK= zsh -f")
        t.type("PS1='%% '; fpath=('%s' $fpath); autoload -U compinit; compinit -u -D; LISTMAX=1000; setopt NO_LIST_BEEP; clear; print READY"
               % os.path.join(os.path.abspath(BUILD), "man/zsh"))
        t.wait_for(lambda lines: "READY" in lines)
        t.tmux("send-keys", "-l", line)
        t.tmux("send-keys", "Tab")
        return t.wait_for(lambda lines: all(any(re.search(w, l) for l in lines) for w in wanted))
    finally:
        t.close()


def test_zsh(_):
    path = os.path.join(BUILD, "man/zsh/_fullrack")
    p = subprocess.run(["zsh", "-n", path], capture_output=True, text=True, timeout=60)
    equal((p.returncode, p.stderr), (0, ""), "zsh about its file")
    complete_in_zsh("fullrack ", [r"\b%s +--" % command for command in COMMANDS])
    complete_in_zsh("fullrack load --", ["--%s\\b" % name for _, name, _ in options("load")])
    complete_in_zsh("fullrack load --engine ", [r"\bbcp\b.*\bwire\b"])


def test_did_you_mean(_):
    for wrong, right in (("lod", "load"), ("statu", "status"), ("vsf", "vfs"), ("Load", "load")):
        p = subprocess.run([FULLRACK, wrong], capture_output=True, text=True, timeout=60)
        equal(p.returncode, 2, "exit of " + wrong)
        check("did you mean %s?" % right in p.stderr, wrong, p.stderr)
    p = subprocess.run([FULLRACK, "xyzzy"], capture_output=True, text=True, timeout=60)
    check("there is no command xyzzy (try fullrack --help)" in p.stderr, "nothing is near", p.stderr)


# options of other programs, by the document that names them
OTHERS = {"README.md": {"prefix"}, "SECURITY.md": {"disable-hardening"}, "examples/kubernetes/README.md": {"for", "from-file", "timeout"},
          "examples/nightly/README.md": {"now", "system"}, "examples/slurm/README.md": {"array", "requeue"}, "docs/reliability.md": {"rounds", "scenarios"},
          "docs/performance.md": {"compare-discard", "cpu", "form", "instructions", "part", "program", "tasks", "tls", "transactions"}}


def test_documents_name_no_option_that_is_not_there(_):
    known = {name for command in COMMANDS for _, name, _ in options(command)}
    known |= set(re.findall(r"--([a-z-]+)", subprocess.run([os.path.join(BUILD, "fullrackd"), "--help"], capture_output=True, text=True, timeout=60).stdout))
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    texts = [os.path.relpath(p, root) for pattern in ("*.md", "docs/*.md", "examples/*/README.md", "man/*.[158]") for p in glob.glob(os.path.join(root, pattern))]
    check(len(texts) > 20, "documents", texts)
    seen = 0
    for path in texts:
        text = open(os.path.join(root, path)).read()
        names = set(re.findall(r"Fl -([a-z][a-z-]+)" if path.startswith("man/") else r"(?<![\w-])--([a-z][a-z-]+)", text))
        equal(names - known - OTHERS.get(path, set()), set(), "options in %s that are not there" % path)
        seen += len(names)
    check(seen > 300, "options that were looked for", seen)


def test_install_and_uninstall(_):
    """Into a folder with a blank in its name: all is there, uninstall leaves nothing of ours, and nothing of others' is touched."""
    with tempfile.TemporaryDirectory(prefix="fullrack-install-") as folder:
        stranger = os.path.join(folder, "in")       # where a name that is cut at its blank would lead
        root = stranger + " here"
        open(stranger, "w").close()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}

        def make(target):
            p = subprocess.run(["make", "-s", target, "DESTDIR=" + root], cwd=BUILD, capture_output=True, text=True, env=environment, timeout=300)
            equal(p.returncode, 0, "make %s: %s" % (target, p.stderr))
            return sorted(os.path.relpath(os.path.join(d, f), root) for d, _, files in os.walk(root) for f in files)
        there = make("install")
        for name in ("bin/fullrack", "bin/fullrackd", "bin/spawnmany", "share/man/man1/fullrack-load.1", "share/man/man8/fullrackd.8",
                     "share/bash-completion/completions/fullrack", "share/bash-completion/completions/spawnmany", "share/zsh/site-functions/_fullrack",
                     "share/fullrack/sql/grants_target.sql", "share/fullrack/sql/make_filegroups.sql"):
            check(any(path.endswith("/" + name) for path in there), name + " is installed", there)
        equal(make("uninstall"), [], "left by uninstall")
        check(os.path.exists(stranger), "a file of somebody else's is gone")


def test_scripts_ask_their_own_server(_):
    """What a reader has exported for a server of his own (README says how) does not reach the examples, nor the demo."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    scripts = sorted(p for p in glob.glob(os.path.join(root, "examples/*/*-*")) if re.search(r"/(run-once|run-array|run-twice|accept-twice)$", p))
    check(len(scripts) >= 6, "scripts", scripts)
    with tempfile.TemporaryDirectory(prefix="fullrack-scripts-") as folder:
        os.makedirs(os.path.join(folder, "scripts"))
        shutil.copy(os.path.join(root, "scripts/demo"), os.path.join(folder, "scripts"))
        for name, text in (("fullrackd", "echo listening on 127.0.0.1:9; exec sleep 30"), ("fullrack", 'env >"$SEEN"; exit 1')):
            with open(os.path.join(folder, name), "w") as f:
                f.write("#!/bin/sh\n%s\n" % text)
            os.chmod(f.name, 0o755)
        environment = dict({k: v for k, v in os.environ.items() if not k.startswith("FULLRACK_")}, TMPDIR=folder, FULLRACK_BUILD=folder,
                           FULLRACK_DATABASE="nowhere", FULLRACK_PASSWORD="not this one", FULLRACK_HINT="none", FULLRACK_SERVER="192.0.2.1")
        for script in scripts + [os.path.join(folder, "scripts/demo")]:
            seen = os.path.join(folder, "seen")
            p = subprocess.run([script] + ([folder] if script.endswith("demo") else []), cwd=folder, env=dict(environment, SEEN=seen), capture_output=True, text=True, timeout=60)
            check(p.returncode != 0, "the program that is none fails " + script)
            with open(seen) as f:
                got = [line for line in f.read().splitlines() if line.startswith("FULLRACK_")]
            equal([l for l in got if "nowhere" in l or "not this one" in l or "192.0.2.1" in l or "HINT" in l], [], "what %s takes from its environment" % script)
            os.remove(seen)


def test_versions(_):
    """Each package that is asked for stands among the versions that it was tried with, and no other."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    asked = [line.split("#")[0].strip() for line in open(os.path.join(root, "scripts/packages.debian"))]
    listed = re.findall(r"^\| ([a-z0-9.+-]+) \| .*\d", open(os.path.join(root, "docs/versions.md")).read(), re.M)
    equal(listed, [p for p in asked if p], "packages")
    for package in ("antlr4ts-sql", "antlr4ts", "tedious"):
        version = next(m[1] for folder in ("clients", "sqlgrammar")
                       for m in [re.search(r'"%s": "([^"]+)"' % package, open(os.path.join(root, "tests", folder, "package.json")).read())] if m)
        check("%s %s" % (package, version) in open(os.path.join(root, "docs/versions.md")).read(), "version of " + package, version)


if __name__ == "__main__":
    tests = [t for t in tests_of(sys.modules[__name__]) if len(sys.argv) < 2 or sys.argv[1] in t.__name__]
    for test in tests:
        test(None)
    print("%d passed, 0 failed" % len(tests))
