/** API keys: enough randomness, only the hash configured, and files of variables changed in one line only. */

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { entryOf, makeKey, readApiKeys } from '../../../cli/commands/keys/api-keys.ts';
import { readVariable, withVariable } from '../../../cli/commands/keys/vars-file.ts';
import { KEY_NAME } from '../../../src/wire/api-keys.ts';

test('a key is 256 random bits behind a prefix', () => {
  expect(makeKey(() => Buffer.alloc(32, 0xff))).toBe(`cw_${Buffer.alloc(32, 0xff).toString('base64url')}`);
  expect(makeKey()).toMatch(/^cw_[A-Za-z0-9_-]{43}$/);
  expect(makeKey()).not.toBe(makeKey());
});

test('the entry holds the hash and the scopes, not the key', () => {
  const sha256 = createHash('sha256').update('cw_x').digest('hex');
  expect(entryOf('cw_x', ['score'])).toEqual({ sha256, scopes: ['score'] });
});

test('names are safe in a log line', () => {
  for (const name of ['a', 'grpo-1', 'x'.repeat(64)]) expect(KEY_NAME.test(name)).toBe(true);
  for (const name of ['', 'a b', "a'b", 'ä', 'x'.repeat(65), 'a\n']) expect(KEY_NAME.test(name)).toBe(false);
});

test('reading API_KEYS names its problems', () => {
  expect(readApiKeys(' ')).toEqual({ ok: true, value: {} });
  expect(readApiKeys('{')).toEqual({ ok: false, error: ['not JSON'] });
  const wrong = readApiKeys('{"a":{"sha256":"00","scopes":["score"]}}');
  expect(wrong.ok ? '' : wrong.error[0]).toContain('a.sha256');
});

describe('a file of variables', () => {
  const VALUE = '{"b":{"sha256":"1","scopes":["score"]}}';

  test.each([
    ['an empty file', '', `API_KEYS='${VALUE}'\n`],
    ['other variables', 'A=1\n# note', `A=1\n# note\nAPI_KEYS='${VALUE}'\n`],
    ['its old place', `A=1\nAPI_KEYS='{"a":1}'\nB="x # y"\n`, `A=1\nAPI_KEYS='${VALUE}'\nB="x # y"\n`],
    ['unquoted, exported', 'export API_KEYS = {"a":1}\nB=2', `API_KEYS='${VALUE}'\nB=2`],
    ['CRLF', 'A=1\r\nAPI_KEYS=\r\n', `A=1\r\nAPI_KEYS='${VALUE}'\r\n`],
    ['a longer name', 'API_KEYS_OLD=1\n', `API_KEYS_OLD=1\nAPI_KEYS='${VALUE}'\n`],
    ['a comment', '# API_KEYS=1\n', `# API_KEYS=1\nAPI_KEYS='${VALUE}'\n`],
  ])('%s', (_name, before, after) => {
    expect(withVariable(before, 'API_KEYS', VALUE)).toBe(after);
    expect(readVariable(after, 'API_KEYS')).toBe(VALUE);
  });

  test.each([
    ['set twice', 'API_KEYS=1\nAPI_KEYS=2\n'],
    ['over several lines', 'API_KEYS=\'{"a":\n1}\'\nB=2\n'],
  ])('%s: unchanged', (_name, before) => {
    expect(withVariable(before, 'API_KEYS', VALUE)).toBeNull();
  });

  test('a value that cannot be quoted is a bug of the caller', () => {
    expect(() => withVariable('', 'A', "it's")).toThrow(RangeError);
  });
});
