/**
 * `node scripts/build-dashboard.ts`: bundles dashboard/ into dist/dashboard, which is served at `/`, and puts the OpenAPI
 * document and the description of the recipes there: in the bundle of the Worker they would be a seventh of it. Skips
 * what is current. Several processes may call it at the same time, while Workers serve the old files.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const root = resolve(import.meta.dirname, '..');
const dashboard = resolve(root, 'dashboard');
const output = resolve(root, 'dist/dashboard');
/** Stored beside the output folder, because everything inside that folder is served. */
const stampFile = resolve(root, 'dist/dashboard.json');

/** The last build: SHA-256 of each input by its path, and the output files. */
type Stamp = { readonly inputs: Readonly<Record<string, string>>; readonly files: readonly string[] };

/** Inputs that are not modules of the bundle. */
const OWN_INPUTS = [
  'scripts/build-dashboard.ts',
  'dashboard/index.html',
  'dashboard/vite.config.ts',
  'package-lock.json',
] as const;

/** Builds the dashboard if an input has changed. @returns whether it was built. */
export async function ensureDashboard(): Promise<boolean> {
  const build = !isCurrent();
  if (build) await buildDashboard();
  await placeDocuments();
  return build;
}

/** Files that the Worker serves beside the dashboard, by name. */
const DOCUMENTS: Readonly<Record<string, () => Promise<unknown>>> = {
  'openapi.json': buildApiDocument,
  'recipes.json': buildRecipes,
};
/** Digest of the sources of the served documents. */
const documentStamp = resolve(root, 'dist/documents.sha256');

/** Makes the documents in the folder that is served, if their sources have changed. */
export async function placeDocuments(): Promise<void> {
  const sources = digestOfSources();
  if (isDocumentsOf(sources)) return;
  for (const [name, build] of Object.entries(DOCUMENTS))
    writeWhole(resolve(output, name), JSON.stringify(await build()));
  writeWhole(documentStamp, sources);
}

/** The OpenAPI document of the sources, with the version of the package. */
export async function buildApiDocument(): Promise<Readonly<Record<string, unknown>>> {
  const { version } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'));
  // Imported here, because most calls build nothing.
  const { buildOpenApi } = await import('../src/wire/openapi/document.ts');
  return buildOpenApi(String(version));
}

/** The reply of `GET /v1/recipes`. */
async function buildRecipes(): Promise<unknown> {
  const { describeRecipes } = await import('../src/families/catalogue.ts');
  return { recipes: await describeRecipes() };
}

function isDocumentsOf(sources: string): boolean {
  if (!existsSync(documentStamp) || readFileSync(documentStamp, 'utf8') !== sources) return false;
  return Object.keys(DOCUMENTS).every((name) => existsSync(resolve(output, name)));
}

/** Digest of all that the documents are made from: any file of src/ may hold a schema. */
function digestOfSources(): string {
  const names = readdirSync(resolve(root, 'src'), { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => /\.(?:ts|json)$/u.test(name)).map((name) => `src/${name}`);
  const hash = createHash('sha256');
  for (const file of ['package.json', ...files.sort()]) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(resolve(root, file)))
      .update('\0');
  }
  return hash.digest('hex');
}

/** Whether a build exists, current or not: a Worker does not start without one. */
export function hasDashboard(): boolean {
  return existsSync(resolve(output, 'index.html'));
}

function isCurrent(): boolean {
  const stamp = readStamp();
  if (stamp === null) return false;
  if (!stamp.files.every((file) => existsSync(resolve(output, file)))) return false;
  const known = Object.entries(stamp.inputs);
  return known.every(([file, digest]) => digestOf(file) === digest) && publicFiles().every((f) => f in stamp.inputs);
}

function readStamp(): Stamp | null {
  if (!existsSync(stampFile)) return null;
  const stamp: Stamp = JSON.parse(readFileSync(stampFile, 'utf8'));
  return stamp;
}

/** SHA-256 of a file by its path from the root; `null` if the file does not exist. */
function digestOf(file: string): string | null {
  const path = resolve(root, file);
  return existsSync(path) ? createHash('sha256').update(readFileSync(path)).digest('hex') : null;
}

/** Files that are copied unchanged. */
function publicFiles(): string[] {
  return readdirSync(resolve(dashboard, 'public')).map((name) => `dashboard/public/${name}`);
}

async function buildDashboard(): Promise<void> {
  // Imported here, because most calls build nothing.
  const { build } = await import('vite');
  const built = await build({
    configFile: resolve(dashboard, 'vite.config.ts'),
    build: { write: false, copyPublicDir: false },
  });
  if (!('output' in built)) throw new Error('expected exactly one bundle from the bundler');

  const contents = new Map<string, string | Uint8Array>();
  const inputs = new Set<string>([...OWN_INPUTS, ...publicFiles()]);
  for (const part of built.output) {
    contents.set(part.fileName, part.type === 'chunk' ? part.code : part.source);
    if (part.type === 'chunk') for (const id of part.moduleIds) inputs.add(inputOf(id));
  }
  inputs.delete('');
  for (const file of publicFiles()) contents.set(relative('dashboard/public', file), readFileSync(resolve(root, file)));

  for (const name of Object.keys(DOCUMENTS)) {
    const served = resolve(output, name);
    contents.set(name, existsSync(served) ? readFileSync(served) : '');
  }
  write(contents);
  const digests = [...inputs].sort().map((file) => [file, digestOf(file) ?? '']);
  const stamp: Stamp = { inputs: Object.fromEntries(digests), files: [...contents.keys()].sort() };
  writeWhole(stampFile, JSON.stringify(stamp, null, 1));
  report(contents);
}

/** The path of a module from the root; empty if it is not a file of the project. */
function inputOf(id: string): string {
  const [path = ''] = id.replace(/^\0/u, '').split('?');
  const file = relative(root, path);
  return file.startsWith('..') || file.startsWith('node_modules') || !existsSync(resolve(root, file)) ? '' : file;
}

/** Writes assets first and index.html last, then deletes unused files, so that every served page finds its assets. */
function write(contents: ReadonlyMap<string, string | Uint8Array>): void {
  const names = [...contents.keys()].sort((a, b) => Number(a === 'index.html') - Number(b === 'index.html'));
  for (const name of names) writeWhole(resolve(output, name), contents.get(name) ?? '');
  for (const entry of readdirSync(output, { recursive: true, withFileTypes: true })) {
    const path = resolve(entry.parentPath, entry.name);
    if (entry.isFile() && !contents.has(relative(output, path))) rmSync(path, { force: true });
  }
}

/** Writes a file atomically, by renaming a complete copy. */
function writeWhole(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const partial = resolve(dirname(stampFile), `.dashboard-${process.pid}`);
  writeFileSync(partial, content);
  renameSync(partial, path);
}

/**
 * Prints the gzipped size of the dashboard by kind; lazily loaded scripts are counted separately. On standard error,
 * because commands that build it on the way print JSON.
 */
function report(contents: ReadonlyMap<string, string | Uint8Array>): void {
  const page = new TextDecoder().decode(bytesOf(contents.get('index.html') ?? ''));
  const sizes = { 'initial script': 0, 'lazy scripts': 0, style: 0 };
  for (const [name, content] of contents) {
    const size = gzipSync(bytesOf(content)).byteLength;
    if (name.endsWith('.js')) sizes[page.includes(name) ? 'initial script' : 'lazy scripts'] += size;
    if (name.endsWith('.css')) sizes.style += size;
  }
  const parts = Object.entries(sizes).map(([kind, bytes]) => `${kind} ${(bytes / 1000).toFixed(1)} KB`);
  console.error(`dashboard, gzipped: ${parts.join(', ')}`);
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : content;
}

if (process.argv[1] === import.meta.filename) await ensureDashboard();
