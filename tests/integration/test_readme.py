#!/usr/bin/python3
"""README's commands, one after the other as they stand there, from the first load to the reports."""
import os, re, subprocess, sys
from rack import *

HERE = os.path.dirname(os.path.abspath(__file__))

# what README itself says of them
FAILS = {"fullrack load dbo.city more.csv --format csv": "2025-02-30", "fullrack load dbo.city towns.csv --format csv -b 1": "towns.csv: row 2"}
# ends nothing, is about tasks of the reader's own, or takes long
LEFT_OUT = ("fullrackd ", "autoreconf ", "export PATH", "export FULLRACK_PASSWORD", "export FULLRACK_SERVER", "./quickstart", "fullrack wear /dev/")


def blocks():
    with open(os.path.join(HERE, "..", "..", "README.md"), encoding="utf-8") as f:
        text = f.read()
    return [b for b in re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S) if not b.startswith("fullrack status   ")]


def commands():
    """Whole commands: quoted texts and here documents of several lines are one."""
    for block in blocks():
        command = ""
        for line in block.splitlines():
            command += line + "\n"
            here = "<<'END'" in command and not command.endswith("\nEND\n")
            if not here and subprocess.run(["sh", "-n", "-c", command], capture_output=True).returncode == 0:
                yield command.rstrip("\n")
                command = ""
        equal(command, "", "a command without an end")


def test_commands_work_as_they_stand(r):
    folder, done, last_run = os.path.join(r.dir, "reader"), 0, ""
    os.makedirs(folder)
    env = dict(r.env(), FULLRACK_SERVER=r.address, FULLRACK_USER="sa", PATH=os.path.abspath(BUILD) + ":" + os.environ["PATH"])
    env.pop("FULLRACK_DATABASE", None)
    for command in commands():
        if command.startswith(LEFT_OUT):
            continue
        if command.startswith("export "):
            name, value = command[len("export "):].split("=")
            env[name] = value
            continue
        if "LOAD-ID" in command:
            command = command.replace("LOAD-ID", r.sql("SELECT CAST(load_id AS varchar(36)) FROM dbo.fullrack_ledger WHERE source = 'towns.csv'", "play")[0][0])
        shown, command = command, command.replace("/tmp/lineitem", folder + "/lineitem").replace("undo RUN", "undo " + last_run)
        p = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
        out = p.stdout + p.stderr
        equal(p.returncode, 1 if shown in FAILS else 0, "%s\n%s" % (shown, out))
        check(FAILS.get(shown, "") in out, shown, out)
        last_run = (re.findall(r"^run (\d+)$", out, re.M) or [last_run])[-1]
        done += 1
    check(done > 45, "commands", done)
    equal(r.sql("SELECT COUNT(*) FROM dbo.lineitem WHERE loaded_by IS NULL", "play"), [(100000,)], "rows of the first run")


if __name__ == "__main__":
    main(tests_of(sys.modules[__name__]), "--schedulers", "4")
