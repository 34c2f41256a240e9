/** Where deliveries may go: public names over TLS. Every way to write an address is refused. */
import { describe, expect, it } from 'vitest';
import { readEndpointUrl } from '../../../src/wire/webhook-url.ts';

describe('a receiver', () => {
  it.each([
    ['https://hooks.example.com/citeward', 'https://hooks.example.com/citeward'],
    ['https://hooks.example.com', 'https://hooks.example.com/'],
    ['https://hooks.example.com:443/x', 'https://hooks.example.com/x'],
    ['https://hooks.example.com:8443/x?team=a&b', 'https://hooks.example.com:8443/x?team=a&b'],
    ['HTTPS://Hooks.Example.COM/X', 'https://hooks.example.com/X'],
    ['https://bücher.example.com/', 'https://xn--bcher-kva.example.com/'],
    ['https://127.0.0.1.example.com/', 'https://127.0.0.1.example.com/'],
    ['https://1.2.3.4.example/', 'https://1.2.3.4.example/'],
  ])('may be %s', (text, url) =>
    expect(readEndpointUrl(text, false)).toEqual({ ok: true, value: { url, isLoopback: false } }),
  );

  it.each([
    // Not https, or no URL.
    'http://hooks.example.com/',
    'ftp://hooks.example.com/',
    'wss://hooks.example.com/',
    'data:text/plain,x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '//hooks.example.com/',
    'hooks.example.com',
    '',
    'https://',
    ' https://hooks.example.com/',
    'https://hooks.example.com/a b',
    'https://hooks.exa\nmple.com/',
    'https:\\\\hooks.example.com\\',
    // User info, fragment, port.
    'https://user@hooks.example.com/',
    'https://user:password@hooks.example.com/',
    'https://:password@hooks.example.com/',
    'https://hooks.example.com/#',
    'https://hooks.example.com/#x',
    'https://hooks.example.com:80/',
    'https://hooks.example.com:22/',
    'https://hooks.example.com:4433/',
    'https://hooks.example.com:0/',
    'https://hooks.example.com:65536/',
    // IPv4 in every form that a resolver would take.
    'https://127.0.0.1/',
    'https://10.0.0.1:8443/',
    'https://169.254.169.254/latest/meta-data',
    'https://8.8.8.8/',
    'https://127.1/',
    'https://127.0.1/',
    'https://2130706433/',
    'https://017700000001/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://0x7f.1/',
    'https://127.0.0.1./',
    'https://0/',
    'https://0.0.0.0/',
    'https://１２７.0.0.1/',
    'https://127。0。0。1/',
    'https://%31%32%37.0.0.1/',
    'https://①②⑦.0.0.1/',
    'https://user@127.0.0.1/',
    'https://1.2.3.4.5/',
    'https://256.256.256.256/',
    // IPv6, also where an IPv4 address hides in it.
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[2001:db8::1]:8443/',
    'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/',
    // Names that are not public.
    'https://localhost/',
    'https://localhost.:8443/',
    'https://api.localhost/',
    'https://printer.local/',
    'https://metadata.google.internal/',
    'https://vault.corp/',
    'https://nas.lan/',
    'https://router.home.arpa/',
    'https://x.test/',
    'https://x.onion/',
    'https://LOCALHOST.LOCALDOMAIN/',
    'https://intranet/',
    'https://hooks.example.com./',
    'https://./',
    `https://hooks.example.com/${'x'.repeat(2_048)}`,
  ])('is not %s', (text) => {
    const read = readEndpointUrl(text, false);
    expect(read.ok).toBe(false);
    // Problems say what was expected, and repeat nothing.
    if (!read.ok) expect(read.error).toMatch(/^expected /);
  });
});

describe('with loopback allowed', () => {
  it('a receiver may also be 127.0.0.1 over http', () => {
    expect(readEndpointUrl('http://127.0.0.1:8080/hook', true)).toEqual({
      ok: true,
      value: { url: 'http://127.0.0.1:8080/hook', isLoopback: true },
    });
    expect(readEndpointUrl('https://hooks.example.com/', true).ok).toBe(true);
  });

  it.each([
    'http://127.0.0.2:8080/',
    'http://localhost:8080/',
    'http://[::1]:8080/',
    'https://127.0.0.1:8443/',
    'http://10.0.0.1/',
    'http://user@127.0.0.1/',
    'http://127.0.0.1/#x',
    'http://hooks.example.com/',
  ])('still not %s', (text) => expect(readEndpointUrl(text, true).ok).toBe(false));
});
