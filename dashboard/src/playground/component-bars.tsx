/** The components of a reward: value as a bar, weight and contribution. */
import type { Component } from '../../../src/family/score.ts';
import { NumberHead } from '../display/number-head.tsx';
import { numberText } from '../display/number-text.ts';
import { UNSCORED_WORDS } from '../words/unscored.ts';

export function ComponentBars({ components }: { components: Readonly<Record<string, Component>> }) {
  const parts = Object.entries(components);
  // Values are in [0, 1], except outcomes and penalties, which may be negative.
  const least = Math.min(0, ...parts.map(([, { value }]) => value ?? 0));
  const most = Math.max(1, ...parts.map(([, { value }]) => value ?? 0));
  const at = (value: number): number => ((value - least) / (most - least)) * 100;
  return (
    <table class="bars">
      <NumberHead of="Component" columns={['Value', 'Weight', 'Contribution']} />
      <tbody>
        {parts.map(([name, part]) => (
          <tr key={name} class={part.weight === 0 ? 'is-weightless' : ''}>
            <th scope="row">
              {name.replaceAll('_', ' ')}
              <span class="bar" aria-hidden="true">
                {part.value !== null && (
                  <span
                    class={part.value < 0 ? 'is-negative' : ''}
                    style={{
                      left: `${at(Math.min(0, part.value))}%`,
                      width: `${at(Math.max(0, part.value)) - at(Math.min(0, part.value))}%`,
                    }}
                  />
                )}
              </span>
            </th>
            {part.value === null ? (
              <td class="muted">{part.status === 'unscored' ? UNSCORED_WORDS[part.reason] : 'n/a'}</td>
            ) : (
              <td class="number">{numberText(part.value)}</td>
            )}
            <td class="number muted">{numberText(part.weight)}</td>
            <td class="number">{part.contribution === null ? '–' : numberText(part.contribution)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
