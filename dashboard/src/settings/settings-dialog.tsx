/** Settings: API key and theme. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { apiKey, saveApiKey } from './api-key.ts';
import { observable, useObservable } from './observable.ts';
import { chooseTheme, THEMES, theme } from './theme.ts';

const isOpen = observable(false);

export function openSettings(): void {
  isOpen.set(true);
}

export function SettingsDialog() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = useObservable(isOpen);
  const stored = useObservable(apiKey);
  const chosen = useObservable(theme);
  const [typed, setTyped] = useState(stored);

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
          saveApiKey(typed.trim());
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
            Kept in this tab until it closes, also when the server restarts. Sent to this server as a header, never in a
            URL. A local <code>npm run dev</code> needs no key.
          </small>
        </label>
        <fieldset class="choice">
          <legend>Theme</legend>
          {THEMES.map((name) => (
            <label key={name}>
              <input type="radio" name="theme" checked={chosen === name} onChange={() => chooseTheme(name)} />
              {name === 'system' ? 'System' : name === 'light' ? 'Light' : 'Dark'}
            </label>
          ))}
        </fieldset>
        <div class="actions">
          {stored !== '' && (
            <button
              type="button"
              class="quiet"
              onClick={() => {
                saveApiKey('');
                close();
              }}
            >
              Delete key
            </button>
          )}
          <button type="button" onClick={close}>
            Close
          </button>
          <button type="submit" class="primary">
            Save
          </button>
        </div>
      </form>
    </dialog>
  );
}
