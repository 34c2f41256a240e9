/**
 * Which supported criteria a chain of supported criteria connects to the answer. Source: THUDM/CaRR c97e7e89,
 * `deepsearch_rm_with_rubrics/launch_server.py`, `get_rubric_reward`.
 */
import { ANSWER_LABEL } from '../../../judgments/kinds/entities/labels.ts';

/**
 * A label is reached if it is that of the answer, or if a supported criterion names it beside a reached one. A supported
 * criterion that names a reached label is connected. Linear in the labels of all criteria.
 *
 * @param labels The labels of each criterion.
 */
export function connectedCriteria(labels: readonly (readonly string[])[], supported: readonly boolean[]): boolean[] {
  const naming = new Map<string, number[]>();
  for (const [criterion, own] of labels.entries()) {
    if (supported[criterion] !== true) continue;
    for (const label of own) {
      const known = naming.get(label);
      if (known === undefined) naming.set(label, [criterion]);
      else known.push(criterion);
    }
  }
  const connected = labels.map(() => false);
  const open = [ANSWER_LABEL];
  for (let label = open.pop(); label !== undefined; label = open.pop()) {
    for (const criterion of naming.get(label) ?? []) {
      if (connected[criterion] === true) continue;
      connected[criterion] = true;
      open.push(...(labels[criterion] ?? []));
    }
    naming.delete(label);
  }
  return connected;
}
