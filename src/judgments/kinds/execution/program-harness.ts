/**
 * Holds the Python programs that run one test of a policy's program inside the sandbox. Two processes:
 *
 * The **harness** reads its task from standard input, so that no part of it is on a disk, in an environment or on a
 * command line. It starts the runner, enforces the time limit, and bounds and hashes what the program prints. Only the
 * harness writes to the sandbox's output; each line begins with a nonce that the program's process never holds. Other
 * processes of its user cannot read its memory and descriptors (`PR_SET_DUMPABLE`).
 *
 * The **runner** is a fresh interpreter with the memory limit set. It compiles the program and runs it as `__main__`.
 * For an assert test it then asks the harness for the test and a second secret, and returns the secret once the test
 * has run to its end. So the program cannot pass by exiting early, by printing, or by patching builtins, and it does
 * not see the test beforehand.
 *
 * Known limit: an assert test calls the program's functions, so both share one interpreter. A program that returns
 * objects equal to everything passes `assert f(1) == 2`, and one that studies this file can imitate the runner. Tests
 * on standard output share nothing with the program; use them where that matters.
 *
 * Python 3.8 or newer on Linux, no threads (SandboxFusion's limits can forbid them).
 */

/**
 * The runner: argv = descriptor, `stdout` or `assert`, memory limit in bytes. Runs with its own copy of the builtins.
 */
const RUNNER = String.raw`
import builtins, os, resource, sys, types

def main():
    channel, style, memory = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    read, write, leave = os.read, os.write, os._exit
    untrace, unprofile = sys.settrace, sys.setprofile

    def say(word):
        write(channel, word + b'\n')

    def take(size):
        parts = []
        while size > 0:
            part = read(channel, min(size, 65536))
            if not part:
                leave(1)
            parts.append(part)
            size -= len(part)
        return b''.join(parts)

    def receive():
        return take(int(take(12)))

    def fail(word):
        say(word)
        leave(1)

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    memory = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    main_module = types.ModuleType('__main__')
    main_module.__file__ = 'program.py'
    main_module.__builtins__ = builtins
    names = main_module.__dict__
    kept = sys.modules['__main__']
    say(b'up')
    program = receive()
    ballast = bytearray(1 << 20)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    try:
        code = compile(program, 'program.py', 'exec', 0, True, 0)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        fail(b'compile_error')
    del program
    sys.argv[:] = ['program.py']
    sys.modules['__main__'] = main_module
    try:
        exec(code, names)
    except SystemExit:
        if style == 'stdout':
            raise
        fail(b'runtime_error')
    except MemoryError:
        ballast = None
        fail(b'memory_limit')
    except BaseException:
        ballast = None
        fail(b'runtime_error')
    if style == 'stdout':
        return
    untrace(None)
    unprofile(None)
    say(b'loaded')
    secret = receive()
    test = receive()
    try:
        exec(compile(test, 'test.py', 'exec', 0, True, 0), names)
    except AssertionError as error:
        ballast = None
        # Raised by the test, or by what the test calls in a library; not by the program's own assertions.
        where, step = None, error.__traceback__
        while step is not None:
            name = step.tb_frame.f_code.co_filename
            where = name if name in ('program.py', 'test.py') else where
            step = step.tb_next
        fail(b'wrong_output' if where == 'test.py' else b'runtime_error')
    except MemoryError:
        ballast = None
        fail(b'memory_limit')
    except BaseException:
        ballast = None
        fail(b'runtime_error')
    say(secret)
    leave(0)

main()
`;

/** The harness: reads {nonce, program, style, test, stdin, time_limit_s, memory_limit_mb, output_limit} as JSON. */
const HARNESS = String.raw`
import ctypes, hashlib, json, os, secrets, select, signal, socket, subprocess, sys, tempfile, time

PR_SET_DUMPABLE = 4
START_LIMIT_S = 10
EARLY = ('compile_error', 'runtime_error', 'memory_limit', 'wrong_output')

task = json.loads(sys.stdin.buffer.read())
if ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
    sys.exit('the harness cannot be protected')


def report(event, **facts):
    line = '\n' + task['nonce'] + ' ' + json.dumps(dict(facts, event=event)) + '\n'
    sys.stdout.write(line)
    sys.stdout.flush()


def data_of(text):
    # JSON can carry lone surrogates; in a program they are then a syntax error, as in a file.
    return text.encode('utf-8', 'surrogatepass')


def framed(data):
    return b'%012d' % len(data) + data


class Output:
    """What the program prints, hashed as it comes, without the newlines at its end."""

    def __init__(self, limit):
        self.left = limit
        self.hash = hashlib.sha256()
        self.newlines = b''

    def add(self, part):
        self.left -= len(part)
        part = self.newlines + part
        body = part.rstrip(b'\n')
        self.hash.update(body)
        self.newlines = part[len(body):]


def end(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return child.wait()


def run():
    """The one event of this run: what the runner said, or how the program ended."""
    source = tempfile.TemporaryFile()
    source.write(data_of(task['stdin']))
    source.seek(0)
    ours, theirs = socket.socketpair()
    child = subprocess.Popen(
        [sys.executable, '-I', '-X', 'utf8', '-c', START, str(theirs.fileno()), task['style'],
         str(task['memory_limit_mb'] * 1024 * 1024)],
        stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=(theirs.fileno(),),
        start_new_session=True)
    theirs.close()
    source.close()
    try:
        return watch(child, ours)
    finally:
        end(child)


def watch(child, channel):
    printed = child.stdout.fileno()
    os.set_blocking(printed, False)
    channel.setblocking(False)
    output = Output(task['output_limit'])
    secret = secrets.token_hex(16).encode()
    heard, to_send, stage = b'', memoryview(b''), 'starting'
    deadline = time.monotonic() + START_LIMIT_S
    reading = {printed, channel.fileno()}
    while True:
        # Looked at before reading, so that what was printed before the end is still read below.
        ended = child.poll() is not None
        if ended:
            end(child)
        readable, _, _ = select.select(list(reading), [channel] if to_send else [], [], 0 if ended else 0.01)
        if printed in readable:
            part = read_some(printed)
            if part:
                output.add(part)
                if output.left < 0:
                    return 'wrong_output', {}
            elif part == b'':
                reading.discard(printed)
        if channel.fileno() in readable:
            part = receive_some(channel)
            if part == b'':
                reading.discard(channel.fileno())
            words = (heard + (part or b'')).split(b'\n')
            heard = words.pop()[-64:]
            for word in words:
                if stage == 'starting' and word == b'up':
                    report('running')
                    stage, deadline = 'running', time.monotonic() + task['time_limit_s']
                    to_send = memoryview(framed(data_of(task['program'])))
                elif stage == 'running' and word == b'loaded' and task['style'] == 'assert':
                    stage = 'testing'
                    to_send = memoryview(bytes(to_send) + framed(secret) + framed(data_of(task['test'])))
                elif stage == 'testing' and word == secret:
                    return 'passed', {}
                elif stage != 'starting' and word.decode('latin-1') in EARLY:
                    return word.decode('latin-1'), {}
        if to_send:
            to_send = to_send[send_some(channel, to_send):]
        if time.monotonic() > deadline:
            return ('not_started' if stage == 'starting' else 'time_limit'), {}
        if ended and not readable:
            return how_it_ended(child.returncode, stage, output)


def how_it_ended(code, stage, output):
    if stage == 'starting':
        return 'not_started', {}
    if code == -signal.SIGXCPU:
        return 'time_limit', {}
    if code == -signal.SIGKILL:
        # Not by us: what kills beside us is the memory running out.
        return 'memory_limit', {}
    if code != 0 or task['style'] == 'assert':
        return 'runtime_error', {}
    return 'printed', {'sha256': output.hash.hexdigest()}


def read_some(descriptor):
    try:
        return os.read(descriptor, 65536)
    except BlockingIOError:
        return None


def receive_some(channel):
    try:
        return channel.recv(4096)
    except BlockingIOError:
        return None
    except ConnectionError:
        return b''


def send_some(channel, data):
    try:
        return channel.send(data[:65536], socket.MSG_NOSIGNAL)
    except BlockingIOError:
        return 0
    except OSError:
        return len(data)


def compiles(text):
    try:
        compile(data_of(text), 'test.py', 'exec', 0, True, 0)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return False
    return True


if task['style'] == 'assert' and not compiles(task['test']):
    report('test_not_python')
else:
    event, facts = run()
    report(event, **facts)
`;

/**
 * The whole program: the harness, with the runner as a string literal that Python starts with a copy of the builtins.
 */
export const PROGRAM_HARNESS = `RUNNER = ${JSON.stringify(RUNNER)}
START = "exec(compile(" + repr(RUNNER) + ", 'runner.py', 'exec'), {'__builtins__': dict(vars(__builtins__)), '__name__': 'runner'})"
${HARNESS}`;
