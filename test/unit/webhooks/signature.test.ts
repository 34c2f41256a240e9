/** Signatures of Standard Webhooks, compared with the package `standardwebhooks`. */
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import {
  createSecret,
  readSignature,
  secretText,
  signatureHeader,
  verifySignature,
} from '../../../functions/webhooks/signature.ts';

const NOW_S = 1_700_000_000;
const ID = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';
const BODY = '{"question":"Wie lang ist die Aare?","n":1}';
const secret = createSecret();
const other = createSecret();

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function signed(body = BODY, key = secret, timestamp = NOW_S): string {
  return new Webhook(secretText(key)).sign(ID, new Date(timestamp * 1000), body);
}

function headers(changes: Readonly<Record<string, string | null>> = {}): Headers {
  const all = { 'webhook-id': ID, 'webhook-timestamp': String(NOW_S), 'webhook-signature': signed(), ...changes };
  const made = new Headers();
  for (const [name, value] of Object.entries(all)) if (value !== null) made.set(name, value);
  return made;
}

async function check(
  changes: Readonly<Record<string, string | null>> = {},
  body = BODY,
  secrets: readonly Uint8Array[] = [secret],
): Promise<string> {
  const read = readSignature(headers(changes), NOW_S);
  if (!read.ok) return read.error;
  return (await verifySignature(read.value, bytes(body), secrets)) ? 'right' : 'wrong';
}

describe('verifying', () => {
  it('takes what the package signs', async () => {
    expect(await check()).toBe('right');
    for (const body of ['', 'ü'.repeat(1000), '\ud83d\ude00', '{"a":"\\u0000"}']) {
      expect(await check({ 'webhook-signature': signed(body) }, body)).toBe('right');
    }
  });

  it("takes the names of Svix's libraries, and never those of both", async () => {
    const svix = { 'svix-id': ID, 'svix-timestamp': String(NOW_S), 'svix-signature': signed() };
    const none = { 'webhook-id': null, 'webhook-timestamp': null, 'webhook-signature': null };
    expect(await check({ ...none, ...svix })).toBe('right');
    expect(await check({ 'webhook-signature': null, ...svix })).toBe('signature_missing');
    expect(await check({ ...none, ...svix, 'svix-signature': null })).toBe('signature_missing');
  });

  it('tries every signature with every secret', async () => {
    const [own, wrong] = [signed(), signed(BODY, other)];
    expect(await check({ 'webhook-signature': `${wrong} ${own}` })).toBe('right');
    expect(await check({ 'webhook-signature': `v1a,AAAA v2,${own.slice(3)} ${own}` })).toBe('right');
    expect(await check({ 'webhook-signature': wrong }, BODY, [secret, other])).toBe('right');
    expect(await check({ 'webhook-signature': own }, BODY, [])).toBe('wrong');
  });

  it.each([
    ['another secret', { 'webhook-signature': signed(BODY, other) }],
    ['another body', { 'webhook-signature': signed(`${BODY} `) }],
    ['another id', { 'webhook-id': `${ID}x` }],
    ['another time', { 'webhook-timestamp': String(NOW_S + 1) }],
    ['the right one after too many', { 'webhook-signature': `${`${signed(BODY, other)} `.repeat(16)}${signed()}` }],
  ])('refuses %s', async (_what, changes) => expect(await check(changes)).toBe('wrong'));

  it.each([
    ['no id', { 'webhook-id': null }, 'signature_missing'],
    ['no timestamp', { 'webhook-timestamp': null }, 'signature_missing'],
    ['no signature', { 'webhook-signature': null }, 'signature_missing'],
    ['an empty id', { 'webhook-id': '' }, 'signature_missing'],
    ['a cut signature', { 'webhook-signature': signed().slice(0, -4) }, 'signature_wrong'],
    ['no padding', { 'webhook-signature': signed().slice(0, -1) }, 'signature_wrong'],
    ['an empty signature', { 'webhook-signature': 'v1,' }, 'signature_wrong'],
    ['a longer one', { 'webhook-signature': `${signed()}=` }, 'signature_wrong'],
    ['another version', { 'webhook-signature': signed().replace('v1,', 'v2,') }, 'signature_wrong'],
    ['the asymmetric version', { 'webhook-signature': signed().replace('v1,', 'v1a,') }, 'signature_wrong'],
    ['no version', { 'webhook-signature': signed().slice(3) }, 'signature_wrong'],
    ['upper case', { 'webhook-signature': signed().replace('v1,', 'V1,') }, 'signature_wrong'],
    ['commas between', { 'webhook-signature': `${signed(BODY, other)},${signed()}` }, 'signature_wrong'],
    ['a full stop in the id', { 'webhook-id': 'a.1' }, 'signature_malformed'],
    ['a space in the id', { 'webhook-id': 'a b' }, 'signature_malformed'],
    ['a long id', { 'webhook-id': 'x'.repeat(129) }, 'signature_malformed'],
    ['letters after the timestamp', { 'webhook-timestamp': `${NOW_S}abc` }, 'signature_malformed'],
    ['a fraction', { 'webhook-timestamp': `${NOW_S}.5` }, 'signature_malformed'],
    ['a sign', { 'webhook-timestamp': `+${NOW_S}` }, 'signature_malformed'],
    ['milliseconds', { 'webhook-timestamp': `${NOW_S}000` }, 'signature_malformed'],
    ['hexadecimal', { 'webhook-timestamp': '0x6553f100' }, 'signature_malformed'],
    ['a time 301 s ago', { 'webhook-timestamp': String(NOW_S - 301) }, 'timestamp_stale'],
    ['the year 1970', { 'webhook-timestamp': '0' }, 'timestamp_stale'],
    ['a time in 301 s', { 'webhook-timestamp': String(NOW_S + 301) }, 'timestamp_future'],
  ])('refuses %s before any secret is needed', async (_what, changes, problem) => {
    expect(await check(changes)).toBe(problem);
  });

  it('tolerates five minutes either way', async () => {
    for (const timestamp of [NOW_S - 300, NOW_S + 300]) {
      const changes = { 'webhook-timestamp': String(timestamp), 'webhook-signature': signed(BODY, secret, timestamp) };
      expect(await check(changes)).toBe('right');
    }
  });
});

describe('signing', () => {
  it('is taken by the package, under each of the secrets', async () => {
    const now = Math.floor(Date.now() / 1000);
    const header = await signatureHeader(ID, now, bytes(BODY), [secret, other]);
    expect(header.split(' ')).toHaveLength(2);
    const sent = { 'webhook-id': ID, 'webhook-timestamp': String(now), 'webhook-signature': header };
    for (const key of [secret, other]) {
      expect(new Webhook(secretText(key)).verify(BODY, sent)).toEqual(JSON.parse(BODY));
    }
    expect(() => new Webhook(secretText(createSecret())).verify(BODY, sent)).toThrow();
  });

  it('makes secrets of 32 random bytes', () => {
    expect(secretText(secret)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(secretText(secret)).not.toBe(secretText(other));
  });
});
