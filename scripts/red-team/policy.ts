/** Starts policy.py and calls its methods. One call at a time; the process ends with this one. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { RunError } from '../../cli/shared/exit.ts';

/** Prompts as token ids, padded to a length: each length is compiled once. */
export type PromptBatch = {
  readonly prompts: readonly (readonly number[])[];
  /** For each token of a prompt the number of its source, from 1; 0 = the question. */
  readonly sources: readonly (readonly number[])[];
  readonly prompt_tokens: number;
  readonly answer_tokens: number;
};

export type Shape = {
  readonly vocabulary: number;
  readonly sources: number;
  readonly layers: number;
  readonly width: number;
  readonly heads: number;
};

const updateSchema = z.strictObject({
  loss: z.number().nullable(),
  norm: z.number().nullable().describe("The gradient's norm before it was clipped to 1."),
  skipped: z.boolean().describe('The gradient was not finite, so the weights were left as they were.'),
});

const answersSchema = z.strictObject({ answers: z.array(z.array(z.array(z.int()))) });
const openedSchema = z.strictObject({ parameters: z.int() });
const emptySchema = z.strictObject({});

const ERROR_LINES_SHOWN = 12;

export class Policy {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #errors: string[] = [];

  /**
   * @param python of the environment that has the packages.
   * @param threads that the process computes with.
   * @param compiled folder that keeps compiled functions for later starts.
   */
  constructor(python: string, threads: number, compiled: string) {
    this.#process = spawn(python, [join(import.meta.dirname, 'policy.py')], {
      stdio: 'pipe',
      env: {
        ...process.env,
        JAX_PLATFORMS: 'cpu',
        JAX_COMPILATION_CACHE_DIR: compiled,
        JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0.5',
        // The number of threads that XLA takes.
        NPROC: String(threads),
      },
    });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    createInterface({ input: this.#process.stderr }).on('line', (line) => {
      this.#errors.push(line);
      if (this.#errors.length > ERROR_LINES_SHOWN) this.#errors.shift();
    });
    // A write to a process that has ended: the read after it reports why.
    this.#process.stdin.on('error', () => undefined);
  }

  /** Makes new weights and returns their number. */
  async open(shape: Shape, seed: number): Promise<number> {
    return (await this.#call('open', { ...shape, seed }, openedSchema)).parameters;
  }

  /** One step of supervised training. `targets`: the same number of answers for each prompt. */
  imitate(batch: PromptBatch, targets: readonly (readonly (readonly number[])[])[], learning_rate: number) {
    return this.#call('imitate', { ...batch, targets, learning_rate }, updateSchema);
  }

  /** Samples answers to each prompt at temperature 1; `seed` and `step` decide which. */
  async sample(batch: PromptBatch, samples: number, seed: number, step: number): Promise<number[][][]> {
    return (await this.#call('sample', { ...batch, samples, seed, step }, answersSchema)).answers;
  }

  /** One step of GRPO on the answers sampled last. Advantage 0 teaches nothing. */
  learn(advantages: readonly (readonly number[])[], learning_rate: number) {
    return this.#call('learn', { advantages, learning_rate }, updateSchema);
  }

  /** Writes the weights and the optimizer to a file. */
  async save(file: string): Promise<void> {
    await this.#call('save', { file }, emptySchema);
  }

  /** Reads a saved file; without `optimizer`, the optimizer starts anew. */
  async load(file: string, optimizer: boolean): Promise<void> {
    await this.#call('load', { file, optimizer }, emptySchema);
  }

  /** Ends the process. */
  close(): void {
    this.#process.kill();
  }

  async #call<T>(call: string, args: object, schema: z.ZodType<T>): Promise<T> {
    this.#process.stdin.write(`${JSON.stringify({ call, ...args })}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new RunError(`the policy ended in "${call}":\n${this.#errors.join('\n')}`);
    return schema.parse(JSON.parse(line.value));
  }
}
