/** Equality of web addresses: which spellings are one page. */
import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyOfPage, normalisedUrl, pageKey } from '../../../src/text/url.ts';

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
      '!',
      ':~:',
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

describe('pageKey', () => {
  it.each([
    ['https://example.com/a', 'http://www.example.com:80/a/#:~:text=b'],
    ['https://example.com/a', 'https://example.com/a?utm_source=x&UTM_Medium=y&gclid=1&fbclid=2'],
    ['https://example.com/a?q=1', 'https://example.com/a?utm_source=x&q=1&msclkid=3'],
    ['https://example.com/a', 'https://example.com/a?'],
    ['https://example.com/%7Ea%2Fb', 'https://example.com/~a%2fb'],
    ['https://de.example/wiki/Zürich', 'https://de.example/wiki/Z%c3%bcrich'],
    ['https://example.com/a_(b)', 'https://example.com/a_%28b%29'],
    ['https://müller.example/', 'https://www.xn--mller-kva.example'],
    ['https://MÜLLER.example/', 'https://xn--mller-kva.example'],
    ['https://doi.org/10.1000/AbC', 'doi:10.1000/abc'],
    ['https://doi.org/10.1000/abc', 'http://dx.doi.org/10.1000/abc'],
    ['https://doi.org/10.1000/abc', 'DOI: 10.1000/abc'],
    ['https://arxiv.org/abs/2401.00001', 'http://arxiv.org/pdf/2401.00001.pdf'],
    ['https://arxiv.org/abs/2401.00001v2', 'https://www.arxiv.org/pdf/2401.00001v2'],
    ['https://arxiv.org/abs/2401.00001', 'arXiv:2401.00001'],
    ['https://arxiv.org/abs/2401.00001v2', 'https://arxiv.org/html/2401.00001v2'],
    ['https://arxiv.org/abs/2401.00001', 'https://export.arxiv.org/pdf/2401.00001'],
    ['https://arxiv.org/abs/2401.00001', 'https://ar5iv.labs.arxiv.org/html/2401.00001'],
    ['https://arxiv.org/abs/2401.00001', 'https://doi.org/10.48550/arXiv.2401.00001'],
    ['https://arxiv.org/abs/2401.00001', 'arxiv.org/abs/2401.00001'],
    ['https://arxiv.org/abs/https:', 'https://arxiv.org/pdf/https://.pdf'],
    ['https://arxiv.org/abs/2401.1', 'https://arxiv.org/pdf/2401.1/..pdf'],
    ['https://doi.org/10.1000/abc', '10.1000/ABC'],
    ['https://doi.org/10.1000/abc', 'DOI 10.1000/abc'],
    ['https://doi.org/10.1000/abc', 'doi.org/10.1000/abc'],
    ['https://en.wikipedia.org/wiki/Aare', 'https://en.m.wikipedia.org/wiki/Aare'],
    ['https://www.youtube.com/watch?v=abcdefghijk', 'https://youtu.be/abcdefghijk?si=x'],
    ['https://www.youtube.com/watch?v=abcdefghijk', 'https://m.youtube.com/watch?v=abcdefghijk&t=5s'],
    ['https://www.youtube.com/watch?v=abcdefghijk', 'https://www.youtube.com/watch?list=x&v=abcdefghijk#t=5'],
    ['https://www.youtube.com/watch?v=abcdefghijk', 'https://www.youtube-nocookie.com/embed/abcdefghijk'],
    ['https://zh-min-nan.wiktionary.org/wiki/a', 'https://zh-min-nan.m.wiktionary.org/wiki/a'],
    ['https://example.com/a?b=1&c=2', 'https://example.com/a?b=1&amp;c=2'],
    ['https://example.com/a?b=1&c=2', 'https://example.com/a?utm_source=x&#38;b=1&amp;amp;c=2'],
    ['https://example.com/a', 'www.example.com/a'],
    ['https://example.com/a', 'https://example.com./a'],
    ['https://example.com/a', 'https://example.com/b/../a'],
    ['https://example.com/a', 'https://example.com/./a/.'],
    ['https://example.com/a', 'https://example.com/../../a'],
    ['https://example.com/a', 'https://example.com/b/%2E%2e/a/'],
    ['https://example.com/a.b', 'https://example.com/c/d/../../a.b'],
    ['https://example.com', 'https://example.com/b/..'],
    ['https://example.com/a', 'https://user@example.com/a'],
    ['https://example.com/a', 'https://user:word@www.example.com/a'],
    ['https://evil.example/a', 'https://example.com@evil.example/a'],
    ['https://example.com/#/users', 'https://www.example.com#/users/'],
    ['https://example.com/#/users', 'https://example.com/#/users:~:text=b'],
    ['https://example.com/', 'https://example.com/#/'],
    ['https://example.com/a', 'https://example.com/a#users'],
    ['https://en.wikipedia.org/wiki/Aare', 'https://en.wikipedia.org/wiki/Aare#/media/File:Aare.jpg'],
    ['https://doi.org/10.1000/abc', 'https://doi.org/10.1000/abc#/figures'],
  ])('%s is the page of %s', (one, other) => {
    expect(pageKey(one)).toBe(pageKey(other));
  });

  it.each([
    ['https://example.com/a', 'https://example.com/A'],
    ['https://example.com/a', 'https://example.com/a?ref=nav'],
    ['https://example.com/a?q=1&r=2', 'https://example.com/a?r=2&q=1'],
    ['https://example.com/a', 'https://example.com/a/index.html'],
    ['https://example.com/a', 'https://m.example.com/a'],
    ['https://example.com/a', 'https://example.com:8080/a'],
    ['https://example.com/a%2Fb', 'https://example.com/a/b'],
    ['https://example.com/a%2541', 'https://example.com/a%41'],
    ['https://www.com/a', 'https://com/a'],
    ['https://arxiv.org/abs/2401.00001', 'https://arxiv.org/abs/2401.00001v2'],
    ['https://doi.org/about', 'https://doi.org/About'],
    ['https://example.com/doi:10.1000/x', 'doi:10.1000/x'],
    ['https://example.com:443.', 'https://example.com'],
    ['https://example.com/a', 'https://example.com/b/...a'],
    ['https://example.com/a', 'https://example.com/.../a'],
    ['https://example.com/a/b', 'https://example.com/a/../b'],
    ['https://example.com/.well-known/a', 'https://example.com/well-known/a'],
    ['https://example.com/a?b=/../c', 'https://example.com/a?b=/c'],
    ['https://example.com/a', 'https://evil.example\\@example.com/a'],
    ['https://example.com/@user/a', 'https://example.com/a'],
    ['https://example.com/a?autm_source=x', 'https://example.com/a'],
    ['https://example.com/#/users', 'https://example.com/#/posts'],
    ['https://example.com/#!/users', 'https://example.com/'],
    ['https://example.com/a#/users?b=1', 'https://example.com/a#/users?b=2'],
    ['https://m.wikipedia.org/wiki/Aare', 'https://wikipedia.org/wiki/Aare'],
    ['https://youtu.be/abcdefghijk', 'https://youtu.be/abcdefghijl'],
    ['https://youtu.be/abcdefghijk', 'https://www.youtube.com/abcdefghijk'],
    ['https://www.youtube.com/watch?v=abcdefghijk', 'https://a.example/watch?v=abcdefghijk'],
    ['https://en.m.example.org/a', 'https://en.example.org/a'],
    ['https://de.m.wikipedia.org/wiki/Aare', 'https://en.wikipedia.org/wiki/Aare'],
    ['10.1/x', 'https://doi.org/10.1/x'],
    ['https://example.com/a?b=1&amp=2', 'https://example.com/a?b=1&=2'],
  ])('%s is another page than %s', (one, other) => {
    expect(pageKey(one)).not.toBe(pageKey(other));
  });

  it('of a text that is no address is the text', () => {
    for (const text of ['S1', 'doi:', 'doi:https://example.com', 'arxiv:', 'example.com/a']) {
      expect(keyOfPage(text)).toBe(null);
      expect(pageKey(text)).toBe(text);
    }
  });

  it('is its own key as an address', () => {
    const piece = fc.constantFrom(
      ...['https://', 'doi:', 'arxiv:', 'www.', 'ex.com', 'doi.org', 'arxiv.org', '/pdf/', '/abs/', '/10.1/', '.pdf'],
      ...[
        '?utm_a=1',
        '&',
        '&amp;',
        'amp;',
        '#/',
        '#!',
        ':~:',
        '.m.wiki.org',
        '.',
        'q=2',
        '%7e',
        '%c3',
        '%25',
        'ü',
        'É',
        '/',
        ':443',
        '@',
      ],
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
        const key = keyOfPage(pieces.join(''));
        if (key !== null && keyOfPage(`https://${key}`) !== null) expect(keyOfPage(`https://${key}`)).toBe(key);
      }),
      { numRuns: 5000 },
    );
  });

  it('takes linear time', () => {
    for (const unit of ['%7e', '&utm_a=1', 'ü', 'ü.', '/', '.pdf']) {
      expect(pageKey(`https://a.example/?${unit.repeat(300_000)}`)).not.toBe('');
      expect(pageKey(`https://${unit.repeat(300_000)}`)).not.toBe('');
    }
  });
});

describe('an international host', () => {
  it.each(['münchen', 'ü', 'bücher', 'пример', '例え', 'かんたんdeナイス', 'ελληνικά', 'ไทย', '😀', 'a😀ü'])(
    '%s is that of its registrar',
    (label) => {
      const registered = domainToASCII(`${label}.example`);
      expect(pageKey(`https://${label}.example:8443/a`)).toBe(`${registered}:8443/a`);
    },
  );

  it('that no site may have stays as written', () => {
    expect(pageKey('https://ü<.example/a')).toBe('ü<.example/a');
    expect(pageKey('https://ü.example\\a')).toBe('ü.example\\a');
    expect(pageKey(`https://${'ü'.repeat(300)}.example/a`)).toBe(`${'ü'.repeat(300)}.example/a`);
  });
});
