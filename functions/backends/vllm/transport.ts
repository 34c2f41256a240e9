/**
 * How a request reaches a server: the public internet or a Workers VPC service. One function type, so that both, and a
 * test's double, share one code path. Nothing here retries: retries live in the router alone.
 */

import type { Service } from '../bindings.ts';

export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** By public hostname, or a server on this machine. */
export const publicTransport: Transport = (url, init) => fetch(url, init);

/** Through a Workers VPC service: the service decides where it goes; the URL gives the path and the Host header. */
export function vpcTransport(service: Service): Transport {
  return (url, init) => service.fetch(url, init);
}
