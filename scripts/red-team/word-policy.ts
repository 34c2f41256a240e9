/** The small policy: a transformer whose tokens are the words of the rows (word_policy.py). */
import { join } from 'node:path';
import * as z from 'zod';
import { type Answer, type Imitation, type Policy, type Update, updateSchema } from './policy.ts';
import { PolicyProcess, PythonPolicy } from './policy-process.ts';
import { batchOf, MAX_SOURCES, promptTexts } from './prompts.ts';
import { type Row, rowTexts } from './rows.ts';
import type { CitationStyle } from './style.ts';
import { textOf, tokensOf, Vocabulary } from './words.ts';

export type WordPolicyOptions = {
  readonly python: string;
  readonly threads: number;
  /** Folder that keeps compiled functions for later starts. */
  readonly compiled: string;
  readonly style: CitationStyle;
  /** A user's rows, whose words it needs too. */
  readonly rows: readonly Row[];
  /** Whether its prompts mark the tokens of sources that the question has, too. */
  readonly marksAsked: boolean;
};

const SIZE = { layers: 3, width: 64, heads: 4 } as const;
/** The weights that every base policy starts from. */
const WEIGHTS_SEED = 1;

const LEARNING_RATE = 3e-3;
/** Of a policy that can answer plain rows: a high rate would make it forget them. */
const LATER_LEARNING_RATE = 1e-3;
const RISING_STEPS = 50;

/** Longest answer in tokens. */
const ANSWER_TOKENS = 36;
/** Each length is compiled once, and shorter ones compute less. */
const SHORT_TARGET_TOKENS = 20;

const answersSchema = z.strictObject({
  answers: z.array(z.array(z.strictObject({ tokens: z.array(z.int()), cut: z.boolean() }))),
});
const openedSchema = z.strictObject({ parameters: z.int() });

export class WordPolicy extends PythonPolicy implements Policy {
  readonly identity: Readonly<Record<string, unknown>>;
  readonly extension = '.npz';
  readonly savedEvery = 10;
  readonly imitation: Imitation;

  readonly #vocabulary: Vocabulary;
  readonly #marksAsked: boolean;

  private constructor(process: PolicyProcess, vocabulary: Vocabulary, shape: object, marksAsked: boolean) {
    super(process);
    this.#vocabulary = vocabulary;
    this.#marksAsked = marksAsked;
    this.identity = { shape, tokens: vocabulary.tokens };
    this.imitation = {
      answers: 48,
      faultless: 0.7,
      ownRows: 0.5,
      // Kinds of rows that differ from these are learned in a few hundred steps, and hardly at once.
      begins: marksAsked ? 'with_few_sources' : 'with_plain_rows',
      learningRate: (step, steps, isLater) => {
        const falling = 0.5 * (1 + Math.cos((Math.PI * step) / steps));
        const highest = isLater ? LATER_LEARNING_RATE : LEARNING_RATE;
        return highest * Math.min(1, (step + 1) / RISING_STEPS) * (0.02 + 0.98 * falling);
      },
    };
  }

  /** Starts the process and makes new weights. */
  static async open(options: WordPolicyOptions): Promise<WordPolicy> {
    const { python, threads, compiled, style, rows, marksAsked } = options;
    const own = rows.flatMap(({ question, sources, facts }) => [question, ...sources, ...facts.map((f) => f.answer)]);
    const vocabulary = new Vocabulary([...rowTexts(), ...promptTexts(style), ...own]);
    const sources = marksAsked ? 2 * MAX_SOURCES : MAX_SOURCES;
    const shape = { vocabulary: vocabulary.size, sources, ...SIZE };
    const policy = new PolicyProcess(python, join(import.meta.dirname, 'word_policy.py'), {
      // A GPU, where the Python of `--python` has JAX for it, trains the base policy sooner.
      JAX_PLATFORMS: process.env['JAX_PLATFORMS'] ?? 'cpu',
      JAX_COMPILATION_CACHE_DIR: compiled,
      JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0.5',
      // The number of threads that XLA takes.
      NPROC: String(threads),
    });
    await policy.call('open', { ...shape, seed: WEIGHTS_SEED }, openedSchema);
    return new WordPolicy(policy, vocabulary, shape, marksAsked);
  }

  imitate(rows: readonly Row[], targets: readonly string[], learning_rate: number): Promise<Update> {
    const encoded = targets.map((text) => this.#vocabulary.encode(tokensOf(text)));
    const isShort = encoded.every(({ length }) => length < SHORT_TARGET_TOKENS);
    const batch = batchOf(rows, this.#vocabulary, isShort ? SHORT_TARGET_TOKENS : ANSWER_TOKENS, this.#marksAsked);
    const groups = encoded.map((one) => [one]);
    return this.process.call('imitate', { ...batch, targets: groups, learning_rate }, updateSchema);
  }

  async sample(rows: readonly Row[], samples: number, seed: number, step: number): Promise<Answer[][]> {
    const batch = batchOf(rows, this.#vocabulary, ANSWER_TOKENS, this.#marksAsked);
    const { answers } = await this.process.call('sample', { ...batch, samples, seed, step }, answersSchema);
    return answers.map((group) =>
      group.map(({ tokens, cut }) => ({ text: textOf(this.#vocabulary.decode(tokens)), cut })),
    );
  }
}
