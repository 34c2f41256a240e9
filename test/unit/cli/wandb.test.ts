/** The hand-over of a run's figures to Python: a stand-in for the package wandb says what it was given. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TaggedFigures } from '../../../cli/commands/runs/figures.ts';
import { openPython } from '../../../cli/commands/runs/sync.ts';
import { logToWandb, wandbLine } from '../../../cli/commands/runs/wandb.ts';
import { RunError } from '../../../cli/shared/exit.ts';

const STEPS: readonly TaggedFigures[] = [
  {
    step: 3,
    figures: [
      ['reward/mean', 6.5],
      ['group/count', 2],
    ],
  },
  { step: 7, figures: [['reward/mean', 0]] },
];

/** The calls of wandb 0.25 that are used, with its names of parameters; each call is a line of the file. */
const STAND_IN = `
import json, os

class Error(Exception):
    pass

def note(*call):
    with open(os.environ["CALLS"], "a") as calls:
        calls.write(json.dumps(call) + "\\n")

class Run:
    def define_metric(self, name, step_metric=None):
        note("define", name, step_metric)
    def log(self, data, step=None, commit=None):
        note("log", data, step)
    def finish(self):
        note("finish", True)
    def __enter__(self):
        return self
    def __exit__(self, kind, value, trace):
        note("finish", kind is None)

def Html(text):
    return text

def Table(columns, data):
    return data

def init(entity=None, project=None, dir=None, id=None, name=None, notes=None, tags=None, config=None, resume=None):
    if project == "locked":
        raise Error("api_key not configured")
    note("init", project, name, config)
    return Run()
`;

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'citeward-test-'));
  vi.stubEnv('PYTHONPATH', directory);
  vi.stubEnv('PYTHONDONTWRITEBYTECODE', '1');
  vi.stubEnv('CALLS', join(directory, 'calls'));
  vi.stubEnv('WANDB_RUN_ID', '');
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

const installed = (source: string): void => writeFileSync(join(directory, 'wandb.py'), source);

test('wandb gets every figure under its name, with the step as the x-axis', async () => {
  installed(STAND_IN);
  const progress: number[] = [];
  await logToWandb('project', 'a.run', STEPS, (steps) => progress.push(steps));
  const calls = readFileSync(join(directory, 'calls'), 'utf8').trimEnd().split('\n');
  expect(calls.map((call): unknown => JSON.parse(call))).toEqual([
    ['init', 'project', 'a.run', { citeward_run: 'a.run' }],
    ['define', 'citeward/step', null],
    ['define', 'reward/mean', 'citeward/step'],
    ['define', 'group/count', 'citeward/step'],
    ['log', { 'reward/mean': 6.5, 'group/count': 2, 'citeward/step': 3 }, null],
    ['log', { 'reward/mean': 0, 'citeward/step': 7 }, null],
    ['finish', true],
  ]);
  expect(progress).toEqual([1, 2]);
});

test('runs sync hands over a step with its answers, and waits until the tracker has it', async () => {
  installed(STAND_IN);
  const tracker = openPython(
    'wandb',
    { id: 'id', project: 'project', next_step: 0 },
    'a.run',
    join(directory, 'progress.json'),
  );
  const sample = { group: 'g', sample: '0', reward: 6.5, question: 'Why?', html: '<mark>So.</mark>', text: '[+ So.]' };
  await tracker.log({ step: 3, figures: [['reward/mean', 6.5]], samples: [sample] });
  const logged = readFileSync(join(directory, 'calls'), 'utf8').trimEnd().split('\n').at(-1) ?? '';
  const table = [['g', '0', 6.5, 'Why?', '<mark>So.</mark>']];
  expect(JSON.parse(logged)).toEqual([
    'log',
    { 'reward/mean': 6.5, 'citeward/step': 3, 'citeward/samples': table },
    null,
  ]);
  const progress: unknown = JSON.parse(readFileSync(join(directory, 'progress.json'), 'utf8'));
  expect(progress).toEqual({ id: 'id', project: 'project', next_step: 4 });
  await tracker.close();
  const locked = openPython(
    'wandb',
    { id: 'id', project: 'locked', next_step: 0 },
    'a.run',
    join(directory, 'progress.json'),
  );
  await expect(locked.log({ step: 3, figures: [], samples: [] })).rejects.toThrow(
    new RunError('wandb has not logged the run: python3 ended with 1'),
  );
  // More than a pipe holds, to a process that ends.
  const large = openPython(
    'wandb',
    { id: 'id', project: 'locked', next_step: 0 },
    'a.run',
    join(directory, 'progress.json'),
  );
  const long = { ...sample, html: 'x'.repeat(2_000_000) };
  await expect(large.log({ step: 3, figures: [], samples: [long] })).rejects.toThrow('wandb has not logged the run');
});

test('a failure of Python, with most steps unread, is an error', async () => {
  installed(STAND_IN);
  const many = Array.from({ length: 20_000 }, (_each, step) => ({ step, figures: [['reward/mean', 1]] as const }));
  await expect(logToWandb('locked', 'a.run', many, () => undefined)).rejects.toThrow(
    new RunError('W&B has not logged the run: python3 ended with 1, for the reason above'),
  );
});

test('without Python the error says what to install', async () => {
  mkdirSync(join(directory, 'bin'));
  vi.stubEnv('PATH', join(directory, 'bin'));
  await expect(logToWandb('project', 'a.run', STEPS, () => undefined)).rejects.toMatchObject({
    message: expect.stringMatching(/^cannot start python3: /u),
    hint: expect.stringContaining('python3 -m pip install wandb'),
  });
  const tracker = openPython(
    'wandb',
    { id: 'id', project: 'project', next_step: 0 },
    'a.run',
    join(directory, 'progress.json'),
  );
  // It may fail long before somebody waits for it.
  await setImmediate();
  await setImmediate();
  await expect(tracker.close()).rejects.toThrow('cannot start python3');
});

test('a printed line is what Python reads', () => {
  expect(STEPS.map(wandbLine)).toEqual([
    '{"step":3,"figures":{"reward/mean":6.5,"group/count":2}}',
    '{"step":7,"figures":{"reward/mean":0}}',
  ]);
});
