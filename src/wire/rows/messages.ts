/** The texts of chat messages, as the data sets and logs of trainers hold them. */
import { textIn } from '../../citations/formats/json.ts';
import { isJsonObject } from '../../json.ts';
import { cellValue } from './cell-values.ts';

/** The text of a chat message: a text, or parts of which some are texts; `null` if it has neither. */
export function contentOf(message: unknown): string | null {
  if (!isJsonObject(message)) return null;
  const { content } = message;
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  return content.map((part: unknown) => (isJsonObject(part) ? (textIn(part['text']) ?? '') : '')).join('');
}

/**
 * The text of the last message of a role, or of one that names no role. The messages may be the text of a list, as JSON
 * or as Python prints it. `null` if there is none.
 */
export function lastOf(role: 'user' | 'assistant', value: unknown): string | null {
  const messages = messagesOf(value);
  if (!Array.isArray(messages)) return null;
  return contentOf(
    messages.findLast((message: unknown) => isJsonObject(message) && (message['role'] ?? role) === role),
  );
}

/** The messages of a cell that holds their list as text; any other value stays as it is. */
export function messagesOf(value: unknown): unknown {
  const read = typeof value === 'string' ? cellValue(value) : value;
  return Array.isArray(read) && read.every(isJsonObject) ? read : value;
}
