/** `citeward runs digest`: one SHA-256 of an exported run, which is equal for every copy of the same run. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../../src/digest.ts';
import type { RowsOfGroup } from '../../../src/runs/replay-lines.ts';
import type { Command, CommandSyntax } from '../../shared/command.ts';
import { EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { countOf } from '../../shared/number-text.ts';
import { CITEWARD } from '../../shared/program.ts';
import { groupsOfFile } from '../../shared/run-file.ts';
import { Screen } from '../../shared/screen.ts';

const syntax: CommandSyntax = {
  usage: ['runs digest RUN.jsonl'],
  flags: [],
  details: [
    'SHA-256 over the canonical JSON (RFC 8785) of what counts in each rollout, a line each, in the order of the file:',
    'step, group, sample, content, recipe, facts, judgments, reward and reason of its latest attempt. The id of the run,',
    'times, and earlier attempts are left out, so an imported copy has the same digest.',
  ],
};

export const digestCommand: Command = { ...syntax, run };

async function run(flags: Flags): Promise<number> {
  const [path, ...more] = flags.positionals;
  if (path === undefined || more.length > 0)
    throw new UsageError(`expected one file of runs export: ${CITEWARD} runs digest RUN.jsonl`);
  const screen = new Screen(flags);
  const digest = new RunDigest();
  for await (const rows of groupsOfFile(path, undefined)) digest.add(rows);
  await screen.result(digest.hex());
  screen.message(countOf(digest.rollouts, 'rollout'), 'dim');
  return EXIT_OK;
}

/** The digest of a run, from its groups in the order of the file. */
export class RunDigest {
  readonly #hash = createHash('sha256');
  rollouts = 0;

  add(rows: RowsOfGroup): void {
    for (const { step, group, sample, content, recipe, facts, judgments, reward, reason } of rows) {
      const counted = { step, group, sample, content, recipe, facts, judgments, reward, reason };
      this.#hash.update(`${canonicalJson(counted)}\n`, 'utf8');
      this.rollouts++;
    }
  }

  /** Can be called once, at the end. */
  hex(): string {
    return this.#hash.digest('hex');
  }
}
