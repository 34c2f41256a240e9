/** What a caller of the incremental verifier sees, and when. incremental-properties.test.ts holds what is true of any text. */
import { describe, expect, it } from 'vitest';
import { parseSources, sourcesFromList } from '../../../src/citations/sources.ts';
import type { StreamEvent } from '../../../src/citations/stream/events.ts';
import { createIncrementalVerifier, type IncrementalOptions } from '../../../src/citations/stream/verifier.ts';
import { MAX_FINDINGS } from '../../../src/limits.ts';
import { stream } from './streamed.ts';

const SOURCES = sourcesFromList([
  { id: 'S1', text: 'The bridge opened in 1937 and is 2,737 metres long.' },
  { id: 'S2', text: 'It is red.' },
]);

/** An event in a few words. */
function brief(event: StreamEvent): string {
  switch (event.type) {
    case 'answer':
      return `${event.state} ${event.answer}`;
    case 'claim':
      return `claim ${event.index}: ${event.text} [${event.ids.map(({ id, source }) => `${id}=${source}`).join(' ')}]`;
    case 'finding':
      return event.reason;
  }
}

/** Each piece with the events that it brings; those of the end last. */
function told(pieces: readonly string[], options: Partial<IncrementalOptions> = {}): string[][] {
  const verifier = createIncrementalVerifier({ sources: SOURCES, ...options });
  const events = pieces.map((piece) => verifier.push(piece).map(brief));
  return [...events, verifier.finish().events.map(brief)];
}

describe('when it is told', () => {
  it('a claim with the last unit of its closing tag, an invented id with that of its opening tag', () => {
    expect(
      told(['<answer>So <snippet id=S1', ',S9', '>', 'It opened.</snippet', '>', ' Yes.</answer', '>', ' ']),
    ).toEqual([
      ['opened 0'],
      [],
      ['citation_id_unknown'],
      [],
      ['claim 0: It opened. [S1=0 S9=null]'],
      [],
      ['closed 0', 'judged 0'],
      [],
      [],
    ]);
  });

  it('an id in a quote that is not closed, at the next tag: until then the tag may go on', () => {
    expect(told(['<answer><snippet id="S9>It opened.', '<', '/', 'snippet></answer>'])).toEqual([
      ['opened 0'],
      [],
      ['citation_id_malformed', 'citation_id_unknown'],
      ['claim 0: It opened. [S9=null]', 'closed 0', 'judged 0'],
      [],
    ]);
  });

  it('an id before a comma at the `>`: what follows the comma is no attribute, and its quote none', () => {
    expect(told(['<answer><snippet id=S9, a="x>', ' y">It opened.</snippet></answer>'])).toEqual([
      ['opened 0', 'citation_id_unknown', 'citation_id_malformed', 'citation_id_unknown'],
      ['claim 0: y">It opened. [S9=null a="x=null]', 'closed 0', 'judged 0'],
      [],
    ]);
  });

  it('a claim inside an open citation when that has closed, as its index depends on it', () => {
    expect(
      told(['<answer><snippet id=S1>It <snippet id=S9>', 'opened</snippet>', ' in 1937.</snippet>', '</answer>']),
    ).toEqual([
      ['opened 0', 'citation_nested', 'citation_id_unknown'],
      [],
      ['claim 0: It opened in 1937. [S1=0]', 'claim 1: opened [S9=null]'],
      ['closed 0', 'judged 0'],
      [],
    ]);
  });

  it('what an unclosed citation held back, when the answer ends', () => {
    expect(told(['<answer><snippet id=S1>It <snippet id=S2>is red</snippet> now.', '</answer>'])).toEqual([
      ['opened 0', 'citation_nested'],
      ['citation_unclosed', 'claim 0: is red [S2=1]', 'closed 0', 'judged 0'],
      [],
    ]);
  });

  it('faults of the markup where they stand', () => {
    expect(
      told(['See <snippet id=S1>', 'this</snippet>', '<answer>A</snippet>', '<snippet>b', '<answer>', '</answer>']),
    ).toEqual([
      ['citation_outside_answer'],
      ['citation_outside_answer'],
      ['opened 0', 'citation_stray_close'],
      ['citation_no_id'],
      ['several_answers'],
      ['citation_unclosed', 'closed 0', 'judged 0'],
      [],
    ]);
  });

  it('a second answer when it has closed; nothing of its claims', () => {
    expect(told(['<answer>One.</answer>', '<answer><snippet id=S9>Two.</snippet>', '</answer>'])).toEqual([
      ['opened 0', 'closed 0', 'judged 0'],
      ['opened 1'],
      ['closed 1', 'several_answers'],
      [],
    ]);
  });

  it('that there is no answer, in the end', () => {
    expect(told(['<answer><snippet id=S1>It opened.</snippet>'])).toEqual([
      ['opened 0', 'claim 0: It opened. [S1=0]'],
      ['answer_unclosed', 'judged null', 'no_answer'],
    ]);
    expect(told(['<answer> ** </answer>'])).toEqual([
      ['opened 0', 'closed 0', 'judged 0'],
      ['markup_only', 'no_answer'],
    ]);
  });

  it('text outside the answer, in answer_only', () => {
    expect(told(['Sure: ', '<answer>A.</answer>', ' Bye.'], { mode: 'answer_only' })).toEqual([
      [],
      ['opened 0', 'text_outside_answer', 'closed 0', 'judged 0'],
      [],
      ['text_outside_answer'],
    ]);
  });
});

describe('which answer', () => {
  it('last: its claims in the end, as another answer may follow', () => {
    const one = '<answer><snippet id=S9>One.</snippet></answer>';
    const two = '<answer><snippet id=S1>Two.</snippet></answer>';
    expect(told([one, two], { answer: 'last' })).toEqual([
      ['opened 0', 'closed 0'],
      ['opened 1', 'closed 1', 'several_answers'],
      ['judged 1', 'claim 0: Two. [S1=0]'],
    ]);
  });

  it('whole: what turns out to be thinking belongs to an earlier ordinal', () => {
    expect(told(['I saw [S9] that', '</think>', 'It opened [S1].'], { grammar: 'bracket' })).toEqual([
      ['opened 0', 'citation_id_unknown', 'claim 0: I saw [S9=null]'],
      ['opened 1'],
      ['claim 0: It opened [S1=0]'],
      ['closed 1', 'judged 1'],
    ]);
  });

  it('nothing in thinking is told', () => {
    expect(told(['<think><answer><snippet id=S9>x</snippet></answer>', '</think>', '<answer>A</answer>'])).toEqual([
      [],
      [],
      ['opened 0', 'closed 0', 'judged 0'],
      [],
    ]);
  });
});

describe('marker grammars', () => {
  it('tell ids where the marker closes and the claim where the run of markers ends', () => {
    expect(
      told(['It opened ', '[S', '1]', '[S9', ']', ' ', 'now. It', ' is red [S2', '].'], { grammar: 'bracket' }),
    ).toEqual([
      ['opened 0'],
      [],
      [],
      [],
      [],
      ['citation_id_unknown'],
      ['claim 0: It opened [S1=0 S9=null]'],
      [],
      ['claim 1: It is red [S2=1]'],
      ['closed 0', 'judged 0'],
    ]);
  });

  it('end a run at a `<`, whatever it begins', () => {
    expect(told(['It opened [ref:S1]', '<', 'b>'], { grammar: 'ref' })).toEqual([
      ['opened 0'],
      ['claim 0: It opened [S1=0]'],
      [],
      ['closed 0', 'judged 0'],
    ]);
  });

  it('wait for what may still be a link', () => {
    expect(told(['See [S9', ']', '(url)', ' and [S9', '] ok'], { grammar: 'bracket' })).toEqual([
      ['opened 0'],
      [],
      [],
      [],
      ['citation_id_unknown', 'claim 0: See [S9](url) and [S9=null]'],
      ['closed 0', 'judged 0'],
    ]);
  });
});

describe('lexical evidence', () => {
  it('comes with the claim', () => {
    const events = stream(['<answer><snippet id=S1>The bridge opened in 1973.</snippet>'], {
      sources: SOURCES,
      evidence: 'lexical',
    }).all;
    expect(events.map(brief).slice(0, 3)).toEqual([
      'opened 0',
      'number_not_in_source',
      'claim 0: The bridge opened in 1973. [S1=0]',
    ]);
    const claim = events.find((event) => event.type === 'claim');
    expect(claim?.type === 'claim' ? claim.evidence?.support : undefined).toBeLessThan(1);
  });
});

it('lists no more findings of one reason than a reply holds, and still the others', () => {
  const flood = '</snippet>'.repeat(MAX_FINDINGS + 10);
  const { all, parsed } = stream([`<answer>a${flood}<snippet id=S9>It opened.</snippet></answer>`], {
    sources: SOURCES,
  });
  expect(all.filter((event) => brief(event) === 'citation_stray_close')).toHaveLength(MAX_FINDINGS);
  expect(all.map(brief)).toContain('citation_id_unknown');
  expect(parsed.counts.citation_stray_close).toBe(MAX_FINDINGS + 10);
});

it('takes no text and no second end after the end', () => {
  const verifier = createIncrementalVerifier({ sources: parseSources('') });
  verifier.finish();
  expect(() => verifier.push('x')).toThrow('finished');
  expect(() => verifier.finish()).toThrow('finished');
});
