/** Labels of classifiers: usual names are known, others need their meaning. */
import { describe, expect, test } from 'vitest';
import { labelsText, readLabels } from '../../../../src/judgments/classifier/labels.ts';

describe('usual names', () => {
  test.each([
    [['entailment', 'neutral', 'contradiction'], 'entailment=supported,neutral=neither,contradiction=contradicted'],
    [['CONTRADICTION', 'NEUTRAL', 'ENTAILMENT'], 'CONTRADICTION=contradicted,NEUTRAL=neither,ENTAILMENT=supported'],
    [['not_entailment', 'entailment'], 'not_entailment=neither,entailment=supported'],
    [['SUPPORTS', 'REFUTES', 'NOT ENOUGH INFO'], 'SUPPORTS=supported,REFUTES=contradicted,NOT ENOUGH INFO=neither'],
    [['LABEL_0=neither', 'LABEL_1=supported'], 'LABEL_0=neither,LABEL_1=supported'],
    [['entailment=neither', 'a=b=supported'], 'entailment=neither,a=b=supported'],
  ])('%j', (written, text) => {
    const read = readLabels(written);
    expect(read.ok ? labelsText(read.value) : read.error).toBe(text);
  });
});

describe('refused', () => {
  test.each([
    [['LABEL_0', 'LABEL_1=supported'], 'the meaning of label 1 is unknown'],
    [['a=supported', 'b=perhaps'], 'the meaning of label 2 is unknown'],
    [['yes', 'yes'], 'label 2 has an earlier label'],
    [['neutral', 'contradiction'], 'expected a label that means supported'],
    [[], 'expected a label that means supported'],
  ])('%j', (written, problem) => {
    expect(readLabels(written)).toMatchObject({ ok: false, error: expect.stringContaining(problem) });
  });
});
