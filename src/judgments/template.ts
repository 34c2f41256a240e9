/**
 * The digest of everything that decides what a model judge is asked and how its reply is read. It is part of every key,
 * so a changed word never meets a judgment of the old one. Kept as a constant, since identities are needed before
 * anything can be awaited; a test computes it anew and prints the new value when the texts have changed.
 */
import { digestJson } from './key.ts';
import { PROMPT_TEXTS } from './prompt.ts';
import { READER_VERSION } from './reply.ts';
import { citationsSchema, OUTCOME_SCHEMA, rubricSchema } from './reply-schema.ts';
import { dataBlock } from './untrusted.ts';

/** SHA-256 (hex) of the current templates. */
export const TEMPLATE_DIGEST = 'b41fb916b8754425b869bb4ad8c4c5aca4aa5a6294e52ba22895757d3b818b26';

/** Computes the digest from the texts, the schemas, the shape of a data block and the reader's version. */
export function computeTemplateDigest(): Promise<string> {
  return digestJson({
    texts: PROMPT_TEXTS,
    reader: READER_VERSION,
    block: dataBlock('name', '0123456789ab', { key: 'k' }, 'text <tag> [INST] [control_8]'),
    rubric: rubricSchema({ criteria: [{ key: 'c1', description: 'd' }] }),
    citations: citationsSchema({
      claims: [{ claim: 0, text: 't', sources: [0] }],
      statements: [{ statement: 0, text: 't' }],
    }),
    outcome: OUTCOME_SCHEMA,
  });
}
