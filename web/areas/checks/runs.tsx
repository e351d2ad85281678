/** Runs of a check in the selected time range, and a button to run it now */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { PagedList } from '../../client/pages.ts';
import { toArea } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Run, runCheckCall, runsCall } from './calls.ts';
import { type LocationResult, RunResults } from './came.tsx';
import { formatMs, PhasesBar, PhasesLegend, StateLabel } from './shown.tsx';
import { StepPage } from './stepped-page.tsx';

interface LocationNameProps {
  /** Returns the name of a location by its id */
  readonly getLocationName: (id: string) => string;
}

/** Details of a run that did not pass, step by step if there are several. */
const RunDetails = ({ run }: { readonly run: Run }) => (
  <>
    {renderText(run.message)}
    {run.steps.length < 2 && run.steps[0]?.page === undefined ? null : (
      <details>
        <summary>{run.steps.length === 1 ? '1 step' : `${run.steps.length} steps`}</summary>
        <ol>
          {run.steps.map(({ name, outcome, phases, message, status, page }, stepIndex) => (
            <li key={`${stepIndex} ${name}`}>
              <bdi>{renderText(name)}</bdi>: <StateLabel state={outcome} /> {status}{' '}
              <PhasesBar phaseDurations={phases} /> {renderText(message)}
              {page === undefined ? null : <StepPage page={page} />}
            </li>
          ))}
        </ol>
      </details>
    )}
  </>
);

const RunRow = ({ run, getLocationName }: { readonly run: Run } & LocationNameProps) => (
  <tr>
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
    <td>
      <RunDetails run={run} />
    </td>
  </tr>
);

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
      <h3>Runs</h3>
      <ErrorMessage error={error ?? pagedRuns.loadMoreError.value} />
      {runWithMostPhases === undefined ? (
        <p class="soft">{response === undefined ? '' : 'No runs in this range.'}</p>
      ) : (
        <>
          <PhasesLegend phaseDurations={runWithMostPhases.phases} />
          <ScrollRegion class="numbers runs" label="Runs">
            <table class="figures texts">
              <TableHeader columns={['Scheduled', 'Location', 'Outcome', 'Duration', 'Phases', 'Reason']} />
              <tbody>
                {runs.map((run) => (
                  <RunRow key={run.id} run={run} getLocationName={getLocationName} />
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
