/** Checks that the judge prompts of one group use the prefix cache, which determines most of a group's cost. */
import { judgePrompt } from '../../../src/judgments/model-judge.ts';
import { chat } from '../chat.ts';
import { type Finding, fail, notReported, pass, type Requirement } from '../finding.ts';
import type { Probe } from '../probe.ts';
import { sampleRubric } from '../sample-requests.ts';
import { constrainedPrompt } from './judging.ts';

export const PREFIX: Requirement = {
  id: 'prefix_cache',
  title: 'a group shares its prefix in the cache',
  change:
    'Leave --enable-prefix-caching on (the default); behind several replicas route by session or prefix, not round robin.',
};

const REPORT_HINT = 'Start vLLM with --enable-prompt-tokens-details, so that usage says what came from the cache.';

const SAMPLES = 4;
/** About 3,000 tokens: several blocks of any engine's cache, including hybrid models with large blocks. */
const SOURCE_REPEATS = 24;
/** Expected share of cached tokens in the later prompts of the group, which differ only in the answer at the end. */
const EXPECTED_SHARE = 0.5;

export async function checkPrefixCache({ target, model, nonce, metrics }: Probe): Promise<Finding> {
  const followers: { cached: number | null; prompt: number }[] = [];
  const before = await metrics();
  for (let sample = 1; sample <= SAMPLES; sample++) {
    const prompt = judgePrompt(sampleRubric(`${nonce}-group`, sample, SOURCE_REPEATS));
    const { usage } = await chat(target, constrainedPrompt(model, prompt));
    if (sample === 1) continue;
    followers.push({
      cached: usage?.prompt_tokens_details?.cached_tokens ?? null,
      prompt: usage?.prompt_tokens ?? 0,
    });
  }
  const prompts = followers.reduce((sum, { prompt }) => sum + prompt, 0);
  const told = followers.flatMap(({ cached }) => (cached === null ? [] : [cached]));
  if (told.length === followers.length) {
    return judged(
      told.reduce((sum, cached) => sum + cached, 0),
      prompts,
      'usage',
    );
  }
  const after = await metrics();
  if (before?.cached_tokens !== undefined && before.cached_tokens !== null && after?.cached_tokens != null) {
    return judged(after.cached_tokens - before.cached_tokens, prompts, '/metrics');
  }
  return notReported(PREFIX, 'neither usage nor /metrics says what came from the cache', REPORT_HINT);
}

function judged(cached: number, prompts: number, witness: string): Finding {
  const saw = `by ${witness}: ${cached} of ${prompts} prompt tokens of samples 2 to ${SAMPLES} came from the cache`;
  return cached >= EXPECTED_SHARE * prompts ? pass(PREFIX, saw) : fail(PREFIX, saw);
}
