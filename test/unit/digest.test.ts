/** Digests: the canonical form equals that of the reference implementation of RFC 8785, and is fixed beyond it. */
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson, digestJson, digestOnce } from '../../src/digest.ts';

describe('canonicalJson', () => {
  it('equals the reference implementation for well-formed JSON', () => {
    const json = fc.jsonValue({ stringUnit: 'binary', maxDepth: 4 }).filter((value) => isWellFormed(value));
    fc.assert(
      fc.property(json, (value) => canonicalJson(value) === canonicalize(value)),
      { numRuns: 2_000 },
    );
  });

  it('orders names by UTF-16 units, whatever the order of an object is', () => {
    expect(canonicalJson({ 9: 'nine', 10: 'ten', b: -0, a: [undefined, null], '\u{1F600}': 1, '\uFB01': 2 })).toBe(
      '{"10":"ten","9":"nine","a":[null,null],"b":0,"\u{1F600}":1,"\uFB01":2}',
    );
  });

  it('leaves out members without a JSON form, and refuses a value or a number without one', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}');
    expect(() => canonicalJson(undefined)).toThrow(TypeError);
    expect(() => canonicalJson({ a: [Number.POSITIVE_INFINITY] })).toThrow(TypeError);
  });
});

describe('digestJson', () => {
  it('keeps the digests of texts and names with lone surrogates', () => {
    expect(digestJson('a\uD800')).toBe('576c2f186491cdfe7ae4f6b70704ec3bc35fa6d3222804656523180498497f13');
    expect(digestJson({ '\uD800': 1, b: ['\uDFFF', undefined], c: undefined })).toBe(
      '092c638928abe89517dc0c428b65da28fbdd518e65f55bb6fceb800440e24fd4',
    );
  });

  it('is computed once for an object by digestOnce', () => {
    const value = { text: 'a' };
    const hashed: string[] = [];
    const hash = (json: string): string => {
      hashed.push(json);
      return digestJson(value);
    };
    expect([digestOnce(value, hash), digestOnce(value, hash)]).toEqual([digestJson(value), digestJson(value)]);
    expect(hashed).toEqual(['{"text":"a"}']);
  });
});

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([name, member]) => name.isWellFormed() && isWellFormed(member));
}
