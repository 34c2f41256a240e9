/**
 * `npm run deploy`: publishes the Worker to a Cloudflare account and checks it. Each step that fails ends the script
 * before the next one, says what to do, and sets the exit code 1. docs/guides/deploy.md describes it.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { readSecretsFile } from './deploy/secrets-file.ts';
import { type Login, Wrangler } from './deploy/wrangler.ts';

const HELP = `npm run deploy -- [--env NAME] [--secrets FILE] [--key KEY] [--url URL] [--dry-run]

  --env NAME      Environment of wrangler.toml, such as staging. Default: the top level.
  --secrets FILE  JSON with the secrets to set: {"API_KEYS": {…}, "BACKENDS": {…}}. Others keep their values.
  --key KEY       API key for the check afterwards; safer in the environment, as CITEWARD_KEY.
  --url URL       The address to check. Default: what wrangler reports.
  --dry-run       Check the secrets, bundle the Worker and name each further step. Needs no account and no network.
  --wrangler FILE The JavaScript of another wrangler than the project's.`;

const root = resolve(import.meta.dirname, '..');
const OWN_WRANGLER = resolve(root, 'node_modules/wrangler/bin/wrangler.js');
/** A new address answers some seconds after the first deployment. */
const SMOKE_WAIT_S = 90;

type Options = {
  readonly environment: string;
  readonly secrets: string | null;
  readonly key: string | null;
  readonly url: string | null;
  readonly dryRun: boolean;
  readonly wrangler: string;
};

/** A step failed. The message says what to do. */
class DeployError extends Error {}

function readOptions(): Options | 'help' {
  const { values } = parseArgs({
    options: {
      env: { type: 'string' },
      secrets: { type: 'string' },
      key: { type: 'string' },
      url: { type: 'string' },
      'dry-run': { type: 'boolean' },
      wrangler: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'help';
  return {
    environment: values.env ?? '',
    secrets: values.secrets ?? null,
    key: values.key ?? process.env['CITEWARD_KEY'] ?? null,
    url: values.url ?? null,
    dryRun: values['dry-run'] === true,
    wrangler: values.wrangler ?? OWN_WRANGLER,
  };
}

async function deploy(options: Options): Promise<void> {
  requireEnvironment(options.environment);
  const secrets = secretsOf(options.secrets);
  const wrangler = new Wrangler(options.wrangler, options.environment);
  const where = options.environment === '' ? 'the top level of wrangler.toml' : `[env.${options.environment}]`;
  if (!options.dryRun) requireLogin(await wrangler.login());

  step('Build the dashboard and bundle the Worker');
  if (!(await wrangler.bundle()).ok) throw new DeployError('the Worker does not bundle; wrangler says why above');
  const names = Object.keys(secrets);
  if (options.dryRun) {
    step('Not done in a dry run');
    console.log(`  log in:   npx wrangler whoami
  create:   the KV namespace, D1 database, R2 bucket and queues of ${where} that the account lacks
  secrets:  ${names.length === 0 ? 'none; those of the Worker keep their values' : names.join(', ')}
  deploy:   npx wrangler deploy --env="${options.environment}"
  check:    npm run smoke -- --url ${options.url ?? 'URL'}`);
    return;
  }

  step(`Create what is missing and deploy ${where}${names.length === 0 ? '' : ` with ${names.join(', ')}`}`);
  const deployed = await wrangler.deploy(secrets);
  if (!deployed.ok) {
    throw new DeployError(
      `${deployed.error}. Run the command again once the cause is mended: what was created is found again by its name. ` +
        'Only a KV namespace has no name in wrangler.toml: if it "already exists", put its id (npx wrangler kv ' +
        'namespace list) into wrangler.toml, beside its binding.',
    );
  }

  console.log(
    '\nWithout JUDGMENT_RETENTION_DAYS judgments do not expire: those of a million rollouts cost about $2 a month in KV, ' +
      'each month. What a rate costs, and which settings it needs: npm run capacity -- --plan',
  );
  const url = options.url ?? deployed.value;
  if (url === null) {
    console.log('\nDeployed. wrangler reported no address; check it with: npm run smoke -- --url URL');
  } else if (options.key === null) {
    console.log(`\nDeployed: ${url}\nNot checked, because the check needs an API key with the scopes verify, score, batch
and admin (docs/guides/deploy.md): CITEWARD_KEY=KEY npm run smoke -- --url ${url}`);
  } else {
    step(`Check ${url}`);
    const failed = await smoke(url, options.key);
    if (failed) throw new DeployError(`the Worker is deployed at ${url}, but the check failed; see the table above`);
    console.log(`\nDeployed and checked: ${url}`);
  }
}

/** Wrangler would publish an unknown environment as a Worker without bindings. */
function requireEnvironment(environment: string): void {
  const config = readFileSync(resolve(root, 'wrangler.toml'), 'utf8');
  const known = new Set(
    [...config.matchAll(/^\[env\.(?<name>[\w-]+)\]/gmu)].map(({ groups }) => groups?.['name'] ?? ''),
  );
  if (environment === '' || known.has(environment)) return;
  throw new DeployError(`wrangler.toml has no [env.${environment}]; it has ${[...known].join(', ')}`);
}

function secretsOf(path: string | null): Readonly<Record<string, string>> {
  if (path === null) return {};
  const read = readSecretsFile(resolve(process.env['INIT_CWD'] ?? process.cwd(), path));
  if (read.ok) return read.value;
  throw new DeployError(`${path} cannot be used; nothing was deployed:\n${read.error.map((p) => `  ${p}`).join('\n')}`);
}

function requireLogin(login: Login): void {
  if (!login.ok) {
    throw new DeployError(
      `${login.error}: wrangler is not logged in. Run "npx wrangler login", or set CLOUDFLARE_API_TOKEN to a token made ` +
        'from the template "Edit Cloudflare Workers" with the permissions D1 and Queues added.',
    );
  }
  const { value: accounts } = login;
  const chosen = process.env['CLOUDFLARE_ACCOUNT_ID'];
  if (accounts.length > 1 && (chosen === undefined || chosen === '')) {
    const list = accounts.map(({ name, id }) => `  ${id}  ${name}`).join('\n');
    throw new DeployError(`several accounts are possible; set CLOUDFLARE_ACCOUNT_ID to one of:\n${list}`);
  }
}

/** Runs the check of a Worker. Returns whether it failed. */
function smoke(url: string, key: string): Promise<boolean> {
  return new Promise((ended, failed) => {
    const child = spawn(
      process.execPath,
      [resolve(root, 'scripts/smoke.ts'), '--url', url, '--wait', String(SMOKE_WAIT_S)],
      { stdio: 'inherit', env: { ...process.env, CITEWARD_KEY: key } },
    );
    child.once('error', failed);
    child.once('close', (code) => ended(code !== 0));
  });
}

function step(text: string): void {
  console.log(`\n== ${text}`);
}

try {
  const options = readOptions();
  if (options === 'help') console.log(HELP);
  else await deploy(options);
} catch (error) {
  if (error instanceof DeployError) console.error(`\nnpm run deploy: ${error.message}`);
  else if (error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')) {
    console.error(`${error.message}\n\n${HELP}`);
  } else throw error;
  process.exitCode = 1;
}
