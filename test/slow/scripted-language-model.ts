/**
 * Answers the calls of scripts/red-team/language_model.py without PyTorch: an answer depends on its seed, its step, and
 * how often the model has learned, so a run that continues with other weights is seen. Every fourth answer is cut.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import * as z from 'zod';

const callSchema = z.discriminatedUnion('call', [
  z.strictObject({ call: z.literal('open'), model: z.string(), answer_tokens: z.int() }),
  z.strictObject({
    call: z.literal('imitate'),
    prompts: z.array(z.string()),
    targets: z.array(z.string()),
    learning_rate: z.number(),
  }),
  z.strictObject({
    call: z.literal('sample'),
    prompts: z.array(z.string()),
    samples: z.int(),
    seed: z.int(),
    step: z.int(),
  }),
  z.strictObject({
    call: z.literal('learn'),
    advantages: z.array(z.array(z.number())),
    learning_rate: z.number(),
  }),
  z.strictObject({ call: z.literal('save'), file: z.string() }),
  z.strictObject({ call: z.literal('load'), file: z.string(), optimizer: z.boolean() }),
]);

type Call = z.infer<typeof callSchema>;

const UPDATE = { loss: 1, norm: 1, skipped: false };
let updates = 0;

function answered(call: Call): object {
  switch (call.call) {
    case 'open':
      if (call.model === 'unknown-model') throw new Error('unknown-model is no model');
      return { parameters: 1 };
    case 'imitate':
    case 'learn':
      updates++;
      return UPDATE;
    case 'save':
      writeFileSync(call.file, String(updates));
      return {};
    case 'load':
      updates = Number(readFileSync(call.file, 'utf8'));
      return {};
    case 'sample': {
      const words = `Seed ${call.seed}, step ${call.step}, after ${updates} updates`;
      const answer = (n: number) =>
        n % 4 === 3 ? { text: `<answer>${words}`, cut: true } : { text: `<answer>${words}. [S1]</answer>`, cut: false };
      return { answers: call.prompts.map(() => Array.from({ length: call.samples }, (_, n) => answer(n))) };
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const log = process.env['CALLS'];
  if (log !== undefined) appendFileSync(log, `${line}\n`);
  console.log(JSON.stringify(answered(callSchema.parse(JSON.parse(line)))));
}
