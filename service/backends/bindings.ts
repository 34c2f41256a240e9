/**
 * The bindings that BACKENDS can name (the AI binding, Workers VPC services): type guards, and the HTTP transport that
 * uses a VPC service.
 */
import { publicTransport, type Transport } from '../../lib/model-servers/calls/transport.ts';
import { traceHeaders } from '../trace-context.ts';
import type { AiBinding } from './workers-ai/ai-run.ts';

/** A Workers VPC service; its `fetch` has the type of the global `fetch`. */
type Service = { readonly fetch: typeof fetch };

/** Returns whether a value of the environment is an AI binding. */
export function isAiBinding(value: unknown): value is AiBinding {
  return hasMethod(value, 'run');
}

/** Returns whether a value of the environment is a Workers VPC service. */
export function isService(value: unknown): value is Service {
  return hasMethod(value, 'fetch');
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}

/**
 * Creates a transport that sends requests through a Workers VPC service. The service chooses the destination server;
 * the request URL sets only the path and the `Host` header.
 */
export function vpcTransport(service: Service): Transport {
  return (url, init) => service.fetch(url, init);
}

/** Looks up a binding of the Worker by name; `undefined` if the Worker has no binding of that name. */
export type BindingOf = (name: string) => unknown;

/**
 * Returns the transport to a server, which carries on the trace of the work. @param vpcBinding the Workers VPC service;
 * `null` = the public internet.
 */
export function transportOf(vpcBinding: string | null, bindingOf: BindingOf): Transport {
  if (vpcBinding === null) return traced(publicTransport);
  const service = bindingOf(vpcBinding);
  if (!isService(service)) throw new Error('transportOf: the VPC binding of the settings is missing');
  return traced(vpcTransport(service));
}

function traced(transport: Transport): Transport {
  return (url, init) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(traceHeaders())) headers.set(name, value);
    return transport(url, { ...init, headers });
  };
}
