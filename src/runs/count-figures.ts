/** Figures of what answers contain: claims, citations, lengths, findings by reason, and pass rates of criteria. */
import * as z from 'zod';
import { MAX_METRICS } from '../limits.ts';
import { type MomentSums, Moments, Tally } from './moments.ts';
import { namedCriteria, type RolloutCounts } from './rollout-counts.ts';

const countSchema = z.int().min(0);
const countByName = z.record(z.string(), countSchema);

export const momentSumsSchema = z.strictObject({
  count: countSchema,
  mean: z.number(),
  squares: z.number(),
}) satisfies z.ZodType<MomentSums>;

/** The figures of some rollouts, as they are stored. */
export const storedCountsSchema = z.strictObject({
  claims: momentSumsSchema,
  citations: momentSumsSchema,
  chars: momentSumsSchema,
  tokens: momentSumsSchema,
  checked: countSchema.describe('Rollouts whose findings are known.'),
  findings: countByName,
  found: z
    .strictObject({ rollouts: countSchema, reasons: countByName })
    .exactOptional()
    .describe('Rollouts that have each finding. Absent = none checked, or stored by an earlier version.'),
  judged: countByName.describe('Rollouts that have the criterion.'),
  passed: countByName,
  agreement: momentSumsSchema.exactOptional().describe('Of the judges; absent = no rollout has several.'),
  judged_by: countByName.exactOptional().describe('Absent = no single sample was sent with a list of judges.'),
  persistent_reward: momentSumsSchema.exactOptional().describe('Absent = no rubric of the rollouts evolves.'),
  words: momentSumsSchema.exactOptional().describe('Words of an answer. Absent = of no answer they are known.'),
  copied: momentSumsSchema.exactOptional().describe('Share of them that is copied. Absent with words.'),
  outcome: momentSumsSchema.exactOptional().describe('Absent = the trainer sent none.'),
  metrics: z.record(z.string(), momentSumsSchema).exactOptional().describe('Absent = the trainer sent none.'),
});

type StoredCounts = z.infer<typeof storedCountsSchema>;

const meanSchema = z.strictObject({
  rollouts: countSchema.describe('Rollouts of which the number is known.'),
  mean: z.number().nullable(),
});

/** The fields of a step's summary. */
export const countFigures = {
  claims: meanSchema.describe('Claims that cite a source, per rollout.'),
  citations: meanSchema.describe('Cited ids per rollout, or cited pages that the trajectory saw (CaRR).'),
  lengths: z.strictObject({
    chars: meanSchema.describe('Length of the response in UTF-16 code units.'),
    tokens: meanSchema.describe('Length of the response in tokens, where the trainer sends it.'),
  }),
  findings: z
    .strictObject({
      rollouts: countSchema.describe('Rollouts whose findings are known.'),
      reasons: countByName,
      shares: z
        .record(z.string(), z.number().min(0).max(1))
        .describe('Share of the rollouts that have the finding. Steps that an earlier version recorded have none.'),
    })
    .describe('Number of findings by reason.'),
  agreement: meanSchema
    .exactOptional()
    .describe(
      'With several judges: the share of the pairs of judges that agree on a verdict, as the mean over rollouts.',
    ),
  judged_by: countByName
    .exactOptional()
    .describe(
      'Single samples whose requests listed several judges, by the model that judged. With more than one model, a group ' +
        'may compare rewards of different judges.',
    ),
  persistent_reward: meanSchema
    .exactOptional()
    .describe(
      'Where rubrics evolve: the reward by the persistent criteria alone. Unlike the whole reward, which is of the set ' +
        'of its time, it can be compared over the steps while none of these criteria is retired.',
    ),
  words: meanSchema
    .exactOptional()
    .describe('Words of an answer, without citations. Absent in runs of earlier versions.'),
  copied: meanSchema
    .exactOptional()
    .describe('Share of the words of an answer that stand in spans of 8 or more that a source contains.'),
  outcome: meanSchema.exactOptional().describe('What the trainer sends as outcome. Absent = it sends none.'),
  metrics: z
    .record(z.string(), meanSchema)
    .exactOptional()
    .describe(`What the trainer sends as metrics, by name; at most ${MAX_METRICS} names of a step.`),
  criteria: z
    .record(z.string(), z.strictObject({ rollouts: countSchema, pass_rate: z.number().min(0).max(1) }))
    .describe(
      'By position: positive_1 is the first positive criterion of a row, static_1 the first of the recipe. Passed: fully ' +
        'met; a negative criterion: fully avoided. `rollouts` have the criterion and were judged.',
    ),
};

type CountSummary = z.infer<z.ZodObject<typeof countFigures>>;

export class CountFigures {
  readonly #claims = new Moments();
  readonly #citations = new Moments();
  readonly #chars = new Moments();
  readonly #tokens = new Moments();
  #checked = 0;
  readonly #findings = new Tally();
  readonly #found = { rollouts: 0, reasons: new Tally() };
  readonly #judged = new Tally();
  readonly #passed = new Tally();
  readonly #agreement = new Moments();
  readonly #persistent = new Moments();
  readonly #judgedBy = new Tally();
  readonly #words = new Moments();
  readonly #copied = new Moments();
  readonly #outcome = new Moments();
  readonly #metrics = new Map<string, Moments>();

  add(counts: RolloutCounts): void {
    const { claims, citations, chars, tokens, findings, criteria, agreement, persistent_reward, judged_by } = counts;
    const { answer, outcome, metrics } = counts;
    if (answer != null) this.#words.add(answer.words);
    if (answer != null && answer.words > 0) this.#copied.add(answer.copied / answer.words);
    if (outcome != null) this.#outcome.add(outcome);
    for (const [name, value] of Object.entries(metrics ?? {})) if (value !== null) this.#metric(name)?.add(value);
    if (judged_by !== undefined) this.#judgedBy.add(judged_by);
    if (agreement !== undefined) this.#agreement.add(agreement);
    if (persistent_reward !== undefined) this.#persistent.add(persistent_reward);
    if (claims !== null) this.#claims.add(claims);
    if (citations !== null) this.#citations.add(citations);
    if (chars !== null) this.#chars.add(chars);
    if (tokens !== null) this.#tokens.add(tokens);
    if (findings !== null) {
      this.#checked++;
      this.#findings.merge(findings);
      this.#found.rollouts++;
      for (const reason of Object.keys(findings)) this.#found.reasons.add(reason);
    }
    for (const { name, passed } of namedCriteria(criteria ?? '')) {
      this.#judged.add(name);
      if (passed) this.#passed.add(name);
    }
  }

  /** The moments of a metric; `null` = the step has too many others. */
  #metric(name: string): Moments | null {
    const known = this.#metrics.get(name);
    if (known !== undefined) return known;
    if (this.#metrics.size >= MAX_METRICS) return null;
    const made = new Moments();
    this.#metrics.set(name, made);
    return made;
  }

  /** Adds the figures of other rollouts. */
  merge(other: StoredCounts): void {
    this.#claims.merge(other.claims);
    this.#citations.merge(other.citations);
    this.#chars.merge(other.chars);
    this.#tokens.merge(other.tokens);
    this.#checked += other.checked;
    this.#findings.merge(other.findings);
    this.#found.rollouts += other.found?.rollouts ?? 0;
    this.#found.reasons.merge(other.found?.reasons ?? {});
    this.#judged.merge(other.judged);
    this.#passed.merge(other.passed);
    if (other.agreement !== undefined) this.#agreement.merge(other.agreement);
    if (other.persistent_reward !== undefined) this.#persistent.merge(other.persistent_reward);
    this.#judgedBy.merge(other.judged_by ?? {});
    if (other.words !== undefined) this.#words.merge(other.words);
    if (other.copied !== undefined) this.#copied.merge(other.copied);
    if (other.outcome !== undefined) this.#outcome.merge(other.outcome);
    for (const [name, sums] of Object.entries(other.metrics ?? {})) this.#metric(name)?.merge(sums);
  }

  get #judges(): Pick<StoredCounts, 'judged_by'> {
    const judged_by = this.#judgedBy.counts;
    return Object.keys(judged_by).length === 0 ? {} : { judged_by };
  }

  #metricsBy<T>(read: (moments: Moments) => T): Record<string, T> {
    return Object.fromEntries([...this.#metrics].map(([name, moments]) => [name, read(moments)]));
  }

  get #shares(): Record<string, number> {
    const { rollouts, reasons } = this.#found;
    return Object.fromEntries(Object.entries(reasons.counts).map(([reason, n]) => [reason, n / rollouts]));
  }

  get stored(): StoredCounts {
    return {
      claims: this.#claims.sums,
      citations: this.#citations.sums,
      chars: this.#chars.sums,
      tokens: this.#tokens.sums,
      checked: this.#checked,
      findings: this.#findings.counts,
      ...(this.#found.rollouts === 0
        ? {}
        : { found: { rollouts: this.#found.rollouts, reasons: this.#found.reasons.counts } }),
      judged: this.#judged.counts,
      passed: this.#passed.counts,
      ...(this.#agreement.count === 0 ? {} : { agreement: this.#agreement.sums }),
      ...(this.#persistent.count === 0 ? {} : { persistent_reward: this.#persistent.sums }),
      ...this.#judges,
      ...(this.#words.count === 0 ? {} : { words: this.#words.sums }),
      ...(this.#copied.count === 0 ? {} : { copied: this.#copied.sums }),
      ...(this.#outcome.count === 0 ? {} : { outcome: this.#outcome.sums }),
      ...(this.#metrics.size === 0 ? {} : { metrics: this.#metricsBy(({ sums }) => sums) }),
    };
  }

  get summary(): CountSummary {
    const passed = this.#passed.counts;
    const judged = Object.entries(this.#judged.counts).sort(([one], [other]) => compareNames(one, other));
    return {
      claims: meanOf(this.#claims),
      citations: meanOf(this.#citations),
      lengths: { chars: meanOf(this.#chars), tokens: meanOf(this.#tokens) },
      findings: { rollouts: this.#checked, reasons: this.#findings.counts, shares: this.#shares },
      ...(this.#agreement.count === 0 ? {} : { agreement: meanOf(this.#agreement) }),
      ...(this.#persistent.count === 0 ? {} : { persistent_reward: meanOf(this.#persistent) }),
      ...this.#judges,
      ...(this.#words.count === 0 ? {} : { words: meanOf(this.#words) }),
      ...(this.#copied.count === 0 ? {} : { copied: meanOf(this.#copied) }),
      ...(this.#outcome.count === 0 ? {} : { outcome: meanOf(this.#outcome) }),
      ...(this.#metrics.size === 0 ? {} : { metrics: this.#metricsBy(meanOf) }),
      criteria: Object.fromEntries(
        judged.map(([name, rollouts]) => [name, { rollouts, pass_rate: (passed[name] ?? 0) / rollouts }]),
      ),
    };
  }
}

function meanOf({ count, mean }: Moments): { rollouts: number; mean: number | null } {
  return { rollouts: count, mean };
}

/** By kind, then by number: positive_2 before positive_10. */
function compareNames(one: string, other: string): number {
  const [kind = '', number] = one.split('_');
  const [otherKind = '', otherNumber] = other.split('_');
  return kind === otherKind ? Number(number) - Number(otherNumber) : kind < otherKind ? -1 : 1;
}
