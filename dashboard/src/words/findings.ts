/** What each finding of the parser says, for people. */
import type { FindingReason } from '../../../src/citations/types.ts';

export type FindingWords = {
  readonly title: string;
  readonly meaning: string;
  /** `note`: worth knowing, no fault by itself. */
  readonly weight: 'fault' | 'warning' | 'note';
};

export const FINDING_WORDS: Readonly<Record<FindingReason, FindingWords>> = {
  no_answer: {
    title: 'No answer',
    meaning: 'No closed answer block with text in it: the rollout earns zero.',
    weight: 'fault',
  },
  several_answers: {
    title: 'Several answers',
    meaning: 'More than one answer block is closed; one of them is judged.',
    weight: 'fault',
  },
  answer_unclosed: {
    title: 'Answer never closed',
    meaning: 'An answer block is opened and not closed: cut off, as a rule.',
    weight: 'fault',
  },
  text_outside_answer: {
    title: 'Text outside the answer',
    meaning: 'The recipe asks for the answer block alone, and there is more.',
    weight: 'fault',
  },
  citation_unclosed: {
    title: 'Citation never closed',
    meaning: 'Its text counts as uncited.',
    weight: 'fault',
  },
  citation_nested: {
    title: 'Citation inside a citation',
    meaning: 'Citations must not be nested: the format is broken.',
    weight: 'fault',
  },
  citation_stray_close: {
    title: 'Closing tag without a citation',
    meaning: 'A citation is closed that was never opened.',
    weight: 'fault',
  },
  citation_empty_claim: {
    title: 'Citation without a claim',
    meaning: 'There is no text in it: its support is zero.',
    weight: 'fault',
  },
  citation_no_id: { title: 'Citation without an id', meaning: 'It says no source.', weight: 'fault' },
  citation_id_malformed: {
    title: 'Malformed id',
    meaning: 'The id cannot be read as one.',
    weight: 'fault',
  },
  citation_id_unknown: {
    title: 'Invented source',
    meaning: 'No source has this id: it supports nothing.',
    weight: 'fault',
  },
  citation_id_repeated: {
    title: 'Id repeated in one citation',
    meaning: 'It counts once.',
    weight: 'note',
  },
  citation_outside_answer: {
    title: 'Citation outside the answer',
    meaning: 'It stands outside the judged text and is not scored.',
    weight: 'note',
  },
  source_duplicate_id: {
    title: 'Two sources with one id',
    meaning: 'They are read as one source with both texts.',
    weight: 'note',
  },
  source_empty: { title: 'Empty source', meaning: 'The source has no text.', weight: 'note' },
  ids_shotgun: {
    title: 'Cites very many sources',
    meaning: 'A claim that cites nearly everything says little about where it comes from.',
    weight: 'warning',
  },
  claim_covers_answer: {
    title: 'One claim is the answer',
    meaning: 'A single citation spans nearly the whole answer.',
    weight: 'warning',
  },
  claim_verbatim: {
    title: 'Copied from the source',
    meaning: 'The claim is whole source sentences, word for word: supported, but nobody wrote it.',
    weight: 'note',
  },
  number_not_in_source: {
    title: 'Number in no cited source',
    meaning: 'No cited source holds this number.',
    weight: 'warning',
  },
  name_not_in_source: {
    title: 'Name in no cited source',
    meaning: 'No cited source holds this name.',
    weight: 'warning',
  },
  markup_only: { title: 'Only markup', meaning: 'The answer is tags without text.', weight: 'fault' },
  judge_injection_suspected: {
    title: 'Seems to talk to the judge',
    meaning: 'The text reads like instructions to whoever scores it.',
    weight: 'fault',
  },
};
