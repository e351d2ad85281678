/** How many records there are, by time and severity. A drag or two keys choose a range. */
import { useDrag } from '../../charts/drag.ts';
import { levelOf } from '../../frame/severity.ts';
import { shortTime, shownTime } from '../../frame/shown-time.ts';
import { setMoments } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import type { Histogram } from './calls.ts';

const height = 80;

interface Bar {
  readonly start: number;
  readonly total: number;
  readonly parts: readonly { readonly level: string; readonly count: number }[];
}

const barsOf = ({ steps, series, rest }: Histogram): Bar[] =>
  steps.map(({ start }, index) => {
    const parts = [
      ...series.map(({ value, counts }) => ({ level: levelOf(value), count: counts[index] ?? 0 })),
      ...(rest === null ? [] : [{ level: 'none', count: rest.counts[index] ?? 0 }]),
    ];
    return { start: Date.parse(start), parts, total: parts.reduce((sum, { count }) => sum + count, 0) };
  });

const number = new Intl.NumberFormat('en');

const Parts = ({ bar, index, most }: { readonly bar: Bar; readonly index: number; readonly most: number }) => {
  let below = 0;
  return (
    <>
      {bar.parts.map(({ level, count }, part) => {
        const size = (count / most) * height;
        below += size;
        return (
          <rect key={part} class={`level-${level}`} x={index + 0.05} width={0.9} y={height - below} height={size} />
        );
      })}
    </>
  );
};

const Numbers = ({ answer, bars }: { readonly answer: Histogram; readonly bars: readonly Bar[] }) => (
  <details>
    <summary>Numbers</summary>
    <Scrolled class="numbers" label="Numbers of the chart">
      <table>
        <thead>
          <tr>
            <th>From</th>
            {answer.series.map(({ value }) => (
              <th key={value}>{value === '' ? 'no severity' : value}</th>
            ))}
            <th>All</th>
          </tr>
        </thead>
        <tbody>
          {bars
            .filter(({ total }) => total > 0)
            .map((bar) => (
              <tr key={bar.start}>
                <td>{shownTime(bar.start)}</td>
                {answer.series.map(({ value }, index) => (
                  <td key={value}>{number.format(bar.parts[index]?.count ?? 0)}</td>
                ))}
                <td>{number.format(bar.total)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Scrolled>
  </details>
);

const legendOf = ({ series }: Histogram): string =>
  series.map(({ value, records }) => `${value === '' ? 'no severity' : value} ${number.format(records)}`).join(', ');

const Chart = ({ answer, bars }: { readonly answer: Histogram; readonly bars: readonly Bar[] }) => {
  const most = Math.max(1, ...bars.map(({ total }) => total));
  const { chosen, heeds } = useDrag(bars.length, (low, high) => {
    const [first, last] = [bars[low], bars[high]];
    if (first !== undefined && last !== undefined) setMoments(first.start, last.start + answer.stepMs - 1);
  });
  return (
    <svg
      class="histogram"
      role="img"
      aria-label={`${number.format(answer.records)} records by time: ${legendOf(answer)}. The most in one step are ${number.format(most)}.`}
      viewBox={`0 0 ${bars.length} ${height}`}
      preserveAspectRatio="none"
      {...heeds}
    >
      {bars.map((bar, index) => (
        <Parts key={bar.start} {...{ bar, index, most }} />
      ))}
      {chosen === undefined ? null : (
        <rect class="chosen" x={chosen.first} width={chosen.last - chosen.first + 1} y={0} height={height} />
      )}
    </svg>
  );
};

export const LogHistogram = ({ answer }: { readonly answer: Histogram | undefined }) => {
  if (answer === undefined) return <div class="chart" />;
  const bars = barsOf(answer);
  return (
    <div class="chart">
      <p class="legend">
        <b id="count">{number.format(answer.records)}</b> records
        {answer.series.map(({ value, records }) => (
          <span key={value}>
            {' '}
            <span class={`swatch level-${levelOf(value)}`} /> {value === '' ? 'no severity' : value}{' '}
            {number.format(records)}
          </span>
        ))}
      </p>
      <Chart {...{ answer, bars }} />
      <p class="axis">
        <span>{shortTime(Date.parse(answer.from))}</span>
        <span>{shortTime(Date.parse(answer.to))}</span>
      </p>
      <Numbers {...{ answer, bars }} />
    </div>
  );
};
