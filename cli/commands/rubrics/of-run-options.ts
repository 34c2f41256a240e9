/** The flags of the commands that show and edit the evolving rubrics of a run. */
import type { CommandSyntax } from '../../shared/command.ts';
import { LIMIT_FLAG } from '../../shared/paging.ts';
import { WORKER_FLAGS } from '../../shared/worker.ts';

export const listSyntax: CommandSyntax = {
  json: 'a prompt: an entry of `PromptList`',
  usage: ['rubrics list RUN --url URL [flags]'],
  flags: [LIMIT_FLAG, { name: 'json', kind: 'switch', help: 'Print one prompt a line, as JSON.' }, ...WORKER_FLAGS],
  details: [
    'A prompt is named by the SHA-256 of its question; the other commands take its first characters, or the question.',
    'Exit code: 0 listed, 1 the Worker refused or stopped answering, 2 wrong command line.',
  ],
};

export const showSyntax: CommandSyntax = {
  json: 'one object: `PromptRubrics`; with `--log` its events, one a line',
  usage: ['rubrics show RUN PROMPT --url URL [flags]'],
  flags: [
    { name: 'step', kind: 'text', value: 'N', help: 'Show the rubric at the end of this step (default: now).' },
    { name: 'log', kind: 'switch', help: 'Print what happened to the criteria, one event a line.' },
    { name: 'json', kind: 'switch', help: 'Print the reply of the Worker, or with --log one event a line, as JSON.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'PROMPT is the question, a digest of rubrics list, or its first characters.',
    'scored: groups with a verdict. mean, std: of the scores in the last of these groups, from 0 to 1.',
    'Exit code: 0 shown, 1 there is no such run or prompt, 2 wrong command line.',
  ],
};

export const editSyntax: CommandSyntax = {
  usage: ['rubrics edit RUN PROMPT --step N --retire ID --url URL [flags]'],
  flags: [
    { name: 'step', kind: 'text', value: 'N', help: 'The step from which on the edit counts. Required.' },
    { name: 'retire', kind: 'list', value: 'ID', help: 'Retire this criterion; may be repeated.' },
    { name: 'restore', kind: 'list', value: 'ID', help: 'Make this criterion active again; may be repeated.' },
    { name: 'add', kind: 'text', value: 'FILE.json', help: 'Add the criteria of this file.' },
    { name: 'set', kind: 'text', value: 'ID', help: 'The set that you saw: another one by now is an error.' },
    ...WORKER_FLAGS,
  ],
  details: [
    'PROMPT is the question or its digest; ID is a digest of rubrics show. Their first characters are enough.',
    'The file: [{"polarity": "positive" or "negative", "description": "…", "title": "…", "weight": 1}].',
    'Title and weight may be left out. To change a criterion, retire it and add the new form.',
    'Exit code: 0 edited, 1 the Worker refused, 2 wrong command line.',
  ],
};
