/**
 * Holds the Python program that decides whether two mathematical answers are equal. The answers are data on standard
 * input. A child process does the work, because SymPy can spend minutes in one long multiplication; the parent kills
 * the child when its time is up, and reports. No code of a caller runs here: a parser and SymPy read hostile texts.
 *
 * Two expressions are equal if their difference is zero. Rational numbers are compared exactly. Otherwise both are
 * evaluated at points, to more digits than an approximation has, which is cheap and detects most unequal expressions;
 * the rest is simplified. If the values are equal at all points, but neither simplification nor SymPy's `equals` proves
 * equality, the comparison is undecided.
 *
 * A policy must not be able to turn a wrong answer into an undecided one. So the points come from a digest of both
 * texts, and no answer can have its poles there; a point where a side has no finite value is replaced by the next one.
 * An answer is not equal if it cannot be evaluated within its share of the time, such as a tower of exponentials, if it
 * has no finite value where the reference has one, or if it has more members than a comparison can take.
 */
import { EXPRESSION_READER } from './expression-reader.ts';

const COMPARISON = `
DIGITS = 60
MAX_MEMBERS = 50
# Points that are tried, and points that must be usable.
MAX_POINTS = 8
POINTS = 2
POINT_DENOMINATOR = 16777213


class Undecided(Exception):
    pass


def same(one, other):
    """Whether a value of the reference and one of the answer are equal. The reference's is always the first."""
    if isinstance(one, sympy.Expr) and isinstance(other, sympy.Expr):
        return same_expression(one, other)
    one, other = bare(one, other), bare(other, one)
    if isinstance(one, sympy.Expr) or isinstance(other, sympy.Expr):
        return isinstance(one, sympy.Expr) and isinstance(other, sympy.Expr) and same_expression(one, other)
    if one[0] != other[0]:
        return False
    if one[0] == 'list':
        return one[1] == other[1] and in_order(one[2], other[2])
    if one[0] == 'matrix':
        return len(one[1]) == len(other[1]) and all(map(in_order, one[1], other[1]))
    if one[0] == 'rel':
        return same_relation(one, other)
    return in_any_order(one[1], other[1])


def bare(value, other):
    """A set of one is its member, and x = 5 is 5, where the other side is an expression or a set."""
    if isinstance(value, tuple) and value[0] == 'set' and len(value[1]) == 1:
        return bare(value[1][0], other)
    if isinstance(value, tuple) and value[0] == 'set' and not is_equations(other):
        return ('set', [bare(member, None) for member in value[1]])
    if is_equation(value) and not is_equations(other):
        return value[3]
    return value


def is_equation(value):
    return isinstance(value, tuple) and value[0] == 'rel' and value[1] == '=' and isinstance(value[2], sympy.Symbol)


def is_equations(value):
    return isinstance(value, tuple) and (value[0] == 'rel' or value[0] == 'set' and any(map(is_equations, value[1])))


def in_order(some, others):
    return len(some) == len(others) and all(map(same, some, others))


def in_any_order(some, others):
    if len(some) > MAX_MEMBERS:
        raise Undecided
    if len(others) > MAX_MEMBERS:
        return False
    return (all(any(same(value, candidate) for candidate in others) for value in some)
            and all(any(same(candidate, value) for candidate in some) for value in others))


def same_relation(one, other):
    operator, one_side, other_side = one[1], gap(one), gap(other)
    if operator in '=!=':
        return one[1] == other[1] and (
            same_expression(one_side, other_side) or same_expression(one_side, -other_side))
    if operator[0] == '>':
        operator, one_side = '<' + operator[1:], -one_side
    against = other[1]
    if against[0] == '>':
        against, other_side = '<' + against[1:], -other_side
    return operator == against and same_expression(one_side, other_side)


def gap(relation):
    return number(number(relation[2]) - number(relation[3]))


def same_expression(one, other):
    if one == other:
        return True
    if one.is_Rational and other.is_Rational or one.is_infinite or other.is_infinite:
        return False
    if differ_at_points(one, other):
        return False
    difference = sympy.simplify(one - other)
    if difference == 0:
        return True
    proved = difference.equals(0)
    if proved is None:
        raise Undecided
    return bool(proved)


def point(symbols, place):
    """A rational number between 1/2 and 3/2 for each symbol, every second time negative: a digest of the task."""
    chosen = {}
    for symbol in symbols:
        content = json.dumps([task['reference'], task['answer'], str(symbol), place]).encode()
        share = int.from_bytes(hashlib.sha256(content).digest()[:3], 'big')
        sign = 1 if place % 2 == 0 else -1
        chosen[symbol] = sign * sympy.Rational(POINT_DENOMINATOR // 2 + share, POINT_DENOMINATOR)
    return chosen


VALUES = {}


def value_at(expression, place):
    """Its value at a point; None where it has no finite one. Kept, since the members of a set are compared in pairs."""
    key = (expression, place)
    if key not in VALUES:
        try:
            value = expression.subs(point(expression.free_symbols, place)).evalf(DIGITS)
            VALUES[key] = value if value.is_number and value.is_finite else None
        except (ArithmeticError, ValueError, TypeError, AttributeError, NotImplementedError, RecursionError):
            VALUES[key] = None
    return VALUES[key]


def differ_at_points(one, other):
    usable, reference_alone = 0, 0
    for place in range(MAX_POINTS if one.free_symbols or other.free_symbols else 1):
        values = value_at(one, place), value_at(other, place)
        if None in values:
            reference_alone += values[0] is not None
            continue
        gap, size = abs(values[0] - values[1]).evalf(DIGITS), abs(values[0]) + abs(values[1]) + 1
        if gap > size * sympy.Float(10) ** (10 - DIGITS):
            return True
        usable += 1
        if usable == POINTS:
            return False
    return usable == 0 and reference_alone > 0


def work_out(value):
    """Evaluates every expression of a value, to see that it can be."""
    if isinstance(value, sympy.Expr):
        for place in range(POINTS):
            value_at(value, place)
    elif isinstance(value, (tuple, list)):
        for part in value:
            work_out(part)
`;

const HARNESS = String.raw`
import hashlib, json, os, resource, select, signal, sys, time

READING_SHARE = 1 / 8

task = json.loads(sys.stdin.buffer.read())


def report(event):
    sys.stdout.write('\n' + task['nonce'] + ' ' + json.dumps({'event': event}) + '\n')
    sys.stdout.flush()


def decide(mark):
    """reference_unread, different, equal or comparison_open. Marks how far it has come."""
    stuck = (Undecided, ArithmeticError, ValueError, TypeError, AttributeError, NotImplementedError, RecursionError,
             MemoryError)
    try:
        reference = read(task['reference'])
        work_out(reference)
    except NotAnExpression:
        return 'reference_unread'
    except stuck:
        return 'comparison_open'
    mark(b'R')
    started = time.process_time()
    try:
        answer = read(task['answer'])
        work_out(answer)
    except (NotAnExpression, *stuck):
        return 'different'
    # Comparing takes a few times as long. An answer that spends the time of the comparison is not undecided for it.
    if time.process_time() - started > READING_SHARE * task['time_limit_s']:
        return 'different'
    mark(b'A')
    try:
        return 'equal' if same(reference, answer) else 'different'
    except NotAnExpression:
        return 'different'
    except stuck:
        return 'comparison_open'


def limited():
    """What decide says within the limits."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            limit(resource.RLIMIT_AS, task['memory_limit_mb'] * 1024 * 1024)
            limit(resource.RLIMIT_CPU, task['time_limit_s'])
            os.write(sending, decide(lambda stage: os.write(sending, stage)).encode())
        finally:
            os._exit(0)
    os.close(sending)
    heard, left, deadline = b'', False, time.monotonic() + 2 * task['time_limit_s']
    while not left:
        if not select.select([receiving], [], [], max(0, deadline - time.monotonic()))[0]:
            os.kill(child, signal.SIGKILL)
            break
        part = os.read(receiving, 64)
        heard, left = heard + part, part == b''
    status = os.waitpid(child, 0)[1]
    event = heard.lstrip(b'RA').decode()
    if not event and heard == b'R' and os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL:
        # Reading the answer alone spent the processor time or crashed the interpreter. Killed at the time on the wall, or
        # for want of memory, says something of the machine too.
        return 'different'
    return event or 'comparison_open'


def limit(what, value):
    hard = resource.getrlimit(what)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(what, (value, hard))


report(limited() if found else 'library_missing')
`;

/** The whole program. It reports a missing library before it uses any part of it. */
export const EQUIVALENCE_HARNESS = `try:
    import sympy
    found = True
except ImportError:
    found = False
if found:
    exec(${JSON.stringify(EXPRESSION_READER + COMPARISON)}, globals())
${HARNESS}`;
