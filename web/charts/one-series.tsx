/** A selectable series of a result over time. The URL contains the selection. */
import { useMemo } from 'preact/hooks';
import type { Result } from '../../queries/result.ts';
import { change, inAddress } from '../frame/address.ts';
import { shownText } from '../frame/shown-text.tsx';
import { Lines } from './lines.tsx';
import { linesOf } from './values.ts';

export const OneSeries = <Name extends string>({
  titles,
  defaultName,
  answer,
}: {
  /** Titles by series name */
  readonly titles: Readonly<Record<Name, string>>;
  /** Selection if the URL has none */
  readonly defaultName: Name;
  readonly answer: Pick<Result, 'series' | 'partial' | 'stepMs'> | undefined;
}) => {
  const isKnown = (name: string): name is Name => name in titles;
  const written = inAddress('counter');
  const counter = isKnown(written) ? written : defaultName;
  const found = answer?.series.find(({ name }) => name === counter);
  const { steps, lines } = useMemo(() => linesOf({ series: found === undefined ? [] : [found] }), [found]);
  return (
    <section aria-label="Over time">
      <label>
        Over time{' '}
        <select value={counter} onChange={({ currentTarget }) => change({ counter: currentTarget.value })}>
          {Object.entries<string>(titles).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {answer !== undefined && found === undefined ? (
        <p class="soft">
          No data: {shownText(answer.partial.map(({ message }) => message).join('; ') || 'no values')}.
        </p>
      ) : null}
      <Lines
        title={titles[counter]}
        unit={found?.unit ?? ''}
        steps={steps}
        stepMs={answer?.stepMs ?? 0}
        lines={lines}
      />
    </section>
  );
};
