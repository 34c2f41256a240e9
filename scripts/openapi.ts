/** `npm run openapi`: generates openapi.json from the zod schemas. */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import { buildOpenApi } from '../src/wire/openapi/document.ts';

const root = resolve(import.meta.dirname, '..');
const manifest = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')));
const path = resolve(root, 'openapi.json');
writeFileSync(path, `${JSON.stringify(buildOpenApi(manifest.version), null, 2)}\n`);
console.log(`wrote ${path}`);
