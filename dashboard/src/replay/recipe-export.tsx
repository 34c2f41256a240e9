/** Exports the changed recipe as a file, as JSON text, and as the CLI command that replays the run with it. */
import { CopyButton } from '../display/copy-button.tsx';
import { saveBlob } from '../display/save-blob.ts';
import type { ReplayedRun } from './load-run.ts';
import { type ChangedRecipes, type Changes, replayCommand } from './recipe-changes.ts';

type RecipeExportProps = { run: ReplayedRun; changes: Changes; changed: ChangedRecipes };

export function RecipeExport({ run, changes, changed }: RecipeExportProps) {
  const recipe = changed.ok ? [...changed.recipes.values()][0] : undefined;
  if (recipe === undefined) return null;
  const text = JSON.stringify(recipe, null, 2);
  const command = replayCommand(location.origin, run, changes);
  return (
    <section class="card" aria-label="Export">
      <header class="card-head">
        <h2>Export</h2>
        <button type="button" onClick={() => save(`${run.id}-recipe.json`, `${text}\n`)}>
          Save recipe
        </button>
      </header>
      <div class="export">
        {changes.size > 0 && (
          <div class="export-part">
            <p class="muted">Replay with these changes on the command line:</p>
            <textarea class="code" readOnly rows={changes.size + 1} aria-label="Command" value={command} />
            <CopyButton text={command} label="Copy command" />
          </div>
        )}
        <details class="export-part">
          <summary>
            Recipe as JSON, for the field <code>recipe</code> of a request
          </summary>
          <textarea class="code" readOnly rows={14} aria-label="Recipe as JSON" value={text} />
          <CopyButton text={text} label="Copy recipe" />
        </details>
      </div>
    </section>
  );
}

function save(name: string, text: string): void {
  saveBlob(name, new Blob([text], { type: 'application/json' }));
}
