/** The settings corner: the API key of this tab and the theme. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { apiKey, keepApiKey } from './api-key.ts';
import { chooseTheme, THEMES, theme } from './theme.ts';
import { useWatched, watchedValue } from './watched-value.ts';

const isOpen = watchedValue(false);

export function openSettings(): void {
  isOpen.set(true);
}

export function SettingsDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = useWatched(isOpen);
  const kept = useWatched(apiKey);
  const chosen = useWatched(theme);
  const [typed, setTyped] = useState(kept);

  useEffect(() => {
    if (!open) return;
    setTyped(apiKey.get());
    dialog.current?.showModal();
  }, [open]);

  const close = (): void => dialog.current?.close();
  return (
    <dialog ref={dialog} class="settings" aria-labelledby="settings-title" onClose={() => isOpen.set(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          keepApiKey(typed.trim());
          close();
        }}
      >
        <h2 id="settings-title">Settings</h2>
        <label class="field">
          <span>API key</span>
          <input
            type="password"
            name="api-key"
            autocomplete="off"
            spellcheck={false}
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
          <small>
            Kept in this tab only and forgotten when it closes. It is sent as a header to this server, never in a URL. A
            local <code>npm run dev</code> needs none.
          </small>
        </label>
        <fieldset class="choice">
          <legend>Theme</legend>
          {THEMES.map((name) => (
            <label key={name}>
              <input type="radio" name="theme" checked={chosen === name} onChange={() => chooseTheme(name)} />
              {name === 'system' ? 'As the system' : name === 'light' ? 'Light' : 'Dark'}
            </label>
          ))}
        </fieldset>
        <div class="actions">
          {kept !== '' && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                keepApiKey('');
                close();
              }}
            >
              Forget the key
            </button>
          )}
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary">
            Keep
          </button>
        </div>
      </form>
    </dialog>
  );
}
