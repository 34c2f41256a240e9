/**
 * Splits the response into pieces of one style: claims, uncited statements, markup, text outside the answer. One sweep
 * over sorted edges; the result is positions in the caller's text, so nothing is parsed as HTML.
 */
import type { Finding, FindingReason } from '../../../src/citations/types.ts';
import type { Verification } from '../../../src/citations/verify.ts';
import type { Span } from '../../../src/text/span.ts';

export type Piece = Span & {
  readonly kind: 'outside' | 'text' | 'statement' | 'claim' | 'markup';
  /** The finding at this exact place, or words that the judge finds in no cited source. */
  readonly flag: Flag | null;
  /** Whether the other answer of a comparison lacks these words. */
  readonly isDifferent: boolean;
};

/** Consecutive pieces inside one claim, or outside claims, in reading order. */
export type Segment = {
  /** Index of the claim; `null` outside claims. */
  readonly claim: number | null;
  readonly pieces: readonly Piece[];
};

export type Flag = FindingReason | 'words_not_in_source';

/** Findings that mark a part of a claim or of the answer. */
const FLAGS: ReadonlySet<FindingReason> = new Set([
  'number_not_in_source',
  'name_not_in_source',
  'quotation_invented',
  'quotation_misattributed',
  'quotation_stitched',
  'quotation_altered',
  'judge_injection_suspected',
]);

type Edge = { readonly at: number; readonly opens: boolean; readonly layer: Layer };
type Layer =
  | { readonly kind: 'answer' | 'statement' | 'difference' | 'tag' }
  | { readonly kind: 'element' | 'claim'; readonly claim: number }
  | { readonly kind: 'flag'; readonly reason: Flag };

/**
 * Splits a response. The pieces cover it without gaps; there are no empty pieces.
 *
 * @param lacking words that the judge finds in no cited source.
 * @param differing what another answer lacks, without overlaps.
 */
export function answerSegments(
  response: string,
  verification: Verification,
  lacking: readonly Span[],
  differing: readonly Span[] = [],
): Segment[] {
  const { answer, claims, statements, findings } = verification;
  const edges: Edge[] = [];
  const add = ({ start, end }: Span, layer: Layer): void => {
    if (end > start) edges.push({ at: start, opens: true, layer }, { at: end, opens: false, layer });
  };
  if (answer !== null) add(answer, { kind: 'answer' });
  if (answer !== null) for (const tag of answerTags(response, answer)) add(tag, { kind: 'tag' });
  for (const { pieces } of statements) for (const piece of pieces) add(piece, { kind: 'statement' });
  for (const claim of claims) {
    add(claim.element, { kind: 'element', claim: claim.index });
    add(claim.span, { kind: 'claim', claim: claim.index });
  }
  for (const span of lacking) add(span, { kind: 'flag', reason: 'words_not_in_source' });
  for (const span of differing) add(span, { kind: 'difference' });
  for (const finding of findings) if (isFlag(finding)) add(finding.span, { kind: 'flag', reason: finding.reason });
  edges.sort((a, b) => a.at - b.at);
  return sweep(response.length, edges);
}

const [OPENS, CLOSES] = ['<answer>', '</answer>'];

/** The tags around an answer: a grammar without them reads them as its text. */
function answerTags(response: string, { start, end }: Span): Span[] {
  const text = response.slice(start, end);
  const from = start + text.length - text.trimStart().length;
  const to = start + text.trimEnd().length;
  return [
    ...(response.startsWith(OPENS, from) ? [{ start: from, end: from + OPENS.length }] : []),
    ...(response.endsWith(CLOSES, to) ? [{ start: to - CLOSES.length, end: to }] : []),
  ];
}

export function isFlag({ in: where, reason }: Finding): boolean {
  return where === 'response' && FLAGS.has(reason);
}

function sweep(length: number, edges: readonly Edge[]): Segment[] {
  const segments: { claim: number | null; pieces: Piece[] }[] = [];
  /** Open claims, innermost last. */
  const elements: number[] = [];
  const claims = new Set<number>();
  const flags: Flag[] = [];
  let answers = 0;
  let statements = 0;
  let differences = 0;
  let tags = 0;
  let at = 0;

  const emit = (end: number): void => {
    if (end <= at) return;
    const claim = elements.at(-1) ?? null;
    const kind = kindOf({ claim, inClaim: claim !== null && claims.has(claim), answers, statements, tags });
    const piece: Piece = { start: at, end, kind, flag: flags.at(-1) ?? null, isDifferent: differences > 0 };
    const last = segments.at(-1);
    if (last !== undefined && last.claim === claim) last.pieces.push(piece);
    else segments.push({ claim, pieces: [piece] });
    at = end;
  };
  for (const { at: position, opens, layer } of edges) {
    emit(position);
    switch (layer.kind) {
      case 'answer':
        answers += opens ? 1 : -1;
        break;
      case 'statement':
        statements += opens ? 1 : -1;
        break;
      case 'difference':
        differences += opens ? 1 : -1;
        break;
      case 'tag':
        tags += opens ? 1 : -1;
        break;
      case 'element':
        if (opens) elements.push(layer.claim);
        else elements.splice(elements.lastIndexOf(layer.claim), 1);
        break;
      case 'claim':
        if (opens) claims.add(layer.claim);
        else claims.delete(layer.claim);
        break;
      case 'flag':
        if (opens) flags.push(layer.reason);
        else flags.splice(flags.lastIndexOf(layer.reason), 1);
        break;
    }
  }
  emit(length);
  return segments;
}

type Place = {
  readonly claim: number | null;
  readonly inClaim: boolean;
  readonly answers: number;
  readonly statements: number;
  readonly tags: number;
};

function kindOf({ claim, inClaim, answers, statements, tags }: Place): Piece['kind'] {
  if (tags > 0) return 'markup';
  if (claim !== null) return inClaim ? 'claim' : 'markup';
  if (answers === 0) return 'outside';
  return statements > 0 ? 'statement' : 'text';
}
