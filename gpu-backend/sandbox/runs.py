"""Runs one Python program once: in a fresh directory and its own process group, with resource limits and a timeout.

NO SECURITY BOUNDARY. A malicious program can read this machine's files and use its network. The limits only keep honest
mistakes (an endless loop, a fork bomb, full memory) from taking the machine down; see server.py.
"""

import base64
import ctypes
import fcntl
import math
import os
import signal
import subprocess
import tempfile
import threading
import time

# SandboxFusion's limit for stdout and for stderr. The rest of a program's output is read and dropped.
MAX_CAPTURED_BYTES = 1024 * 1024
MAX_FETCHED_BYTES = 1024 * 1024
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_PROCESSES = 64
MAX_OPEN_FILES = 256
# The memory limit of a request that names none.
DEFAULT_MEMORY_MB = 4096
# First of the user ids for runs, which belong to no account. Each slot has its own, so that all processes of a run can
# be counted and killed together.
FIRST_UID = 61184
MAX_UIDS = 4096
PR_SET_CHILD_SUBREAPER = 36
MAX_REAPING_S = 2

# Sets the limits between fork and exec. A launcher program sets them instead of preexec_fn, which is not safe in a
# process with threads.
LAUNCHER = """
import os, resource as r, sys
cpu, memory, size, processes, files = map(int, sys.argv[1:6])
for what, value in ((r.RLIMIT_CPU, cpu), (r.RLIMIT_AS, memory), (r.RLIMIT_FSIZE, size),
                    (r.RLIMIT_NPROC, processes), (r.RLIMIT_NOFILE, files), (r.RLIMIT_CORE, 0)):
    hard = r.getrlimit(what)[1]
    value = value if hard == r.RLIM_INFINITY else min(value, hard)
    r.setrlimit(what, (value, value))
os.execv(sys.argv[6], sys.argv[6:])
"""
KILL_ALL_OF_USER = "import os, signal; os.kill(-1, signal.SIGKILL)"


# A program can leave any number of files. What is left after this time stays; a development machine's /tmp survives it.
MAX_REMOVAL_S = 60


class FileProblem(Exception):
    """A file of the request that cannot be placed: a name that is no path inside the run's directory, or no base64."""


class Sandbox:
    """Runs Python programs, each in a slot of its own. `take_slot` waits for a free slot."""

    def __init__(self, python, slots):
        self.python = python
        self._free, self._locks = free_slots(slots)
        self._changed = threading.Condition()
        self._closed = False
        self._groups = set()
        if os.geteuid() == 0:
            # Makes this process the parent of orphaned processes of a run, so that it can reap them. The first process
            # of a container often reaps nothing, and an unreaped dead process still counts against its user's
            # limit.
            ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def take_slot(self, wait_s):
        """Returns the number of a free slot, or None if no slot becomes free within `wait_s` seconds."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._free, wait_s):
                return None
            return self._free.pop()

    def give_back(self, slot):
        with self._changed:
            self._free.append(slot)
            self._changed.notify()

    def close(self):
        """Kills the programs that still run."""
        with self._changed:
            self._closed = True
            groups = list(self._groups)
        for group in groups:
            kill_group(group)

    def problem_of_python(self):
        """Returns why the interpreter cannot run a program under the user of a slot, or None if it can."""
        try:
            ended = subprocess.run([self.python, "-I", "-c", "pass"], capture_output=True, timeout=60, cwd="/",
                                   **user_of(self._free[0]))
        except (OSError, subprocess.SubprocessError) as error:
            return str(error)
        return None if ended.returncode == 0 else ended.stderr.decode("utf-8", "replace")

    def run(self, slot, code, stdin, files, fetch_files, run_timeout, memory_mb, is_wanted):
        """Runs `code`; returns SandboxFusion's run_result and the fetched files.

        The run polls `is_wanted()`. When that returns false, the run ends as at its time limit. Raises FileProblem for
        files that cannot be placed.
        """
        directory = tempfile.mkdtemp(prefix="citeward-sandbox-")
        try:
            for name in fetch_files:
                inside(directory, name)
            script = place_files(directory, code, files)
            if os.geteuid() == 0:
                give_to(directory, FIRST_UID + slot)
            result = self._run_script(slot, script, directory, stdin, run_timeout, memory_mb, is_wanted)
            return result, fetch(directory, fetch_files)
        finally:
            remove(directory)

    def _run_script(self, slot, script, directory, stdin, run_timeout, memory_mb, is_wanted):
        memory = (memory_mb if memory_mb > 0 else DEFAULT_MEMORY_MB) * 1024 * 1024
        limits = [math.ceil(run_timeout) + 1, memory, MAX_FILE_BYTES, process_limit(), MAX_OPEN_FILES]
        command = [self.python, "-I", "-c", LAUNCHER, *map(str, limits), self.python, "-I", script]
        started = time.monotonic()
        child = subprocess.Popen(
            command, cwd=directory, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": directory, "TMPDIR": directory, "LANG": "C.UTF-8"},
            start_new_session=True, **user_of(slot))
        with self._changed:
            self._groups.add(child.pid)
            closed = self._closed
        if closed:
            kill_group(child.pid)
        out, err = Captured(child.stdout), Captured(child.stderr)
        threading.Thread(target=feed, args=(child.stdin, stdin), daemon=True).start()
        try:
            code = wait_for(child, started + run_timeout, is_wanted)
            status = "TimeLimitExceeded" if code is None else "Finished"
            elapsed = time.monotonic() - started
        finally:
            kill_group(child.pid)
            child.wait()
            self._end_user(slot)
            with self._changed:
                self._groups.discard(child.pid)
        return {"status": status, "execution_time": elapsed, "return_code": code, "stdout": out.text(), "stderr": err.text()}

    def _end_user(self, slot):
        """Kills processes that left the run's group. Needs root: only root can give each run its own user."""
        if os.geteuid() != 0:
            return
        deadline = time.monotonic() + MAX_REAPING_S
        left = processes_of(FIRST_UID + slot)
        if any(state != "Z" for _, _, state in left):
            subprocess.run([self.python, "-I", "-c", KILL_ALL_OF_USER], cwd="/", env={}, check=False,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           **user_of(slot))
        while left and time.monotonic() < deadline:
            for pid, parent, _ in left:
                if parent == os.getpid():
                    try:
                        os.waitpid(pid, os.WNOHANG)
                    except ChildProcessError:
                        continue  # Another thread has reaped it.
            time.sleep(0.01)
            left = processes_of(FIRST_UID + slot)


class Captured:
    """Reads a stream to its end and keeps its beginning."""

    def __init__(self, stream):
        self._stream = stream
        self._kept = bytearray()
        self._thread = threading.Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self):
        with self._stream:
            while True:
                part = self._stream.read1(65536)
                if not part:
                    return
                self._kept += part[: MAX_CAPTURED_BYTES - len(self._kept)]

    def text(self):
        # Without root, a process that left its group may survive and hold the pipe open; the reply must not wait for
        # it.
        self._thread.join(1.0)
        return bytes(self._kept).decode("utf-8", "replace")


def wait_for(child, deadline, is_wanted):
    """Returns the exit status, or None if the child still runs at the deadline or the run is no longer wanted.

    On a busy machine this thread may miss the deadline until the limit of CPU time kills the child. A child that a
    signal ended after the deadline therefore counts as still running then.
    """
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not is_wanted():
            return None
        try:
            code = child.wait(min(left, 0.25))
        except subprocess.TimeoutExpired:
            continue
        return None if code < 0 and time.monotonic() > deadline else code


def feed(stream, text):
    try:
        with stream:
            stream.write(text)
    except BrokenPipeError:
        return  # The program ended or closed its input before it had read all of it.


def kill_group(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # It has ended.


def free_slots(count):
    """Returns `count` slots whose users no other server on this machine has, and the locks that keep them.

    Two servers that shared a user would kill each other's runs. A lock ends with the process.
    """
    if os.geteuid() != 0:
        return list(range(count)), []
    slots, locks = [], []
    for slot in range(MAX_UIDS):
        path = os.path.join(tempfile.gettempdir(), f"citeward-sandbox-{FIRST_UID + slot}.lock")
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        slots.append(slot)
        locks.append(lock)
        if len(slots) == count:
            return slots, locks
    raise RuntimeError("other sandboxes on this machine have all user ids")


def user_of(slot):
    """Returns the arguments that make subprocess run as the user of the slot; empty if this process is not root."""
    if os.geteuid() != 0:
        return {}
    return {"user": FIRST_UID + slot, "group": FIRST_UID + slot, "extra_groups": []}


def processes_of(uid):
    """Returns (process id, parent's id, state letter) of every process of a user, zombies included."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/" + name + "/status", encoding="utf-8", errors="replace") as file:
                fields = dict(line.split(":", 1) for line in file if ":" in line)
        except OSError:
            continue  # It ended meanwhile.
        if int(fields["Uid"].split()[0]) == uid:
            found.append((int(name), int(fields["PPid"]), fields["State"].split()[0]))
    return found


def process_limit():
    """Returns RLIMIT_NPROC for a run. It counts all threads of a user; without root these include the server's."""
    if os.geteuid() == 0:
        return MAX_PROCESSES
    running = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat("/proc/" + name).st_uid == os.geteuid():
                    running += len(os.listdir("/proc/" + name + "/task"))
            except OSError:
                continue  # It ended meanwhile.
    return running + MAX_PROCESSES


def inside(directory, name):
    """Returns the path of a name that the caller gave, inside the directory. Does not check links: see `fetch`."""
    if "\0" in name or not is_encodable(name):
        raise FileProblem("a name is no file name")
    path = os.path.normpath(os.path.join(directory, name))
    if os.path.commonpath([path, directory]) != directory:
        raise FileProblem("a path leads out of the run's directory")
    return path


def is_encodable(name):
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        return False
    return True


def remove(directory):
    """Removes a run's directory with `rm`, which handles any depth; shutil ends at Python's recursion limit."""
    try:
        subprocess.run(["/bin/rm", "-rf", "--", directory], check=False, timeout=MAX_REMOVAL_S, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={}, cwd="/")
    except (OSError, subprocess.TimeoutExpired):
        return


def place_files(directory, code, files):
    """Writes the request's files and the program; returns the program's path."""
    for name, content in files.items():
        if content is None:
            continue
        path = inside(directory, name)
        try:
            data = base64.b64decode(content, validate=True)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        except (ValueError, OSError) as error:
            raise FileProblem("a file cannot be placed") from error
    handle, script = tempfile.mkstemp(suffix=".py", dir=directory)
    with os.fdopen(handle, "wb") as file:
        file.write(code)
    return script


def give_to(directory, uid):
    for path, names, files in os.walk(directory):
        for name in ["."] + names + files:
            os.chown(os.path.join(path, name), uid, uid)


def fetch(directory, names):
    """Returns the requested files that are readable, in base64. Never follows links out of the directory."""
    fetched = {}
    root = os.path.realpath(directory)
    for name in names:
        try:
            path = os.path.realpath(inside(directory, name))
            if os.path.commonpath([path, root]) != root or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                fetched[name] = base64.b64encode(file.read(MAX_FETCHED_BYTES)).decode("ascii")
        except OSError:
            continue  # The program's own doing: a file that it made unreadable, or a path of links without an end.
    return fetched
