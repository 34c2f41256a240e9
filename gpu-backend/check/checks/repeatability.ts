/** Checks that equal requests give equal replies, alone and under load. Replicates and replays depend on it. */
import { chat } from '../chat.ts';
import { type Finding, fail, pass, type Requirement } from '../finding.ts';
import { type Probe, proseBody } from '../probe.ts';

export const SEED: Requirement = {
  id: 'seed',
  title: 'a seed gives the same reply again',
  change: 'Send seed through to the engine; a proxy or gateway in between may drop it.',
};

export const SEED_UNDER_LOAD: Requirement = {
  id: 'seed_under_load',
  title: 'a seed gives the same reply in a full batch',
  change:
    'Set VLLM_BATCH_INVARIANT=1 (beta; slower; not every model is tested with it). Without it, borderline verdicts may differ between runs.',
};

const TOKENS = 48;
const TWINS = 4;
const OTHERS = 4;

export async function checkSeeds(probe: Probe): Promise<readonly Finding[]> {
  const ask = async (seed: number): Promise<string> => {
    const { choices } = await chat(probe.target, proseBody(probe, TOKENS, { seed }));
    return choices[0]?.content ?? '';
  };
  const first = await ask(11);
  const again = await ask(11);
  const other = await ask(12);
  const alone =
    first !== again
      ? fail(SEED, 'two different replies to one seed')
      : pass(
          SEED,
          first === other ? 'same twice; another seed gives the same too' : 'same twice, other seed other reply',
        );
  const crowd = await Promise.all(
    Array.from({ length: TWINS + OTHERS }, (_unused, n) => ask(n < TWINS ? 11 : 100 + n)),
  );
  const same = crowd.slice(0, TWINS).filter((text) => text === first).length;
  const saw = `${same} of ${TWINS} equal to the reply alone, beside ${OTHERS} others`;
  return [alone, same === TWINS ? pass(SEED_UNDER_LOAD, saw) : fail(SEED_UNDER_LOAD, saw)];
}
