/** The findings of a row in few words, the most important first: `2 invented ids, 1 unsupported`. */
import type { FindingReason } from '../../src/citations/types.ts';
import type { RefinerReply } from '../../src/families/refiner/reply.ts';

/** One finding and its count; a count of 0 is not printed. */
type Remark = { readonly count: number; readonly one: string; readonly many: string };

/** The most important first. */
const FINDING_WORDS: Readonly<Record<FindingReason, readonly [one: string, many: string]>> = {
  no_answer: ['no answer', 'no answer'],
  answer_oversized: ['answer oversized', 'answer oversized'],
  answer_unclosed: ['answer unclosed', 'answers unclosed'],
  several_answers: ['several answers', 'several answers'],
  text_outside_answer: ['text outside answer', 'texts outside answer'],
  judge_injection_suspected: ['injection?', 'injections?'],
  citation_id_unknown: ['invented id', 'invented ids'],
  citation_unclosed: ['unclosed', 'unclosed'],
  citation_nested: ['nested', 'nested'],
  citation_stray_close: ['stray close', 'stray closes'],
  citation_no_id: ['without id', 'without id'],
  citation_id_malformed: ['malformed id', 'malformed ids'],
  citation_empty_claim: ['empty claim', 'empty claims'],
  citation_missing: ['cites nothing', 'cites nothing'],
  citation_forbidden: ['forbidden citation', 'forbidden citations'],
  ids_shotgun: ['shotgun', 'shotgun'],
  number_not_in_source: ['number not in source', 'numbers not in source'],
  name_not_in_source: ['name not in source', 'names not in source'],
  quotation_invented: ['invented quotation', 'invented quotations'],
  quotation_misattributed: ['quotation of another source', 'quotations of another source'],
  quotation_stitched: ['stitched quotation', 'stitched quotations'],
  quotation_altered: ['altered quotation', 'altered quotations'],
  claim_states_nothing: ['states nothing', 'state nothing'],
  claim_abstains: ['abstains', 'abstain'],
  claim_repeats_question: ['repeats the question', 'repeat the question'],
  claim_without_content: ['without content', 'without content'],
  claims_contradict: ['contradicts another claim', 'contradict another claim'],
  claim_verbatim: ['copied', 'copied'],
  claim_covers_answer: ['claim covers answer', 'claims cover answer'],
  citation_url_alias: ['other spelling', 'other spellings'],
  citation_id_repeated: ['repeated id', 'repeated ids'],
  id_in_prose: ['id in prose', 'ids in prose'],
  citation_outside_answer: ['cited outside answer', 'cited outside answer'],
  source_duplicate_id: ['duplicate source', 'duplicate sources'],
  source_empty: ['empty source', 'empty sources'],
  markup_only: ['markup only', 'markup only'],
};

/** Findings that are printed without their count. */
const WITHOUT_COUNT: ReadonlySet<string> = new Set<FindingReason>([
  'no_answer',
  'answer_oversized',
  'answer_unclosed',
  'several_answers',
  'citation_missing',
]);

/** Remarks on the findings of the parser, in the order of FINDING_WORDS. */
export function remarksOfFindings(counts: Readonly<Partial<Record<FindingReason, number>>>): Remark[] {
  const found = new Map<string, number>(Object.entries(counts));
  return Object.entries(FINDING_WORDS).flatMap(([reason, [one, many]]) => {
    const count = found.get(reason) ?? 0;
    if (count === 0) return [];
    return [{ count: WITHOUT_COUNT.has(reason) ? 0 : count, one, many }];
  });
}

/** Remarks on a scored row: the penalties of its terms, the findings of the parser, then those of the judge. */
export function remarksOfScore(reply: RefinerReply): Remark[] {
  const counted = reply.claims.filter(({ duplicate_of }) => duplicate_of === null);
  const repeated = reply.claims.length - counted.length;
  const unsupported = counted.filter(({ support }) => support === 0).length;
  const partly = counted.filter(({ support }) => support !== null && support > 0 && support < 1).length;
  const uncited = reply.statements.filter(({ needs_citation }) => needs_citation === true).length;
  const judged: Remark[] = [
    { count: unsupported, one: 'unsupported', many: 'unsupported' },
    { count: partly, one: 'partial', many: 'partial' },
    { count: uncited, one: 'uncited', many: 'uncited' },
    { count: repeated, one: 'repeated claim', many: 'repeated claims' },
  ];
  const { length, turns } = reply.components;
  const penalties = Object.entries({ length, turns }).flatMap(([name, term]): Remark[] => {
    if (term?.value == null || term.value === 0) return [];
    const text = `${name} ${term.value.toFixed(2)}`;
    return [{ count: 0, one: text, many: text }];
  });
  return [...penalties, ...remarksOfFindings(reply.finding_counts), ...judged.filter(({ count }) => count > 0)];
}

/** As many remarks as fit into `width` columns, and the number of the others: `2 invented ids +1`. */
export function remarksText(remarks: readonly Remark[], width: number): string {
  const words = remarks.map(({ count, one, many }) => (count === 0 ? one : `${count} ${count === 1 ? one : many}`));
  for (let shown = words.length; shown > 1; shown--) {
    const left = words.length - shown;
    const text = words.slice(0, shown).join(', ') + (left > 0 ? ` +${left}` : '');
    if (text.length <= width) return text;
  }
  const [first] = words;
  if (first === undefined) return '';
  return words.length > 1 && first.length + 3 <= width ? `${first} +${words.length - 1}` : first;
}
