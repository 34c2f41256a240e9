/** Exports the changed recipe as a file, as JSON text, and as the CLI command that replays the run with it. */
import { CopyButton } from '../display/copy-button.tsx';
import { saveBlob } from '../display/save-blob.ts';
import { type ReplaySettings, replayCommand, USUAL_PRESET } from '../recipe/replay-link.ts';
import type { ReplayRequest } from './live-pass.ts';
import type { ReplayedRun } from './load-run.ts';

type RecipeExportProps = { run: ReplayedRun; settings: ReplaySettings; recipes: ReplayRequest['after'] };

export function RecipeExport({ run, settings, recipes }: RecipeExportProps) {
  const { changes, preset } = settings;
  const [recipe] = recipes.values();
  if (recipe === undefined) return null;
  const text = JSON.stringify(recipe, null, 2);
  const command = replayCommand(location.origin, run, settings);
  return (
    <section class="card" aria-label="Export">
      <header class="card-head">
        <h2>Export</h2>
        <button type="button" onClick={() => save(`${run.id}-recipe.json`, `${text}\n`)}>
          Save recipe
        </button>
      </header>
      <div class="export">
        {(changes.size > 0 || preset !== USUAL_PRESET) && (
          <div class="export-part">
            <p class="muted">Replay with these settings on the command line:</p>
            <textarea
              class="code"
              readOnly
              rows={changes.size + (preset === USUAL_PRESET ? 1 : 2)}
              aria-label="Command"
              value={command}
            />
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
