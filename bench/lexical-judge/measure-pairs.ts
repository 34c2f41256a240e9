import { gatherEvidence } from '../../src/lexical/gather-evidence.ts';
import { indexSources } from '../../src/lexical/source-index.ts';
import { supportVerdict } from '../../src/lexical/support-model.ts';
import { type MinimalPair, minimalPairs } from './minimal-pairs.ts';
import { triedPairs } from './tried-pairs.ts';

/** Prints, by kind and language, how many edited claims pass as full and how many true ones do not. */
export function measurePairs(): void {
  printPairs('pairs that the rules were made after', minimalPairs());
  printPairs('pairs that the rules were tried on', triedPairs());
}

function printPairs(title: string, all: readonly MinimalPair[]): void {
  console.log(`\n${title}\n\n| edit | language | pairs | false as full | true not full |`);
  console.log('|---|---|---:|---:|---:|');
  for (const [name, pairs] of Map.groupBy(all, ({ kind, language }) => `| ${kind} | ${language} `)) {
    const { passed, missed } = countPassed(pairs);
    const percent = (count: number): string => `${((100 * count) / pairs.length).toFixed(0)} %`;
    console.log(`${name}| ${pairs.length} | ${percent(passed)} | ${percent(missed)} |`);
  }
}

/** Counts the false claims that pass as full, and the true ones that do not. */
export function countPassed(pairs: readonly MinimalPair[]): { readonly passed: number; readonly missed: number } {
  const isFull = (claim: string, source: string): boolean =>
    supportVerdict(gatherEvidence(indexSources([{ text: source }]), claim, [0]).support) === 'full';
  return {
    passed: pairs.filter((pair) => isFull(pair.false, pair.source)).length,
    missed: pairs.filter((pair) => !isFull(pair.true, pair.source)).length,
  };
}
