/**
 * Generates a language model of 135,552 seeded random weights in the shape of Qwen3. Its output is noise, but tests can
 * use it with a real server for schemas, streaming, seeds and cancellation without a download. Pure noise would contain
 * broken UTF-8 and stray control tokens, which llama.cpp answers with 500; so the first three dimensions steer the
 * output, and no layer changes them.
 *
 * `node scripts/llm/tiny-model.ts OUT.gguf [--tools] [--seed N]` writes the file.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ggufBytes, type MetadataValue, type Tensor } from './gguf.ts';
import {
  CHAT_TEMPLATE,
  END_OF_TEXT,
  END_OF_TURN,
  TOOL_CALL,
  TOOL_CALL_END,
  tinyVocabulary,
  type Vocabulary,
} from './tiny-vocabulary.ts';

const ARCHITECTURE = 'qwen3';
const LAYERS = 2;
const WIDTH = 64;
const HEADS = 4;
const KV_HEADS = 2;
const HEAD_WIDTH = WIDTH / HEADS;
const FEED_FORWARD = 3 * WIDTH;

/** Enough for judge prompts with a few sources, at one token per byte. */
export const TINY_CONTEXT_TOKENS = 32_768;

export type TinyModelOptions = {
  readonly seed: number;
  /** `tools` tends to open tool calls, for the server's tool-call grammar; `text` never does. */
  readonly kind: 'text' | 'tools';
};

/** Returns the model file; the same options give the same bytes. */
export function tinyModel({ seed, kind }: TinyModelOptions): Buffer {
  const vocabulary = tinyVocabulary();
  return ggufBytes(metadata(vocabulary), tensors(vocabulary, kind, gaussian(seed)));
}

function metadata(vocabulary: Vocabulary): ReadonlyMap<string, MetadataValue> {
  const uint = (value: number): MetadataValue => ({ type: 'uint32', value });
  const float = (value: number): MetadataValue => ({ type: 'float32', value });
  const text = (value: string): MetadataValue => ({ type: 'string', value });
  return new Map<string, MetadataValue>([
    ['general.architecture', text(ARCHITECTURE)],
    ['general.name', text('citeward-tiny-random')],
    ['general.file_type', uint(0)],
    [`${ARCHITECTURE}.context_length`, uint(TINY_CONTEXT_TOKENS)],
    [`${ARCHITECTURE}.embedding_length`, uint(WIDTH)],
    [`${ARCHITECTURE}.block_count`, uint(LAYERS)],
    [`${ARCHITECTURE}.feed_forward_length`, uint(FEED_FORWARD)],
    [`${ARCHITECTURE}.attention.head_count`, uint(HEADS)],
    [`${ARCHITECTURE}.attention.head_count_kv`, uint(KV_HEADS)],
    [`${ARCHITECTURE}.attention.key_length`, uint(HEAD_WIDTH)],
    [`${ARCHITECTURE}.attention.value_length`, uint(HEAD_WIDTH)],
    [`${ARCHITECTURE}.attention.layer_norm_rms_epsilon`, float(1e-6)],
    [`${ARCHITECTURE}.rope.freq_base`, float(1e6)],
    [`${ARCHITECTURE}.rope.dimension_count`, uint(HEAD_WIDTH)],
    [`${ARCHITECTURE}.vocab_size`, uint(vocabulary.tokens.length)],
    ['tokenizer.ggml.model', text('gpt2')],
    ['tokenizer.ggml.pre', text('qwen2')],
    ['tokenizer.ggml.tokens', { type: 'strings', value: vocabulary.tokens }],
    ['tokenizer.ggml.token_type', { type: 'int32s', value: vocabulary.types }],
    ['tokenizer.ggml.merges', { type: 'strings', value: [] }],
    ['tokenizer.ggml.eos_token_id', uint(vocabulary.idOf(END_OF_TURN))],
    ['tokenizer.ggml.padding_token_id', uint(vocabulary.idOf(END_OF_TEXT))],
    ['tokenizer.ggml.bos_token_id', uint(vocabulary.idOf(END_OF_TEXT))],
    ['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }],
    ['tokenizer.chat_template', text(CHAT_TEMPLATE)],
  ]);
}

type Random = () => number;

/** Indices of the steering dimensions: a constant, "a tool call was just opened", "a tool call was just closed". */
const CONSTANT = 0;
const OPENED = 1;
const CLOSED = 2;
const STEERING = 3;
const CONSTANT_LEVEL = 6;
const SIGNAL = 20;
const SURE = 30;
const NEVER = -10;

function tensors(vocabulary: Vocabulary, kind: TinyModelOptions['kind'], random: Random): Tensor[] {
  const size = vocabulary.tokens.length;
  const layers = Array.from({ length: LAYERS }, (_unused, layer) => layerTensors(`blk.${layer}.`, random));
  return [
    matrix('token_embd.weight', size, WIDTH, (token, column) => embedding(vocabulary, token, column) ?? random()),
    ones('output_norm.weight', WIDTH),
    matrix(
      'output.weight',
      size,
      WIDTH,
      (token, column) => output(vocabulary, kind, token, column) ?? random() / Math.sqrt(WIDTH),
    ),
    ...layers.flat(),
  ];
}

function layerTensors(prefix: string, random: Random): Tensor[] {
  const projection = (name: string, rows: number, columns: number): Tensor =>
    matrix(`${prefix}${name}.weight`, rows, columns, () => random() / Math.sqrt(columns));
  /** A matrix that writes back into the residual stream, but never into the steering dimensions. */
  const backProjection = (name: string, columns: number): Tensor =>
    matrix(`${prefix}${name}.weight`, WIDTH, columns, (row) => (row < STEERING ? 0 : random() / Math.sqrt(columns)));
  return [
    ones(`${prefix}attn_norm.weight`, WIDTH),
    projection('attn_q', HEADS * HEAD_WIDTH, WIDTH),
    projection('attn_k', KV_HEADS * HEAD_WIDTH, WIDTH),
    projection('attn_v', KV_HEADS * HEAD_WIDTH, WIDTH),
    backProjection('attn_output', HEADS * HEAD_WIDTH),
    ones(`${prefix}attn_q_norm.weight`, HEAD_WIDTH),
    ones(`${prefix}attn_k_norm.weight`, HEAD_WIDTH),
    ones(`${prefix}ffn_norm.weight`, WIDTH),
    projection('ffn_gate', FEED_FORWARD, WIDTH),
    projection('ffn_up', FEED_FORWARD, WIDTH),
    backProjection('ffn_down', FEED_FORWARD),
  ];
}

/** Returns one value of a token's embedding if the column is a steering dimension; `null` = use a random weight. */
function embedding(vocabulary: Vocabulary, token: number, column: number): number | null {
  switch (column) {
    case CONSTANT:
      return CONSTANT_LEVEL;
    case OPENED:
      return token === vocabulary.idOf(TOOL_CALL) ? SIGNAL : 0;
    case CLOSED:
      return token === vocabulary.idOf(TOOL_CALL_END) ? SIGNAL : 0;
    default:
      return null;
  }
}

/**
 * Returns how much one steering dimension (`column`) raises the score of `token` as the next token; `null` = the column
 * is no steering dimension, use a random weight. The constant keeps the text printable. An opened tool call is followed
 * by a line feed, a closed one by the end of the turn.
 */
function output(vocabulary: Vocabulary, kind: TinyModelOptions['kind'], token: number, column: number): number | null {
  switch (column) {
    case CONSTANT:
      return (kind === 'tools' ? toolLiking(vocabulary, token) : null) ?? printableOnly(vocabulary, token);
    case OPENED:
      return token === '\n'.charCodeAt(0) ? SURE : 0;
    case CLOSED:
      return token === vocabulary.idOf(END_OF_TURN) ? SURE : 0;
    default:
      return null;
  }
}

/**
 * The score of the quotation mark. It makes strings end after about ten characters instead of a hundred: a token is a
 * byte here, while the reply limits of judge prompts assume the tokens of a real tokenizer.
 */
const QUOTE_LIKING = 0.8;

function printableOnly(vocabulary: Vocabulary, token: number): number {
  if (token === '"'.charCodeAt(0)) return QUOTE_LIKING;
  const printable = token >= 0x20 && token <= 0x7e;
  return printable || token === vocabulary.idOf(END_OF_TURN) ? 0 : NEVER;
}

/**
 * Returns the constant part of a token's score in the `tools` model; `null` = as in the `text` model. llama.cpp's
 * grammar for a required tool call allows any text before the literal `<tool_call>`, so the model must be likely to
 * emit that token, and unlikely to spell the tag character by character.
 */
function toolLiking(vocabulary: Vocabulary, token: number): number | null {
  if (token === vocabulary.idOf(TOOL_CALL)) return 0.6;
  if (token === vocabulary.idOf(TOOL_CALL_END)) return -3;
  return token === '<'.charCodeAt(0) ? -5 : null;
}

function matrix(name: string, rows: number, columns: number, value: (row: number, column: number) => number): Tensor {
  const values = Float32Array.from({ length: rows * columns }, (_unused, index) =>
    value(Math.floor(index / columns), index % columns),
  );
  return { name, shape: [columns, rows], values };
}

function ones(name: string, length: number): Tensor {
  return { name, shape: [length], values: new Float32Array(length).fill(1) };
}

/** Normal deviates (Box-Muller) from a 32-bit generator (mulberry32); deterministic on V8. */
function gaussian(seed: number): Random {
  let state = seed >>> 0;
  const uniform = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(uniform() + Number.EPSILON)) * Math.cos(2 * Math.PI * uniform());
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { tools: { type: 'boolean', default: false }, seed: { type: 'string', default: '1' } },
  });
  const [out] = positionals;
  const seed = Number(values.seed);
  if (out === undefined || !Number.isSafeInteger(seed)) {
    console.error('usage: node scripts/llm/tiny-model.ts OUT.gguf [--tools] [--seed N]');
    process.exitCode = 2;
  } else {
    const bytes = tinyModel({ seed, kind: values.tools ? 'tools' : 'text' });
    writeFileSync(out, bytes);
    console.log(`${out}: ${bytes.length} bytes`);
  }
}
