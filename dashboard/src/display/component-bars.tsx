/** The parts of a reward as bars: value, weight and what each contributes. */
import type { Component } from '../../../src/family/score.ts';
import { UNSCORED_WORDS } from '../words/unscored.ts';
import { numberText } from './number-text.ts';

export function ComponentBars({ components }: { components: Readonly<Record<string, Component>> }) {
  const parts = Object.entries(components);
  // Values lie in [0, 1], but for outcomes and penalties, which may be below.
  const least = Math.min(0, ...parts.map(([, { value }]) => value ?? 0));
  const most = Math.max(1, ...parts.map(([, { value }]) => value ?? 0));
  const at = (value: number): number => ((value - least) / (most - least)) * 100;
  return (
    <table class="bars">
      <thead>
        <tr>
          <th scope="col">Component</th>
          <th scope="col" class="number">
            Value
          </th>
          <th scope="col" class="number">
            Weight
          </th>
          <th scope="col" class="number">
            Contributes
          </th>
        </tr>
      </thead>
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
              <td class="number muted" title={part.status === 'unscored' ? UNSCORED_WORDS[part.reason] : ''}>
                {part.status === 'unscored' ? 'not scored' : 'n/a'}
              </td>
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
