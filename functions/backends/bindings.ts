/** The bindings that backends go through: how to find them by name, and how to tell that a value is one. */
import { publicTransport, type Transport } from '../../lib/model-servers/calls/transport.ts';
import type { AiBinding } from './workers-ai/ai-run.ts';

/** Of a Workers VPC service: the same call as the global one. Named so, as the command line uses these modules in Node. */
export type Service = { readonly fetch: typeof fetch };

/** Whether a value of the environment can be used as the AI binding. */
export function isAiBinding(value: unknown): value is AiBinding {
  return hasMethod(value, 'run');
}

/** Whether a value of the environment can be used as a Workers VPC service. */
export function isService(value: unknown): value is Service {
  return hasMethod(value, 'fetch');
}

function hasMethod(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && typeof Reflect.get(value, name) === 'function';
}

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
