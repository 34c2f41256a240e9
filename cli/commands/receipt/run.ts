/** `citeward receipt verify`: verifies that rewards are signed by their deployment and belong to the request. */

import { createKnownIssuers } from '../../../src/judgments/issuer.ts';
import { plainLine } from '../../../src/text/foreign-line.ts';
import type { Command } from '../../shared/command.ts';
import { EXIT_INCOMPLETE, EXIT_OK, UsageError } from '../../shared/exit.ts';
import type { Flags } from '../../shared/flags.ts';
import { CITEWARD } from '../../shared/program.ts';
import { Screen } from '../../shared/screen.ts';
import { readDocuments, receiptedIn } from './documents.ts';
import { type CheckMaterial, findingsOf } from './findings.ts';
import { type KnownKeys, keysOfFile, keysOfWorker } from './known-keys.ts';
import { pinnedKeys, receiptVerifySyntax } from './options.ts';
import { findingLine, summaryText } from './render.ts';
import { createRequestFinder } from './requests.ts';

export const receiptVerifyCommand: Command = { ...receiptVerifySyntax, run };

async function run(flags: Flags): Promise<number> {
  const [path, ...more] = flags.positionals;
  if (path === undefined || more.length > 0) {
    throw new UsageError(`expected one file: ${CITEWARD} receipt verify REPLY.json --keys KEYS.json`);
  }
  const requestPath = flags.text('request');
  if (path === '-' && requestPath === '-')
    throw new UsageError('the reply and --request are both standard input', 'Read one of them from a file.');
  const pinned = pinnedKeys(flags);
  const screen = new Screen(flags);
  const documents = await readDocuments(path, flags.shell.stdin);
  const findRequest =
    requestPath === null ? null : createRequestFinder(await readDocuments(requestPath, flags.shell.stdin));
  const { keys, keysFrom } = await keysOf(flags);
  const material: CheckMaterial = { known: createKnownIssuers(keys.keys), keys, keysFrom, pinned, findRequest };

  const counts = { held: 0, failed: 0, unread: 0 };
  for (const [position, document] of documents.entries()) {
    const all = receiptedIn(document, position);
    if (all === null) {
      counts.unread++;
      const place = document.line === null ? path : `line ${document.line}`;
      screen.message(`${place}: neither a receipt nor a reply that can have one`, 'red');
      continue;
    }
    for (const receipted of all) {
      const findings = await findingsOf(receipted, material);
      if (findings.some(({ verdict }) => verdict === 'fails')) counts.failed++;
      else counts.held++;
      if (receipted.place !== null) await screen.result(screen.resultStyle('bold', plainLine(receipted.place)));
      for (const finding of findings) await screen.result(findingLine(finding, screen));
    }
  }
  screen.message(summaryText(counts), 'bold');
  return counts.held > 0 && counts.failed + counts.unread === 0 ? EXIT_OK : EXIT_INCOMPLETE;
}

/** The public keys, and where they are from. @throws UsageError */
async function keysOf(flags: Flags): Promise<{ readonly keys: KnownKeys; readonly keysFrom: string }> {
  const [file, url] = [flags.text('keys'), flags.text('url')];
  if ((file === null) === (url === null)) {
    throw new UsageError(
      'expected keys: give either --keys FILE or --url URL',
      'A deployment lists its keys at GET /v1/keys.',
    );
  }
  if (file !== null) return { keys: await keysOfFile(file), keysFrom: file };
  return { keys: await keysOfWorker(flags), keysFrom: url ?? '' };
}
