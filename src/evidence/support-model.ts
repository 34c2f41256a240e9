import type { SupportFeatures } from './support-features.ts';
export function supportProbability(f: SupportFeatures, verbatim: boolean): number {
  return verbatim ? 0.99 : f.coverage;
}
