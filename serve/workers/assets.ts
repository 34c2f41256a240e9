/** Serves the dashboard's files from a folder, with the headers that `_headers` sets for them. */

import type { WorkerDescription } from '../worker-description.ts';

type Environment = { readonly FOLDER: Fetcher; readonly ASSETS: WorkerDescription['assets'] };

export default {
  async fetch(request, { FOLDER, ASSETS }): Promise<Response> {
    const { pathname } = new URL(request.url);
    const asset = ASSETS[pathname];
    if (asset === undefined) return new Response('Not Found', { status: 404 });
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return new Response('Method Not Allowed', { status: 405, headers: { allow: 'GET, HEAD' } });
    }
    if ('location' in asset) {
      return new Response(null, { status: asset.status, headers: { location: asset.location } });
    }
    const etag = asset.headers['etag'];
    if (etag !== undefined && request.headers.get('if-none-match')?.includes(etag) === true) {
      return new Response(null, { status: 304, headers: asset.headers });
    }
    const found = await FOLDER.fetch(`http://folder/${asset.file}`, { method: request.method });
    if (!found.ok) return new Response('Not Found', { status: 404 });
    return new Response(found.body, { headers: asset.headers });
  },
} satisfies ExportedHandler<Environment>;
