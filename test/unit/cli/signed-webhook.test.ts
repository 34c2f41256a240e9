/** Alerts go to public addresses only, whatever a name resolves to. */
import { expect, it } from 'vitest';
import { isPublicAddress } from '../../../cli/shared/public-address.ts';
import { sendEvent } from '../../../cli/shared/signed-webhook.ts';

const secret = Buffer.alloc(32);

it.each([
  ['127.0.0.1', false],
  ['10.1.2.3', false],
  ['172.31.255.255', false],
  ['192.168.0.1', false],
  ['169.254.169.254', false],
  ['100.64.0.1', false],
  ['0.0.0.0', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:8.8.8.8', false],
  ['64:ff9b::a00:1', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['2002:7f00:1::', false],
  ['2001::1', false],
  ['2001:db8::1', false],
  ['ff02::1', false],
  ['8.8.8.8', true],
  ['172.32.0.1', true],
  ['223.255.255.255', true],
  ['2606:4700::1111', true],
])('%s is public: %s', (address, expected) => expect(isPublicAddress(address)).toBe(expected));

it.each([
  [['127.0.0.1'], '127.0.0.1'],
  [['8.8.8.8', '10.0.0.1'], '10.0.0.1'],
  [['::1'], '::1'],
])('a name with the addresses %s gets nothing', async (addresses, refused) => {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const url = new URL('https://hooks.example.com:8443/citeward');
  const problem = await sendEvent({ url, isLoopback: false, secret }, {}, async () => found);
  expect(problem).toBe(`hooks.example.com has the address ${refused}, which is not public`);
});
