/**
 * The static files of the dashboard as the platform serves them: content type, ETag and caching, the rules of
 * `_headers`, and the redirects of `_redirects`.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { WorkerDescription } from '../serve/worker-description.ts';

const HEADERS = '_headers';
const REDIRECTS = '_redirects';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.json': 'application/json',
  '.txt': 'text/plain; charset=utf-8',
  '.map': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

type Rule = { readonly path: RegExp; readonly headers: readonly (readonly [name: string, value: string])[] };

/** The files of a folder by the path of their URL; `/` is index.html. @throws Error for an unknown kind of file. */
export function assetsOf(folder: string): WorkerDescription['assets'] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
    statSync(join(folder, file)).isFile(),
  );
  const textOf = (file: string): string => (files.includes(file) ? readFileSync(join(folder, file), 'utf8') : '');
  const rules = rulesOf(textOf(HEADERS));
  const assets = files
    .filter((file) => file !== HEADERS && file !== REDIRECTS)
    .map((file) => {
      const path = file.endsWith('index.html') ? `/${file.slice(0, -'index.html'.length)}` : `/${file}`;
      const type = TYPES[extname(file)];
      if (type === undefined) throw new Error(`scripts/asset-headers.ts knows no content type for ${file}`);
      const digest = createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex');
      const standard = {
        'content-type': type,
        etag: `"${digest.slice(0, 32)}"`,
        'cache-control': 'public, max-age=0, must-revalidate',
      };
      const own = rules.flatMap((rule) => (rule.path.test(path) ? rule.headers : []));
      return [path, { file, headers: { ...standard, ...Object.fromEntries(own) } }] as const;
    });
  const index = { '/index.html': { location: '/', status: 307 } };
  return { ...Object.fromEntries(assets), ...index, ...redirectsOf(textOf(REDIRECTS)) };
}

/** Lines of `FROM TO STATUS`. */
function redirectsOf(text: string): WorkerDescription['assets'] {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [from = '', location = '', status = '302'] = line.trim().split(/\s+/u);
      return [from, { location, status: Number(status) }];
    }),
  );
}

/** A line without indentation is a path, in which `*` stands for any text; indented lines below it are headers. */
function rulesOf(text: string): Rule[] {
  const rules: { path: RegExp; headers: [string, string][] }[] = [];
  for (const line of text.split('\n')) {
    if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
    if (!/^\s/u.test(line)) {
      const pattern = line.trim().split('*').map(escaped).join('.*');
      rules.push({ path: new RegExp(`^${pattern}$`, 'u'), headers: [] });
      continue;
    }
    const colon = line.indexOf(':');
    rules.at(-1)?.headers.push([line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]);
  }
  return rules;
}

/** The pattern that matches the text itself. */
function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/gu, '\\$&');
}
