"""terminal.py - a program in a terminal of a given size (tmux), whose screen can be read."""
import os, shutil, subprocess, tempfile, time

PROGRAM = shutil.which("tmux")


class Terminal:
    """A shell in a tmux server of its own."""

    def __init__(self, columns, lines, env):
        self.folder = tempfile.mkdtemp(prefix="fullrack-tmux-")
        self.socket = os.path.join(self.folder, "s")
        # nothing of the user's own tmux, and a plain prompt
        self.env = dict(env, PS1="$ ", TERM="xterm-256color", LC_ALL="C.UTF-8")
        self.env.pop("TMUX", None)
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), "/bin/sh")
        self.tmux("set-option", "-g", "status", "off")
        self.resize(columns, lines)

    def tmux(self, *args):
        return subprocess.run([PROGRAM, "-S", self.socket] + list(args), env=self.env, capture_output=True, text=True, timeout=30, check=True).stdout

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def type(self, text):
        self.tmux("send-keys", "-l", text)
        self.tmux("send-keys", "Enter")

    def interrupt(self):
        self.tmux("send-keys", "C-c")

    def screen(self, colors=False, history=0):
        """Its lines, and so many that have scrolled out of it; with colors: escape sequences and all."""
        return self.tmux("capture-pane", "-p", "-S", str(-history), *(["-e"] if colors else [])).split("\n")

    def wait_for(self, what, seconds=30):
        """The screen once `what` is on it, or what(screen) is true."""
        deadline = time.monotonic() + seconds
        while True:
            lines = self.screen()
            if what(lines) if callable(what) else any(what in l for l in lines):
                return lines
            if time.monotonic() > deadline:
                raise AssertionError("not on the screen in %d s: %r\n%s" % (seconds, what, "\n".join(lines)))
            time.sleep(0.1)

    def close(self):
        try:
            self.tmux("kill-server")
        except subprocess.CalledProcessError:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)
