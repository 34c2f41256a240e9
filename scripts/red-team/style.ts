/** How the policy writes citations, and how a row is sent: both as the family of the recipe reads them. */
import type { GroupInput } from '../../clients/typescript/client.ts';
import type { FamilyName } from '../../src/families/composers.ts';
import type { Row } from './rows.ts';

export type CitationStyle = {
  /** Names the style in the settings of a base policy. */
  readonly name: 'bracket' | 'cite' | 'link';
  /** The id of a source by its position. */
  readonly sourceId: (source: number) => string;
  /** The mark that cites a source: one token. */
  readonly mark: (source: number) => string;
  /** The token that closes a cited claim; `null` = the mark follows its claim. */
  readonly close: string | null;
};

const BRACKET: CitationStyle = {
  name: 'bracket',
  sourceId: (source) => `S${source + 1}`,
  mark: (source) => `[S${source + 1}]`,
  close: null,
};

const CITE: CitationStyle = {
  name: 'cite',
  sourceId: (source) => `S${source + 1}`,
  mark: (source) => `<cite id="S${source + 1}">`,
  close: '</cite>',
};

/** CaRR's published code finds a link only before a bracket or a comma. */
const LINK: CitationStyle = {
  name: 'link',
  sourceId: (source) => `https://s${source + 1}.example/page`,
  mark: (source) => `[[${source + 1}](https://s${source + 1}.example/page)]`,
  close: null,
};

/** The style of a recipe family. @throws RangeError for tool-call, which reads no sources. */
export function styleOf(family: FamilyName): CitationStyle {
  switch (family) {
    case 'refiner':
    case 'long-trace':
      return BRACKET;
    case 'dr-tulu':
      return CITE;
    case 'carr':
      return LINK;
    case 'tool-call':
      throw new RangeError('recipes of the tool-call family read no sources');
  }
}

/** Writes a sentence that cites sources; without sources, the sentence alone. */
export function cited(style: CitationStyle, sentence: string, sources: readonly number[]): string {
  if (sources.length === 0) return sentence;
  const marks = sources.map(style.mark).join(' ');
  return style.close === null ? `${sentence} ${marks}` : `${marks} ${sentence} ${style.close}`;
}

/** The row as the family reads it, without responses. */
export function fieldsOf(family: FamilyName, row: Row): Omit<GroupInput, 'responses' | 'recipe'> {
  const style = styleOf(family);
  const sources = row.sources.map((text, n) => ({ id: style.sourceId(n), text }));
  const { question, positive, negative } = row;
  const reference = row.facts.map(({ answer }) => answer).join(' and ') || 'The sources do not say';
  switch (family) {
    case 'refiner':
      return { question, sources, positive_rubrics: [...positive], negative_rubrics: [...negative] };
    case 'dr-tulu':
      return {
        question,
        rubrics: [
          ...positive.map((description) => ({ description, weight: 1 })),
          ...negative.map((description) => ({ description, weight: -1 })),
        ],
      };
    case 'carr':
      return {
        question,
        sources,
        reference,
        entity_rubrics: row.facts.map(({ sentence, answer }) => sentence.replace(answer, '<E0>')),
      };
    case 'long-trace':
      return { question, sources, reference, entities: row.facts.map(({ answer }) => answer) };
    case 'tool-call':
      throw new RangeError('recipes of the tool-call family read no sources');
  }
}

/** The response of the policy as the family reads it: dr-tulu finds the sources in the transcript. */
export function responseOf(family: FamilyName, row: Row, answer: string): string {
  if (family !== 'dr-tulu') return answer;
  const style = styleOf(family);
  const found = row.sources.map((text, n) => `<snippet id=${style.sourceId(n)}>${text}</snippet>`).join('\n');
  const search = `<call_tool name="google_search">${row.question}</call_tool>`;
  return `${search}\n<tool_output>${found}</tool_output>\n${answer}`;
}
