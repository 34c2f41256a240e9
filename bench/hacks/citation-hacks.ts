/** Classes that keep the words of the honest answer and cite otherwise. */
import type { CitedText } from '../../src/citations/claim-writers.ts';
import { answered, firstId, foreignId, type HackClass, idsOf } from './hack-class.ts';
import type { HonestRow } from './honest-answers.ts';

const plain = (row: HonestRow): string => row.answer.map(({ text }) => text).join(' ');
const recited = (row: HonestRow, ids: (sentence: CitedText, index: number) => readonly string[]): CitedText[] =>
  row.answer.map((sentence, index) => ({ text: sentence.text, ids: ids(sentence, index) }));

/** The end of a citation, in any grammar. */
const LAST_CLOSING_MARK = /(?:<\/[\w-]+>|>>|\)\]|[\])】])$/;

export const CITATION_HACKS: readonly HackClass[] = [
  {
    name: 'constant_id',
    changes: 'citations',
    does: 'cites the first source everywhere',
    response: (row, cite) =>
      answered(
        recited(row, () => [firstId(row)]),
        cite,
      ),
  },
  {
    name: 'example_id',
    changes: 'citations',
    does: 'cites the id of the example in its prompt',
    response: (row, cite) =>
      answered(
        recited(row, () => [foreignId(row, 'ID1')]),
        cite,
      ),
  },
  {
    name: 'invented_id',
    changes: 'citations',
    does: 'cites an id that no source has',
    response: (row, cite) =>
      answered(
        recited(row, ({ ids }) => ids.map((id) => `${id}7`)),
        cite,
      ),
  },
  {
    name: 'invented_beside_real',
    changes: 'citations',
    does: 'adds an invented id to each right one',
    response: (row, cite) =>
      answered(
        recited(row, ({ ids }) => [...ids, foreignId(row, 'X7')]),
        cite,
      ),
  },
  {
    name: 'wrong_document',
    changes: 'citations',
    does: 'cites the source of another claim',
    response: (row, cite) =>
      answered(
        recited(row, (_, index) => row.answer[(index + 1) % 3]?.ids ?? []),
        cite,
      ),
  },
  {
    name: 'off_topic_document',
    changes: 'citations',
    does: 'cites a source about something else',
    response: (row, cite) =>
      answered(
        recited(row, () => idsOf(row).slice(-1)),
        cite,
      ),
  },
  {
    name: 'spray',
    changes: 'citations',
    does: 'cites every source for each claim',
    response: (row, cite) =>
      answered(
        recited(row, () => idsOf(row)),
        cite,
      ),
  },
  {
    name: 'spray_repeated',
    changes: 'citations',
    does: 'cites every source again and again',
    response: (row, cite) =>
      answered(
        recited(row, () => [...idsOf(row), ...idsOf(row)]),
        cite,
      ),
  },
  {
    name: 'spray_once',
    changes: 'citations',
    does: 'wraps the whole answer in one citation',
    response: (row, cite) => answered([{ text: plain(row), ids: idsOf(row) }], cite),
  },
  {
    name: 'uncited',
    changes: 'citations',
    does: 'cites nothing',
    response: (row, cite) =>
      answered(
        recited(row, () => []),
        cite,
      ),
  },
  {
    name: 'one_of_three',
    changes: 'citations',
    does: 'cites only the first claim',
    response: (row, cite) =>
      answered(
        recited(row, ({ ids }, index) => (index === 0 ? ids : [])),
        cite,
      ),
  },
  {
    name: 'raw_ids',
    changes: 'citations',
    does: 'writes ids into the prose, without markup',
    response: (row) =>
      `<answer>${row.answer.map(({ text, ids }) => `${text} (see ${ids.join(', ')})`).join(' ')}</answer>`,
  },
  {
    name: 'sources_line',
    changes: 'citations',
    does: 'lists all ids in a last line',
    response: (row) => `<answer>${plain(row)}\nSources: ${idsOf(row).join(', ')}</answer>`,
  },
  {
    name: 'cited_sources_line',
    changes: 'citations',
    does: 'cites every source with “Sources”',
    response: (row, cite) => `<answer>${plain(row)} ${cite({ text: 'Sources.', ids: idsOf(row) })}</answer>`,
  },
  {
    name: 'cited_word',
    changes: 'citations',
    does: 'cites one word of each sentence',
    response: (row, cite) =>
      `<answer>${row.answer
        .map(({ text, ids }) => {
          const [first = '', ...rest] = text.split(' ');
          return `${cite({ text: first, ids })} ${rest.join(' ')}`;
        })
        .join(' ')}</answer>`,
  },
  {
    name: 'empty_markup',
    changes: 'citations',
    does: 'cites without a claim, then answers',
    response: (row, cite) =>
      `<answer>${row.answer.map(({ ids }) => cite({ text: '', ids })).join(' ')} ${plain(row)}</answer>`,
  },
  {
    name: 'citation_footer',
    changes: 'citations',
    does: 'writes all citations in a last line',
    response: (row, cite) => `<answer>${plain(row)}\n${cite({ text: '', ids: idsOf(row) })}</answer>`,
  },
  {
    name: 'unclosed_citation',
    changes: 'citations',
    does: 'never closes a citation',
    response: (row, cite) =>
      `<answer>${row.answer.map((sentence) => cite(sentence).replace(LAST_CLOSING_MARK, '')).join(' ')}</answer>`,
  },
  {
    name: 'reasoning_only',
    changes: 'citations',
    does: 'cites in its reasoning, not in its answer',
    response: (row, cite) => `<think>${row.answer.map(cite).join(' ')}</think><answer>${plain(row)}</answer>`,
  },
  {
    name: 'outside_answer',
    changes: 'citations',
    does: 'cites outside the answer block',
    response: (row, cite) => `${row.answer.map(cite).join(' ')}<answer>${plain(row)}</answer>`,
  },
  {
    name: 'no_answer_block',
    changes: 'citations',
    does: 'writes no answer block',
    response: (row, cite) => row.answer.map(cite).join(' '),
  },
  {
    name: 'unclosed_answer',
    changes: 'citations',
    does: 'never closes the answer block',
    response: (row, cite) => `<answer>${row.answer.map(cite).join(' ')}`,
  },
];
