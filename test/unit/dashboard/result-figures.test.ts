/** The results of a batch are read to their end, whatever a line holds; what has no reward is counted as not scored. */
import { expect, test } from 'vitest';
import { loadResults } from '../../../dashboard/src/batches/result-figures.ts';

test.each([
  ['a response without a body', '{"custom_id":"b","response":{"status_code":400},"error":null}'],
  ['a failed request', '{"custom_id":"b","response":null,"error":{"code":"x"}}'],
  ['a group without its reports', '{"custom_id":"b","response":{"body":{"members":[null]}},"error":null}'],
  ['a broken line', 'not json'],
])('%s is not scored', async (_name, line) => {
  const scored = '{"custom_id":"a","response":{"body":{"reward":0.5,"reason":null}},"error":null}';
  const open = async () => ({
    ok: true as const,
    value: new Blob([`${scored}\n${line}\n`]).stream(),
    milliseconds: 0,
  });
  expect(await loadResults(open, new AbortController().signal)).toMatchObject({
    ok: true,
    value: { rewards: [0.5], unscored: new Map([['unknown', 1]]) },
  });
});
