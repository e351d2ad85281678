/** Runs of a check in the selected time range, and a button to run it now */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type TimeSeries, TimeSeriesChart } from '../../charts/time-series.tsx';
import { toLines } from '../../charts/values.ts';
import { Action } from '../../client/action.ts';
import { PagedList } from '../../client/pages.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Run, runCheckCall, runsCall } from './calls.ts';
import { formatMs, PhasesBar, PhasesLegend, StateLabel } from './check-format.tsx';
import { type LocationResult, RunResults, StepDetails } from './run-results.tsx';

interface LocationNameProps {
  /** Returns the name of a location by its id */
  readonly getLocationName: (id: string) => string;
}

/** Reason of a run that did not pass, and its steps. */
const RunDetails = ({ run }: { readonly run: Run }) => (
  <>
    {renderText(run.message)}
    {run.steps.length === 0 ? null : (
      <details>
        <summary>{run.steps.length === 1 ? 'Details' : `${run.steps.length} steps`}</summary>
        <ol class="run-steps">
          {run.steps.map((step, stepIndex) => (
            <li key={`${stepIndex} ${step.name}`}>
              <StepDetails step={step} index={stepIndex} />
            </li>
          ))}
        </ol>
      </details>
    )}
  </>
);

const RunRows = ({ run, getLocationName }: { readonly run: Run } & LocationNameProps) => (
  <>
    <tr class="run-summary">
      <td>
        {run.traceId === '' ? (
          formatIsoTime(run.dueAt)
        ) : (
          <Link url={toArea(`/traces/${run.traceId}`)}>{formatIsoTime(run.dueAt)}</Link>
        )}
        {run.isManual ? ' manual' : ''}
      </td>
      <td>
        <bdi>{renderText(getLocationName(run.location))}</bdi>
      </td>
      <td>
        <StateLabel state={run.outcome} />
      </td>
      <td class="number">{formatMs(run.durationMs)}</td>
      <td>
        <PhasesBar phaseDurations={run.phases} />
      </td>
    </tr>
    <tr class="run-details">
      <td colSpan={runColumns.length}>
        <RunDetails run={run} />
      </td>
    </tr>
  </>
);

const runColumns = ['Scheduled', 'Location', 'Outcome', 'Duration', 'Phases'];

/** Durations of the loaded runs over time, with a line per location. */
const DurationChart = ({ runs, getLocationName }: { readonly runs: readonly Run[] } & LocationNameProps) => {
  const { steps, series } = useMemo(() => {
    const { steps, lines } = toLines({
      series: [...Map.groupBy(runs, ({ location }) => location)].map(([location, runsOfLocation]) => ({
        name: getLocationName(location),
        labels: {},
        unit: 'ms',
        points: runsOfLocation.map(({ dueAt, durationMs }): [number, number] => [Date.parse(dueAt), durationMs]),
      })),
    });
    return {
      steps,
      series: lines.map(
        ({ name, values }): TimeSeries => ({
          name,
          unit: 'ms',
          values,
          drawStyle: 'lines',
          area: lines.length === 1 ? 0.1 : 0,
          isStacked: false,
          // Locations run at different times.
          connectsGaps: true,
          formatValue: (value) => (value === undefined ? '' : formatMs(value)),
        }),
      ),
    };
  }, [runs]);
  const [first, last] = [steps[0], steps.at(-1)];
  if (first === undefined || last === undefined || first === last) return null;
  return (
    <>
      <h3>Response time</h3>
      <TimeSeriesChart
        title="Response time"
        steps={steps}
        series={series}
        from={first}
        to={last}
        height={140}
        group="check"
        legend={series.length > 1}
      />
    </>
  );
};

export const Runs = ({ id, getLocationName }: { readonly id: string } & LocationNameProps) => {
  const [pagedRuns] = useState(() => new PagedList(runsCall, ({ items }) => items));
  const { from, to } = timeRange.value;
  useEffect(() => {
    pagedRuns.load({ params: { id }, query: { from, to, limit: 100 } });
    return () => pagedRuns.cancel();
  }, [id, from, to, refreshCount.value]);
  const { response, error } = pagedRuns.first.state.value;
  const runs = pagedRuns.items.value;
  const runWithMostPhases = runs.toSorted(
    (left, right) => Object.keys(right.phases).length - Object.keys(left.phases).length,
  )[0];
  return (
    <>
      <DurationChart runs={runs} getLocationName={getLocationName} />
      <h3>Runs</h3>
      <ErrorMessage error={error ?? pagedRuns.loadMoreError.value} />
      {runWithMostPhases === undefined ? (
        <p class="soft">{response === undefined ? '' : 'No runs in this range.'}</p>
      ) : (
        <>
          <PhasesLegend phaseDurations={runWithMostPhases.phases} />
          <ScrollRegion class="numbers runs" label="Runs">
            <table class="figures texts">
              <TableHeader columns={runColumns} />
              <tbody>
                {runs.map((run) => (
                  <RunRows key={run.id} run={run} getLocationName={getLocationName} />
                ))}
              </tbody>
            </table>
            <ShowMore list={pagedRuns} />
          </ScrollRegion>
        </>
      )}
    </>
  );
};

/** Runs a check at each location, and displays the results. */
export const RunNow = ({ id, getLocationName }: { readonly id: string } & LocationNameProps) => {
  const [action] = useState(() => new Action(runCheckCall));
  const [results, setResults] = useState<readonly LocationResult[]>([]);
  if (!isPermitted(runCheckCall)) return <p class="soft">{explainDenial(runCheckCall, 'Running checks')}</p>;
  const run = async (): Promise<void> => {
    setResults([]);
    const response = await action.run({ params: { id }, body: {} });
    if (response !== undefined) setResults(response.items);
  };
  return (
    <div class="act">
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        {action.isRunning.value ? 'Waiting for results …' : 'Run now'}
      </button>
      <RunResults results={results} getLocationName={getLocationName} />
      <ErrorMessage error={action.error.value} />
    </div>
  );
};
