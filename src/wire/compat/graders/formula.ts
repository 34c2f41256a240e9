/**
 * The arithmetic of a multi grader's `calculate_output`: numbers, names of graders, `+ - * / ^`, parentheses, and a few
 * functions. The formula is parsed into a tree and computed; nothing of it is run as code.
 */
import type { Result } from '../../../result.ts';

/** Longest formula, in characters. */
export const MAX_FORMULA_CHARS = 4_000;
/** Deepest nesting of parentheses, functions, signs and powers. */
const MAX_DEPTH = 64;

type Formula =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'call'; readonly name: FunctionName; readonly args: readonly Formula[] }
  | { readonly kind: 'operation'; readonly operator: Operator; readonly left: Formula; readonly right: Formula };

export type { Formula };

type Operator = '+' | '-' | '*' | '/' | '^';

const OPERATIONS: Readonly<Record<Operator, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '^': (left, right) => left ** right,
};

const ONE_ARGUMENT = {
  abs: Math.abs,
  floor: Math.floor,
  ceil: Math.ceil,
  exp: Math.exp,
  sqrt: Math.sqrt,
  log: Math.log,
};
const SEVERAL_ARGUMENTS = { min: Math.min, max: Math.max };

const FUNCTION_NAMES = ['min', 'max', 'abs', 'floor', 'ceil', 'exp', 'sqrt', 'log'] as const;
type FunctionName = (typeof FUNCTION_NAMES)[number];

const TOKEN = /\s*(?:(\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?)|([A-Za-z_][A-Za-z0-9_]*)|([-+*/^(),]))\s*/iy;

class FormulaError extends Error {}

/** Parses a formula, or says where it is wrong. Linear in its length. */
export function parseFormula(text: string): Result<Formula, string> {
  if (text.length > MAX_FORMULA_CHARS) {
    return { ok: false, error: `expected at most ${MAX_FORMULA_CHARS} characters` };
  }
  try {
    return { ok: true, value: new Parser(tokensOf(text)).parse() };
  } catch (error) {
    if (error instanceof FormulaError) return { ok: false, error: error.message };
    throw error;
  }
}

/** The names of the graders that a formula uses. */
export function variablesOf(formula: Formula): readonly string[] {
  switch (formula.kind) {
    case 'number':
      return [];
    case 'variable':
      return [formula.name];
    case 'call':
      return formula.args.flatMap(variablesOf);
    case 'operation':
      return [...variablesOf(formula.left), ...variablesOf(formula.right)];
  }
}

/** The value of a formula; `null` = it is not finite, as after a division by 0. @throws Error without a variable. */
export function formulaValue(formula: Formula, variables: ReadonlyMap<string, number>): number | null {
  const value = compute(formula, variables);
  return Number.isFinite(value) ? value : null;
}

function compute(formula: Formula, variables: ReadonlyMap<string, number>): number {
  switch (formula.kind) {
    case 'number':
      return formula.value;
    case 'variable': {
      const value = variables.get(formula.name);
      if (value === undefined) throw new Error('formulaValue: the variables were not checked');
      return value;
    }
    case 'call': {
      const values = formula.args.map((one) => compute(one, variables));
      const { name } = formula;
      if (name === 'min' || name === 'max') return SEVERAL_ARGUMENTS[name](...values);
      return ONE_ARGUMENT[name](values[0] ?? Number.NaN);
    }
    case 'operation':
      return OPERATIONS[formula.operator](compute(formula.left, variables), compute(formula.right, variables));
  }
}

type Token = { readonly text: string; readonly kind: 'number' | 'name' | 'sign'; readonly at: number };

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  let at = 0;
  while (at < text.length) {
    const found = TOKEN.exec(text);
    if (found === null) {
      if (text.slice(at).trim() === '') break;
      throw new FormulaError(`unexpected character at position ${at}; use numbers, names, + - * / ^ and parentheses`);
    }
    const [, number, name, sign] = found;
    const kind = number !== undefined ? 'number' : name !== undefined ? 'name' : 'sign';
    tokens.push({ text: number ?? name ?? sign ?? '', kind, at });
    at = TOKEN.lastIndex;
  }
  return tokens;
}

/** Binding strength of the operators that take what is left of them. */
const STRENGTH: ReadonlyMap<string, number> = new Map([
  ['+', 1],
  ['-', 1],
  ['*', 2],
  ['/', 2],
]);

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Formula {
    const formula = this.#sum(1);
    const rest = this.#tokens[this.#next];
    if (rest !== undefined) throw unexpected(rest);
    return formula;
  }

  #sum(strength: number): Formula {
    return this.#nested(() => {
      let left = strength > 2 ? this.#signed() : this.#sum(strength + 1);
      for (;;) {
        const operator = this.#tokens[this.#next]?.text;
        if (operator === undefined || strength > 2 || STRENGTH.get(operator) !== strength) return left;
        this.#next++;
        left = { kind: 'operation', operator: operatorOf(operator), left, right: this.#sum(strength + 1) };
      }
    });
  }

  /** A power binds more strongly than a sign before it: -2 ^ 2 is -4. */
  #signed(): Formula {
    return this.#nested(() => {
      const sign = this.#tokens[this.#next]?.text;
      if (sign !== '-' && sign !== '+') return this.#power();
      this.#next++;
      const value = this.#signed();
      return sign === '+' ? value : { kind: 'operation', operator: '-', left: ZERO, right: value };
    });
  }

  #power(): Formula {
    const left = this.#operand();
    if (this.#tokens[this.#next]?.text !== '^') return left;
    this.#next++;
    return { kind: 'operation', operator: '^', left, right: this.#signed() };
  }

  #operand(): Formula {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw new FormulaError('the formula ends where a number or name is expected');
    if (token.kind === 'number') return { kind: 'number', value: Number(token.text) };
    if (token.text === '(') {
      const inner = this.#sum(1);
      this.#expect(')');
      return inner;
    }
    if (token.kind !== 'name') throw unexpected(token);
    return this.#tokens[this.#next]?.text === '(' ? this.#call(token) : { kind: 'variable', name: token.text };
  }

  #call({ text, at }: Token): Formula {
    const name = FUNCTION_NAMES.find((known) => known === text);
    if (name === undefined) {
      throw new FormulaError(`unknown function at position ${at}; there are ${FUNCTION_NAMES.join(', ')}`);
    }
    this.#expect('(');
    const args = [this.#sum(1)];
    while (this.#tokens[this.#next]?.text === ',') {
      this.#next++;
      args.push(this.#sum(1));
    }
    this.#expect(')');
    if (args.length > 1 && name !== 'min' && name !== 'max') {
      throw new FormulaError(`the function at position ${at} takes one value`);
    }
    return { kind: 'call', name, args };
  }

  #expect(text: string): void {
    const token = this.#tokens[this.#next++];
    if (token === undefined) throw new FormulaError(`the formula ends where ${text} is expected`);
    if (token.text !== text) throw unexpected(token);
  }

  #nested<T>(parse: () => T): T {
    // Each pair of parentheses costs up to four levels.
    if (++this.#depth > MAX_DEPTH * 4) throw new FormulaError(`nested deeper than ${MAX_DEPTH} levels`);
    const value = parse();
    this.#depth--;
    return value;
  }
}

const ZERO: Formula = { kind: 'number', value: 0 };

function operatorOf(text: string): Operator {
  if (text === '+' || text === '-' || text === '*' || text === '/') return text;
  throw new Error('operatorOf: not an operator');
}

function unexpected({ at }: Token): FormulaError {
  return new FormulaError(`unexpected token at position ${at}`);
}
