/** The figures that follow the slider, each beside its recorded value. */
import { columnText, countText, percentText } from '../display/number-text.ts';
import type { LiveFigures, RecordedFigures } from './live-pass.ts';
import type { ReplayedRun } from './load-run.ts';

type LiveFiguresProps = {
  run: ReplayedRun;
  recorded: RecordedFigures;
  live: LiveFigures;
  /** Whether the figures are of an earlier setting: a large run takes several frames. */
  isOlder: boolean;
};

export function LiveFiguresCard({ run, recorded, live, isOlder }: LiveFiguresProps) {
  const groups = run.groups.length;
  const share = (count: number, of: number): string => (of === 0 ? 'n/a' : percentText(count / of));
  return (
    <dl class={`figures${isOlder ? ' is-older' : ''}`} aria-live="off" aria-busy={isOlder}>
      <Figure name="mean reward" text={figureText(live.mean)} beside={`recorded ${figureText(recorded.mean)}`} />
      <Figure
        name="advantages that changed sign"
        text={share(live.flipped, live.compared)}
        beside={`${countText(live.flipped)} of ${countText(live.compared)}`}
      />
      <Figure name="standard deviation" text={figureText(live.std)} beside={`recorded ${figureText(recorded.std)}`} />
      <Figure
        name="degenerate groups"
        text={share(live.degenerate, groups)}
        beside={`recorded ${share(recorded.degenerate, groups)}`}
      />
      <Figure
        name="not scored"
        text={countText(run.rollouts - live.scored)}
        beside={`recorded ${countText(run.rollouts - recorded.scored)}`}
      />
    </dl>
  );
}

function Figure({ name, text, beside }: { name: string; text: string; beside: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {text}
        <small>{beside}</small>
      </dd>
    </div>
  );
}

function figureText(value: number | null): string {
  return value === null ? 'n/a' : columnText(value, 3);
}
