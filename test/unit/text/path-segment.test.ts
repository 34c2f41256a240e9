import { describe, expect, it } from 'vitest';
import { pathSegment } from '../../../src/text/path-segment.ts';

describe('pathSegment', () => {
  it.each(['.', '..', '%2e', '%2E%2E', 'a/b', '../x', '?', '#', '', '\ud800', 'a b', '...', '\\'])(
    'keeps %j within its segment of the path',
    (id) => {
      const { pathname, search, hash } = new URL(`https://x/v1/runs/${pathSegment(id)}/replay`);
      expect(pathname.split('/')).toHaveLength(5);
      expect([search, hash]).toEqual(['', '']);
    },
  );

  it('keeps the id, if a URL can have it', () => {
    expect(decodeURIComponent(pathSegment('a/b c%'))).toBe('a/b c%');
    expect(pathSegment('run-1.2_x')).toBe('run-1.2_x');
  });
});
