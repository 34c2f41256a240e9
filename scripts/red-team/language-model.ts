/** A language model of transformers as the policy (language_model.py): it reads and writes text. */
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import * as z from 'zod';
import { type Answer, type Imitation, type Policy, type Update, updateSchema } from './policy.ts';
import { PolicyProcess, PythonPolicy } from './policy-process.ts';
import type { Row } from './rows.ts';
import { type CitationStyle, cited } from './style.ts';

export type LanguageModelOptions = {
  readonly python: string;
  readonly threads: number;
  /** A name of the Hugging Face hub, or a folder. */
  readonly model: string;
  /** Longest answer. */
  readonly answerTokens: number;
  readonly style: CitationStyle;
};

const LEARNING_RATE = 3e-5;

const answersSchema = z.strictObject({
  answers: z.array(z.array(z.strictObject({ text: z.string(), cut: z.boolean() }))),
});
const openedSchema = z.strictObject({ parameters: z.int() });

export class LanguageModel extends PythonPolicy implements Policy {
  readonly identity: Readonly<Record<string, unknown>>;
  readonly extension = '.pt';
  // A state of 135 million parameters is 1.6 GB.
  readonly savedEvery = 50;
  readonly imitation: Imitation = {
    answers: 16,
    // It can answer. It learns the form alone, so a few dozen steps suffice.
    faultless: 0,
    ownRows: 1,
    begins: 'at_once',
    learningRate: () => LEARNING_RATE,
  };

  readonly #style: CitationStyle;

  private constructor(process: PolicyProcess, style: CitationStyle, identity: Readonly<Record<string, unknown>>) {
    super(process);
    this.#style = style;
    this.identity = identity;
  }

  /** Starts the process and reads the model. */
  static async open(options: LanguageModelOptions): Promise<LanguageModel> {
    const { python, threads, model, answerTokens: answer_tokens, style } = options;
    const process = new PolicyProcess(python, join(import.meta.dirname, 'language_model.py'), {
      OMP_NUM_THREADS: String(threads),
      TOKENIZERS_PARALLELISM: 'false',
    });
    await process.call('open', { model, answer_tokens }, openedSchema);
    const example = promptOf({ question: '', sources: [''], facts: [], positive: [], negative: [] }, style);
    return new LanguageModel(process, style, { model: await identityOf(model), answer_tokens, example });
  }

  imitate(rows: readonly Row[], targets: readonly string[], learning_rate: number): Promise<Update> {
    return this.process.call('imitate', { prompts: this.#prompts(rows), targets, learning_rate }, updateSchema);
  }

  async sample(rows: readonly Row[], samples: number, seed: number, step: number): Promise<Answer[][]> {
    const given = { prompts: this.#prompts(rows), samples, seed, step };
    return (await this.process.call('sample', given, answersSchema)).answers;
  }

  #prompts(rows: readonly Row[]): string[] {
    return rows.map((row) => promptOf(row, this.#style));
  }
}

/** The question with its sources, and what an answer looks like. */
function promptOf({ question, sources }: Row, style: CitationStyle): string {
  const example = `<answer>${cited(style, '...', [1])}</answer>`;
  return [
    ...sources.map((text, n) => `[S${n + 1}] ${text}`),
    '',
    `Question: ${question}`,
    `Answer in one or two sentences inside <answer> tags. Cite the source of each sentence by its id, for example: ${example}`,
  ].join('\n');
}

/** A folder with the sizes and times of its files, so that other weights in the same place are another model. */
async function identityOf(model: string): Promise<unknown> {
  const folder = resolve(model);
  if (!existsSync(join(folder, 'config.json'))) return model;
  const names = (await readdir(folder)).sort();
  const files = await Promise.all(names.map(async (name) => ({ name, file: await stat(join(folder, name)) })));
  return [folder, ...files.map(({ name, file: { size, mtimeMs } }) => [name, size, mtimeMs])];
}
