/** Forecast of each series with its prediction interval, and the estimated time at which it crosses a threshold */
import { useMemo } from 'preact/hooks';
import { OverTime, type TimeSeries } from '../../charts/over-time.tsx';
import { shownValue } from '../../charts/values.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { forecastCall, type MetricQueryBody, type ForecastSeries as Series } from './calls.ts';

type ForecastThreshold = { readonly above: number } | { readonly below: number };

/** Maximum number of displayed charts */
const maxCharts = 6;
const confidenceLevel = 0.95;

const thresholdFromUrl = (): ForecastThreshold | undefined => {
  const value = inAddress('limit');
  if (value === '' || !Number.isFinite(Number(value))) return undefined;
  return inAddress('side') === 'below' ? { below: Number(value) } : { above: Number(value) };
};

const seriesTitle = ({ name, labels }: Series): string => {
  const labelTexts = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return labelTexts.length === 0 ? name : `${name}{${labelTexts.join(', ')}}`;
};

const CrossingEstimate = ({
  of,
  unit,
  limit,
}: {
  readonly of: Series['until'];
  readonly unit: string;
  readonly limit: ForecastThreshold;
}) => {
  if (of === null) return null;
  const crossingText =
    'above' in limit ? `above ${shownValue(limit.above, unit)}` : `below ${shownValue(limit.below, unit)}`;
  const probabilityText =
    of.probability === null ? '' : ` Probability within the horizon: ${Math.round(100 * of.probability)} %.`;
  return of.at === null ? (
    <p>
      No estimate of when the value is {crossingText} : {shownText(of.reason ?? '')}.{probabilityText}
    </p>
  ) : (
    <p>
      Estimated to be {crossingText} at {shownMoment(of.at).slice(0, 16)}; 90 % interval between{' '}
      {shownMoment(of.low).slice(0, 16) || 'now'} and {shownMoment(of.high).slice(0, 16) || 'after the horizon'}.
      {probabilityText}
    </p>
  );
};

const SeriesForecast = ({ of, limit }: { readonly of: Series; readonly limit: ForecastThreshold | undefined }) => {
  const { points, unit, reason, until } = of;
  const title = seriesTitle(of);
  const { steps, series } = useMemo(() => {
    const line = (name: string, part: (point: Series['points'][number]) => number | undefined): TimeSeries => ({
      name,
      unit,
      as: 'lines',
      area: 0,
      isStacked: false,
      joinsGaps: false,
      values: points.map(part),
      shown: (value) => shownValue(value, unit),
    });
    return {
      steps: points.map(([time]) => time),
      series: [
        line('likeliest', ([, value]) => value),
        line('at most', ([, , [interval]]) => interval?.[1]),
        line('at least', ([, , [interval]]) => interval?.[0]),
      ],
    };
  }, [points]);
  const [first, last] = [steps[0], steps.at(-1)];
  const value = limit === undefined ? undefined : 'above' in limit ? limit.above : limit.below;
  return (
    <section aria-label={`Forecast of ${title}`}>
      <h2>{shownText(title)}</h2>
      {first === undefined || last === undefined ? (
        <p role="status">No forecast: {shownText(reason ?? '')}.</p>
      ) : (
        <OverTime
          title={`Forecast of ${title}`}
          steps={steps}
          series={series}
          from={first}
          to={last}
          height={160}
          group="forecast"
          legend={true}
          bands={[[1, 2, 0]]}
          {...(value === undefined ? {} : { limits: [[value, 'red']] as const })}
        />
      )}
      {limit === undefined || first === undefined ? null : <CrossingEstimate of={until} unit={unit} limit={limit} />}
    </section>
  );
};

const ForecastForm = ({ problem }: { readonly problem: string | undefined }) => (
  <form
    class="toolbar"
    onSubmit={(event) => {
      event.preventDefault();
      const formData = new FormData(event.currentTarget);
      const text = (name: string): string => String(formData.get(name)).trim();
      change({
        ahead: text('ahead'),
        each: text('each'),
        limit: text('limit'),
        side: text('limit') === '' ? '' : text('side'),
      });
    }}
  >
    <label>
      Horizon{' '}
      <input
        key={inAddress('ahead')}
        name="ahead"
        required={true}
        defaultValue={inAddress('ahead') || '1d'}
        placeholder="1d"
        autocomplete="off"
        spellcheck={false}
        aria-invalid={problem !== undefined}
        aria-describedby="ahead-problem"
      />
    </label>
    <label>
      Input interval{' '}
      <input
        key={inAddress('each')}
        name="each"
        defaultValue={inAddress('each')}
        placeholder="1m"
        autocomplete="off"
        spellcheck={false}
        aria-describedby="ahead-problem"
      />
    </label>
    <label>
      Condition{' '}
      <select name="side" defaultValue={inAddress('side')} key={inAddress('side')}>
        <option value="above">above</option>
        <option value="below">below</option>
      </select>
    </label>
    <label>
      Threshold{' '}
      <input
        key={inAddress('limit')}
        name="limit"
        type="number"
        step="any"
        defaultValue={inAddress('limit')}
        autocomplete="off"
      />
    </label>
    <button type="submit">Run forecast</button>
    <p class="problem-text" id="ahead-problem" role="alert">
      {problem === undefined ? '' : shownText(problem)}
    </p>
  </form>
);

const ForecastResult = ({ question, ahead }: { readonly question: MetricQueryBody; readonly ahead: string }) => {
  const limit = thresholdFromUrl();
  const queryState = useQuery(forecastCall, {
    body: {
      query: question,
      ...writtenRange.value,
      horizon: ahead,
      levels: [confidenceLevel],
      ...(limit === undefined ? {} : { until: limit }),
      ...(inAddress('each') === '' ? {} : { step: inAddress('each') }),
    },
  });
  const { answer, error } = queryState;
  const horizonProblem = error?.at('horizon') ?? error?.at('step');
  return (
    <>
      <ForecastForm problem={horizonProblem} />
      {horizonProblem === undefined ? <Problem error={error} /> : null}
      {answer?.series.length === 0 ? <p role="status">No values in this range.</p> : null}
      {answer?.series.slice(0, maxCharts).map((each) => (
        <SeriesForecast key={seriesTitle(each)} of={each} limit={limit} />
      ))}
      {(answer?.series.length ?? 0) > maxCharts ? <p class="soft">First {maxCharts} series shown.</p> : null}
      <Freshness of={queryState} />
    </>
  );
};

/** Forecast of a query. The horizon is stored in the URL; without it, no request is sent. */
export const Forecast = ({ question }: { readonly question: MetricQueryBody }) => {
  const ahead = inAddress('ahead');
  return (
    <details open={ahead !== ''}>
      <summary>Forecast</summary>
      {ahead === '' ? <ForecastForm problem={undefined} /> : <ForecastResult question={question} ahead={ahead} />}
    </details>
  );
};
