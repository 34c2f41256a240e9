/**
 * `npm run build:library`: compiles the npm package into dist/npm, with the Worker that `citeward serve` runs. Publish
 * from there, not from the root: the root manifest also installs the Worker's framework and a Node binary.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SERVE_FILES } from '../serve/worker-description.ts';
import { ensureServeFiles } from './build-serve.ts';
import { bundleCommandLine } from './bundle-command-line.ts';
import { withoutFieldDescriptions } from './field-descriptions.ts';

const root = resolve(import.meta.dirname, '..');

type Manifest = Readonly<Record<string, unknown>> & {
  readonly name: string;
  readonly version: string;
  /** Entry point to source file. */
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** A package in package-lock.json. */
type Locked = {
  readonly version: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
};

/** The folder of the Worker's files in the package. */
const WORKER = 'worker';

/** Folders that only the command line imports, which is bundled. */
const ONLY_OF_COMMANDS = ['hosts', 'serve', 'service'];

/**
 * Compiles src/, lib/, clients/typescript/ and cli/, bundles cli/, builds the Worker, and writes the manifest of the package.
 *
 * @param output is emptied first.
 * @throws Error if the compiler fails, or if the code imports a package that package.json does not list.
 */
export async function buildLibrary(output: string): Promise<void> {
  rmSync(output, { recursive: true, force: true });
  const tsc = resolve(root, 'node_modules/.bin/tsc');
  const built = spawnSync(tsc, ['-p', 'tsconfig.library.json', '--outDir', output], { cwd: root, stdio: 'inherit' });
  if (built.status !== 0) throw new Error('tsc failed');
  withoutFieldDescriptions(resolve(output, 'src'));

  const manifest: Manifest = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
  const { name, version, description, license, type, engines, bin } = manifest;
  const published = {
    name,
    version,
    description,
    license,
    type,
    engines,
    sideEffects: false,
    exports: Object.fromEntries(Object.entries(manifest.exports).map(([path, file]) => [path, compiled(file)])),
    bin,
    dependencies: dependenciesOf(output, manifest),
    // 110 MB, for `citeward serve` alone.
    peerDependencies: { workerd: workerdRange(manifest) },
    peerDependenciesMeta: { workerd: { optional: true } },
  };
  writeFileSync(resolve(output, 'package.json'), `${JSON.stringify(published, null, 2)}\n`);
  await bundleCommandLine(output);
  for (const folder of ONLY_OF_COMMANDS) rmSync(resolve(output, folder), { recursive: true });
  for (const file of ['README.md', 'LICENSE', 'bin/citeward.mjs']) cpSync(resolve(root, file), resolve(output, file));
  writeFileSync(resolve(output, 'THIRD-PARTY-LICENSES.txt'), licensesOfDependencies());
  // The fake AI is for `npm run dev`.
  const isPublished = (file: string): boolean => !file.endsWith(SERVE_FILES.fakeAi);
  cpSync(await ensureServeFiles(), resolve(output, WORKER), { recursive: true, filter: isPublished });
}

/** Later versions of workerd run a Worker of an earlier compatibility date the same way. */
function workerdRange({ devDependencies }: Manifest): string {
  return `>=${devDependencies['workerd']}`;
}

/** An entry point of the package: `./lib/index.ts` as its compiled code and types. */
function compiled(file: string): string | { readonly types: string; readonly default: string } {
  if (!file.endsWith('.ts')) return file;
  const stem = file.slice(0, -'.ts'.length);
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}

/**
 * The licences of all packages that the Worker and the command line may have in their bundles, which ask that copies
 * carry them. Those of the dashboard are in its licenses.txt.
 */
function licensesOfDependencies(): string {
  const lock: { readonly packages: Readonly<Record<string, Locked>> } = JSON.parse(
    readFileSync(resolve(root, 'package-lock.json'), 'utf8'),
  );
  return Object.entries(lock.packages)
    .filter(([folder, { dev, optional }]) => folder !== '' && dev !== true && optional !== true)
    .map(([folder, { version, license }]) => {
      const file = readdirSync(resolve(root, folder)).find((name) => /^licen[cs]e(?:\.|$)/iu.test(name));
      if (file === undefined) throw new Error(`${folder} has no file of its licence`);
      const title = `${folder.slice('node_modules/'.length)} ${version} (${license})`;
      return `${title}\n${'='.repeat(title.length)}\n\n${readFileSync(resolve(root, folder, file), 'utf8').trim()}\n`;
    })
    .join('\n\n');
}

/** Statements at the start of a line, and `import()` expressions: matches no text in a string or a comment of ours. */
const IMPORTS = [
  /^(?:import|export)\b[^'";]*\bfrom\s*['"](?<specifier>[^'"]+)['"]/gmu,
  /^import\s*['"](?<specifier>[^'"]+)['"]/gmu,
  /\bimport\(\s*['"](?<specifier>[^'"]+)['"]/gu,
] as const;

/** The packages that the compiled code and its types import, with their versions from package.json. */
function dependenciesOf(output: string, { name, dependencies }: Manifest): Record<string, string> {
  const packages = new Set<string>();
  for (const entry of readdirSync(output, { recursive: true, encoding: 'utf8' })) {
    if (!/\.(?:js|d\.ts)$/u.test(entry)) continue;
    const code = readFileSync(resolve(output, entry), 'utf8');
    for (const pattern of IMPORTS) {
      for (const { groups } of code.matchAll(pattern)) packages.add(packageOf(groups?.['specifier'] ?? ''));
    }
  }
  const declared = [...packages].filter((each) => each !== '' && each !== name).sort();
  return Object.fromEntries(
    declared.map((each) => {
      const range = dependencies[each];
      if (range === undefined) throw new Error(`the library imports ${each}: add it to dependencies in package.json`);
      return [each, range];
    }),
  );
}

/** `zod/mini` is in `zod`; the empty string for a relative path or a module of Node. */
function packageOf(specifier: string): string {
  if (specifier.startsWith('.') || specifier.startsWith('node:')) return '';
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

if (process.argv[1] === import.meta.filename) {
  await buildLibrary(resolve(root, 'dist/npm'));
  console.log('built dist/npm; publish it with: npm publish ./dist/npm');
}
