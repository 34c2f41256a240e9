/**
 * The group step of CaRR's trainer (C-GRPO), with its defects. Source: THUDM/CaRR c97e7e89,
 * `slime/slime/rollout/sglang_rollout.py`, `generate_and_rm_group`.
 */

type CarrGroupMember = {
  /** The server's reply: outcome, share of the criteria, and the plain weighted sum. */
  readonly outcome_reward: number;
  readonly rubric_reward: number;
  /** Absent: computed from the other two. */
  readonly reward?: number;
  /** The `is_supported` values of the reply, read with `nobfs`. */
  readonly is_supported?: readonly boolean[];
  /** The sample was not sent; its rewards are 0. */
  readonly ill_formed?: boolean;
  /** The rollout of the sample was aborted, so it has no reply. */
  readonly aborted?: boolean;
};

type CarrGroupOptions = {
  readonly rubric_reward_ratio: number;
  readonly normalize: boolean;
  readonly rubric_only_positive: boolean;
  readonly rubric_only_negative: boolean;
  /** Take the share of supported criteria, connected to the answer or not. Default false. */
  readonly nobfs?: boolean;
};

/**
 * The final rewards of a group in order; `null` = none. Defects kept:
 * - with `rubric_only_positive` the share is not normalised, although the published runs pass both flags;
 * - if the first member was aborted, every other member keeps the plain weighted sum; any later aborted member gets 0.
 */
export function carrGroupRewards(members: readonly CarrGroupMember[], options: CarrGroupOptions): (number | null)[] {
  const eta = options.rubric_reward_ratio;
  const plain = (outcome: number, share: number): number => (1 - eta) * outcome + eta * share;
  if (members[0]?.aborted === true) {
    return members.map((member) => {
      if (member.aborted === true) return null;
      if (member.ill_formed === true) return 0;
      return member.reward ?? plain(member.outcome_reward, member.rubric_reward);
    });
  }
  const parts = members.map((member) => {
    if (member.aborted === true || member.ill_formed === true) return { outcome: 0, share: 0 };
    return {
      outcome: member.outcome_reward,
      share: options.nobfs === true ? supportedShare(member) : member.rubric_reward,
    };
  });
  const most = parts.reduce((largest, { share }) => Math.max(largest, share), 0);
  return parts.map(({ outcome, share }) => {
    const normalised = options.normalize && most > 0 ? share / most : share;
    if (options.rubric_only_negative) return outcome > 0 ? outcome : eta * normalised;
    if (options.rubric_only_positive) return outcome === 0 ? outcome : plain(outcome, share);
    return plain(outcome, normalised);
  });
}

function supportedShare({ is_supported = [] }: CarrGroupMember): number {
  return is_supported.length === 0 ? 0 : is_supported.filter((one) => one).length / is_supported.length;
}
