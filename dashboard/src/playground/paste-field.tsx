/** Takes a pasted rollout, or a pasted answer of a vendor, and says how it was read. */

import { useState } from 'preact/hooks';
import type { CitedAnswer } from '../../../src/citations/formats/read-answer.ts';
import { pathText } from '../../../src/input-problem.ts';
import { readJson } from '../../../src/json.ts';
import type { Result } from '../../../src/result.ts';
import { plural } from '../display/number-text.ts';
import { ANSWER_FINDING_WORDS } from '../words/answer-findings.ts';
import { type Draft, type ReadDraft, readDraft } from './draft.ts';
import { TextField } from './text-field.tsx';

const PLACES_SHOWN = 5;

export function PasteField({ onDraft }: { onDraft: (draft: Draft) => void }) {
  const [text, setText] = useState('');
  const [pasted, setPasted] = useState<Result<ReadDraft, string> | null>(null);
  return (
    <details class="paste">
      <summary>Paste a rollout or a vendor's answer</summary>
      <TextField
        label="A line of a rollout file, a request to /v1/score, or an answer with citations: JSON of a vendor's API, or Markdown"
        rows={3}
        code
        value={text}
        onText={(changed) => {
          setText(changed);
          const read = changed.trim() === '' ? null : readPasted(changed);
          setPasted(read);
          if (read?.ok === true) onDraft(read.value.draft);
        }}
      />
      <div aria-live="polite">{pasted !== null && <Status pasted={pasted} />}</div>
    </details>
  );
}

/** Text that is no JSON is an answer in Markdown, if it has a citation; otherwise every typed word would be one. */
function readPasted(text: string): Result<ReadDraft, string> {
  const json = readJson(text);
  if (json.ok) return readDraft(json.value);
  if (text.trimStart().startsWith('{')) return { ok: false, error: `This is no complete JSON: ${json.error}` };
  const read = readDraft({ cited_answer: text, answer_format: 'markdown' });
  if (read.ok && read.value.answer?.response.includes('<snippet ') === true) return read;
  return {
    ok: false,
    error: 'This is no JSON, and it has no link or [1] of Markdown. Put a response with tags into the field Response.',
  };
}

function Status({ pasted }: { pasted: Result<ReadDraft, string> }) {
  if (!pasted.ok) return <p class="notice notice-bad">Not loaded. {pasted.error}</p>;
  const { answer } = pasted.value;
  if (answer === null) return <p class="muted">Loaded.</p>;
  return (
    <>
      <p class="muted">
        Loaded: an answer in the format <b>{answer.format}</b>.
        {answer.sources !== null && ' Its own texts are the sources, so it brings its own evidence.'}
      </p>
      <Conversion answer={answer} />
    </>
  );
}

/** What the vendor's data contradict; the verification of the loaded text cannot see it. */
function Conversion({ answer: { findings, finding_count } }: { answer: CitedAnswer }) {
  if (finding_count === 0) return null;
  const shown = findings.slice(0, PLACES_SHOWN);
  return (
    <>
      <p>{plural(finding_count, 'finding')} about what the vendor sent:</p>
      <ul>
        {shown.map(({ reason, path }) => (
          <li key={`${reason} ${pathText(path)}`}>
            {ANSWER_FINDING_WORDS[reason]} {path.length > 0 && <code>{pathText(path)}</code>}
          </li>
        ))}
        {finding_count > shown.length && <li class="muted">and {finding_count - shown.length} more</li>}
      </ul>
    </>
  );
}
