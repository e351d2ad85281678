/** Chart of one series of a result, with a select for the series. The URL stores the selection. */
import { useMemo } from 'preact/hooks';
import type { Result } from '../../queries/result.ts';
import { readParam, setParams } from '../frame/address.ts';
import { renderText } from '../frame/display-text.tsx';
import { LineChart } from './lines.tsx';
import { toLines } from './values.ts';

export const SeriesSelectChart = <Name extends string>({
  titles,
  defaultName,
  result,
}: {
  /** Titles by series name */
  readonly titles: Readonly<Record<Name, string>>;
  /** Default if the URL has no selection */
  readonly defaultName: Name;
  readonly result: Pick<Result, 'series' | 'partial' | 'partialSteps' | 'stepMs'> | undefined;
}) => {
  const isName = (name: string): name is Name => name in titles;
  const parameter = readParam('counter');
  const counter = isName(parameter) ? parameter : defaultName;
  const series = result?.series.find(({ name }) => name === counter);
  const { steps, lines } = useMemo(() => toLines({ series: series === undefined ? [] : [series] }), [series]);
  return (
    <section aria-label="Over time">
      <label>
        Over time{' '}
        <select value={counter} onChange={({ currentTarget }) => setParams({ counter: currentTarget.value })}>
          {Object.entries<string>(titles).map(([name, title]) => (
            <option key={name} value={name}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {result !== undefined && series === undefined ? (
        <p class="soft">
          No data: {renderText(result.partial.map(({ message }) => message).join('; ') || 'no values')}.
        </p>
      ) : null}
      <LineChart
        title={titles[counter]}
        unit={series?.unit ?? ''}
        steps={steps}
        stepMs={result?.stepMs ?? 0}
        partialSteps={result?.partialSteps}
        lines={lines}
      />
    </section>
  );
};
