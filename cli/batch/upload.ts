/** Sending the input of a batch, with its progress. The file is read as it goes, never as a whole. */
import { openAsBlob } from 'node:fs';
import type { Client } from '../../clients/typescript/client.ts';
import { MAX_WHOLE_FILE_BYTES, UPLOAD_PART_BYTES } from '../../clients/typescript/files.ts';
import type { Reply } from '../../clients/typescript/reply.ts';
import type { FileReply } from '../../src/wire/files.ts';
import { countText, durationText, LiveLine, rateText, sizeText } from '../output/progress.ts';
import type { Screen } from '../output/screen.ts';
import type { BatchFile } from './prepare.ts';

const MEGABYTE = 1_000_000;

/** `19 requests · 1 chunk · 83,412 bytes · /v1/score · in 3 parts` */
export function fileText({ requests, chunks, bytes, endpoint }: BatchFile, part_bytes: number | null): string {
  const parts = [
    `${countText(requests)} ${requests === 1 ? 'request' : 'requests'}`,
    `${countText(chunks)} ${chunks === 1 ? 'chunk' : 'chunks'}`,
    sizeText(bytes),
    endpoint,
  ];
  if (bytes > (part_bytes ?? MAX_WHOLE_FILE_BYTES)) {
    parts.push(`in ${Math.ceil(bytes / (part_bytes ?? UPLOAD_PART_BYTES))} parts`);
  }
  return parts.join(' · ');
}

/** Sends the file, which is read as it goes. */
export async function uploadFile(
  client: Client,
  { path, filename }: BatchFile,
  part_bytes: number | null,
  screen: Screen,
): Promise<Reply<FileReply>> {
  const line = new LiveLine(process.stderr, 0);
  screen.show(line);
  const content = await openAsBlob(path);
  try {
    return await client.files.upload(
      { content, filename },
      {
        ...(part_bytes === null ? {} : { whole_bytes: part_bytes, part_bytes }),
        onProgress: ({ sent_bytes, total_bytes }) => {
          line.update(() => sentText(sent_bytes, total_bytes, line.seconds));
        },
      },
    );
  } finally {
    line.clear();
  }
}

/** `sending  128 MB of 400 MB  32%  12 MB/s  about 22.7 s left` */
export function sentText(sent: number, total: number, seconds: number): string {
  const parts = [`sending  ${sizeText(sent)} of ${sizeText(total)}  ${Math.floor((100 * sent) / total)}%`];
  if (sent > 0 && sent < total) {
    parts.push(
      `${rateText(sent / MEGABYTE / seconds)} MB/s`,
      `about ${durationText((seconds * (total - sent)) / sent)} left`,
    );
  }
  return parts.join('  ');
}
