/**
 * Version of everything that decides how a response is cut into claims and statements: grammars, parser, splitter.
 * It joins every judgment key, so that a change of cutting can never meet a judgment of other cuts. Raise it whenever
 * the same text may come out in other pieces.
 */
export const PARSER_VERSION = 'citeward-parser-1';
