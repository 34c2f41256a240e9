/** Sends a request of the API page to this Worker and returns the reply as text, whatever its status. */
import { fetchApi } from '../api/call.ts';
import type { CurlBody } from '../api/curl.ts';

export type Sent = { readonly status: number; readonly type: string; readonly text: string; readonly ms: number };

/** Returns `null` without a response: no network, or the server has stopped. */
export async function sendRequest(method: string, path: string, body: CurlBody | null): Promise<Sent | null> {
  const began = performance.now();
  const response = await fetchApi(path, { method, ...bodyOf(body) });
  if (response === null) return null;
  const text = await response.text();
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type, text, ms: performance.now() - began };
}

function bodyOf(body: CurlBody | null): RequestInit {
  if (body === null) return {};
  switch (body.kind) {
    case 'text':
      return { body: body.text, headers: { 'content-type': body.type } };
    case 'form': {
      const form = new FormData();
      for (const [name, value] of Object.entries(body.fields)) form.set(name, value);
      form.set(body.file.name, new Blob([body.file.content]), 'requests.jsonl');
      return { body: form };
    }
  }
}
