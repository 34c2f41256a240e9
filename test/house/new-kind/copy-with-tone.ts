/** A copy of the repository with a further judgment kind: its folder, its entry in the registry and its name. */
import { type CopiedSources, copySources } from '../copied-sources.ts';

/** Where the scenario is in the copy. */
export const SCENARIO = 'test/unit/judgments/tone.scenario.ts';

/** @param folders top folders to copy; absent = the whole repository. */
export function copyWithTone(folders?: readonly string[]): CopiedSources {
  const files = {
    'test/house/new-kind/tone.ts': 'src/judgments/kinds/tone/tone.ts',
    'test/house/new-kind/scenario.ts': SCENARIO,
  };
  const edits = {
    'src/judgments/kinds/names.ts': [["'statements_text',\n]", "'statements_text',\n  'tone',\n]"]],
    'src/judgments/kinds/registry.ts': [
      [
        "import { rubric } from './rubric/rubric.ts';",
        "import { rubric } from './rubric/rubric.ts';\nimport { tone } from './tone/tone.ts';",
      ],
      ['statements_text: statementsText,', 'statements_text: statementsText,\n  tone,'],
    ],
  } as const;
  return copySources({ files, edits }, folders);
}
