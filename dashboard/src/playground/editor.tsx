/** The editor of a rollout; every keystroke verifies it again. */
import { useState } from 'preact/hooks';
import { CITATION_POLICIES } from '../../../src/citations/citation-policy.ts';
import { GRAMMAR_NAMES } from '../../../src/citations/grammars.ts';
import { plural } from '../display/number-text.ts';
import { criteriaOfLines, type Draft, linesOfCriteria, type ParseOptions } from './draft.ts';
import { PasteField } from './paste-field.tsx';
import { TextField } from './text-field.tsx';

type EditorProps = {
  draft: Draft;
  options: ParseOptions;
  onDraft: (draft: Draft) => void;
  onOptions: (options: ParseOptions) => void;
};

export function Editor({ draft, options, onDraft, onOptions }: EditorProps) {
  const set = (change: Partial<Draft>): void => onDraft({ ...draft, ...change });
  return (
    <div class="editor">
      <TextField label="Question" rows={2} value={draft.question} onText={(question) => set({ question })} />
      <TextField
        label="Response"
        hint="Verified as you type."
        rows={14}
        code
        value={draft.response}
        onText={(response) => set({ response })}
      />
      {draft.tool_output === null ? (
        <p class="muted">
          The rollout lists {plural(draft.sources.length, 'source')} separately; paste other JSON to change them.
        </p>
      ) : (
        <TextField
          label="Tool output"
          hint="The sources that can be cited: <snippet id=…>, <webpage id=…>."
          rows={14}
          code
          value={draft.tool_output}
          onText={(tool_output) => set({ tool_output })}
        />
      )}
      <Criteria
        label="Positive criteria"
        value={draft.positive_rubrics}
        onCriteria={(positive_rubrics) => set({ positive_rubrics })}
      />
      <Criteria
        label="Negative criteria"
        value={draft.negative_rubrics}
        onCriteria={(negative_rubrics) => set({ negative_rubrics })}
      />
      <div class="row">
        <label class="field">
          <span>Citation grammar</span>
          <select
            value={options.grammar}
            onChange={(event) => {
              const grammar = GRAMMAR_NAMES.find((name) => name === event.currentTarget.value);
              if (grammar !== undefined) onOptions({ ...options, grammar });
            }}
          >
            {GRAMMAR_NAMES.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Mode</span>
          <select
            value={options.mode}
            onChange={(event) =>
              onOptions({ ...options, mode: event.currentTarget.value === 'answer_only' ? 'answer_only' : 'full' })
            }
          >
            <option value="full">full: reasoning may precede the answer</option>
            <option value="answer_only">answer only</option>
          </select>
        </label>
        <label class="field">
          <span>Citations</span>
          <select
            value={options.citations}
            onChange={(event) => {
              const citations = CITATION_POLICIES.find((policy) => policy === event.currentTarget.value);
              if (citations !== undefined) onOptions({ ...options, citations });
            }}
          >
            <option value="required">required: an answer without one is a finding</option>
            <option value="allowed">allowed</option>
            <option value="forbidden">forbidden: each one is a finding</option>
          </select>
        </label>
        <label class="field">
          <span>Finish reason</span>
          <input
            value={draft.finish_reason}
            onInput={(event) => set({ finish_reason: event.currentTarget.value })}
            spellcheck={false}
          />
        </label>
      </div>
      {Object.keys(draft.others).length > 0 && (
        <p class="muted">Sent unchanged: {Object.keys(draft.others).join(', ')}.</p>
      )}
      <PasteField onDraft={onDraft} />
    </div>
  );
}

type CriteriaProps = {
  label: string;
  value: Draft['positive_rubrics'];
  onCriteria: (criteria: Draft['positive_rubrics']) => void;
};

/** Keeps the typed lines, including an empty last line, which is not a criterion yet. */
function Criteria({ label, value, onCriteria }: CriteriaProps) {
  const [typed, setTyped] = useState({ lines: linesOfCriteria(value), of: value });
  const lines = typed.of === value ? typed.lines : linesOfCriteria(value);
  return (
    <TextField
      label={label}
      hint="One per line. Unchanged lines keep their title and weight."
      rows={4}
      value={lines}
      onText={(text) => {
        const criteria = criteriaOfLines(text, value);
        setTyped({ lines: text, of: criteria });
        onCriteria(criteria);
      }}
    />
  );
}
