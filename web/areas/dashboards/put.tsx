/** Adds a query of another view to an existing or new dashboard */
import { useEffect, useState } from 'preact/hooks';
import type { Query } from '../../../queries/query.ts';
import { Action } from '../../client/action.ts';
import { ApiQuery } from '../../client/query.ts';
import { parseQueryText, toQueryKind } from '../../editors/query-form.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { navigate, readParam, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { addPanelCall, createDashboardCall, listDashboardsCall } from './calls.ts';

/** Returns the query of the records that a query counts. */
const toRecordsQuery = (query: Query): Query | undefined => {
  if (!('measures' in query)) return undefined;
  const { signal, search, projectId } = query;
  return {
    kind: 'rows',
    signal,
    ...(search === undefined ? {} : { search }),
    ...(projectId === undefined ? {} : { projectId }),
  } as Query;
};

const toPanel = (title: string, query: Query) => {
  const kind = toQueryKind(query);
  const returnsRecords = query.kind === 'rows';
  return {
    title,
    visual: { kind: !returnsRecords ? 'time-series' : kind === 'rows logs' ? 'logs' : 'table' } as const,
    queries: [{ name: 'A', answers: returnsRecords ? 'table' : 'series', query } as const],
  };
};

export const AddToDashboard = () => {
  const query = parseQueryText(readParam('query'));
  const [dashboardsQuery] = useState(() => new ApiQuery(listDashboardsCall));
  const [addPanelAction] = useState(() => new Action(addPanelCall));
  const [createDashboardAction] = useState(() => new Action(createDashboardCall));
  const [dashboardId, setDashboardId] = useState('');
  useEffect(() => {
    dashboardsQuery.run({ query: { limit: 1000, sort: 'name' } });
    return () => dashboardsQuery.cancel();
  }, []);
  const { response, error } = dashboardsQuery.state.value;
  if (query === undefined) return <p class="problem">The URL contains no valid query to add to a dashboard.</p>;
  const recordsQuery = toRecordsQuery(query);
  const addToDashboard = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const panelInput = toPanel(
      String(formData.get('title')),
      formData.get('as') === 'records' && recordsQuery ? recordsQuery : query,
    );
    const targetDashboard = response?.items.find(({ id }) => id === dashboardId);
    const id =
      targetDashboard === undefined
        ? (
            await createDashboardAction.run({
              body: {
                name: String(formData.get('name')).trim(),
                panels: [{ ...panelInput, id: 'first', place: { width: 12, height: 8 } }],
              },
            })
          )?.id
        : (await addPanelAction.run({
            params: { id: dashboardId },
            body: panelInput,
            ifMatch: targetDashboard.version,
          })) && dashboardId;
    if (id !== undefined) navigate(toArea(`/dashboards/${id}`));
  };
  return (
    <>
      <h2>Add to dashboard</h2>
      <ErrorMessage error={error} />
      <ActionForm
        action={dashboardId === '' ? createDashboardAction : addPanelAction}
        label="Add panel"
        onSubmit={addToDashboard}
      >
        <label>
          Title <input name="title" maxLength={512} autocomplete="off" defaultValue={readParam('title')} />
        </label>
        {recordsQuery === undefined ? null : (
          <label>
            Visualization{' '}
            <select name="as">
              <option value="figures">Time series</option>
              <option value="records">{toQueryKind(recordsQuery) === 'rows logs' ? 'log records' : 'spans'}</option>
            </select>
          </label>
        )}
        <label>
          Target dashboard{' '}
          <select value={dashboardId} onChange={({ currentTarget }) => setDashboardId(currentTarget.value)}>
            <option value="">New dashboard</option>
            {response?.items.map(({ id, name }) => (
              <option key={id} value={id}>
                {renderText(name)}
              </option>
            ))}
          </select>
        </label>
        {dashboardId === '' ? (
          <label>
            Dashboard name <input name="name" required={true} maxLength={256} autocomplete="off" />
          </label>
        ) : null}
      </ActionForm>
    </>
  );
};
