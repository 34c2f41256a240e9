/**
 * Stands in for wrangler in deploy.test.ts: appends what it was called with to the file STAND_IN_LOG, as a JSON line,
 * and answers like wrangler for an account with one Worker at STAND_IN_URL. STAND_IN_FAILS names the step that fails:
 * `login`, `bundle` or `deploy`. STAND_IN_ACCOUNTS is the number of accounts.
 */
import { appendFileSync, readFileSync, statSync } from 'node:fs';

const { STAND_IN_LOG, STAND_IN_FAILS, STAND_IN_URL, STAND_IN_ACCOUNTS, WRANGLER_OUTPUT_FILE_PATH } = process.env;
const args = process.argv.slice(2);
const step = args[0] === 'whoami' ? 'login' : args.includes('--dry-run') ? 'bundle' : 'deploy';
const file = args[args.indexOf('--secrets-file') + 1];
const secrets = args.includes('--secrets-file')
  ? { secrets: JSON.parse(readFileSync(file, 'utf8')), mode: statSync(file).mode & 0o777, file }
  : {};
appendFileSync(STAND_IN_LOG, `${JSON.stringify({ step, args, terminal: process.stdin.isTTY === true, ...secrets })}\n`);

const fails = STAND_IN_FAILS === step;
if (step === 'login') {
  const accounts = Array.from({ length: Number(STAND_IN_ACCOUNTS ?? 1) }, (_, n) => ({
    name: `account ${n}`,
    id: `a${n}`,
  }));
  console.log(JSON.stringify(fails ? { loggedIn: false } : { loggedIn: true, authType: 'OAuth Token', accounts }));
} else if (fails) console.error(`✘ [ERROR] the stand-in fails at ${step}`);
else if (step === 'deploy' && WRANGLER_OUTPUT_FILE_PATH !== undefined) {
  const targets = ['schedule: 17 * * * *', ...(STAND_IN_URL === undefined ? [] : [STAND_IN_URL])];
  const lines = [
    { type: 'wrangler-session', version: 1 },
    { type: 'deploy', version: 1, targets },
  ];
  appendFileSync(WRANGLER_OUTPUT_FILE_PATH, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
process.exitCode = fails ? 1 : 0;
