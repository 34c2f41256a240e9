/** Saves a file of the API: with the key in a header, which a plain link could not send. */
import { useState } from 'preact/hooks';
import { openApi } from '../api/call.ts';
import { saveBlob } from '../display/save-blob.ts';
import { contentPath } from './failed-lines.ts';

export function SaveFile({ id, label }: { id: string; label: string }) {
  const [said, setSaid] = useState('');
  const save = async (): Promise<void> => {
    setSaid('Loading…');
    const reply = await openApi(contentPath(id));
    if (!reply.ok) return setSaid('Could not be had');
    saveBlob(`${id}.jsonl`, await new Response(reply.value).blob());
    setSaid('');
  };
  return (
    <button type="button" onClick={save} disabled={said === 'Loading…'}>
      <span aria-live="polite">{said === '' ? label : said}</span>
    </button>
  );
}
