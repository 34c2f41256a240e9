import { describe, expect, it } from 'vitest';
import { readToolCalls, readToolCallsAsVerl } from '../../../src/tools/hermes.ts';

function element(json: string): string {
  return `<tool_call>${json}</tool_call>`;
}

/** The name of a call, or why it is malformed. */
function verdict(json: string): string {
  const [call, ...rest] = readToolCalls(element(json)).calls;
  expect(rest).toEqual([]);
  if (call === undefined) return 'none';
  return call.ok ? `ok ${call.name}` : call.reason;
}

describe('calls', () => {
  it('are returned in order with their spans, malformed ones included; the rest is content', () => {
    const text = `So: ${element('{"name": "run", "arguments": {"code": "1"}}')} and ${element('oops')}.`;
    const { content, calls } = readToolCalls(text);
    expect(content).toBe('So:  and .');
    expect(calls).toEqual([
      { ok: true, name: 'run', arguments: { code: '1' }, span: { start: 4, end: 70 } },
      { ok: false, reason: 'not_json', span: { start: 75, end: 102 } },
    ]);
    expect(calls.map(({ span }) => text.slice(span.start, span.end))).toEqual([
      element('{"name": "run", "arguments": {"code": "1"}}'),
      element('oops'),
    ]);
  });

  it.each([
    ['{"name": "a", "arguments": {}}', 'ok a'],
    ['', 'not_json'],
    ['{"name": "a", "arguments": {}', 'not_json'],
    ['{"name": "a", "arguments": {}} {}', 'not_json'],
    ["{'name': 'a', 'arguments': {}}", 'not_json'],
    ['{"name": "a", "arguments": {"code": "x\ny"}}', 'not_json'],
    ['[{"name": "a", "arguments": {}}]', 'not_json'],
    ['"a"', 'not_json'],
    ['{"name": "a", "arguments": {"x": NaN}}', 'not_json'],
    ['{"name": "a", "arguments": {"x": [-Infinity]}}', 'not_json'],
    ['{"name": "a", "arguments": {"x": 1e400}}', 'not_json'],
    ['{"arguments": {}}', 'no_name'],
    ['{"name": null, "arguments": {}}', 'no_name'],
    ['{"name": "", "arguments": {}}', 'no_name'],
    ['{"name": 5}', 'no_name'],
    ['{"name": "a"}', 'arguments_not_object'],
    ['{"name": "a", "arguments": "{}"}', 'arguments_not_object'],
    ['{"name": "a", "arguments": [1]}', 'arguments_not_object'],
    ['{"name": "a", "arguments": null}', 'arguments_not_object'],
  ])('%s: %s', (json, expected) => expect(verdict(json)).toBe(expected));

  it('have the arguments that JSON.parse returns', () => {
    const json = '{"b": [1, 2.5, -0.0, "é\\n\\ud83d\\ude00"], "1": null, "a": {"x": true, "x": false}, "big": 1e21}';
    const [call] = readToolCalls(element(`{"name": "f", "arguments": ${json}}`)).calls;
    expect(call?.ok && call.arguments).toStrictEqual(JSON.parse(json));
  });

  it('may have an argument __proto__ without changing a prototype', () => {
    const [call] = readToolCalls(element('{"name": "f", "arguments": {"__proto__": {"x": 1}}}')).calls;
    expect(call?.ok && Object.keys(call.arguments)).toEqual(['__proto__']);
    expect(call?.ok && 'x' in call.arguments).toBe(false);
  });

  it('may contain the closing tag with an escaped slash', () => {
    const [call] = readToolCalls(element('{"name": "f", "arguments": {"t": "<\\/tool_call>"}}')).calls;
    expect(call?.ok && call.arguments['t']).toBe('</tool_call>');
  });

  it('are ignored if the element is not closed', () => {
    const text = `${element('{"name": "a", "arguments": {}}')} <tool_call>{"name": "b", "arguments": {}}`;
    const { content, calls } = readToolCalls(text);
    expect(calls).toHaveLength(1);
    expect(content).toBe(' <tool_call>{"name": "b", "arguments": {}}');
  });
});

describe('as verl', () => {
  it.each([
    ['integer-like keys keep their place', '{"b": 1, "1": 2}', '{"b": 1, "1": 2}'],
    ['a repeated key keeps its first place', '{"a": 1, "b": 2, "a": 3}', '{"a": 3, "b": 2}'],
    ['integers in full', '[-0, 123456789012345678901234567890]', '[0, 123456789012345678901234567890]'],
    ['floats', '[1e16, 1e15, 1E-5, 0.0001, 1.5e300]', '[1e+16, 1000000000000000.0, 1e-05, 0.0001, 1.5e+300]'],
    ['numbers that are not finite', '[NaN, 1e999, -1e999]', '[NaN, Infinity, -Infinity]'],
    ['controls', '"\\u000b\\u007f\\b"', '"\\u000b\u007f\\b"'],
    ['half a surrogate pair', '"\\ud800\\""', '"\ud800\\""'],
  ])('%s', (_what, given, expected) => {
    const { calls } = readToolCallsAsVerl(element(`{"name": "f", "arguments": ${given}}`));
    expect(calls).toEqual([{ name: 'f', arguments: expected }]);
  });

  it.each(['01', '1.', '.5', '+1', '-', '1e', '[1,]', '{"a": 1,}', '{"a" 1}', '{a: 1}', 'nul', '"\\x"', '\ufeff1'])(
    'drops a call with %s',
    (given) => expect(readToolCallsAsVerl(element(`{"name": "f", "arguments": ${given}}`)).calls).toEqual([]),
  );

  it('drops a call that is nested too deeply or has an integer too long for Python', () => {
    const nested = (levels: number) => `{"name": "f", "arguments": ${'['.repeat(levels)}${']'.repeat(levels)}}`;
    const long = (digits: number) => `{"name": "f", "arguments": ${'1'.repeat(digits)}}`;
    expect(readToolCallsAsVerl(element(nested(800))).calls).toHaveLength(1);
    expect(readToolCallsAsVerl(element(nested(1000))).calls).toEqual([]);
    expect(readToolCallsAsVerl(element(long(4300))).calls).toHaveLength(1);
    expect(readToolCallsAsVerl(element(long(4301))).calls).toEqual([]);
  });
});

/** Hostile texts. Quadratic work on any of them would take minutes: far beyond the timeout of the test. */
describe('a megabyte of hostile text takes linear time', () => {
  it.each([
    ['opening tags', '<tool_call>'],
    ['closing tags', '</tool_call>'],
    ['half tags', '<tool_call'],
    ['empty calls', '<tool_call></tool_call>'],
    ['calls', '<tool_call>{"name": "a", "arguments": {"x": 1}}</tool_call>'],
    ['open arrays', '['],
    ['open objects', '{"a":'],
    ['items', '1,'],
    ['strings', '"a",'],
    ['backslashes', '\\'],
    ['quotes', '"'],
    ['digits', '1'],
    ['blanks', ' '],
  ])('%s', { timeout: 20_000 }, (_what, unit) => {
    const text = unit.repeat(Math.ceil((1024 * 1024) / unit.length));
    for (const given of [
      text,
      element(text),
      element(`{"name": "f", "arguments": [${text}0]}`),
      element(`"${text}"`),
    ]) {
      const { content, calls } = readToolCalls(given);
      expect(content.length).toBeLessThanOrEqual(given.length);
      expect(readToolCallsAsVerl(given).content).toBe(content);
      expect(calls.every(({ span }) => span.end <= given.length)).toBe(true);
    }
  });
});

describe('calls in tags, as Qwen3-Coder writes them', () => {
  const call = (inner: string) => readToolCalls(`<tool_call>${inner}</tool_call>`).calls[0];

  it('are read with texts as arguments', () => {
    const inner =
      '\n<function=search>\n<parameter=query>\nElbe\nlength\n</parameter>\n<parameter=k>5</parameter>\n</function>\n';
    expect(call(inner)).toMatchObject({ ok: true, name: 'search', arguments: { query: 'Elbe\nlength', k: '5' } });
    expect(call('<function=now></function>')).toMatchObject({ ok: true, name: 'now', arguments: {} });
  });

  it.each([
    '<function=search>',
    '<function=></function>',
    '<function=a<parameter=b>c</function>x',
    '<function=a><parameter=b>c</function>',
    '<function=a><parameter=>c</parameter></function>',
    '<function=a><parameter=b>c</parameter></function><function=d><parameter=b>e</parameter></function>',
  ])('%s is malformed', (inner) => {
    expect(call(inner)).toMatchObject({ ok: false });
  });

  it('stay malformed for verl', () => {
    expect(readToolCallsAsVerl('<tool_call><function=now></function></tool_call>').calls).toEqual([]);
  });

  it('take linear time', () => {
    for (const piece of ['<parameter=a>', '<parameter=a>b</parameter>', '</parameter>', '<function=a>']) {
      call(`<function=f>${piece.repeat(Math.floor(1_000_000 / piece.length))}</function>`);
    }
  });
});

describe('calls in pairs of tags, as GLM writes them', () => {
  const call = (inner: string) => readToolCalls(`<tool_call>${inner}</tool_call>`).calls[0];

  it('are read with texts as arguments', () => {
    const inner = 'search\n<arg_key>query</arg_key>\n<arg_value>Elbe\nlength</arg_value>\n';
    expect(call(inner)).toMatchObject({ ok: true, name: 'search', arguments: { query: 'Elbe\nlength' } });
    const two = 'a.b-c<arg_key>k</arg_key><arg_value>3</arg_value><arg_key>q</arg_key><arg_value></arg_value>';
    expect(call(two)).toMatchObject({ ok: true, name: 'a.b-c', arguments: { k: '3', q: '' } });
  });

  it.each([
    'search',
    '<arg_key>query</arg_key><arg_value>x</arg_value>',
    'two words<arg_key>query</arg_key><arg_value>x</arg_value>',
    'search<arg_key>query</arg_key>',
    'search<arg_key>a</arg_key><arg_key>b</arg_key><arg_value>1</arg_value>',
    'search<arg_key></arg_key><arg_value>1</arg_value>',
    'f<arg_key>a</arg_key><arg_value>x</arg_value>g<arg_key>b</arg_key><arg_value>y</arg_value>',
    'search<arg_key>query</arg_key><arg_value>x',
    '{"name": "a"}<arg_key>query</arg_key><arg_value>x</arg_value>',
  ])('%s is malformed', (inner) => {
    expect(call(inner)).toMatchObject({ ok: false });
  });

  it('take linear time', () => {
    for (const piece of ['<arg_key>', '<arg_key>a</arg_key>', '<arg_value>', '</arg_value>']) {
      call(`f<arg_key>${piece.repeat(Math.floor(1_000_000 / piece.length))}`);
    }
  });
});
