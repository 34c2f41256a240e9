/** Plans the judgments of a panel: every member judges the whole rollout, by a plan of its own. */
import type { InputProblem } from '../input-problem.ts';
import type { JudgmentOutcome } from '../judgments/judgment.ts';
import { type JudgmentRequest, kindOf } from '../judgments/kinds/registry.ts';
import type { WantedJudgment } from '../judgments/obtain.ts';
import { memberName } from '../judgments/panel.ts';
import type { PanelMember } from './facts.ts';
import type { BaseRecipe, FamilyTypes, Measured, Panel, ScoringFamily } from './family.ts';
import { done, type Stage } from './stages.ts';
import { type Known, mapKnown } from './votes.ts';
import { votedFacts } from './with-votes.ts';

/** Problems of a request whose recipe or options do not fit its judges. */
export function panelProblems(
  { combine, name }: Pick<ScoringFamily, 'combine' | 'name'>,
  { voters }: BaseRecipe,
  { panel, explain = false }: { readonly panel?: Panel; readonly explain?: boolean },
): InputProblem[] {
  const problems: InputProblem[] = [];
  if (panel !== undefined && combine === undefined) {
    problems.push({ path: ['judges'], message: `recipes of the ${name} family take one judge` });
  }
  if (panel !== undefined && explain) {
    problems.push({ path: ['explain'], message: 'not with judges: explain takes one judge' });
  }
  const members = new Set<string>(panel?.map(memberName));
  const unknown = voters?.find((voter) => !members.has(voter));
  if (unknown !== undefined) {
    const given = panel === undefined ? 'the request has no judges' : `the members are ${[...members].join(', ')}`;
    problems.push({ path: ['recipe', 'voters'], message: `names "${unknown}", but ${given}` });
  }
  return problems;
}

/** Plans the judgments of all members, from the plan of one. */
export function planPanel<T extends FamilyTypes>(
  family: ScoringFamily<T>,
  plan: Stage<Measured<T>>,
  recipe: T['recipe'],
  panel: Panel,
): Stage<Measured<T>> {
  const { combine } = family;
  if (combine === undefined) throw new RangeError(`planPanel: the ${family.name} family takes one judge`);
  return inParallel(
    mapKnown(panel, () => plan),
    (measured) => {
      const members = panel.flatMap(({ judge, replicate }, position): PanelMember<T['facts']>[] => {
        const facts = measured[position]?.facts;
        return facts === undefined ? [] : [{ judge, replicate, facts }];
      });
      const observed = mapKnown(measured, ({ facts }) => facts);
      const facts = { ...combine(observed, 'majority', null), panel: members };
      const voted = (): T['facts'] => votedFacts(family, facts, recipe) ?? facts;
      const { claims } = measured[0];
      return {
        facts,
        reply: (score) => measured[0].reply(score, voted()),
        ...(measured[0].answer === undefined ? {} : { answer: measured[0].answer }),
        ...(claims === undefined ? {} : { claims: { ...claims, shares: (score) => claims.shares(score, voted()) } }),
      };
    },
  );
}

/**
 * Runs the members' plans side by side. Each judgment names its member. What a sandbox computes does not depend on the
 * member, and is asked once.
 */
function inParallel<A, B>(plans: Known<Stage<A>>, join: (values: Known<A>) => B): Stage<B> {
  const [first, ...others] = plans;
  if (plans.every((plan) => plan.status === 'done')) {
    if (first.status === 'ask') throw new Error('inParallel: a plan is open');
    return done(join([first.value, ...others.flatMap((plan) => (plan.status === 'done' ? [plan.value] : []))]));
  }
  const wanted: WantedJudgment[] = [];
  const computed = new Map<JudgmentRequest, number>();
  /** For each plan, the positions of its judgments in `wanted`. */
  const positions = plans.map((plan, member) =>
    plan.status === 'done'
      ? []
      : plan.wanted.map((one) => {
          const known = computed.get(one.request);
          if (known !== undefined) return known;
          const position = wanted.push({ ...one, member }) - 1;
          if (kindOf(one.request.kind).answeredBy === 'sandbox') computed.set(one.request, position);
          return position;
        }),
  );
  const next = (outcomes: readonly JudgmentOutcome[]): Stage<B> => {
    const own = (plan: Stage<A>, member: number): Stage<A> =>
      plan.status === 'done'
        ? plan
        : plan.next((positions[member] ?? []).flatMap((position) => outcomes[position] ?? []));
    return inParallel([own(first, 0), ...others.map((plan, member) => own(plan, member + 1))], join);
  };
  return { status: 'ask', wanted, next };
}
