/**
 * Delimits untrusted text in a prompt: answers, tool output, titles, ids, rubrics, questions. Such text cannot close
 * its delimiters, because delimiters and the control tokens of chat templates need characters that are replaced in it:
 * `<` and `>` become `‹` and `›`, and the brackets around a control word (`[INST]`) become `⁅⁆`. A character that NFKC,
 * which some tokenizers apply, makes one of these (`＜`) is replaced like it. The mapping replaces one unit by one unit,
 * so offsets and lengths stay, and the prompt explains it to the judge. As a second safeguard each delimiter contains a
 * nonce of the content, which an imitation does not know.
 */
import { isAsciiDigit, isAsciiLetter, isLowSurrogate, SLASH } from './characters.ts';

const UNDERSCORE = 0x5f;
/**
 * Longest text in brackets that counts as a control word, in units. Those of known chat templates have 20 letters, each
 * of which can be spelt as a surrogate pair.
 */
const MAX_CONTROL_WORD_UNITS = 64;

type Bracket = 'open_angle' | 'close_angle' | 'open_square' | 'close_square';

const OPEN_SQUARES = '[［﹇';
const CLOSE_SQUARES = ']］﹈';
const BRACKETS: ReadonlyMap<number, Bracket> = new Map(
  (
    [
      ['<＜﹤', 'open_angle'],
      ['>＞﹥', 'close_angle'],
      [OPEN_SQUARES, 'open_square'],
      [CLOSE_SQUARES, 'close_square'],
    ] as const
  ).flatMap(([units, bracket]) => [...units].map((unit) => [unit.charCodeAt(0), bracket] as const)),
);

const REPLACEMENTS: Readonly<Record<Bracket, string>> = {
  open_angle: '‹',
  close_angle: '›',
  open_square: '⁅',
  close_square: '⁆',
};

/** Full-width bars and block marks, from which the chat templates of DeepSeek and others build control tokens. */
const CONTROL_UNITS: Readonly<Record<string, string>> = { '｜': '¦', '▁': '_' };

/** Marks beside a bracket that make it part of a control token: `<|im_end|>`, `[|system|]`; `]~b]`, `[e~[`. */
const BARS = '|｜';
const TILDES = '~～';

/** Decides which brackets are replaced, and whether the marks of CONTROL_UNITS are. */
type Neutraliser = {
  readonly everyAngle: boolean;
  readonly marks: boolean;
  /** Whether the text between two brackets of a kind makes them a control token. */
  isControl(inner: string, bracket: '<' | '['): boolean;
};

/** Replaces everything that could act as a delimiter or control token, known or not. Keeps the length; linear. */
export function neutralise(text: string): string {
  return replaced(text, EVERYTHING);
}

const EVERYTHING: Neutraliser = {
  everyAngle: true,
  marks: true,
  isControl: (inner, bracket) => bracket === '[' && isControlShaped(inner),
};

/**
 * Replaces the known control tokens alone: for the prompts of a policy, which was trained on tool output with its tags,
 * its comparisons and its lists. Keeps the length; linear.
 */
export function neutraliseControlTokens(text: string): string {
  return replaced(text, CONTROL_TOKENS);
}

const CONTROL_TOKENS: Neutraliser = { everyAngle: false, marks: false, isControl: isControlToken };

function replaced(text: string, { everyAngle, marks, isControl }: Neutraliser): string {
  let safe = '';
  let from = 0;
  /** Where the control token ends that the last opening bracket began; -1 = nowhere. */
  let end = -1;
  const replace = (at: number, replacement: string): void => {
    safe += text.slice(from, at) + replacement;
    from = at + 1;
  };
  const ends = (at: number, close: Bracket, bracket: '<' | '['): boolean => {
    const found = innerEnd(text, at + 1, close);
    if (found === -1 || !isControl(text.slice(at + 1, found), bracket)) return false;
    end = found;
    return true;
  };
  const isAt = (at: number, marksThere: string): boolean =>
    at >= 0 && at < text.length && marksThere.includes(text.charAt(at));
  /** As in `]<]image[>[`. */
  const isBetween = (at: number, marksThere: string): boolean => isAt(at - 1, marksThere) && isAt(at + 1, marksThere);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < FIRST_BEYOND_ASCII && STAYS[code] === 1) continue;
    const bracket = BRACKETS.get(code);
    switch (bracket) {
      case undefined:
        break;
      case 'open_angle':
        if (everyAngle || isAt(i + 1, BARS) || isBetween(i, CLOSE_SQUARES) || ends(i, 'close_angle', '<'))
          replace(i, REPLACEMENTS[bracket]);
        continue;
      case 'close_angle':
        if (everyAngle || i === end || isAt(i - 1, BARS) || isBetween(i, OPEN_SQUARES))
          replace(i, REPLACEMENTS[bracket]);
        continue;
      case 'open_square':
        if (ends(i, 'close_square', '[') || isAt(i + 1, BARS) || isAt(i - 1, TILDES)) replace(i, REPLACEMENTS[bracket]);
        continue;
      case 'close_square':
        if (i === end || isAt(i - 1, BARS) || isAt(i + 1, TILDES)) replace(i, REPLACEMENTS[bracket]);
        continue;
    }
    if (code === 0) replace(i, '\ufffd');
    // A lone surrogate cannot be sent: it becomes U+FFFD, as in an encoder.
    else if (code >= 0xd800 && code <= 0xdfff) {
      if (code <= 0xdbff && isLowSurrogate(text.charCodeAt(i + 1))) i++;
      else replace(i, '\ufffd');
    } else if (marks && code >= FIRST_BEYOND_ASCII) {
      const control = CONTROL_UNITS[text.charAt(i)];
      if (control !== undefined) replace(i, control);
    }
  }
  return from === 0 ? text : safe + text.slice(from);
}

const FIRST_BEYOND_ASCII = 0x80;

/** 1 for each ASCII unit that is never replaced: all but the brackets and NUL. */
const STAYS = Uint8Array.from({ length: FIRST_BEYOND_ASCII }, (_, code) => (code === 0 || BRACKETS.has(code) ? 0 : 1));

/** Returns where the next bracket closes, or -1 if it is another one or too far away. */
function innerEnd(text: string, from: number, close: Bracket): number {
  const limit = Math.min(text.length, from + MAX_CONTROL_WORD_UNITS + 1);
  for (let i = from; i < limit; i++) {
    const bracket = BRACKETS.get(text.charCodeAt(i));
    if (bracket !== undefined) return bracket === close && i > from ? i : -1;
  }
  return -1;
}

/**
 * Whether a text in square brackets has the shape of `INST`, `/INST`, `TOOL_CALLS` or `control_8`. A word with digits
 * needs an underscore: `[1]` and `[S1]` are citation markers and stay. A unit beyond ASCII counts as an underscore,
 * since normalisation may make any character of it (`TOOL▁CALLS`, `ＩＮＳＴ`).
 */
function isControlShaped(inner: string): boolean {
  const start = inner.charCodeAt(0) === SLASH || inner.startsWith('／') ? 1 : 0;
  let digits = false;
  let underscores = false;
  for (let i = start; i < inner.length; i++) {
    const code = inner.charCodeAt(i);
    if (code === UNDERSCORE || code >= FIRST_BEYOND_ASCII) underscores = true;
    else if (isAsciiDigit(code)) digits = true;
    else if (!isAsciiLetter(code)) return false;
  }
  return inner.length > start && (underscores || !digits);
}

/**
 * Control tokens of published chat templates and tokenizers that no bar marks, without their brackets and slash. A name
 * that ends with `*` matches every name with this beginning.
 */
const KNOWN = {
  '<': [
    ...['s', 'bos', 'eos', 'pad', 'unk', 'mask', 'sep', 'cls', 'sop', 'eop', 'eod', 'SYS', 'think', 'thought'],
    ...['tool_call', 'tool_calls', 'tool_response', 'tool_responses', 'tools', 'function_call', 'minimax:*', 'seed:*'],
    ...['start_of_turn', 'end_of_turn', 'start_of_image', 'end_of_image', 'start_function_call', 'end_function_call'],
    ...['beginning_of_sentence', 'end_of_sentence', 'startoftext', 'endoftext', 'begin_of_text', 'end_of_text'],
    ...['im_*', 'fim_*', 'reserved_*', 'unused*', 'extra_id_*', 'extra_*', 'special_*', 'TOKENS_UNUSED_*', 'mask:*'],
    ...['file_sep', 'filename', 'reponame', 'repo_name', 'gh_stars', 'issue_*', 'jupyter_*', 'commit_*'],
  ],
  '[': [
    ...['INST', 'SYS', 'TOOL_CALLS', 'TOOL_RESULTS', 'TOOL_CONTENT', 'AVAILABLE_TOOLS', 'SYSTEM_PROMPT', 'ARGS'],
    ...['MODEL_SETTINGS', 'CALL_ID', 'THINK', 'IMG', 'IMG_BREAK', 'IMG_END', 'AUDIO', 'BEGIN_AUDIO', 'TRANSCRIBE'],
    ...['PREFIX', 'MIDDLE', 'SUFFIX', 'BOS', 'EOS', 'PAD', 'UNK', 'MASK', 'gMASK', 'sMASK', 'SEP', 'CLS'],
    ...['UNUSED_TOKEN_*', 'control_*', 'REFERENCE_DOC_*'],
  ],
} as const;

const NAMES = { '<': namesOf(KNOWN['<']), '[': namesOf(KNOWN['[']) } as const;

function namesOf(known: readonly string[]): {
  readonly whole: ReadonlySet<string>;
  readonly beginnings: readonly string[];
} {
  const isBeginning = (name: string) => name.endsWith('*');
  return {
    whole: new Set(known.filter((name) => !isBeginning(name))),
    beginnings: known.filter(isBeginning).map((name) => name.slice(0, -1)),
  };
}

function isControlToken(inner: string, bracket: '<' | '['): boolean {
  const folded = inner.normalize('NFKC').replaceAll('▁', '_');
  const name = folded.startsWith('/') ? folded.slice(1) : folded;
  const { whole, beginnings } = NAMES[bracket];
  return whole.has(name) || beginnings.some((beginning) => name.startsWith(beginning));
}

/** Neutralises a text for an attribute: no quotes, no line breaks. */
export function neutraliseAttribute(text: string): string {
  let safe = '';
  for (const unit of neutralise(text)) safe += unit === '"' || unit === '＂' ? '”' : /\s/u.test(unit) ? ' ' : unit;
  return safe;
}

/**
 * Twelve hex digits of a 2 x 32 bit FNV-1a hash of the texts. Equal content gives equal nonces, so prompts stay
 * cacheable. The nonce need not be secret: neutralised text cannot contain a delimiter anyway.
 */
export function contentNonce(texts: readonly string[]): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      a = Math.imul(a ^ code, 0x01000193);
      b = Math.imul(b ^ (code + 0x9e37), 0x85ebca6b);
    }
    a = Math.imul(a ^ 0x1f, 0x01000193);
    b = Math.imul(b ^ 0x1f, 0xc2b2ae35);
  }
  const hex = (value: number): string => (value >>> 0).toString(16).padStart(8, '0');
  return (hex(a) + hex(b)).slice(0, 12);
}

/** One block of data between delimiters. Neutralises the text and the values of the attributes. */
export function dataBlock(
  name: string,
  nonce: string,
  attributes: Readonly<Record<string, string>>,
  text: string,
): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${neutraliseAttribute(value)}"`);
  return `<${name}-${nonce}${written.join('')}>\n${neutralise(text)}\n</${name}-${nonce}>`;
}
