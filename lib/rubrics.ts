/**
 * Rubrics that evolve during a run: the ids of criteria and sets, the log of a prompt, the fold over it under the rules of
 * dr-tulu, open-instruct or your own, and the rows of both trainers. Only `makeRubrics` asks a model and stores what it
 * wrote; the rest is pure.
 *
 * @example
 * const row = readTrainingRow(groundTruth);
 * if (!row.ok) throw new Error(JSON.stringify(row.error));
 * const rules = EVOLUTION_PRESETS['open-instruct'];
 * let log: EvolutionEvent[] = [{ event: 'started', question: questionDigest(row.value.question), own: [] }];
 * const statistics = setOf(foldLog(log, rules)).map(({ id }) => statisticsOf(id, [0, 0.5, null]));
 * const set = setId(setOf(foldLog(log, rules)));
 * log = [...log, ...observe(log, { event: 'scored', step: 1, group: 'g', set, statistics }, rules, set).events];
 */
export type { JudgeFailure } from '../src/judgments/protocol/failure.ts';
export {
  checkLog,
  foldLog,
  observe,
  type PromptRubrics,
  type Refolded,
  refold,
  setOf,
  statisticsOf,
} from '../src/rubrics/evolution.ts';
export {
  type CriterionStatistics,
  type EvolutionEvent,
  evolutionEventSchema,
  type WeightedCriterion,
} from '../src/rubrics/evolution-log.ts';
export {
  EVOLUTION_PRESETS,
  type EvolutionPreset,
  type EvolutionRules,
  evolutionRulesSchema,
} from '../src/rubrics/evolution-rules.ts';
export {
  criterionId,
  type PromptCriterion,
  questionDigest,
  type RubricSet,
  type SetEntry,
  setId,
} from '../src/rubrics/rubric-set.ts';
export {
  type EvolvingLabel,
  type RowCriterion,
  readTrainingRow,
  type TrainingRow,
  writeRowWithSet,
  writeTrainingRow,
} from '../src/rubrics/training-row.ts';
export type { MakeRubricsReply } from '../src/wire/make-rubrics.ts';
export { type MakeRubricsOptions, makeRubrics, type RubricsInput } from './make-rubrics.ts';
