/** `citeward receipt verify`: whether a reward is what its deployment signed, for what was asked. */

import { sha256Schema } from '../../../src/judgments/judgment-schema.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';

export const receiptVerifySyntax: CommandSyntax = {
  usage: ['receipt verify REPLY.json --keys KEYS.json [flags]', 'receipt verify - --url URL [flags]'],
  flags: [
    {
      name: 'keys',
      kind: 'text',
      value: 'FILE',
      help: 'Public keys: a saved reply of GET /v1/keys, or a list of JWKs.',
    },
    { name: 'url', kind: 'text', value: 'URL', help: 'Ask the Worker at URL for its keys instead.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; better in the environment, as CITEWARD_KEY.' },
    { name: 'key-id', kind: 'list', value: 'ID', help: 'The key that must have signed (may be repeated).' },
    { name: 'request', kind: 'text', value: 'FILE', help: 'What was scored: compare its digest and its recipe too.' },
  ],
  details: [
    'REPLY holds a reply of POST /v1/score or /v1/groups, a receipt alone, lines of a batch output',
    'file, or what citeward score --json printed. REQUEST holds the body that was sent, the input',
    'file of the batch, or the rows.',
    '--url trusts whoever answers there now. To trust a key that you know, pin it with --key-id.',
    'Exit code: 0 every receipt holds; 1 one does not, or there is none; 2 wrong command line.',
  ],
};

export function pinnedKeys(flags: Flags): readonly string[] {
  return flags.list('key-id').map((id) => {
    const read = sha256Schema.safeParse(id);
    if (read.success) return read.data;
    throw new UsageError(`--key-id: expected a key id, 64 hexadecimal digits, got "${id}"`);
  });
}
