import { describe, expect, it } from 'vitest';
import { stemOf } from '../../../src/lexical/token-hash.ts';
import { TokenList } from '../../../src/lexical/token-list.ts';
import { appendTokens } from '../../../src/lexical/tokeniser.ts';

function tokensOf(text: string, forClaim: boolean, from = 0, to = text.length): TokenList {
  const list = new TokenList(4, forClaim);
  appendTokens(list, text, from, to);
  return list;
}

function wordsOf(text: string, list: TokenList): string[] {
  return Array.from({ length: list.count }, (_, i) => text.slice(list.starts[i], list.ends[i]));
}

function described(list: TokenList, shift = 0): unknown {
  const { count, sentenceCount, numberCount } = list;
  return {
    hashes: [...list.hashes.subarray(0, count)],
    starts: [...list.starts.subarray(0, count)].map((start) => start - shift),
    ends: [...list.ends.subarray(0, count)].map((end) => end - shift),
    sentences: [...list.sentenceTokens.subarray(0, sentenceCount)],
    numbers: [...list.numberValues.subarray(0, numberCount)],
  };
}

const MIXED =
  "5% of Zoë’s “naïve” cafés—in 北京。 Cost: 1.2 million, ten thousand per cent. 😀 \ud800 B2B, U.S. don't! １２ e\u0301t\u00e9 over";

describe('offsets count UTF-16 code units', () => {
  it('for a text in many scripts', () => {
    expect(wordsOf(MIXED, tokensOf(MIXED, false))).toEqual(
      "5|%|of|Zoë’s|naïve|cafés|in|北|京|Cost|1.2 million|ten thousand|per cent|😀|\ud800|B2B|U.S|don't|１２|e\u0301t\u00e9|over".split(
        '|',
      ),
    );
  });

  it('for a part of a text', () => {
    const inside = `é😀 first, ${MIXED} x`;
    const from = inside.indexOf(MIXED);
    const part = tokensOf(inside, false, from, from + MIXED.length);
    expect(described(part, from)).toEqual(described(tokensOf(MIXED, false)));
  });

  it('for a text that is longer than the reused buffer', () => {
    const text = `${'Élan of the old bridge. '.repeat(4_000)}last`;
    const list = tokensOf(text, false);
    expect(list.count).toBe(20_001);
    expect(wordsOf(text, list).slice(-2)).toEqual(['bridge', 'last']);
  });
});

describe('tokens', () => {
  it('are the same in a claim and in a source', () => {
    expect(described(tokensOf(MIXED, true))).toEqual(described(tokensOf(MIXED, false)));
  });

  it('have the stem of their word for every ending', () => {
    const letters = [...'abcdefghijklmnopqrstuvwxyz'];
    const endings = letters.flatMap((one) => letters.flatMap((two) => letters.map((three) => one + two + three)));
    for (const head of ['b', 'batt', 'battlem']) {
      const words = endings.map((ending) => head + ending);
      const list = tokensOf(words.join(' '), false);
      expect([...list.hashes.subarray(0, list.count)]).toEqual(words.map(stemOf));
    }
  });

  it('begin a new sentence after at most eighty tokens', () => {
    const list = tokensOf('word '.repeat(200), false);
    expect([...list.sentenceTokens.subarray(0, list.sentenceCount)]).toEqual([0, 80, 160]);
  });
});
