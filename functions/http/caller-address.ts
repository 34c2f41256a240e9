/**
 * Finds the address of a caller, by which wrong keys are counted. Under `citeward serve` it is the one of the
 * connection, which workerd puts into `request.cf.clientIp`; a header would be the caller's own word. On the platform it
 * is `cf-connecting-ip`, which the platform sets itself.
 */
import type { CallerConnection } from '../lookups.ts';
import type { Context } from './context.ts';

export function callerConnection(c: Context): CallerConnection {
  return { address: callerAddress(c), signal: c.req.raw.signal };
}

/** An IPv4 address, or the network of an IPv6 address, because its owner has all of its 2^64 addresses. */
function callerAddress(c: Context): string {
  const configured = c.get('settings').clientAddressHeader;
  // Each proxy appends the address that it was called from, so the last one is that of the nearest proxy.
  const named = configured === null ? undefined : c.req.header(configured)?.split(',').at(-1);
  return networkOf(named ?? connectionAddress(c.req.raw) ?? c.req.header('cf-connecting-ip') ?? 'unknown');
}

function connectionAddress({ cf }: Request): string | undefined {
  const address: unknown = cf?.['clientIp'];
  return typeof address === 'string' ? address : undefined;
}

const WITH_PORT = /^(?:\[([^\]]+)\]|([^:]+)):\d+$/;

/** @param text an address, with or without a port: `192.0.2.1:443`, `[2001:db8::1]:443`. */
function networkOf(text: string): string {
  const address = text.trim().toLowerCase();
  const [, v6, v4] = WITH_PORT.exec(address) ?? [];
  const bare = v6 ?? v4 ?? address.replace(/^\[|\]$/g, '');
  if (!bare.includes(':')) return bare;
  const [head = '', tail] = bare.split('::');
  const groups = (half: string): string[] => half.split(':').filter((group) => group !== '');
  const [first, last] = [groups(head), groups(tail ?? '')];
  const zeros = Array.from({ length: Math.max(0, 8 - first.length - last.length) }, () => '0');
  const all = tail === undefined ? first : [...first, ...zeros, ...last];
  // An IPv4 address in IPv6 form stays whole.
  if (bare.startsWith('::ffff:')) return bare;
  return all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':');
}
