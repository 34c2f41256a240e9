/**
 * Reads the nodes of a verifiers trace (PrimeIntellect-ai/verifiers a60a606e): messages with their parent, because a
 * trace branches when its context is compacted or a subagent starts. A rollout is one branch.
 */
import { isJsonObject } from '../json.ts';
import { type Fields, fieldOf, type TrajectoryDraft } from './draft.ts';
import type { MessagePath } from './trajectory.ts';

/** A message of the list that is read, with its place in the request. */
export type PlacedMessage = { readonly message: Fields; readonly position: number; readonly path: MessagePath };

/** Whether an entry is a node: it contains its message, and has no role itself. */
export function isNode(entry: unknown): boolean {
  return isJsonObject(entry) && isJsonObject(fieldOf(entry, 'message')) && fieldOf(entry, 'role') === undefined;
}

/**
 * Returns the messages of one branch, from its root to its leaf. Several branches without a choice are an error.
 *
 * @param leaf index of the branch's last node; `undefined` = the only leaf.
 */
export function branchOf(
  nodes: readonly unknown[],
  leaf: number | undefined,
  path: MessagePath,
  draft: TrajectoryDraft,
): PlacedMessage[] {
  const parents = nodes.map((node, position) => parentOf(node, position, [...path, position], draft));
  if (draft.problems.length > 0) return [];
  const inner = new Set(parents);
  const leaves = nodes.flatMap((_, position) => (inner.has(position) ? [] : [position]));
  const [only] = leaves;
  const last = leaf ?? only;
  if (last === undefined || last >= nodes.length || (leaf === undefined && leaves.length > 1)) {
    const found = leaves.slice(0, SHOWN_LEAVES).join(', ');
    draft.problem(path, `expected one branch, got ${leaves.length}: name a last node (${found}) in trajectory.leaf`);
    return [];
  }
  const branch: PlacedMessage[] = [];
  for (let position: number | null = last; position !== null; position = parents[position] ?? null) {
    const node = nodes[position];
    const message = isJsonObject(node) ? fieldOf(node, 'message') : undefined;
    if (!isJsonObject(node) || !isJsonObject(message)) continue;
    const sampled = fieldOf(node, 'sampled');
    branch.push({
      message: sampled === undefined ? message : { sampled, ...message },
      position,
      path: [...path, position, 'message'],
    });
  }
  return branch.reverse();
}

const SHOWN_LEAVES = 5;

/** The parent of a node, which comes before it, so that branches end; `null` for a root. */
function parentOf(node: unknown, position: number, path: MessagePath, draft: TrajectoryDraft): number | null {
  if (!isJsonObject(node) || !isNode(node)) {
    draft.expected(path, 'a node with a message, like the others', node);
    return null;
  }
  const parent = fieldOf(node, 'parent') ?? null;
  if (parent === null) return null;
  if (typeof parent === 'number' && Number.isInteger(parent) && parent >= 0 && parent < position) return parent;
  draft.problem([...path, 'parent'], 'expected null or the index of an earlier node');
  return null;
}
