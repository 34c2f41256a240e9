/** Equality of web addresses: which spellings are one page. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalisedUrl } from '../../../src/text/url.ts';

describe('normalisedUrl', () => {
  it.each([
    ['https://example.com/a', 'https://example.com/a'],
    [' https://example.com/a\n', 'https://example.com/a'],
    ['HTTPS://EXAMPLE.com/A', 'https://example.com/A'],
    ['https://example.com', 'https://example.com'],
    ['https://example.com/', 'https://example.com'],
    ['https://example.com/a//', 'https://example.com/a'],
    ['https://example.com/a/?q=1', 'https://example.com/a?q=1'],
    ['https://example.com?q=a/', 'https://example.com?q=a/'],
    ['https://example.com/a#b?c', 'https://example.com/a'],
    ['https://example.com:443/a', 'https://example.com/a'],
    ['http://example.com:80', 'http://example.com'],
    ['http://example.com:443', 'http://example.com:443'],
    ['https://example.com:/a', 'https://example.com/a'],
    ['https://Me@Example.com/', 'https://Me@example.com'],
    ['http://[::1]:80/', 'http://[::1]'],
    ['http://[::1]/', 'http://[::1]'],
    ['view-source:https://example.com/a', 'https://example.com/a'],
    ['https://r.jina.ai/https://example.com/a', 'https://example.com/a'],
    ['view-source:http://R.JINA.AI/View-Source:http://example.com/a', 'http://example.com/a'],
    ['https://r.jina.ai/about', 'https://r.jina.ai/about'],
    ['https://example.com/%C3%A9', 'https://example.com/%C3%A9'],
  ])('%j is %j', (address, normal) => {
    expect(normalisedUrl(address)).toBe(normal);
  });

  it.each([
    '',
    'S1',
    'example.com',
    'ftp://example.com',
    '://x',
    'https://',
    'https:///a',
    'https://:443/',
    'javascript:x',
  ])('%j is no web address', (text) => {
    expect(normalisedUrl(text)).toBe(null);
  });

  it('is a fixed point for every address', () => {
    const piece = fc.constantFrom(
      'https://',
      'HTTP://',
      'r.jina.ai/',
      'view-source:',
      'ex.com',
      ':443',
      '/',
      '//',
      '#',
      '?',
      '@',
      ']',
      'É',
      'a',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const normal = normalisedUrl(pieces.join(''));
        if (normal !== null) expect(normalisedUrl(normal)).toBe(normal);
      }),
      { numRuns: 3000 },
    );
  });

  it('takes linear time', () => {
    expect(normalisedUrl(`https://r.jina.ai/${'https://r.jina.ai/'.repeat(100_000)}https://a.b/`)).toBe('https://a.b');
    expect(normalisedUrl(`https://a${'/'.repeat(1_000_000)}b`)).not.toBe(null);
  });
});
