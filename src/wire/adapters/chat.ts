/** Prompts as trainers send them: a text, or a list of chat messages. */
import * as z from 'zod';
import { MAX_TEXT_CHARS } from '../../limits.ts';

const textSchema = z.string().max(MAX_TEXT_CHARS);

const partSchema = z.looseObject({ text: textSchema.nullish() });

/** Only text is read; other parts and fields pass. */
const chatMessageSchema = z.looseObject({
  role: z.string().nullish(),
  content: z.union([textSchema, z.array(partSchema)]).nullish(),
});

export const promptSchema = z
  .union([textSchema, z.array(chatMessageSchema)])
  .describe('A text, or chat messages of which the last of the user is the question.');

export type Prompt = z.infer<typeof promptSchema>;

/** What the prompt asks: the text, or that of the last user message; `undefined` where there is none. */
export function questionOf(prompt: Prompt): string | undefined {
  const text = typeof prompt === 'string' ? prompt : lastUserText(prompt);
  return text === '' ? undefined : text;
}

function lastUserText(messages: Exclude<Prompt, string>): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return typeof content === 'string' ? content : content.flatMap(({ text }) => text ?? []).join('\n');
}
