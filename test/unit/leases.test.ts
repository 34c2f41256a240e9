import { expect, it } from 'vitest';
import { Leases } from '../../functions/leases.ts';

it('admits bodies up to the limit, and again when one has ended', () => {
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => 0);
  const [first, second] = [leases.begin(), leases.begin()];
  expect([first.grow(60), second.grow(40), second.grow(1)]).toEqual([true, true, false]);
  first.end();
  first.end();
  expect([second.grow(60), second.grow(1), leases.begin().grow(1)]).toEqual([true, true, false]);
});

it('admits one body beyond the limit if it is alone', () => {
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => 0);
  expect([leases.begin().grow(150), leases.begin().grow(1)]).toEqual([true, false]);
});

it('frees the bytes of a request that was torn down, once', () => {
  let now = 0;
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => now);
  const lost = leases.begin();
  expect(lost.grow(100)).toBe(true);
  now = 999;
  expect(leases.begin().grow(1)).toBe(false);
  now = 1_000;
  expect(leases.begin().grow(100)).toBe(true);
  lost.end();
  expect(leases.begin().grow(1)).toBe(false);
});

it('keeps the bytes of a stream until the stream ends', () => {
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => 0);
  const streamed = leases.begin();
  const release = streamed.hold();
  expect(streamed.grow(100)).toBe(true);
  streamed.end();
  expect(leases.begin().grow(1)).toBe(false);
  release();
  release();
  expect(leases.begin().grow(100)).toBe(true);
});

it('renews a lease that grows, also by nothing', () => {
  let now = 0;
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => now);
  const [arriving, lost] = [leases.begin(), leases.begin()];
  expect([arriving.grow(60), lost.grow(40)]).toEqual([true, true]);
  now = 900;
  expect(arriving.grow(0)).toBe(true);
  now = 1_500;
  expect([leases.begin().grow(41), leases.begin().grow(40)]).toEqual([false, true]);
});

it('frees a part of a lease, once', () => {
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => 0);
  const [stream, other] = [leases.begin(), leases.begin()];
  expect(stream.grow(100)).toBe(true);
  stream.shrink(60);
  expect([other.grow(61), other.grow(60)]).toEqual([false, true]);
  stream.end();
  stream.shrink(40);
  expect([leases.begin().grow(41), leases.begin().grow(40)]).toEqual([false, true]);
});

it('lets only the oldest lease that holds something exceed the limit', () => {
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => 0);
  const [idle, oldest, later] = [leases.begin(), leases.begin(), leases.begin()];
  expect([oldest.grow(60), later.grow(40)]).toEqual([true, true]);
  // One that was begun before, but holds nothing, waits like the others.
  expect([idle.fits(1), later.fits(1), oldest.fits(1_000)]).toEqual([false, false, true]);
  expect([later.grow(1), idle.grow(1), oldest.grow(1_000)]).toEqual([false, false, true]);
  oldest.end();
  // The next oldest may exceed it now.
  expect([idle.grow(61), later.grow(1_000), idle.grow(1)]).toEqual([false, true, false]);
});

it('ends with the connection of its caller, unless something holds it', () => {
  const leases = new Leases({ limit: 100, leaseMs: 1_000 }, () => 0);
  const [left, stays] = [new AbortController(), new AbortController()];
  const [lost, held, other] = [leases.begin(left.signal), leases.begin(left.signal), leases.begin(stays.signal)];
  const release = held.hold();
  expect([other.grow(10), lost.grow(40), held.grow(50)]).toEqual([true, true, true]);
  left.abort();
  expect([leases.begin().grow(41), leases.begin().grow(40)]).toEqual([false, true]);
  lost.end();
  expect(leases.begin().grow(1)).toBe(false);
  release();
  expect([leases.begin().grow(51), leases.begin().grow(50)]).toEqual([false, true]);
});
