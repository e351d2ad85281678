/** Adds a query of another view to an existing or new dashboard */
import { useEffect, useState } from 'preact/hooks';
import type { Query } from '../../../queries/query.ts';
import { Action } from '../../client/action.ts';
import { ApiQuery } from '../../client/query.ts';
import { questionIn } from '../../editors/question.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { go, inAddress, toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { addPanelCall, createCall, listCall } from './calls.ts';

/** Returns the query of the records that a query counts. */
const recordsOf = (query: Query): Query | undefined => {
  if (query.kind !== 'aggregate') return undefined;
  const { signal, search, projectId } = query;
  return {
    kind: 'rows',
    signal,
    ...(search === undefined ? {} : { search }),
    ...(projectId === undefined ? {} : { projectId }),
  } as Query;
};

const panelOf = (title: string, query: Query) => {
  const isRows = query.kind === 'rows';
  return {
    title,
    visual: { kind: !isRows ? 'time-series' : query.signal === 'logs' ? 'logs' : 'table' } as const,
    queries: [{ name: 'A', answers: isRows ? 'table' : 'series', query } as const],
  };
};

export const Put = () => {
  const query = questionIn(inAddress('query'));
  const [list] = useState(() => new ApiQuery(listCall));
  const [add] = useState(() => new Action(addPanelCall));
  const [create] = useState(() => new Action(createCall));
  const [at, setAt] = useState('');
  useEffect(() => {
    list.run({ query: { limit: 1000, sort: 'name' } });
    return () => list.cancel();
  }, []);
  const { answer, error } = list.state.value;
  if (query === undefined) return <p class="problem">The URL contains no valid query to add to a dashboard.</p>;
  const records = recordsOf(query);
  const run = async (form: HTMLFormElement): Promise<void> => {
    const given = new FormData(form);
    const panel = panelOf(String(given.get('title')), given.get('as') === 'records' && records ? records : query);
    const chosen = answer?.items.find(({ id }) => id === at);
    const id =
      chosen === undefined
        ? (
            await create.run({
              body: {
                name: String(given.get('name')).trim(),
                panels: [{ ...panel, id: 'first', place: { width: 12, height: 8 } }],
              },
            })
          )?.id
        : (await add.run({ params: { id: at }, body: panel, ifMatch: chosen.version })) && at;
    if (id !== undefined) go(toArea(`/dashboards/${id}`));
  };
  return (
    <>
      <h2>Add to dashboard</h2>
      <Problem error={error} />
      <ActionForm action={at === '' ? create : add} label="Add panel" onSubmit={run}>
        <label>
          Title <input name="title" maxLength={512} autocomplete="off" defaultValue={inAddress('title')} />
        </label>
        {records === undefined ? null : (
          <label>
            Visualization{' '}
            <select name="as">
              <option value="figures">Time series</option>
              <option value="records">
                {records.kind === 'rows' && records.signal === 'logs' ? 'log records' : 'spans'}
              </option>
            </select>
          </label>
        )}
        <label>
          Target dashboard{' '}
          <select value={at} onChange={({ currentTarget }) => setAt(currentTarget.value)}>
            <option value="">New dashboard</option>
            {answer?.items.map(({ id, name }) => (
              <option key={id} value={id}>
                {shownText(name)}
              </option>
            ))}
          </select>
        </label>
        {at === '' ? (
          <label>
            Dashboard name <input name="name" required={true} maxLength={256} autocomplete="off" />
          </label>
        ) : null}
      </ActionForm>
    </>
  );
};
