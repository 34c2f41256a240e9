/** The flags of the `citeward projects` commands. */
import { MAX_BUDGET } from '../../../src/limits.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';

export const budgetsSyntax: CommandSyntax = {
  json: 'one object: `Project`',
  usage: ['projects budgets PROJECT --url URL [flags]'],
  flags: [
    { name: 'calls', kind: 'text', value: 'N', help: 'Set the judge calls per day; "none" = no limit.' },
    { name: 'tokens', kind: 'text', value: 'N', help: 'Set the judge tokens per day; "none" = no limit.' },
    { name: 'json', kind: 'switch', help: 'Print the reply of the Worker, as JSON.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'Without --calls and --tokens the command only reads. A key sees its own project; a key of API_KEYS with the scope',
    'admin sees all, and only such a key changes budgets. A budget renews at midnight UTC.',
  ],
};

export const eraseSyntax: CommandSyntax = {
  json: 'one object: `project`, `at`, `dry_run`, `stores`, `remains`',
  usage: ['projects erase PROJECT --yes --url URL [flags]'],
  flags: [
    { name: 'yes', kind: 'switch', help: 'Erase. Required, unless --dry-run.' },
    { name: 'dry-run', kind: 'switch', help: 'Only count what the project stores.' },
    { name: 'json', kind: 'switch', help: 'Print the report as JSON, to keep as proof.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'Revokes the keys of the project, cancels its batches, and deletes its webhook endpoints, files and runs. Then it',
    'counts again: exit code 0 if nothing is left, else 1; run it again then. It needs a key of API_KEYS with the scopes',
    'score, batch and admin, and makes a key of the project for itself, which it revokes in the end.',
  ],
};

/** A budget of a flag: absent, `null` = no limit, or a number. @throws UsageError */
export function budgetOf(flags: Flags, flag: 'calls' | 'tokens'): number | null | undefined {
  const text = flags.text(flag);
  if (text === null) return undefined;
  if (text === 'none') return null;
  if (/^[1-9]\d*$/.test(text) && Number(text) <= MAX_BUDGET) return Number(text);
  throw new UsageError(`--${flag}: expected "none" or an integer from 1 to ${MAX_BUDGET}, got "${text}"`);
}
