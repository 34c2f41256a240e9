/** The flags of `citeward receipt verify`. */
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
      value: 'KEYS.json',
      help: 'Public keys: a saved reply of GET /v1/keys, or a list of JWKs.',
    },
    { name: 'url', kind: 'text', value: 'URL', help: 'Fetch the keys of the Worker at URL instead.' },
    { name: 'key', kind: 'text', value: 'KEY', help: 'API key for --url; safer in the environment, as CITEWARD_KEY.' },
    { name: 'key-id', kind: 'list', value: 'ID', help: 'Accept only this key as signer; may be repeated.' },
    {
      name: 'request',
      kind: 'text',
      value: 'REQUEST.json',
      help: 'The scored request: compare its digest and recipe too.',
    },
  ],
  details: [
    'REPLY holds a reply of POST /v1/score or /v1/groups, a single receipt, result lines of a batch, or',
    'the output of score --json. --request holds the body that was sent, the input file of the',
    'batch, or the rows.',
    '--url trusts the server that answers there now. To trust a known key, pin it with --key-id.',
    'Exit code: 0 every receipt is valid; 1 one is not, or there is none; 2 wrong command line.',
  ],
};

/** The key ids of `--key-id`. @throws UsageError */
export function pinnedKeys(flags: Flags): readonly string[] {
  return flags.list('key-id').map((id) => {
    const read = sha256Schema.safeParse(id);
    if (read.success) return read.data;
    throw new UsageError(`--key-id: expected a key id, 64 hexadecimal digits, got "${id}"`);
  });
}
