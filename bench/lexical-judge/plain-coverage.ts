/**
 * A plain baseline, independent of src/: the idf-weighted share of the claim's words in the best window of three
 * evidence sentences. Words are runs of letters and digits with a crude suffix stemmer; idf is log((N + 1) / (df + 1))
 * + 1 over the evidence's own sentences.
 */
const STOP = new Set(
  'a an the of to in on at by for with from and or but is are was were be been being as that this these those it its he she they them his her their we our you your i not no do does did has have had will would can could may might should which who whom what when where how than then there here also into about over after before'.split(
    ' ',
  ),
);

export function plainCoverage(claim: string, evidence: string): number {
  const sentences = evidence.split(/(?<=[.!?])\s+|\n+/).map((sentence) => new Set(words(sentence)));
  const terms = new Set(words(claim).filter((word) => !STOP.has(word)));
  if (terms.size === 0) return 0;
  const weights = new Map<string, number>();
  let total = 0;
  for (const term of terms) {
    let df = 0;
    for (const sentence of sentences) if (sentence.has(term)) df++;
    const weight = Math.log((sentences.length + 1) / (df + 1)) + 1;
    weights.set(term, weight);
    total += weight;
  }
  let best = 0;
  for (let s = 0; s < sentences.length; s++) {
    let sum = 0;
    for (const [term, weight] of weights)
      if (sentences.slice(s, s + 3).some((sentence) => sentence.has(term))) sum += weight;
    best = Math.max(best, sum);
  }
  return best / total;
}

function words(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).map(stem);
}

function stem(word: string): string {
  for (const suffix of ['ingly', 'edly', 'ing', 'ed', 'ies', 'es', 's', 'ly']) {
    if (word.endsWith(suffix) && word.length - suffix.length >= 3) return word.slice(0, -suffix.length);
  }
  return word;
}
