/** The tokeniser of the Python parser in expression-reader.ts. */

export const EXPRESSION_TOKENS = String.raw`
import sympy

MAX_LENGTH = 2000
MAX_DEPTH = 40
MAX_BITS = 1 << 18
MAX_INTEGER_ARGUMENT = 2000

SPACING = ('left', 'right', 'big', 'Big', 'bigg', 'Bigg', 'bigl', 'bigr', 'displaystyle', 'textstyle', 'quad', 'qquad',
           'limits', 'nolimits')
UNICODE = {'\u2212': '-', '\u2013': '-', '\u00d7': '*', '\u22c5': '*', '\u00b7': '*', '\u00f7': '/', '\u03c0': r'\pi ',
           '\u221e': r'\infty ', '\u221a': r'\sqrt ', '\u2264': r'\le ', '\u2265': r'\ge ', '\u2260': r'\ne ',
           '\u222a': r'\cup ', '\u00b0': r'\degree ', '\u00b1': r'\pm ', '\u00b2': '^2', '\u00b3': '^3', '\u00a0': ' '}
SAME_COMMAND = {'dfrac': 'frac', 'tfrac': 'frac', 'cfrac': 'frac', 'leq': 'le', 'geq': 'ge', 'neq': 'ne', 'lt': '<',
                'gt': '>', 'times': '*', 'cdot': '*', 'ast': '*', 'div': '/', 'dbinom': 'binom', 'tbinom': 'binom',
                'lbrace': '{{', 'rbrace': '}}', '{': '{{', '}': '}}', 'lvert': '|', 'rvert': '|', 'vert': '|', 'mid': '|',
                'circ': 'degree', '%': '%', 'lbrack': '[', 'rbrack': ']', 'textbf': 'text', 'mathrm': 'text',
                'mathbf': 'text', 'mbox': 'text', 'textit': 'text', 'rm': 'text', 'operatorname': 'text',
                'infin': 'infty', 'arcsin': 'asin', 'arccos': 'acos', 'arctan': 'atan'}
GREEK = ('alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau '
         'upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Sigma Upsilon Phi Psi Omega').split()
FUNCTIONS = {'sin': sympy.sin, 'cos': sympy.cos, 'tan': sympy.tan, 'cot': sympy.cot, 'sec': sympy.sec, 'csc': sympy.csc,
             'asin': sympy.asin, 'acos': sympy.acos, 'atan': sympy.atan, 'sinh': sympy.sinh, 'cosh': sympy.cosh,
             'tanh': sympy.tanh, 'exp': sympy.exp, 'ln': sympy.log, 'log': None, 'abs': sympy.Abs}
INVERSES = {'sin': 'asin', 'cos': 'acos', 'tan': 'atan'}
RELATIONS = {'=': '=', '<': '<', '>': '>', 'le': '<=', 'ge': '>=', 'ne': '!='}
CLOSING = {'(': (')', ']'), '[': (']', ')')}
WORDS = {'pi': 'pi', 'sqrt': 'sqrt', 'inf': 'infty', 'infinity': 'infty', 'oo': 'infty', 'or': ',', 'and': ','}


class NotAnExpression(Exception):
    pass


def tokens_of(text):
    """(kind, text): n number, s symbol, c command, p punctuation."""
    if len(text) > MAX_LENGTH:
        raise NotAnExpression
    text = ''.join(UNICODE.get(char, char) for char in text).strip()
    # A full stop ends a sentence, unless digits follow it.
    text = text[:-1].rstrip() if text.endswith('.') else text
    tokens, at, brackets = [], 0, 0
    while at < len(text):
        char = text[at]
        if char.isspace() or char in '$~':
            at += 1
        elif char in '0123456789' or (char == '.' and text[at + 1:at + 2] in tuple('0123456789')):
            at = number_at(text, at, brackets == 0, tokens)
        elif char == '\\':
            at = command_at(text, at, tokens)
        elif char.isascii() and char.isalpha():
            at = word_at(text, at, tokens)
        elif text.startswith('**', at):
            tokens.append(('p', '^'))
            at += 2
        elif text.startswith(('<=', '>=', '!='), at):
            tokens.append(('c', {'<': 'le', '>': 'ge', '!': 'ne'}[char]))
            at += 2
        elif char in '+-*/^_()[]{}|,;!%<>=&':
            brackets += (char in '([') - (char in ')]')
            tokens.append(('p', char))
            at += 1
        else:
            raise NotAnExpression
        if tokens and tokens[-1] in (('p', '{{'), ('p', '}}')):
            brackets += 1 if tokens[-1][1] == '{{' else -1
    return tokens


def digits_from(text, at):
    while at < len(text) and text[at] in '0123456789':
        at += 1
    return at


def number_at(text, at, grouped, tokens):
    end = digits_from(text, at)
    digits = text[at:end]
    # 1,234 and 1{,}234 and 10\,000
    for comma in (',', '{,}', '\\,', '\\!', ',\\!'):
        if comma == ',' and not grouped or not 1 <= end - at <= 3 or digits.startswith('0'):
            continue
        while text.startswith(comma, end) and digits_from(text, end + len(comma)) == end + len(comma) + 3:
            digits += text[end + len(comma):end + len(comma) + 3]
            end += len(comma) + 3
        if end - at > 3:
            break
    if text[end:end + 1] == '.' and text[end + 1:end + 2] in tuple('0123456789'):
        stop = digits_from(text, end + 1)
        digits += text[end:stop]
        end = stop
    if text[end:end + 1] in ('e', 'E'):
        sign = end + 1 + (text[end + 1:end + 2] in ('+', '-'))
        stop = digits_from(text, sign)
        if stop > sign:
            if stop - sign > 4:
                raise NotAnExpression
            digits += text[end:stop]
            end = stop
    tokens.append(('n', digits))
    return end


def command_at(text, at, tokens):
    end = at + 1
    while end < len(text) and text[end].isascii() and text[end].isalpha():
        end += 1
    name = text[at + 1:end] or text[at + 1:at + 2]
    end = max(end, at + 2)
    if name in SPACING or name in (',', ';', ':', '!', ' ', '$', '(', ')', '[', ']', 'mathop'):
        return end
    name = SAME_COMMAND.get(name, name)
    if name == 'text':
        return text_at(text, end, tokens)
    if name == 'begin' or name == 'end':
        stop = text.find('}', end)
        kind = text[end:stop].strip('{ ')
        if stop < 0 or kind not in ('matrix', 'pmatrix', 'bmatrix', 'Bmatrix', 'vmatrix'):
            raise NotAnExpression
        tokens.append(('c', name))
        return stop + 1
    tokens.append(('p' if name in ('*', '/', '{{', '}}', '|', '<', '>', '%', '[', ']') else 'c', name))
    return end


def text_at(text, at, tokens):
    """\\text{...}: a connective, the whole answer, or a unit behind a value."""
    while text[at:at + 1] == ' ':
        at += 1
    if text[at:at + 1] != '{':
        raise NotAnExpression
    end = text.find('}', at)
    if end < 0:
        raise NotAnExpression
    inner = text[at + 1:end].strip()
    if inner in ('or', 'and', ', or', ', and'):
        tokens.append(('p', ','))
    elif not tokens:
        if '\\' in inner or '{' in inner:
            raise NotAnExpression
        tokens.extend(tokens_of(inner))
    elif inner:
        tokens.append(('c', 'unit'))
    return end + 1


def word_at(text, at, tokens):
    end = at
    while end < len(text) and text[end].isascii() and text[end].isalpha():
        end += 1
    word = text[at:end]
    name = WORDS.get(word.lower() if len(word) > 2 else word, SAME_COMMAND.get(word, word))
    if name == ',':
        tokens.append(('p', ','))
    elif name in FUNCTIONS or name in ('sqrt', 'infty', 'pi') or word in GREEK:
        tokens.append(('c', word if word in GREEK else name))
    elif len(word) <= 3:
        tokens.extend(('s', letter) for letter in word)
    else:
        # A word, and not a product of letters.
        raise NotAnExpression
    return end
`;
