/** Copies a text to the clipboard and reports whether that worked. */
import { useState } from 'preact/hooks';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [result, setResult] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      // The browser or the user denied clipboard access.
      () => false,
    );
    setResult(copied ? 'Copied' : 'Copy failed: select the text');
    setTimeout(() => setResult(null), 2_000);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      <span aria-live="polite">{result ?? label}</span>
    </button>
  );
}
