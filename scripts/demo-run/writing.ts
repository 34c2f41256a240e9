/** Writes an answer as the policy decides, from the sentences of the search results. */
import type { Decide, Option } from './actions.ts';
import type { Draws } from './draws.ts';
import type { Prompt, SourceSentence } from './prompts.ts';
import { worded } from './wording.ts';

export type WrittenAnswer = {
  readonly text: string;
  /** Number of written sentences with a citation, repetitions included. */
  readonly cited: number;
  /** Number of written sentences of the search results without one. */
  readonly uncited: number;
  /** Number of cited ids that the search results lack. */
  readonly inventedIds: number;
  /** Number of sentences copied word for word. */
  readonly copied: number;
};

/** @param decide called in a fixed order, so that the same decisions give the same answer. */
export function writeAnswer(prompt: Prompt, decide: Decide, draws: Draws): WrittenAnswer {
  const bySubject = Map.groupBy(prompt.sentences, ({ subject }) => subject);
  const taken = new Map<SourceSentence['subject'], number>();
  const parts: string[] = [];
  const counts = { cited: 0, uncited: 0, inventedIds: 0, copied: 0 };
  const count = Number(decide('sentences'));
  for (let n = 0; n < count; n++) {
    const subject = decide('subject');
    const sentence = nextOf(bySubject.get(subject) ?? [], taken.get(subject) ?? 0);
    taken.set(subject, (taken.get(subject) ?? 0) + 1);
    const wording = decide('wording');
    const citation = decide('citation');
    const text = worded(sentence.text, wording, draws.of('wording', n));
    const ids = citedIds(citation, sentence.id, prompt, draws.of('citation', n));
    const times = decide('repetition') === 'twice' ? 2 : 1;
    for (let time = 0; time < times; time++) parts.push(ids === null ? text : `<snippet id=${ids}>${text}</snippet>`);
    if (ids === null) counts.uncited += times;
    else counts.cited += times;
    if (citation === 'invented id') counts.inventedIds += times;
    if (wording === 'copied') counts.copied += times;
  }
  parts.push(...remarks(decide('padding')));
  const answer = `<answer>${parts.join(' ')}</answer>`;
  return { text: decide('preface') === 'one line' ? `${PREFACE}\n${answer}` : answer, ...counts };
}

/** The sentence at a position; starts again after the last one. */
function nextOf(sentences: readonly SourceSentence[], position: number): SourceSentence {
  const sentence = sentences[position % sentences.length];
  if (sentence === undefined) throw new RangeError('writeAnswer: the prompt has no sentence on this subject');
  return sentence;
}

/** Number of ids in a citation with too many of them. */
const MANY_IDS = 6;

/** The value of the attribute `id`; `null` = no citation. */
function citedIds(citation: Option<'citation'>, right: string, { sentences }: Prompt, draws: Draws): string | null {
  const wrong = [...new Set(sentences.map(({ id }) => id))].filter((id) => id !== right);
  switch (citation) {
    case 'right id':
      return right;
    case 'none':
      return null;
    case 'invented id':
      return `S${draws.integer(20, 60)}`;
    case 'wrong id':
      return draws.pick(wrong);
    case 'six ids':
      return [right, ...wrong].slice(0, MANY_IDS).join(',');
  }
}

const PREFACE = 'Here is what the search results say.';

const REMARKS = [
  'Visitors who are interested in the region will find many other places worth a detour.',
  'Many comparable places were built in the same decades and share a similar story.',
  'Much more could be said about its history and its importance for the people around it.',
] as const;

function remarks(padding: Option<'padding'>): readonly string[] {
  switch (padding) {
    case 'none':
      return [];
    case 'one remark':
      return REMARKS.slice(0, 1);
    case 'three remarks':
      return REMARKS;
  }
}
