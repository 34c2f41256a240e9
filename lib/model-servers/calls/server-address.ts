/** Where a server is, and how it lets us in. */

/** A server of one's own, and how it lets us in. */
export type ServerConfig = {
  /** Everything before `/chat/completions` or `/run_code`, without a slash at the end. */
  readonly base_url: string;
  /** The Workers VPC service to go through; `null` = the public way. */
  readonly vpc_binding: string | null;
  readonly api_key: string | null;
  /** A Cloudflare Access service token. */
  readonly access: { readonly client_id: string; readonly client_secret: string } | null;
};

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * What is wrong with the URL of a server, or `null`.
 * @param tunnelled it is reached through a Workers VPC service, which encrypts and decides where it goes.
 */
export function serverUrlProblem(text: string, tunnelled: boolean): string | null {
  if (!URL.canParse(text)) return 'expected an absolute URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'expected an https URL';
  if (url.protocol === 'http:' && !tunnelled && !LOOPBACK.has(url.hostname)) {
    return 'expected https: without it, keys and prompts could be read on the way';
  }
  if (url.username !== '' || url.password !== '') return 'expected no credentials in it: use api_key';
  if (url.search !== '' || url.hash !== '') return 'expected no query and no fragment';
  return null;
}

/** The same for a chat server: what OpenAI's clients call the base URL, everything before `/chat/completions`. */
export function chatUrlProblem(text: string, tunnelled: boolean): string | null {
  const problem = serverUrlProblem(text, tunnelled);
  if (problem !== null) return problem;
  const { pathname } = new URL(text);
  if (pathname === '/') return 'expected a path, as in https://host/v1';
  if (/\/(chat\/completions|models)\/?$/.test(pathname)) return 'expected what stands before /chat/completions';
  return null;
}

/** Credentials: the server's own key, and a Cloudflare Access service token for what stands in front of it. */
export function credentials({ api_key, access }: Pick<ServerConfig, 'api_key' | 'access'>): Record<string, string> {
  return {
    ...(api_key === null ? {} : { authorization: `Bearer ${api_key}` }),
    ...(access === null
      ? {}
      : { 'cf-access-client-id': access.client_id, 'cf-access-client-secret': access.client_secret }),
  };
}
