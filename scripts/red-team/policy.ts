/** What the red team trains: a policy reads rows, writes answers, and learns from imitation and from advantages. */
import * as z from 'zod';
import type { Row } from './rows.ts';

export const updateSchema = z.strictObject({
  loss: z.number().nullable(),
  norm: z.number().nullable().describe("The gradient's norm before it was clipped to 1."),
  skipped: z.boolean().describe('The gradient was not finite, so the weights were left as they were.'),
});

export type Update = z.infer<typeof updateSchema>;

/** How a policy imitates before it learns from rewards. */
export type Imitation = {
  /** Answers a step. */
  readonly answers: number;
  /** Share of the steps, from the first on, whose answers have no faults: the policy learns to attribute before habits. */
  readonly faultless: number;
  /** Share of the steps that imitate answers to a user's rows, if there are any. */
  readonly ownRows: number;
  /**
   * What makes rows of another kind than `plain` easier at first: it imitates answers to plain rows before, or rows keep
   * few of the sources that are not asked.
   */
  readonly begins: 'with_plain_rows' | 'with_few_sources' | 'at_once';
  /** @param isLater the policy can answer plain rows already. */
  readonly learningRate: (step: number, steps: number, isLater: boolean) => number;
};

/** An answer of a policy; `cut`: it reached the longest length before its end. */
export type Answer = { readonly text: string; readonly cut: boolean };

export type Policy = {
  /** What its answers depend on before it has imitated any. */
  readonly identity: Readonly<Record<string, unknown>>;
  readonly imitation: Imitation;
  /** Of its saved files, with the dot. */
  readonly extension: string;
  /** Steps between two saved states. */
  readonly savedEvery: number;
  /** One step of supervised training on a target for each row. */
  imitate(rows: readonly Row[], targets: readonly string[], learningRate: number): Promise<Update>;
  /** Samples answers to each row at temperature 1; `seed` and `step` decide which. */
  sample(rows: readonly Row[], samples: number, seed: number, step: number): Promise<readonly (readonly Answer[])[]>;
  /** One step of GRPO on the answers sampled last. Advantage 0 teaches nothing. */
  learn(advantages: readonly (readonly number[])[], learningRate: number): Promise<Update>;
  /** Writes the weights and the optimizer to a file. */
  save(file: string): Promise<void>;
  /** Reads a saved file; without `optimizer`, its optimizer is left out. */
  load(file: string, optimizer: boolean): Promise<void>;
  /** Ends its process. */
  close(): void;
};
