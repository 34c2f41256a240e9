/** The changed recipe to take along: as a file, as text, and as the command that replays the run on the server. */
import { CopyButton } from '../display/copy-button.tsx';
import { saveBlob } from '../display/save-blob.ts';
import { type ChangedRecipes, type Changes, replayCommand } from './changed-recipe.ts';
import type { ReplayedRun } from './load-run.ts';

type RecipeExportProps = { run: ReplayedRun; changes: Changes; changed: ChangedRecipes };

export function RecipeExport({ run, changes, changed }: RecipeExportProps) {
  const recipe = changed.ok ? [...changed.recipes.values()][0] : undefined;
  if (recipe === undefined) return null;
  const text = JSON.stringify(recipe, null, 2);
  const command = replayCommand(location.origin, run, changes);
  return (
    <section class="card" aria-label="Take it along">
      <header class="card-head">
        <h2>Take it along</h2>
        <button type="button" onClick={() => save(`${run.id}-recipe.json`, `${text}\n`)}>
          Save the recipe
        </button>
      </header>
      <div class="export">
        {changes.size > 0 && (
          <div class="export-part">
            <p class="muted">The same by the command line:</p>
            <textarea class="code" readOnly rows={changes.size + 1} aria-label="The command" value={command} />
            <CopyButton text={command} label="Copy the command" />
          </div>
        )}
        <details class="export-part">
          <summary>The recipe as JSON, as a request names it</summary>
          <textarea class="code" readOnly rows={14} aria-label="The recipe as JSON" value={text} />
          <CopyButton text={text} label="Copy the recipe" />
        </details>
      </div>
    </section>
  );
}

function save(name: string, text: string): void {
  saveBlob(name, new Blob([text], { type: 'application/json' }));
}
