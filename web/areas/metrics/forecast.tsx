/** Forecast of each series with its prediction interval, and the estimated time at which it crosses a threshold */
import { useMemo } from 'preact/hooks';
import { type TimeSeries, TimeSeriesChart } from '../../charts/time-series.tsx';
import { formatQuantity } from '../../charts/values.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { forecastCall, type MetricQueryBody, type ForecastSeries as Series } from './calls.ts';

type ForecastThreshold = { readonly above: number } | { readonly below: number };

/** Maximum number of displayed charts */
const maxCharts = 6;
const confidenceLevel = 0.95;

const readThresholdFromUrl = (): ForecastThreshold | undefined => {
  const value = readParam('limit');
  if (value === '' || !Number.isFinite(Number(value))) return undefined;
  return readParam('side') === 'below' ? { below: Number(value) } : { above: Number(value) };
};

const formatSeriesTitle = ({ name, labels }: Series): string => {
  const labelTexts = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return labelTexts.length === 0 ? name : `${name}{${labelTexts.join(', ')}}`;
};

const CrossingEstimate = ({
  crossing,
  unit,
  threshold,
}: {
  readonly crossing: Series['until'];
  readonly unit: string;
  readonly threshold: ForecastThreshold;
}) => {
  if (crossing === null) return null;
  const crossingText =
    'above' in threshold
      ? `above ${formatQuantity(threshold.above, unit)}`
      : `below ${formatQuantity(threshold.below, unit)}`;
  const probabilityText =
    crossing.probability === null
      ? ''
      : ` Probability within the horizon: ${Math.round(100 * crossing.probability)} %.`;
  return crossing.at === null ? (
    <p>
      No estimate of when the value will be {crossingText} : {renderText(crossing.reason ?? '')}.{probabilityText}
    </p>
  ) : (
    <p>
      Estimated to be {crossingText} at {formatIsoMinute(crossing.at)}; 90 % interval from{' '}
      {formatIsoMinute(crossing.low) || 'now'} to {formatIsoMinute(crossing.high) || 'after the horizon'}.
      {probabilityText}
    </p>
  );
};

const SeriesForecast = ({
  forecastSeries,
  threshold,
}: {
  readonly forecastSeries: Series;
  readonly threshold: ForecastThreshold | undefined;
}) => {
  const { points, unit, reason, until } = forecastSeries;
  const title = formatSeriesTitle(forecastSeries);
  const { steps, series } = useMemo(() => {
    const line = (name: string, getValue: (point: Series['points'][number]) => number | undefined): TimeSeries => ({
      name,
      unit,
      drawStyle: 'lines',
      area: 0,
      isStacked: false,
      connectsGaps: false,
      values: points.map(getValue),
      formatValue: (value) => formatQuantity(value, unit),
    });
    return {
      steps: points.map(([time]) => time),
      series: [
        line('forecast', ([, value]) => value),
        line('at most', ([, , [interval]]) => interval?.[1]),
        line('at least', ([, , [interval]]) => interval?.[0]),
      ],
    };
  }, [points]);
  const [first, last] = [steps[0], steps.at(-1)];
  const thresholdValue = threshold === undefined ? undefined : 'above' in threshold ? threshold.above : threshold.below;
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
          {...(thresholdValue === undefined ? {} : { limits: [[thresholdValue, 'red']] as const })}
        />
      )}
      {threshold === undefined || first === undefined ? null : (
        <CrossingEstimate crossing={until} unit={unit} threshold={threshold} />
      )}
    </section>
  );
};

const ForecastForm = ({ problem }: { readonly problem: string | undefined }) => (
  <form
    class="toolbar"
    onSubmit={(event) => {
      event.preventDefault();
      const formData = new FormData(event.currentTarget);
      const getText = (name: string): string => String(formData.get(name)).trim();
      setParams({
        ahead: getText('ahead'),
        each: getText('each'),
        limit: getText('limit'),
        side: getText('limit') === '' ? '' : getText('side'),
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

const ForecastResult = ({
  metricQuery,
  horizon,
}: {
  readonly metricQuery: MetricQueryBody;
  readonly horizon: string;
}) => {
  const threshold = readThresholdFromUrl();
  const queryState = useQuery(forecastCall, {
    body: {
      query: metricQuery,
      ...timeRange.value,
      horizon: horizon,
      levels: [confidenceLevel],
      ...(threshold === undefined ? {} : { until: threshold }),
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
      {response?.series.slice(0, maxCharts).map((forecastSeries) => (
        <SeriesForecast key={formatSeriesTitle(forecastSeries)} forecastSeries={forecastSeries} threshold={threshold} />
      ))}
      {(response?.series.length ?? 0) > maxCharts ? <p class="soft">First {maxCharts} series shown.</p> : null}
      <Freshness queryState={queryState} />
    </>
  );
};

/** Forecast of a query. The horizon is stored in the URL; without it, no request is sent. */
export const Forecast = ({ metricQuery }: { readonly metricQuery: MetricQueryBody }) => {
  const horizon = readParam('ahead');
  return (
    <details open={horizon !== ''}>
      <summary>Forecast</summary>
      {horizon === '' ? (
        <ForecastForm problem={undefined} />
      ) : (
        <ForecastResult metricQuery={metricQuery} horizon={horizon} />
      )}
    </details>
  );
};
