/** `citeward keys add`: makes an API key and the configuration that admits it. */
import { SCOPES, type Scope } from '../../../src/wire/api-keys.ts';
import type { CommandSyntax } from '../../shared/command.ts';
import { UsageError } from '../../shared/exit.ts';
import { didYouMean } from '../../shared/suggest.ts';

export const VARIABLE = 'API_KEYS';

const DEFAULT_SCOPES: readonly Scope[] = ['verify', 'score'];

export const keysSyntax: CommandSyntax = {
  usage: ['keys add NAME [flags]'],
  flags: [
    {
      name: 'scopes',
      kind: 'text',
      value: 'A,B',
      help: `Of ${SCOPES.join(', ')} (default ${DEFAULT_SCOPES.join(',')}).`,
    },
    {
      name: 'file',
      kind: 'text',
      value: '.dev.vars',
      help: `Add it to ${VARIABLE} in this file, next to the keys there.`,
    },
    { name: 'replace', kind: 'switch', help: 'Replace the key of that name; the old one stops working.' },
  ],
  details: [
    'The key goes to standard output, once; it is stored nowhere. The Worker is given its SHA-256 only.',
    'As soon as one key is configured, requests without a key are refused.',
  ],
};

export function readScopes(text: string | null): readonly Scope[] {
  if (text === null) return DEFAULT_SCOPES;
  const scopes = text.split(',').map((one) => {
    const given = one.trim();
    const scope = SCOPES.find((known) => known === given);
    if (scope !== undefined) return scope;
    throw new UsageError(`--scopes: "${given}" is not one of ${SCOPES.join(', ')}`, didYouMean(given, SCOPES));
  });
  return [...new Set(scopes)];
}
