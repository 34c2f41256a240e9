import { createMemoryJudgmentStore } from '../../../src/judgments/store.ts';
import { describeJudgmentStore } from '../../contract/judgment-store.case.ts';

describeJudgmentStore('memory', async () => {
  const records = new Map<string, string>();
  return {
    store: createMemoryJudgmentStore(records),
    reopen: () => createMemoryJudgmentStore(records),
    plant: async (key, text) => {
      records.set(key, text);
    },
  };
});
