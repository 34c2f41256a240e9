/** What BACKENDS says of servers and their secrets, held against the rest of the deployment. */
import type { serverUrlProblem } from './base-url.ts';
import type { ServerConfig } from './config.ts';
import type { WrittenServer } from './settings-schema.ts';

const DEFAULT_VPC_BINDING = 'GPU';

/** What the settings are held against: the deployment's other secrets and bindings. */
export type Surroundings = {
  /** The text of a secret or variable; `undefined` where there is none. */
  readonly secret: (name: string) => string | undefined;
  /** Whether something that can be called is bound under the name. */
  readonly isBound: (name: string) => boolean;
};

/** Takes what is wrong: the field, and what was expected. */
export type Report = (place: string, message: string) => void;

/** Checks where a server is and how it lets us in. */
export function checkServer(
  written: WrittenServer,
  problemOfUrl: typeof serverUrlProblem,
  around: Surroundings,
  report: Report,
): ServerConfig {
  const vpc = written.transport === 'vpc' ? (written.vpc_binding ?? DEFAULT_VPC_BINDING) : null;
  const urlProblem = problemOfUrl(written.base_url, vpc !== null);
  if (urlProblem !== null) report('base_url', urlProblem);
  if (vpc !== null && !around.isBound(vpc)) report('transport', `no Workers VPC service is bound as ${vpc}`);
  if (vpc === null && written.vpc_binding !== undefined) report('vpc_binding', 'expected "transport": "vpc" beside it');

  const { access_client_id: client_id, access_client_secret: client_secret } = written;
  const access = client_id !== undefined && client_secret !== undefined ? { client_id, client_secret } : null;
  if (access === null && client_id !== undefined) report('access_client_secret', 'required beside access_client_id');
  if (access === null && client_secret !== undefined)
    report('access_client_id', 'required beside access_client_secret');
  return {
    base_url: written.base_url.replace(/\/$/, ''),
    vpc_binding: vpc,
    api_key: apiKeyOf(written, around, report),
    access,
  };
}

function apiKeyOf({ api_key, api_key_secret }: WrittenServer, around: Surroundings, report: Report): string | null {
  if (api_key_secret === undefined) return api_key ?? null;
  if (api_key !== undefined) report('api_key_secret', 'expected either api_key or api_key_secret');
  const key = around.secret(api_key_secret);
  if (key === undefined || key === '') report('api_key_secret', 'no secret of that name is set');
  return key ?? null;
}
