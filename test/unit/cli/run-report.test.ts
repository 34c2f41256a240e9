import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ledgerOf } from '../../../cli/commands/runs/report.ts';
import { syntheticRunLines } from '../runs/synthetic-rows.ts';

it('counts only rewards among those computed again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'citeward-test-'));
  try {
    const lines = [...syntheticRunLines({ run: 'r', rollouts: 16, perStep: 16 })];
    const { rollout, ...line } = JSON.parse(lines[2] ?? '');
    const facts = { ...rollout.facts, rubric: { status: 'unscored', reason: 'judge_timeout' } };
    const unscored = { ...rollout, facts, reward: null, reason: 'judge_timeout', components: {} };
    lines[2] = `${JSON.stringify({ ...line, rollout: unscored })}\n`;
    const path = join(folder, 'run.jsonl');
    await writeFile(path, lines.join(''));
    const { rollouts, recomputed } = await ledgerOf(path);
    expect([rollouts, recomputed]).toEqual([16, { equal: 15, alone: 0, different: 0 }]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
