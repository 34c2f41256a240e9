/** What the OpenAPI document says of one route (openapi.ts). */
import type * as z from 'zod';

export const JSON_LINES = 'application/jsonl';

/** With JSON lines the schema describes one line, with an event stream the data of one event. */
export type RouteReply = {
  readonly description: string;
  readonly schema: string | null;
  readonly media?: typeof JSON_LINES | 'application/octet-stream' | 'text/event-stream';
  /** The data of one event, where the request may ask for a stream instead. */
  readonly events?: string;
};

export type Route = {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With parameters in braces. */
  readonly path: string;
  readonly summary: string;
  /** `null` = public, `any` = any key. */
  readonly scope: 'verify' | 'score' | 'generate' | 'batch' | 'admin' | 'any' | null;
  readonly query?: z.ZodObject;
  readonly request?: string;
  readonly requestMedia?: typeof JSON_LINES | 'multipart/form-data';
  readonly replies: Readonly<Record<number, RouteReply>>;
  readonly problems: readonly number[];
  /** The key may also come as the password of Basic auth: in a trainer's URL. */
  readonly keyInUrl?: true;
  /** Admitted by its signature instead of a key. */
  readonly signed?: true;
};

export const BODY_PROBLEMS = [400, 413, 415, 422] as const;
export const KEY_PROBLEMS = [401, 403, 500] as const;
