/**
 * How a request reaches a server: the public internet or a Workers VPC service. One function type, so that both, and a
 * test's double, share one code path. Nothing here retries: retries live in the router alone.
 */

import { isService, type Service } from '../bindings.ts';

export type Transport = (url: string, init: RequestInit) => Promise<Response>;

/** By public hostname, or a server on this machine. */
export const publicTransport: Transport = (url, init) => fetch(url, init);

/** Through a Workers VPC service: the service decides where it goes; the URL gives the path and the Host header. */
export function vpcTransport(service: Service): Transport {
  return (url, init) => service.fetch(url, init);
}

/** Looks a binding up by its name. */
export type BindingOf = (name: string) => unknown;

/** The way to a server. @param vpcBinding the Workers VPC service to go through; `null` = the public way. */
export function transportOf(vpcBinding: string | null, bindingOf: BindingOf): Transport {
  if (vpcBinding === null) return publicTransport;
  const service = bindingOf(vpcBinding);
  if (!isService(service)) throw new Error('transportOf: the settings were read without the VPC binding they name');
  return vpcTransport(service);
}

/** The media type of a reply, in lower case and without parameters; empty if there is none. */
export function mediaType(headers: Headers): string {
  return (headers.get('content-type') ?? '').split(';', 1).join('').trim().toLowerCase();
}
