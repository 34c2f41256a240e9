/** Downloads a file. */
export function saveBlob(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // Not at once: a busy browser begins to read the address after the click has returned, and would save nothing.
  setTimeout(() => URL.revokeObjectURL(url), READ_WITHIN_MS);
}

const READ_WITHIN_MS = 60_000;
