/** Forecast of each series with its prediction interval, and the estimated time at which it crosses a threshold */
import { useMemo } from 'preact/hooks';
import { type TimeSeries, TimeSeriesChart } from '../../charts/over-time.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { forecastCall, type MetricQueryBody, type ForecastSeries as Series } from './calls.ts';

type ForecastThreshold = { readonly above: number } | { readonly below: number };

/** Maximum number of displayed charts */
const maxCharts = 6;
const confidenceLevel = 0.95;

const thresholdFromUrl = (): ForecastThreshold | undefined => {
  const value = readParam('limit');
  if (value === '' || !Number.isFinite(Number(value))) return undefined;
  return readParam('side') === 'below' ? { below: Number(value) } : { above: Number(value) };
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
    'above' in limit ? `above ${formatQuantity(limit.above, unit)}` : `below ${formatQuantity(limit.below, unit)}`;
  const probabilityText =
    of.probability === null ? '' : ` Probability within the horizon: ${Math.round(100 * of.probability)} %.`;
  return of.at === null ? (
    <p>
      No estimate of when the value is {crossingText} : {renderText(of.reason ?? '')}.{probabilityText}
    </p>
  ) : (
    <p>
      Estimated to be {crossingText} at {formatIsoTime(of.at).slice(0, 16)}; 90 % interval between{' '}
      {formatIsoTime(of.low).slice(0, 16) || 'now'} and {formatIsoTime(of.high).slice(0, 16) || 'after the horizon'}.
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
      drawStyle: 'lines',
      area: 0,
      isStacked: false,
      connectsGaps: false,
      values: points.map(part),
      formatValue: (value) => formatQuantity(value, unit),
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
      <h2>{renderText(title)}</h2>
      {first === undefined || last === undefined ? (
        <p role="status">No forecast: {renderText(reason ?? '')}.</p>
      ) : (
        <TimeSeriesChart
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
      setParams({
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
        key={readParam('ahead')}
        name="ahead"
        required={true}
        defaultValue={readParam('ahead') || '1d'}
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
        key={readParam('each')}
        name="each"
        defaultValue={readParam('each')}
        placeholder="1m"
        autocomplete="off"
        spellcheck={false}
        aria-describedby="ahead-problem"
      />
    </label>
    <label>
      Condition{' '}
      <select name="side" defaultValue={readParam('side')} key={readParam('side')}>
        <option value="above">above</option>
        <option value="below">below</option>
      </select>
    </label>
    <label>
      Threshold{' '}
      <input
        key={readParam('limit')}
        name="limit"
        type="number"
        step="any"
        defaultValue={readParam('limit')}
        autocomplete="off"
      />
    </label>
    <button type="submit">Run forecast</button>
    <p class="problem-text" id="ahead-problem" role="alert">
      {problem === undefined ? '' : renderText(problem)}
    </p>
  </form>
);

const ForecastResult = ({ question, ahead }: { readonly question: MetricQueryBody; readonly ahead: string }) => {
  const limit = thresholdFromUrl();
  const queryState = useQuery(forecastCall, {
    body: {
      query: question,
      ...timeRange.value,
      horizon: ahead,
      levels: [confidenceLevel],
      ...(limit === undefined ? {} : { until: limit }),
      ...(readParam('each') === '' ? {} : { step: readParam('each') }),
    },
  });
  const { response, error } = queryState;
  const horizonProblem = error?.at('horizon') ?? error?.at('step');
  return (
    <>
      <ForecastForm problem={horizonProblem} />
      {horizonProblem === undefined ? <ErrorMessage error={error} /> : null}
      {response?.series.length === 0 ? <p role="status">No values in this range.</p> : null}
      {response?.series.slice(0, maxCharts).map((each) => (
        <SeriesForecast key={seriesTitle(each)} of={each} limit={limit} />
      ))}
      {(response?.series.length ?? 0) > maxCharts ? <p class="soft">First {maxCharts} series shown.</p> : null}
      <Freshness queryState={queryState} />
    </>
  );
};

/** Forecast of a query. The horizon is stored in the URL; without it, no request is sent. */
export const Forecast = ({ question }: { readonly question: MetricQueryBody }) => {
  const ahead = readParam('ahead');
  return (
    <details open={ahead !== ''}>
      <summary>Forecast</summary>
      {ahead === '' ? <ForecastForm problem={undefined} /> : <ForecastResult question={question} ahead={ahead} />}
    </details>
  );
};
