/** The shape in which each subject describes its routes and schemas for the OpenAPI document. */
import type * as z from 'zod';
import type { RouteName } from './routes.ts';

export const JSON_LINES = 'application/jsonl';

/**
 * The schema of one reply of a route. For JSON lines, `schema` describes one line; for an event stream, the data of one
 * event.
 */
export type RouteReply = {
  readonly description: string;
  readonly schema: string | null;
  readonly media?:
    | typeof JSON_LINES
    | 'application/octet-stream'
    | 'application/openmetrics-text'
    | 'text/event-stream';
  /** Schema of the data of one event, where a request can ask for an event stream instead. */
  readonly events?: string;
};

/** What the API description says of a route, beside its row in ROUTES. */
export type RouteText = {
  readonly summary: string;
  /** The scopes that a key needs in addition, and when it needs them. */
  readonly moreScopes?: string;
  readonly request?: string;
  readonly requestMedia?: typeof JSON_LINES | 'multipart/form-data';
  readonly replies: Readonly<Record<number, RouteReply>>;
  /** Statuses of the problems that the route answers with. */
  readonly problems: readonly number[];
  /** Schema of failed replies, where they are in the shape of another API. Default: problem documents. */
  readonly failure?: string;
  /** Whether a trainer's URL can carry the key as the password of Basic auth. */
  readonly keyInUrl?: true;
};

/** The routes of one subject, with the schemas that they name. */
export type Section = {
  readonly tag: { readonly name: string; readonly description: string };
  readonly routes: Readonly<Partial<Record<RouteName, RouteText>>>;
  readonly requests: Readonly<Record<string, z.ZodType>>;
  readonly replies: Readonly<Record<string, z.ZodType>>;
};

export const BODY_PROBLEMS = [400, 413, 415, 422] as const;
export const KEY_PROBLEMS = [401, 403, 500] as const;
