/** The script of the demo: what the policy answers at each step, and what the generator proposes after it saw that. */

type Written = { readonly title: string; readonly description: string };

export type DemoStep = {
  /** The ids of example answers (examples/baikal.jsonl), one for each sample. */
  readonly answers: readonly string[];
  readonly proposes: { readonly positive: readonly Written[]; readonly negative: readonly Written[] };
};

/** The policy gets better; the proposals ask for what its answers differ in. */
export const STEPS: readonly DemoStep[] = [
  {
    answers: ['baikal-off-topic', 'baikal-wrong-lake', 'baikal-wrong-numbers', 'baikal-good'],
    proposes: {
      positive: [
        { title: 'Deepest', description: 'States that Baikal is the deepest lake on Earth' },
        { title: 'UNESCO', description: 'Says that UNESCO listed the lake' },
      ],
      negative: [],
    },
  },
  {
    answers: ['baikal-wrong-lake', 'baikal-wrong-numbers', 'baikal-good', 'baikal-uncited'],
    proposes: {
      positive: [{ title: 'Volume', description: 'Gives the volume as 23,600 cubic kilometres' }],
      negative: [
        { title: 'Wrong depth', description: 'Gives the depth as 1,462 metres' },
        { title: 'Long', description: 'Has more than 200 words' },
      ],
    },
  },
  {
    answers: ['baikal-wrong-numbers', 'baikal-good', 'baikal-copied', 'baikal-wrong-source'],
    proposes: {
      positive: [
        { title: 'Floor', description: 'Says that the floor lies more than a kilometre below the level of the sea' },
      ],
      negative: [],
    },
  },
];
