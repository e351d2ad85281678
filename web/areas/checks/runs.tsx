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
  readonly locationName: (id: string) => string;
}

/** Details of a run that did not pass, step by step if there are several. */
const RunDetails = ({ run }: { readonly run: Run }) => (
  <>
    {renderText(run.message)}
    {run.steps.length < 2 && run.steps[0]?.page === undefined ? null : (
      <details>
        <summary>{run.steps.length === 1 ? '1 step' : `${run.steps.length} steps`}</summary>
        <ol>
          {run.steps.map(({ name, outcome, phases, message, status, page }, at) => (
            <li key={`${at} ${name}`}>
              <bdi>{renderText(name)}</bdi>: <StateLabel of={outcome} /> {status} <PhasesBar of={phases} />{' '}
              {renderText(message)}
              {page === undefined ? null : <StepPage page={page} />}
            </li>
          ))}
        </ol>
      </details>
    )}
  </>
);

const RunRow = ({ run, locationName }: { readonly run: Run } & LocationNameProps) => (
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
      <bdi>{renderText(locationName(run.location))}</bdi>
    </td>
    <td>
      <StateLabel of={run.outcome} />
    </td>
    <td class="number">{formatMs(run.durationMs)}</td>
    <td>
      <PhasesBar of={run.phases} />
    </td>
    <td>
      <RunDetails run={run} />
    </td>
  </tr>
);

export const Runs = ({ id, locationName }: { readonly id: string } & LocationNameProps) => {
  const [runPages] = useState(() => new PagedList(runsCall, ({ items }) => items));
  const { from, to } = timeRange.value;
  useEffect(() => {
    runPages.load({ params: { id }, query: { from, to, limit: 100 } });
    return () => runPages.cancel();
  }, [id, from, to, refreshCount.value]);
  const { response, error } = runPages.first.state.value;
  const runs = runPages.items.value;
  const runWithMostPhases = runs.toSorted((l, r) => Object.keys(r.phases).length - Object.keys(l.phases).length)[0];
  return (
    <>
      <h3>Runs</h3>
      <ErrorMessage error={error ?? runPages.loadMoreError.value} />
      {runWithMostPhases === undefined ? (
        <p class="soft">{response === undefined ? '' : 'No runs in this range.'}</p>
      ) : (
        <>
          <PhasesLegend of={runWithMostPhases.phases} />
          <ScrollRegion class="numbers runs" label="Runs">
            <table class="figures texts">
              <TableHeader columns={['Scheduled', 'Location', 'Outcome', 'Duration', 'Phases', 'Reason']} />
              <tbody>
                {runs.map((run) => (
                  <RunRow key={run.id} run={run} locationName={locationName} />
                ))}
              </tbody>
            </table>
            <ShowMore list={runPages} />
          </ScrollRegion>
        </>
      )}
    </>
  );
};

/** Runs a check at each location, and displays the results. */
export const RunNow = ({ id, locationName }: { readonly id: string } & LocationNameProps) => {
  const [action] = useState(() => new Action(runCheckCall));
  const [results, setResults] = useState<readonly LocationResult[]>([]);
  if (!isPermitted(runCheckCall)) return <p class="soft">{explainDenial(runCheckCall, 'Running checks')}</p>;
  const run = async (): Promise<void> => {
    setResults([]);
    const answer = await action.run({ params: { id }, body: {} });
    if (answer !== undefined) setResults(answer.items);
  };
  return (
    <div class="act">
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        {action.isRunning.value ? 'Waiting for results …' : 'Run now'}
      </button>
      <RunResults of={results} nameOf={locationName} />
      <ErrorMessage error={action.error.value} />
    </div>
  );
};
