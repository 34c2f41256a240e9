/** W3C Trace Context: which headers continue a trace, and what is carried on. */
import { describe, expect, it } from 'vitest';
import { currentTraceparent, inTrace, receivedTrace, traceHeaders } from '../../../service/trace-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const VALID = `00-${TRACE}-${PARENT}-01`;

describe('a received trace', () => {
  it('is passed on with the span of the caller', () => {
    expect(receivedTrace(VALID, 'vendor=1')).toEqual({
      trace_id: TRACE,
      span_id: PARENT,
      flags: '01',
      state: 'vendor=1',
    });
  });

  it.each([
    ['flags other than sampled', `00-${TRACE}-${PARENT}-fe`, '00'],
    ['all flags', `00-${TRACE}-${PARENT}-ff`, '01'],
    ['a later version', `cc-${TRACE}-${PARENT}-01`, '01'],
    ['more fields of a later version', `cc-${TRACE}-${PARENT}-01-what-the-future-has`, '01'],
  ])('may have %s', (_, header, flags) => {
    expect(receivedTrace(header)).toMatchObject({ trace_id: TRACE, flags });
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['of another form', 'abc'],
    ['in upper case', VALID.toUpperCase()],
    ['of the version ff', `ff-${TRACE}-${PARENT}-01`],
    ['without a trace', `00-${'0'.repeat(32)}-${PARENT}-01`],
    ['without a parent', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['too short', VALID.slice(0, -1)],
    ['with more fields in version 00', `${VALID}-more`],
    ['with a letter that is no digit', VALID.replace('a', 'g')],
    ['two headers in one', `${VALID}, ${VALID}`],
    ['surrounded by spaces', ` ${VALID} `],
  ])('begins anew if the header is %s', (_, header) => {
    const trace = receivedTrace(header, 'vendor=1');
    expect(trace.trace_id).toMatch(/^(?!0+$)[\da-f]{32}$/);
    expect(trace).toMatchObject({ flags: '00', state: null });
    expect(trace.trace_id).not.toBe(TRACE);
  });

  it.each([
    ['too long', `a=${'b'.repeat(511)}`],
    ['with a line break', 'a=b\nc=d'],
    ['empty', ''],
  ])('drops a state that is %s', (_, state) => {
    expect(receivedTrace(VALID, state).state).toBeNull();
  });
});

describe('outgoing headers', () => {
  it('are those of the work, also after it has waited, and of no other work', async () => {
    const [one, other] = [receivedTrace(VALID, 'vendor=1'), receivedTrace(null)];
    const headersLater = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      return traceHeaders();
    };
    expect(await Promise.all([inTrace(one, headersLater), inTrace(other, headersLater), headersLater()])).toEqual([
      { traceparent: VALID, tracestate: 'vendor=1' },
      { traceparent: `00-${other.trace_id}-${other.span_id}-00` },
      {},
    ]);
    expect(inTrace(one, currentTraceparent)).toBe(VALID);
    expect(currentTraceparent()).toBeNull();
  });
});
