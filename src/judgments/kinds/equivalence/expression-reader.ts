/**
 * Holds the Python parser that reads a mathematical answer, LaTeX or plain text, into SymPy. The existing parsers do
 * not fit: SymPy's `parse_expr` evaluates Python; its LaTeX parsers require one exact version of ANTLR or Lark that
 * neither Debian nor SandboxFusion's image has; and extractors such as Math-Verify search a text for a matching part,
 * with backtracking expressions, whereas this parser reads the whole answer or refuses it.
 *
 * Recursive descent over tokens, linear in the text. It never evaluates text as code, keeps numbers exact, and refuses
 * expressions that would make huge numbers.
 *
 * A value is a SymPy expression, or a tuple that begins with its kind: `list` with brackets and members, `set` and
 * `union` (members in any order), `rel` with operator, left, right, `matrix` with rows.
 *
 * Conventions, where mathematics has several: 50% is 1/2; degrees are numbers; `\log` without a base is base 10, as in
 * SymPy's LaTeX parser; `e` and `i` are the constants; `2\frac{1}{2}` is the mixed number 5/2; a unit in `\text{}`
 * after a value is ignored; `1,234` outside brackets is one number; a bare list is a set; `a \pm b` is a set of two.
 */
import { EXPRESSION_TOKENS } from './expression-tokens.ts';

const READER = String.raw`
class Reader:
    def __init__(self, tokens, plus_minus):
        self.tokens = list(reversed(tokens))
        self.sign = plus_minus
        self.depth = 0
        self.bars = 0

    def peek(self):
        return self.tokens[-1] if self.tokens else ('', '')

    def next(self):
        if not self.tokens:
            raise NotAnExpression
        return self.tokens.pop()

    def at(self, *texts):
        kind, text = self.peek()
        return kind in ('p', 'c') and text in texts

    def accept(self, *texts):
        if not self.at(*texts):
            return None
        return self.next()[1]

    def expect(self, *texts):
        found = self.accept(*texts)
        if found is None:
            raise NotAnExpression
        return found

    def whole(self):
        members = self.members()
        if self.tokens:
            raise NotAnExpression
        return members[0] if len(members) == 1 else ('set', members)

    def members(self):
        members = [self.relation()]
        while self.accept(',', ';'):
            if self.accept(','):
                pass
            members.append(self.relation())
        return members

    def relation(self):
        # f(x) = ... names f.
        head = list(reversed(self.tokens[-5:]))
        if ''.join(kind for kind, _ in head) == 'spspp' and ''.join(text for kind, text in head if kind == 'p') == '()=':
            del self.tokens[-4:-1]
        left, found = self.union(), []
        while self.at(*RELATIONS):
            operator = RELATIONS[self.next()[1]]
            right = self.union()
            found.append(('rel', operator, left, right))
            left = right
        if not found:
            return left
        return found[0] if len(found) == 1 else ('set', found)

    def union(self):
        parts = [self.sum()]
        while self.accept('cup'):
            parts.append(self.sum())
        return parts[0] if len(parts) == 1 else ('union', parts)

    def sum(self):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotAnExpression
        value = self.product()
        while True:
            operator = self.accept('+', '-', 'pm', 'mp')
            if operator is None:
                break
            right = number(self.product())
            plus = {'+': True, '-': False, 'pm': self.sign, 'mp': not self.sign}[operator]
            value = number(value) + right if plus else number(value) - right
        self.depth -= 1
        return value

    def product(self):
        value = self.signed()
        while True:
            if self.accept('*'):
                value = number(value) * number(self.signed())
            elif self.accept('/'):
                value = quotient(number(value), number(self.signed()))
            elif self.accept('unit'):
                value = number(value)
            elif self.starts_factor():
                if self.peek()[0] == 'n':
                    raise NotAnExpression
                value = number(value) * number(self.power())
            else:
                return value

    def starts_factor(self):
        kind, text = self.peek()
        if kind in ('n', 's'):
            return True
        if kind == 'p':
            return text in ('(', '{') or (text == '|' and self.bars == 0)
        return kind == 'c' and (text in FUNCTIONS or text in GREEK or text in (
            'frac', 'sqrt', 'pi', 'infty', 'binom', 'lfloor', 'lceil', 'boxed'))

    def signed(self):
        # A loop, or a thousand signs would be a thousand calls.
        negative, seen = False, False
        while self.at('+', '-', 'pm', 'mp'):
            operator = self.next()[1]
            negative ^= operator == '-' or (operator == 'pm' and not self.sign) or (operator == 'mp' and self.sign)
            seen = True
        value = self.power()
        return -number(value) if negative else number(value) if seen else value

    def power(self):
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise NotAnExpression
        value = self.postfix(self.atom())
        if self.accept('^'):
            if self.accept('degree'):
                value = self.postfix(number(value))
            else:
                value = self.postfix(power(number(value), number(self.exponent())))
        self.depth -= 1
        return value

    def exponent(self):
        if self.at('{'):
            self.next()
            if self.accept('degree'):
                self.expect('}')
                return sympy.Integer(1)
            value = self.sum()
            self.expect('}')
            return value
        if self.accept('-'):
            return -number(self.power())
        return self.power()

    def postfix(self, value):
        while True:
            if self.accept('!'):
                value = sympy.factorial(small(number(value)))
            elif self.accept('%'):
                value = number(value) / 100
            elif self.accept('degree'):
                value = number(value)
            else:
                return value

    def atom(self):
        kind, text = self.next()
        if kind == 'n':
            value = sympy.Rational(text)
            # 2\frac{1}{2}
            if '.' not in text and self.tokens[-1:] == [('c', 'frac')]:
                part = number(self.power())
                if part.is_Rational and 0 < part < 1:
                    return value + part
                return value * part
            return value
        if kind == 's':
            return self.symbol(text)
        if kind == 'c':
            return self.command(text)
        if text == '{':
            value = self.sum()
            self.expect('}')
            return value
        if text in CLOSING:
            self.bars, bars = 0, self.bars
            members = self.members()
            closing = self.expect(*CLOSING[text])
            self.bars = bars
            if len(members) == 1 and (text, closing) in (('(', ')'), ('[', ']')):
                return members[0]
            return ('list', text + closing, members)
        if text == '{{':
            members = [] if self.at('}}') else self.members()
            self.expect('}}')
            return ('set', members)
        if text == '|':
            self.bars += 1
            value = number(self.sum())
            self.bars -= 1
            self.expect('|')
            return sympy.Abs(value)
        raise NotAnExpression

    def symbol(self, name):
        if self.accept('_'):
            if self.accept('{'):
                parts = []
                while not self.at('}'):
                    kind, text = self.next()
                    if kind not in ('n', 's'):
                        raise NotAnExpression
                    parts.append(text)
                self.expect('}')
                name += '_' + ''.join(parts)
            else:
                kind, text = self.next()
                if kind not in ('n', 's'):
                    raise NotAnExpression
                name += '_' + text
        elif name == 'e':
            return sympy.E
        elif name == 'i':
            return sympy.I
        return sympy.Symbol(name, real=True)

    def command(self, name):
        if name == 'pi':
            return sympy.pi
        if name == 'infty':
            return sympy.oo
        if name == 'emptyset' or name == 'varnothing':
            return ('set', [])
        if name in GREEK:
            return self.symbol(name)
        if name == 'frac':
            top = number(self.argument())
            return quotient(top, number(self.argument()))
        if name == 'binom':
            top = small(number(self.argument()))
            return sympy.binomial(top, small(number(self.argument())))
        if name == 'sqrt':
            degree = sympy.Integer(2)
            if self.accept('['):
                degree = number(self.sum())
                self.expect(']')
            return power(number(self.argument()), quotient(sympy.Integer(1), degree))
        if name == 'boxed':
            return self.argument()
        if name in ('lfloor', 'lceil'):
            value = number(self.sum())
            self.expect('rfloor' if name == 'lfloor' else 'rceil')
            return sympy.floor(value) if name == 'lfloor' else sympy.ceiling(value)
        if name == 'begin':
            return self.matrix()
        if name in FUNCTIONS:
            return self.function(name)
        raise NotAnExpression

    def argument(self):
        """What a LaTeX command takes: a group, or one token, of a number its first digit."""
        kind, text = self.peek()
        if kind == 'n' and len(text) > 1:
            self.next()
            self.tokens.append(('n', text[1:]))
            if not text[0].isdigit() or not text[1:].isdigit():
                raise NotAnExpression
            return sympy.Integer(text[0])
        if kind == 'n':
            self.next()
            return sympy.Rational(text)
        return self.atom()

    def function(self, name):
        base = sympy.Integer(10)
        if name == 'log' and self.accept('_'):
            base = number(self.argument())
        exponent = None
        if self.accept('^'):
            exponent = number(self.exponent())
            if exponent == -1 and name in INVERSES:
                name, exponent = INVERSES[name], None
        value = self.function_argument()
        value = sympy.log(value, base) if name == 'log' else FUNCTIONS[name](value)
        return value if exponent is None else power(value, exponent)

    def function_argument(self):
        if self.at('(', '{', '|'):
            return number(self.atom())
        negative = self.accept('-') is not None
        value = number(self.power())
        while self.starts_factor() and not self.at(*FUNCTIONS) and self.peek()[0] != 'n' and not self.at('('):
            value = value * number(self.power())
        return -value if negative else value

    def matrix(self):
        rows = [[self.sum()]]
        while not self.accept('end'):
            if self.accept('\\'):
                rows.append([])
                if self.accept('end'):
                    rows.pop()
                    break
            else:
                self.expect('&')
            rows[-1].append(self.sum())
        return ('matrix', rows)


def number(value):
    if not isinstance(value, sympy.Expr) or value.has(sympy.nan, sympy.zoo):
        raise NotAnExpression
    return value


def small(value):
    if value.is_number and not (value.is_Integer and abs(value) <= MAX_INTEGER_ARGUMENT):
        raise NotAnExpression
    return value


def quotient(top, bottom):
    if bottom == 0:
        raise NotAnExpression
    return top / bottom


def power(base, exponent):
    if base.is_Rational and exponent.is_Rational:
        bits = max(abs(base.p), base.q).bit_length() * (abs(exponent.p) // exponent.q + 1)
        if bits > MAX_BITS or abs(exponent.p) > MAX_BITS or exponent.q > MAX_BITS or (base == 0 and exponent < 0):
            raise NotAnExpression
    elif exponent.is_number and exponent.is_real and abs(exponent.evalf(5)) > MAX_INTEGER_ARGUMENT:
        raise NotAnExpression
    return base ** exponent


def read(text):
    """The value of an answer. Raises NotAnExpression."""
    tokens = tokens_of(text)
    try:
        first = Reader(tokens, True).whole()
        if not any(token in (('c', 'pm'), ('c', 'mp')) for token in tokens):
            return first
        return ('set', [first, Reader(tokens, False).whole()])
    except (ValueError, TypeError, ArithmeticError, AttributeError, RecursionError):
        # What SymPy says of arguments that a function does not take.
        raise NotAnExpression
`;

/** The whole parser. It only defines functions; the harness calls `read`. */
export const EXPRESSION_READER = `${EXPRESSION_TOKENS}\n${READER}`;
