import { hashTable, lookUp } from './hash-table.ts';
import { stemOf } from './number-words.ts';

const NEGATIONS =
  'not no never none neither nor without cannot nobody nothing nowhere hardly rarely barely lack lacked lacks unable fail failed fails ' +
  "don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't hasn't haven't hadn't ain't mustn't needn't";

// Apostrophes are not hashed and words that hold one are not stemmed, so the stem of "don't" is that of "dont".
const NEGATION_STEMS = hashTable(NEGATIONS.split(' ').map((word) => [stemOf(word), 1] as const));

export function isNegation(stem: number): boolean {
  return lookUp(NEGATION_STEMS, stem) !== 0;
}

const PERSONAL = "i i'm i've i'd i'll me my mine myself";
const PERSONAL_STEMS = hashTable(PERSONAL.split(' ').map((word) => [stemOf(word), 1] as const));

/** I, me and their like: what the writer says of himself is nothing a source can support. */
export function isPersonal(stem: number): boolean {
  return lookUp(PERSONAL_STEMS, stem) !== 0;
}

/** Words that turn or limit what is said. One of them in a claim and nowhere in its sources speaks against the claim. */
const TURNING =
  'except exclude excluding refuse reject decline deny denied oppose avoid prevent prohibit forbid ban cancel stop cease quit abandon ignore neglect ' +
  'dislike hate dismiss doubt disagree disapprove discourage dissuade discontinue disregard discard hinder hamper impair impede obstruct ' +
  'worsen worse degrade deteriorate diminish decrease reduce shrink lose loss weaken weak worst lower lowest less fewer least minimal negligible ' +
  'inferior slow slower impossible useless worthless pointless meaningless harmless careless helpless failure unsuccessful ineffective ' +
  'inefficient inefficiently inaccurate incorrect incorrectly inflexible inadequate insufficient incapable inconsistent invalid irrelevant irregular illegal ' +
  'impractical improbable uninterested disinterested unhappy unsatisfied dissatisfied unwilling unlikely unlimited unrelated unaware unknown unavailable ' +
  'unaffordable uncomfortable unimportant unnecessary unsafe unstable unclear unfair unfavorable unqualified untrained unreliable unsure wrong wrongly ' +
  'false falsely misinform mislead misunderstand misrepresent dishonest negative negatively boring rude hostile angry upset ' +
  'outdated obsolete overestimate underestimate opposite contrary';
const TURNING_STEMS = hashTable(TURNING.split(' ').map((word) => [stemOf(word), 1] as const));

export function isTurning(stem: number): boolean {
  return lookUp(TURNING_STEMS, stem) !== 0;
}

/** Pairs that small edits swap; both directions hold. */
const PAIRS =
  'increase decrease,rise fall,rose fell,grow shrink,gain lose,gain loss,more less,more fewer,most least,high low,higher lower,highest lowest,large small,' +
  'larger smaller,big small,long short,longer shorter,strong weak,fast slow,early late,earlier later,first last,before after,above below,over under,' +
  'win lose,won lost,win loss,accept reject,accept decline,accept refuse,agree disagree,agree refuse,allow prevent,allow forbid,approve reject,' +
  'good bad,better worse,best worst,positive negative,success failure,true false,right wrong,right left,north south,east west,open close,' +
  'start end,begin end,start finish,buy sell,bought sold,expensive cheap,improve worsen,improve degrade,improve reduce,add remove,include exclude,' +
  'support oppose,major minor,majority minority,minimum maximum,minimise maximise,minimize maximize,male female,man woman,father mother,son daughter,' +
  'brother sister,husband wife,old young,new old,public private,rich poor,same different,similar different,simple complex,easy difficult,easy hard,' +
  'possible impossible,expand reduce,raise lower,raise cut,reduce increase,with without,always never,all none,interior exterior,internal external,' +
  'local global,past future,present absent,supervised unsupervised,efficient inefficient,accurate inaccurate,known unknown,happy unhappy,' +
  'like dislike,interested uninterested,available unavailable,able unable,effective ineffective,stable unstable,labelled unlabelled,labeled unlabeled';

const STEM_PAIRS = PAIRS.split(',').flatMap((pair) => {
  const [one, other] = pair.split(' ').map(stemOf);
  return one === undefined || other === undefined
    ? []
    : [
        { stem: one, opposite: other },
        { stem: other, opposite: one },
      ];
});
const OPPOSITES: readonly (readonly number[])[] = groupOpposites();
const GROUP_BY_STEM = hashTable(STEM_PAIRS.map(({ stem }) => [stem, groupOf(stem)] as const));

function groupOpposites(): number[][] {
  const groups = new Map<number, number[]>();
  for (const { stem, opposite } of STEM_PAIRS) {
    const group = groups.get(stem);
    if (group === undefined) groups.set(stem, [opposite]);
    else group.push(opposite);
  }
  return [...groups.values()];
}

function groupOf(stem: number): number {
  const wanted = STEM_PAIRS.filter((pair) => pair.stem === stem).map((pair) => pair.opposite);
  return (
    1 + OPPOSITES.findIndex((group) => group.length === wanted.length && group.every((value, i) => value === wanted[i]))
  );
}

const NO_OPPOSITES: readonly number[] = [];

/** Stem hashes of the opposites of a word; empty for most words. */
export function oppositesOf(stem: number): readonly number[] {
  const group = lookUp(GROUP_BY_STEM, stem);
  return group === 0 ? NO_OPPOSITES : (OPPOSITES[group - 1] ?? NO_OPPOSITES);
}
