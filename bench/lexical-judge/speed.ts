import { gatherEvidence, indexSources } from '../../src/lexical/index.ts';

const SOURCES = 12;
const CLAIMS = 14;
const SENTENCES_PER_SOURCE = 17;
const ROUNDS = 40;
const CALLS_PER_ROUND = 200;

const SUBJECTS =
  'bridge harbour engineer council museum railway canal archive library festival river valley company survey tower'.split(
    ' ',
  );
const VERBS = 'opened expanded measured rebuilt described financed inspected connected recorded replaced'.split(' ');
const OBJECTS =
  'northern crossing, timber structure, public collection, steam engine, coastal road, granite quarry, flood barrier, city gate'.split(
    ', ',
  );

/** A synthetic rollout of typical size (25 KB of sources, 14 claims of about 120 characters); deterministic. */
function rollout(): { sources: { text: string }[]; claims: { text: string; cited: number[] }[] } {
  const sentence = (n: number): string =>
    `In ${1800 + ((n * 7) % 200)} the ${SUBJECTS[n % 15] ?? ''} of ${n % 3 === 0 ? 'Alderford' : 'Westmere'} ${VERBS[(n * 3) % 10] ?? ''} the ${OBJECTS[(n * 5) % 8] ?? ''} near the ${SUBJECTS[(n * 11) % 15] ?? ''}, at a cost of ${n * 13} pounds.`;
  const sources = Array.from({ length: SOURCES }, (_, s) => ({
    text: Array.from({ length: SENTENCES_PER_SOURCE }, (_, k) => sentence(s * 31 + k)).join(' '),
  }));
  const claims = Array.from({ length: CLAIMS }, (_, c) => {
    const cited = c % 2 === 0 ? [c % SOURCES] : [c % SOURCES, (c + 5) % SOURCES];
    const text = `The ${SUBJECTS[(c * 4) % 15] ?? ''} of Alderford ${VERBS[c % 10] ?? ''} a ${OBJECTS[c % 8] ?? ''} in ${1800 + c * 9} for about ${c * 40} pounds, close to the old ${SUBJECTS[c % 15] ?? ''}.`;
    return { text: c === 3 ? sentence(3 * 31 + 2) : text, cited };
  });
  return { sources, claims };
}

/** Prints the median and the best round, relative to JSON.parse of the same body. */
export function measureSpeed(): void {
  const body = JSON.stringify(rollout());
  const parse = (): number => (JSON.parse(body) as ReturnType<typeof rollout>).claims.length;
  const { sources, claims } = JSON.parse(body) as ReturnType<typeof rollout>;
  const judge = (): number => {
    const index = indexSources(sources);
    let sum = 0;
    for (const claim of claims) sum += gatherEvidence(index, claim.text, claim.cited).support;
    return sum;
  };
  const parsing = microseconds(parse);
  const judging = microseconds(judge);
  const units = sources.reduce((sum, source) => sum + source.text.length, 0);
  console.log(`${sources.length} sources, ${units} units; ${claims.length} claims; body ${body.length} units`);
  console.log(`JSON.parse             ${parsing.median.toFixed(1)} us (best ${parsing.best.toFixed(1)})`);
  console.log(`indexSources + claims  ${judging.median.toFixed(1)} us (best ${judging.best.toFixed(1)})`);
  console.log(
    `ratio ${(judging.median / parsing.median).toFixed(1)} (best ${(judging.best / parsing.best).toFixed(1)})`,
  );
}

function microseconds(work: () => number): { median: number; best: number } {
  const times: number[] = [];
  let sink = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    for (let call = 0; call < CALLS_PER_ROUND; call++) sink += work();
    times.push(((performance.now() - start) * 1000) / CALLS_PER_ROUND);
  }
  if (Number.isNaN(sink)) throw new Error('a score is not a number');
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1] ?? 0, best: times[0] ?? 0 };
}
