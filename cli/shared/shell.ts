/** What a command uses of the process that runs it: streams and variables. `process` is one; a test passes its own. */
export type Shell = {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
};

/** A stream that a command writes to; `isTTY` and `columns` as a terminal has them. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** Writes a line to an output, whether or not its reader keeps up. */
export function writeLine(output: Output, line: string): void {
  output.write(`${line}\n`);
}
