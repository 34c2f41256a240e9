/** Copies a text, and says whether it worked. */
import { useState } from 'preact/hooks';

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [said, setSaid] = useState<string | null>(null);
  const copy = async (): Promise<void> => {
    const copied = await navigator.clipboard.writeText(text).then(
      () => true,
      // Refused by the browser or by its user: the text can still be selected.
      () => false,
    );
    setSaid(copied ? 'Copied' : 'Select it and copy by hand');
    setTimeout(() => setSaid(null), 2_000);
  };
  return (
    <button type="button" class="quiet" onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </button>
  );
}
