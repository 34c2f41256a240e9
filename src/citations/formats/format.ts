/** The interface of a format: detects a vendor's answer and reads it into a draft. */
import type { AnswerDraft } from './draft.ts';
import type { AnswerFormatName } from './names.ts';

export type AnswerFormat = {
  readonly name: AnswerFormatName;
  /** What the format accepts, for messages. */
  readonly expected: string;
  /** Whether the value looks like an answer of this vendor. Reads only the outer members. */
  detects(value: unknown): boolean;
  /** Reads the answer. Returns false if the value holds no answer of this format. */
  read(value: unknown, draft: AnswerDraft): boolean;
};
