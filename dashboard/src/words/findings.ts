/** Titles and explanations of the parser's findings. */
import type { FindingReason } from '../../../src/citations/types.ts';

export type FindingWords = {
  readonly title: string;
  readonly meaning: string;
  /** `note`: information, not a fault. */
  readonly weight: 'fault' | 'warning' | 'note';
};

export const FINDING_WORDS: Readonly<Record<FindingReason, FindingWords>> = {
  no_answer: {
    title: 'No answer',
    meaning: 'The response has no closed answer block with text: the rollout is scored 0.',
    weight: 'fault',
  },
  answer_oversized: {
    title: 'Oversized answer',
    meaning: 'The answer has more claims, citations or statements than can be judged, so it counts as no answer.',
    weight: 'fault',
  },
  several_answers: {
    title: 'Several answers',
    meaning: 'The response closes more than one answer block; one of them is judged.',
    weight: 'fault',
  },
  answer_unclosed: {
    title: 'Answer never closed',
    meaning: 'An answer block is never closed, usually because the response was truncated.',
    weight: 'fault',
  },
  text_outside_answer: {
    title: 'Text outside the answer',
    meaning: 'The recipe expects the answer block alone, but the response contains other text.',
    weight: 'fault',
  },
  citation_unclosed: {
    title: 'Citation never closed',
    meaning: 'The text of the citation counts as uncited.',
    weight: 'fault',
  },
  citation_nested: {
    title: 'Citation inside a citation',
    meaning: 'Nested citations break the format.',
    weight: 'fault',
  },
  citation_stray_close: {
    title: 'Closing tag without a citation',
    meaning: 'A closing tag has no opening tag.',
    weight: 'fault',
  },
  citation_empty_claim: {
    title: 'Citation without a claim',
    meaning: 'The citation contains no text, so its support is 0.',
    weight: 'fault',
  },
  citation_no_id: { title: 'Citation without an id', meaning: 'The citation names no source.', weight: 'fault' },
  citation_id_malformed: {
    title: 'Malformed id',
    meaning: 'The id has an invalid format.',
    weight: 'fault',
  },
  citation_id_unknown: {
    title: 'Invented source',
    meaning: 'No source has this id, so it supports nothing.',
    weight: 'fault',
  },
  citation_id_repeated: {
    title: 'Id repeated in one citation',
    meaning: 'The repeated id counts once as a citation, and says nothing more.',
    weight: 'warning',
  },
  citation_url_alias: {
    title: 'Another spelling of a page',
    meaning: 'The address is spelled unlike the source or an earlier citation; it counts as the same page.',
    weight: 'note',
  },
  citation_outside_answer: {
    title: 'Citation outside the answer',
    meaning: 'The citation is outside the judged text and is not scored.',
    weight: 'note',
  },
  source_duplicate_id: {
    title: 'Two sources with one id',
    meaning: 'Both texts are read as one source.',
    weight: 'note',
  },
  source_empty: { title: 'Empty source', meaning: 'The source has no text.', weight: 'note' },
  ids_shotgun: {
    title: 'Cites very many sources',
    meaning: 'A claim that cites more than five sources, or nearly all, does not show where it comes from.',
    weight: 'warning',
  },
  claim_covers_answer: {
    title: 'One claim covers the answer',
    meaning: 'A single citation spans nearly the whole answer.',
    weight: 'warning',
  },
  claim_verbatim: {
    title: 'Copied from the source',
    meaning: 'The claim repeats whole source sentences word for word.',
    weight: 'note',
  },
  number_not_in_source: {
    title: 'Number in no cited source',
    meaning: 'No cited source contains this number.',
    weight: 'warning',
  },
  name_not_in_source: {
    title: 'Name in no cited source',
    meaning: 'No cited source contains this name.',
    weight: 'warning',
  },
  quotation_invented: {
    title: 'Invented quotation',
    meaning: 'No source that is cited here contains this quotation, nor most of it.',
    weight: 'fault',
  },
  quotation_misattributed: {
    title: 'Quotation of another source',
    meaning: 'The cited sources do not contain this quotation. Another source does.',
    weight: 'fault',
  },
  quotation_stitched: {
    title: 'Stitched quotation',
    meaning: 'The source has the parts of this quotation, but not one after the other, and no ellipsis says so.',
    weight: 'warning',
  },
  quotation_altered: {
    title: 'Altered quotation',
    meaning: 'The source says this in other words.',
    weight: 'warning',
  },
  claim_states_nothing: {
    title: 'Claim that states nothing',
    meaning: 'The claim is a question or a list of words, which no source supports.',
    weight: 'warning',
  },
  claim_abstains: {
    title: 'Abstention with a citation',
    meaning: 'The claim says that the sources or the writer do not know, which no source supports.',
    weight: 'note',
  },
  claim_repeats_question: {
    title: 'Claim that repeats the question',
    meaning:
      'Every content word of the claim is in the question. It can answer yes or no, or choose, and nothing else.',
    weight: 'warning',
  },
  claim_without_content: {
    title: 'Claim without content',
    meaning: 'The claim has function words only, such as “The”, so no source supports it.',
    weight: 'fault',
  },
  claims_contradict: {
    title: 'Claim that contradicts another',
    meaning: 'An earlier claim of this answer has the same words with another number, or without the negation.',
    weight: 'warning',
  },
  citation_missing: {
    title: 'No citation',
    meaning: 'Citations are required, and the answer cites nothing.',
    weight: 'fault',
  },
  citation_forbidden: {
    title: 'Forbidden citation',
    meaning: 'Citations are forbidden, and the answer cites here.',
    weight: 'fault',
  },
  id_in_prose: {
    title: 'Id outside a citation',
    meaning: 'The id of a source, or what looks like one, stands in the text and cites nothing.',
    weight: 'warning',
  },
  markup_only: { title: 'Only markup', meaning: 'The answer consists of tags without text.', weight: 'fault' },
  judge_injection_suspected: {
    title: 'Possible instructions to the judge',
    meaning: 'The text reads like instructions to the judge.',
    weight: 'fault',
  },
};
