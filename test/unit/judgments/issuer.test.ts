/** Signatures over records, the keys as operators write them, and records of earlier versions. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { digestJson } from '../../../src/digest.ts';
import { createKnownIssuers, type Issuer, signed } from '../../../src/judgments/issuer.ts';
import { readIssuer, readPublicKeys } from '../../../src/judgments/issuer-keys.ts';
import type { Judgment } from '../../../src/judgments/judgment.ts';
import { checkRecord } from '../../../src/judgments/record.ts';
import { sampleJudgment } from '../../contract/judgment-store.case.ts';

// RFC 8032, section 7.1, test 1: published key material.
const JWK = {
  kty: 'OKP',
  crv: 'Ed25519',
  d: 'nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A',
  x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
};
const PKCS8 = 'MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g';
const PEM = `-----BEGIN PRIVATE KEY-----\n${PKCS8}\n-----END PRIVATE KEY-----\n`;
const { d: _, ...PUBLIC } = JWK;

async function issuerOf(text: string): Promise<Issuer> {
  const read = await readIssuer(text);
  if (!read.ok) throw new Error(read.error);
  return read.value;
}

async function signedSample(number = 1): Promise<Judgment> {
  const { issuer: _unsigned, ...judgment } = await sampleJudgment(number);
  return signed(judgment, await issuerOf(JSON.stringify(JWK)));
}

describe('issuer keys', () => {
  it('are read as JWK, PKCS #8 and PEM, to the same key id: the RFC 7638 thumbprint', async () => {
    // RFC 8037, appendix A.3: kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k
    const thumbprint = '90facafea9b1556698540f70c0117a22ea37bd5cf3ed3c47093c1707282b4b89';
    for (const text of [JSON.stringify(JWK), PKCS8, PEM, JSON.stringify({ ...JWK, kid: 'x', alg: 'EdDSA' })]) {
      expect((await issuerOf(text)).key).toEqual({ key_id: thumbprint, public_key: PUBLIC });
    }
    expect(digestJson(PUBLIC)).toBe(thumbprint);
  });

  it('are refused where they are anything else, without a word of them', async () => {
    const spoiled = [
      '',
      'nonsense',
      '{"kty":"RSA"}',
      JSON.stringify(PUBLIC),
      JSON.stringify({ ...JWK, x: JWK.d }),
      PKCS8.slice(0, -8),
      PEM.replace('MC4', 'MC5'),
    ];
    for (const text of spoiled) {
      const read = await readIssuer(text);
      expect(read, text).toMatchObject({ ok: false });
      expect(JSON.stringify(read)).not.toContain(JWK.d);
    }
    for (const text of ['', '{}', '[{}]', JSON.stringify(PUBLIC)]) expect((await readPublicKeys(text)).ok).toBe(false);
  });
});

describe('signatures', () => {
  it('are deterministic and check out, by that key alone', async () => {
    const [judgment, again] = [await signedSample(), await signedSample()];
    expect(judgment).toEqual(again);
    const read = await readPublicKeys(JSON.stringify([PUBLIC]));
    if (!read.ok) throw new Error(read.error);
    const known = createKnownIssuers(read.value.keys);
    expect(await known.check(judgment)).toBe('valid');
    expect(await known.check({ ...judgment, issuer: null })).toBe('unsigned');
    expect(await createKnownIssuers([]).check(judgment)).toBe('unknown_key');
  });

  it('of a key that its list marks as revoked are those of no key', async () => {
    const other = { ...PUBLIC, x: `A${PUBLIC.x.slice(1)}` };
    const read = await readPublicKeys(
      JSON.stringify([
        { ...PUBLIC, revoked: true },
        { ...other, revoked: false },
      ]),
    );
    if (!read.ok) throw new Error(read.error);
    expect(read.value.revoked).toMatchObject([{ public_key: PUBLIC }]);
    expect(read.value.keys).toMatchObject([{ public_key: other }]);
    expect(await createKnownIssuers(read.value.keys).check(await signedSample())).toBe('unknown_key');
    expect((await readPublicKeys(JSON.stringify([{ ...PUBLIC, revoked: 'yes' }]))).ok).toBe(false);
  });

  it('cover every field of the record', async () => {
    const judgment = await signedSample();
    const other = await sampleJudgment(2, 0);
    const known = createKnownIssuers([(await issuerOf(PKCS8)).key]);
    const spoiled: Judgment[] = [
      { ...judgment, key: other.key },
      { ...judgment, preimage: other.preimage },
      { ...judgment, verdicts: other.verdicts },
      { ...judgment, usage: null },
      { ...judgment, judged_at: '2026-11-22T00:00:00.000Z' },
    ];
    for (const record of spoiled) expect(await known.check(record)).toBe('wrong');
    expect(await known.check(judgment)).toBe('valid');
  });
});

describe('records', () => {
  it('survive JSON with their signature', async () => {
    const judgment = await signedSample();
    expect(checkRecord(judgment.key, JSON.stringify(judgment))).toEqual({ ok: true, judgment });
  });

  it('of version 1, which had no issuer, stay readable', async () => {
    const file = resolve(import.meta.dirname, '../../contract/judgment-records/v1.jsonl');
    const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
    expect(lines).toHaveLength(2);
    for (const line of lines) {
      const record: { key: string; verdicts: unknown } = JSON.parse(line);
      const read = checkRecord(record.key, line);
      expect(read).toEqual({ ok: true, judgment: { ...record, v: 2, issuer: null } });
    }
  });

  it('from before each kind had its own template stay readable', () => {
    const file = resolve(import.meta.dirname, '../../contract/judgment-records/v2-shared-template.jsonl');
    const line = readFileSync(file, 'utf8').trimEnd();
    const record: { key: string } = JSON.parse(line);
    expect(checkRecord(record.key, line)).toEqual({ ok: true, judgment: record });
  });

  it('of version 2 without the field issuer, or with a malformed one, are refused', async () => {
    const { issuer, ...rest } = await signedSample();
    for (const spoiled of [rest, { ...rest, issuer: { ...issuer, signature: 'AA' } }, { ...rest, issuer: 'me' }]) {
      expect(checkRecord(rest.key, JSON.stringify(spoiled))).toMatchObject({ ok: false });
    }
  });
});
