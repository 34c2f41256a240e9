/**
 * The events of the incremental verifier and their order. incremental-properties.test.ts tests what holds for any text.
 */
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

/** Prints an event in a few words. */
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

/** Returns each chunk with the events of its push, then the events of `finish`. */
function told(pieces: readonly string[], options: Partial<IncrementalOptions> = {}): string[][] {
  const verifier = createIncrementalVerifier({ sources: SOURCES, ...options });
  const events = pieces.map((piece) => verifier.push(piece).map(brief));
  return [...events, verifier.finish().events.map(brief)];
}

describe('when each event is sent', () => {
  it('a claim at the last unit of its closing tag, an invented id at that of its opening tag', () => {
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

  it('an id in an unclosed quote at the next tag, because the tag may continue until then', () => {
    expect(told(['<answer><snippet id="S9>It opened.', '<', '/', 'snippet></answer>'])).toEqual([
      ['opened 0'],
      [],
      ['citation_id_malformed', 'citation_id_unknown'],
      ['claim 0: It opened. [S9=null]', 'closed 0', 'judged 0'],
      [],
    ]);
  });

  it('an id before a comma at the `>`, because the text behind the comma is neither an attribute nor a quote', () => {
    expect(told(['<answer><snippet id=S9, a="x>', ' y">It opened.</snippet></answer>'])).toEqual([
      ['opened 0', 'citation_id_unknown', 'citation_id_malformed', 'citation_id_unknown'],
      ['claim 0: y">It opened. [S9=null a="x=null]', 'closed 0', 'judged 0'],
      [],
    ]);
  });

  it('a claim inside an open citation when that citation closes, because its index depends on it', () => {
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

  it('claims inside an unclosed citation when the answer ends', () => {
    expect(told(['<answer><snippet id=S1>It <snippet id=S2>is red</snippet> now.', '</answer>'])).toEqual([
      ['opened 0', 'citation_nested'],
      ['citation_unclosed', 'claim 0: is red [S2=1]', 'closed 0', 'judged 0'],
      [],
    ]);
  });

  it('faults of the markup at their place', () => {
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

  it('a second answer when it closes, without its claims', () => {
    expect(told(['<answer>One.</answer>', '<answer><snippet id=S9>Two.</snippet>', '</answer>'])).toEqual([
      ['opened 0', 'closed 0', 'judged 0'],
      ['opened 1'],
      ['closed 1', 'several_answers'],
      [],
    ]);
  });

  it('a missing answer at the end', () => {
    expect(told(['<answer><snippet id=S1>It opened.</snippet>'])).toEqual([
      ['opened 0', 'claim 0: It opened. [S1=0]'],
      ['answer_unclosed', 'judged null', 'no_answer'],
    ]);
    expect(told(['<answer> ** </answer>'])).toEqual([
      ['opened 0', 'closed 0', 'judged 0'],
      ['markup_only', 'no_answer'],
    ]);
  });

  it('text outside the answer in mode answer_only', () => {
    expect(told(['Sure: ', '<answer>A.</answer>', ' Bye.'], { mode: 'answer_only' })).toEqual([
      [],
      ['opened 0', 'text_outside_answer', 'closed 0', 'judged 0'],
      [],
      ['text_outside_answer'],
    ]);
  });
});

describe('which answer', () => {
  it('last: sends the claims at the end, because another answer may follow', () => {
    const one = '<answer><snippet id=S9>One.</snippet></answer>';
    const two = '<answer><snippet id=S1>Two.</snippet></answer>';
    expect(told([one, two], { answer: 'last' })).toEqual([
      ['opened 0', 'closed 0'],
      ['opened 1', 'closed 1', 'several_answers'],
      ['judged 1', 'claim 0: Two. [S1=0]'],
    ]);
  });

  it('whole: text that turns out to be thinking belongs to an earlier ordinal', () => {
    expect(told(['I saw [S9] that', '</think>', 'It opened [S1].'], { grammar: 'bracket' })).toEqual([
      ['opened 0', 'citation_id_unknown', 'claim 0: I saw [S9=null]'],
      ['opened 1'],
      ['claim 0: It opened [S1=0]'],
      ['closed 1', 'judged 1'],
    ]);
  });

  it('sends nothing about thinking', () => {
    expect(told(['<think><answer><snippet id=S9>x</snippet></answer>', '</think>', '<answer>A</answer>'])).toEqual([
      [],
      [],
      ['opened 0', 'closed 0', 'judged 0'],
      [],
    ]);
  });
});

describe('marker grammars', () => {
  it('send ids when the marker closes and the claim when the run of markers ends', () => {
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

  it('end a run at any `<`', () => {
    expect(told(['It opened [ref:S1]', '<', 'b>'], { grammar: 'ref' })).toEqual([
      ['opened 0'],
      ['claim 0: It opened [S1=0]'],
      [],
      ['closed 0', 'judged 0'],
    ]);
  });

  it('wait while a link may follow', () => {
    expect(told(['See [S9', ']', '(url)', ' and [S9', '] ok'], { grammar: 'bracket' })).toEqual([
      ['opened 0'],
      [],
      [],
      [],
      ['citation_id_unknown', 'claim 0: See [S9](url) and [S9=null]'],
      ['closed 0', 'judged 0', 'id_in_prose'],
    ]);
  });
});

describe('lexical evidence', () => {
  it('arrives with the claim', () => {
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

it('lists at most MAX_FINDINGS findings of one reason, and still lists those of others', () => {
  const flood = '</snippet>'.repeat(MAX_FINDINGS + 10);
  const { all, parsed } = stream([`<answer>a${flood}<snippet id=S9>It opened.</snippet></answer>`], {
    sources: SOURCES,
  });
  expect(all.filter((event) => brief(event) === 'citation_stray_close')).toHaveLength(MAX_FINDINGS);
  expect(all.map(brief)).toContain('citation_id_unknown');
  expect(parsed.counts.citation_stray_close).toBe(MAX_FINDINGS + 10);
});

it('throws if push or finish is called after finish', () => {
  const verifier = createIncrementalVerifier({ sources: parseSources('') });
  verifier.finish();
  expect(() => verifier.push('x')).toThrow('finished');
  expect(() => verifier.finish()).toThrow('finished');
});
