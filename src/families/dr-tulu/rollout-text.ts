/** The transcript of a dr-tulu rollout as one text, which is all that the reference reads. */
import type { Rollout } from '../../family/rollout.ts';
import type { Span } from '../../text/span.ts';
import { endOf } from '../../trajectory/final-turns.ts';
import { trajectoryOf } from '../../trajectory/rollout-messages.ts';
import { rangesIn } from '../../trajectory/shared-pieces.ts';
import type { TrajectoryCall } from '../../trajectory/trajectory.ts';
import { type TranscriptStyle, writeTranscript } from '../../trajectory/transcript.ts';
import { CALL_ELEMENTS, type CallForm } from './terms/transcript.ts';

type RolloutText = {
  readonly text: string;
  /** The parts that tools wrote; `null` if the rollout came as a text, which does not say. */
  readonly outputs: readonly Span[] | null;
  /** The parts of a range of the text that are in the response, as ranges of the response. */
  inResponse(span: Span): readonly Span[];
};

/** The response, or the messages written as a transcript in the recipe's call form. */
export function rolloutText(rollout: Rollout, form: CallForm): RolloutText {
  const trajectory = trajectoryOf(rollout);
  if (trajectory === null) return { text: rollout.response, outputs: null, inResponse: (span) => [span] };
  const transcript = writeTranscript(trajectory, {
    call: (call) => ({ ...callTags(call, form), query: queryOf(call) }),
    result: { open: '<tool_output>', close: '</tool_output>' },
    policyMarkup: { tags: ['answer', 'cite', 'think', ...CALL_ELEMENTS[form]], texts: [] },
    sourceMarkup: SOURCE_MARKUP,
  });
  return { ...transcript, inResponse: rangesIn(endOf(trajectory).answer, transcript) };
}

/** The names of source elements, and those that the reference takes for them. */
const SOURCE_MARKUP: TranscriptStyle['sourceMarkup'] = {
  tags: ['snippet', 'snippets', 'webpage', 'snippe', 'webpag'],
  texts: [],
};

function callTags({ name }: TrajectoryCall, form: CallForm): { readonly open: string; readonly close: string } {
  switch (form) {
    case 'search':
      return { open: '<search>', close: '</search>' };
    case 'unified':
      return { open: `<tool name="${attributeText(name)}">`, close: '</tool>' };
    case 'v20250824':
      return { open: `<call_tool name="${attributeText(name)}">`, close: '</call_tool>' };
  }
}

function attributeText(name: string): string {
  return name.replace(/["'<>\s]/g, '_');
}

/** The query of a call: its argument `query` or `q`, or its only argument if that is a text; else all arguments. */
function queryOf({ arguments: given, arguments_text }: TrajectoryCall): string {
  if (given === null) return arguments_text;
  const values = Object.values(given);
  const [only] = values;
  for (const value of [given['query'], given['q'], values.length === 1 ? only : undefined]) {
    if (typeof value === 'string') return value;
  }
  return values.length === 0 ? '' : arguments_text;
}
