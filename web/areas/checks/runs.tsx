/** Runs of a check in the range of the page, and a button to run it now */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { Paged } from '../../client/pages.ts';
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Run, runCall, runsCall } from './calls.ts';
import { Came, type Result } from './came.tsx';
import { Legend, Phases, StateLabel, shownMs } from './shown.tsx';
import { SteppedPage } from './stepped-page.tsx';

interface Named {
  /** Returns the name of a location by its id */
  readonly nameOf: (id: string) => string;
}

/** Details of a run that did not pass, step by step if there are several. */
const RunDetails = ({ run }: { readonly run: Run }) => (
  <>
    {shownText(run.message)}
    {run.steps.length < 2 && run.steps[0]?.page === undefined ? null : (
      <details>
        <summary>{run.steps.length === 1 ? '1 step' : `${run.steps.length} steps`}</summary>
        <ol>
          {run.steps.map(({ name, outcome, phases, message, status, page }, at) => (
            <li key={`${at} ${name}`}>
              <bdi>{shownText(name)}</bdi>: <StateLabel of={outcome} /> {status} <Phases of={phases} />{' '}
              {shownText(message)}
              {page === undefined ? null : <SteppedPage page={page} />}
            </li>
          ))}
        </ol>
      </details>
    )}
  </>
);

const Line = ({ run, nameOf }: { readonly run: Run } & Named) => (
  <tr>
    <td>
      {run.traceId === '' ? (
        shownMoment(run.dueAt)
      ) : (
        <Link to={toArea(`/traces/${run.traceId}`)}>{shownMoment(run.dueAt)}</Link>
      )}
      {run.isManual ? ' manual' : ''}
    </td>
    <td>
      <bdi>{shownText(nameOf(run.location))}</bdi>
    </td>
    <td>
      <StateLabel of={run.outcome} />
    </td>
    <td class="number">{shownMs(run.durationMs)}</td>
    <td>
      <Phases of={run.phases} />
    </td>
    <td>
      <RunDetails run={run} />
    </td>
  </tr>
);

export const Runs = ({ id, nameOf }: { readonly id: string } & Named) => {
  const [list] = useState(() => new Paged(runsCall, ({ items }) => items));
  const { from, to } = writtenRange.value;
  useEffect(() => {
    list.load({ params: { id }, query: { from, to, limit: 100 } });
    return () => list.cancel();
  }, [id, from, to, refreshes.value]);
  const { answer, error } = list.first.state.value;
  const runs = list.items.value;
  const fullestRun = runs.toSorted((l, r) => Object.keys(r.phases).length - Object.keys(l.phases).length)[0];
  return (
    <>
      <h3>Runs</h3>
      <Problem error={error ?? list.furtherError.value} />
      {fullestRun === undefined ? (
        <p class="soft">{answer === undefined ? '' : 'No runs in this range.'}</p>
      ) : (
        <>
          <Legend of={fullestRun.phases} />
          <Scrolled class="numbers runs" label="Runs">
            <table class="figures texts">
              <TableHeader columns={['Scheduled', 'Location', 'Outcome', 'Duration', 'Phases', 'Reason']} />
              <tbody>
                {runs.map((run) => (
                  <Line key={run.id} run={run} nameOf={nameOf} />
                ))}
              </tbody>
            </table>
            <ShowMore of={list} />
          </Scrolled>
        </>
      )}
    </>
  );
};

/** Runs a check at each location, and displays the results. */
export const RunNow = ({ id, nameOf }: { readonly id: string } & Named) => {
  const [action] = useState(() => new Action(runCall));
  const [came, setCame] = useState<readonly Result[]>([]);
  if (!isPermitted(runCall)) return <p class="soft">{explainDenial(runCall, 'Running checks')}</p>;
  const run = async (): Promise<void> => {
    setCame([]);
    const answer = await action.run({ params: { id }, body: {} });
    if (answer !== undefined) setCame(answer.items);
  };
  return (
    <div class="act">
      <button type="button" disabled={action.isRunning.value} onClick={() => void run()}>
        {action.isRunning.value ? 'Waiting for results …' : 'Run now'}
      </button>
      <Came of={came} nameOf={nameOf} />
      <Problem error={action.error.value} />
    </div>
  );
};
