/**
 * `npx node scripts/red-team-page.ts`: writes docs/reference/red-team.md from scripts/red-team/results.jsonl, to which
 * `npm run redteam -- --results scripts/red-team/results.jsonl` adds lines.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pageWith } from '../bench/hacks/page.ts';
import { redTeamTables } from './red-team/tables.ts';

const PAGE = resolve(import.meta.dirname, '../docs/reference/red-team.md');
const RESULTS = resolve(import.meta.dirname, 'red-team/results.jsonl');

writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), redTeamTables(readFileSync(RESULTS, 'utf8'))));
