/** Starts a policy in Python and calls its methods (calls.py). One call at a time; the process ends with this one. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { RunError } from '../../cli/shared/exit.ts';
import { type Update, updateSchema } from './policy.ts';

const emptySchema = z.strictObject({});

const ERROR_LINES_SHOWN = 12;

export class PolicyProcess {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  readonly #errors: string[] = [];

  /**
   * @param python of the environment that has the packages.
   * @param script path of the policy.
   */
  constructor(python: string, script: string, environment: Readonly<Record<string, string>>) {
    this.#process = spawn(python, [script], { stdio: 'pipe', env: { ...process.env, ...environment } });
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();
    createInterface({ input: this.#process.stderr }).on('line', (line) => {
      this.#errors.push(line);
      if (this.#errors.length > ERROR_LINES_SHOWN) this.#errors.shift();
    });
    // A write to a process that has ended: the read after it reports why.
    this.#process.stdin.on('error', () => undefined);
    this.#process.on('error', ({ message }) => this.#errors.push(message));
  }

  async call<T>(call: string, args: object, schema: z.ZodType<T>): Promise<T> {
    this.#process.stdin.write(`${JSON.stringify({ call, ...args })}\n`);
    const line = await this.#lines.next();
    if (line.done === true) throw new RunError(`the policy ended in "${call}":\n${this.#errors.join('\n')}`);
    return schema.parse(JSON.parse(line.value));
  }

  /** Ends the process. */
  close(): void {
    this.#process.kill();
  }
}

/** What every policy in Python answers in the same way. */
export abstract class PythonPolicy {
  protected readonly process: PolicyProcess;

  protected constructor(process: PolicyProcess) {
    this.process = process;
  }

  learn(advantages: readonly (readonly number[])[], learningRate: number): Promise<Update> {
    return this.process.call('learn', { advantages, learning_rate: learningRate }, updateSchema);
  }

  async save(file: string): Promise<void> {
    await this.process.call('save', { file }, emptySchema);
  }

  async load(file: string, optimizer: boolean): Promise<void> {
    await this.process.call('load', { file, optimizer }, emptySchema);
  }

  close(): void {
    this.process.close();
  }
}
