/** `npm run openapi`: writes the OpenAPI document, which every Worker serves, to dist/openapi.json. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { buildApiDocument } from './build-dashboard.ts';

const path = resolve(import.meta.dirname, '../dist/openapi.json');
mkdirSync(dirname(path), { recursive: true });
writeFileSync(path, `${JSON.stringify(await buildApiDocument(), null, 2)}\n`);
console.log(`wrote ${path}`);
