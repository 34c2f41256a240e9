/**
 * Reproductions of public reward code, number for number, with its defects: for comparing runs and for tests of other
 * implementations. Each file names the repository and commit. The recipe families use corrected forms.
 */

/** THUDM/CaRR: the reward server from recorded judge replies, its evidence text, and the group step of the trainer. */
export { evidenceText as carrEvidence } from '../src/families/carr/exact/evidence.ts';
export { carrGroupRewards } from '../src/families/carr/exact/group.ts';
export { seenPages as carrPages } from '../src/families/carr/exact/pages.ts';
export { carrEvaluate } from '../src/families/carr/exact/rewards.ts';
/** rlresearch/dr-tulu: the final reward from recorded judge replies. */
export { exactReward, formatReward, planExact, recordedAnswers } from '../src/families/dr-tulu/exact/final-reward.ts';
export { rubricKey, rubricScore } from '../src/families/dr-tulu/exact/rubric-score.ts';
/** THU-KEG/LongTraceRL: the share of gold entities. */
export { entityShare } from '../src/families/long-trace/entity-share.ts';
/** Gen-Verse/Open-AgentRL: the reward of a math answer with turns and length. */
export { computeScore, computeScoreOutcomeReward } from '../src/families/tool-call/exact.ts';
