/** The evidence index of a source set: its texts, read where possible from the tool output that they were cut from. */
import { type EvidenceIndex, indexSources, type SourceText } from '../lexical/index.ts';
import type { Source, SourceSet } from './types.ts';

/** One index for all claims of a rollout. */
export function indexSourceSet({ list, toolOutput }: SourceSet): EvidenceIndex {
  return indexSources(toolOutput === null ? list : list.map((source) => placed(source, toolOutput)));
}

function placed(source: Source, toolOutput: string): SourceText {
  const { text, title, span } = source;
  // Where inner tags were left out, or a repeated id was joined, the text is no part of the tool output.
  if (span === null || span.end - span.start !== text.length) return source;
  const within = { text: toolOutput, start: span.start };
  return title === undefined ? { text, within } : { text, title, within };
}
