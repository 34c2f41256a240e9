/** The address of a self-hosted server and the credentials for it. */

/** A self-hosted server. */
export type ServerConfig = {
  /** The URL before `/chat/completions` or `/run_code`, without a trailing slash. */
  readonly base_url: string;
  /** The binding of the Workers VPC service to connect through; `null` = the public internet. */
  readonly vpc_binding: string | null;
  readonly api_key: string | null;
  /** A Cloudflare Access service token; `null` = none. */
  readonly access: { readonly client_id: string; readonly client_secret: string } | null;
};

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * Returns what is wrong with the URL of a server, or `null`. Prompts, programs and keys travel over it.
 * @param tunnelled the server is behind a Workers VPC service, which encrypts the connection and chooses its
 * destination.
 */
export function serverUrlProblem(text: string, tunnelled: boolean): string | null {
  if (!URL.canParse(text)) return 'expected an absolute URL, such as https://host/v1';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'expected an https URL';
  if (url.protocol === 'http:' && !tunnelled && !LOOPBACK.has(url.hostname)) {
    return 'expected https, because keys and prompts would travel unencrypted';
  }
  if (url.username !== '' || url.password !== '') return 'expected no credentials in the URL; use api_key instead';
  if (url.search !== '' || url.hash !== '') return 'expected a URL without query and fragment';
  return null;
}

/**
 * Returns what is wrong with the URL of a chat server, or `null`: the checks of `serverUrlProblem`, and that the URL is
 * the `base_url` of OpenAI's clients, which is everything before `/chat/completions`.
 */
export function chatUrlProblem(text: string, tunnelled: boolean): string | null {
  const problem = serverUrlProblem(text, tunnelled);
  if (problem !== null) return problem;
  const { pathname } = new URL(text);
  if (pathname === '/') return 'expected a URL with a path, such as https://host/v1';
  if (/\/(chat\/completions|models)\/?$/.test(pathname))
    return 'expected the base URL without /chat/completions or /models';
  return null;
}

/** Returns the headers with the server's API key and with the Cloudflare Access service token. */
export function credentials({ api_key, access }: Pick<ServerConfig, 'api_key' | 'access'>): Record<string, string> {
  return {
    ...(api_key === null ? {} : { authorization: `Bearer ${api_key}` }),
    ...(access === null
      ? {}
      : { 'cf-access-client-id': access.client_id, 'cf-access-client-secret': access.client_secret }),
  };
}
