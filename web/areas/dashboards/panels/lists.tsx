/** Panels that list traces, alerts and dashboards, with links. The code is loaded on first use. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../../client/query.ts';
import { allInAddress, toArea } from '../../../frame/address.ts';
import { shownDuration } from '../../../frame/durations.ts';
import { Problem } from '../../../frame/freshness.tsx';
import { Link } from '../../../frame/link.tsx';
import { isPermitted } from '../../../frame/rights.ts';
import { levelOf } from '../../../frame/severity.ts';
import { shownText, textOf } from '../../../frame/shown-text.tsx';
import { shownTime } from '../../../frame/shown-time.ts';
import { refreshes } from '../../../frame/time-range.ts';
import { Scrolled } from '../../../lists/scrolled.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { type Alert, alertsCall } from '../../alerts/calls.ts';
import { shownLabels, shownValue } from '../../alerts/shown.ts';
import { listCall, type Visual } from '../calls.ts';
import { tablesOf } from '../fields.ts';
import { type AlertsShown, chosenAlerts, grouped, stateFilter } from './alerts-shown.ts';
import type { PanelProps } from './panel-props.ts';
import { TablePanel } from './table.tsx';

const nothing = (what: string) => (
  <p class="soft" role="status">
    {what}
  </p>
);

/** Spans, each with a link to its trace. */
export const TracesPanel = (props: PanelProps) => {
  const { drawn } = props;
  const maxSpans = (drawn.visual['max'] as number | undefined) ?? 100;
  const spans = tablesOf(drawn).flatMap(({ columns, rows }) => {
    const at = (...names: readonly string[]): number => columns.findIndex(({ name }) => names.includes(name));
    const trace = at('traceId', 'trace_id');
    const [time, service, name] = [at('startTime', 'timestamp'), at('service'), at('name')];
    const [duration, status] = [at('durationNs', 'duration'), at('status')];
    return trace === -1
      ? []
      : rows.map((row) => ({
          trace: textOf(row[trace]),
          time: row[time],
          service: textOf(row[service] ?? ''),
          name: textOf(row[name] ?? ''),
          duration: row[duration],
          failed: row[status] === 'error',
        }));
  });
  // A result without trace ids is displayed as a table.
  if (spans.length === 0) return <TablePanel {...props} />;
  return (
    <Scrolled class="panel-rows" label={`Traces of ${drawn.title === '' ? 'the panel' : drawn.title}`}>
      <table class="figures texts">
        <TableHeader columns={['Trace', 'Service', 'Duration', 'Status', 'Start']} />
        <tbody>
          {spans.slice(0, maxSpans).map(({ trace, time, service, name, duration, failed }, index) => (
            <tr key={`${index} ${trace}`}>
              <td>
                <Link to={toArea(`/traces/${encodeURIComponent(trace)}`)}>
                  <bdi>{shownText(name === '' ? trace : name)}</bdi>
                </Link>
              </td>
              <td>
                <bdi>{shownText(service)}</bdi>
              </td>
              <td class="number">{duration === undefined ? '' : shownDuration(String(duration))}</td>
              <td class={failed ? 'text-error' : ''}>{failed ? 'failed' : ''}</td>
              <td>{time === undefined ? '' : shownTime(Date.parse(String(time)))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolled>
  );
};

const Line = ({ alert }: { readonly alert: Alert }) => (
  <li>
    <span class={alert.state === 'firing' ? `text-${levelOf(alert.severity)}` : 'soft'}>
      {alert.state === 'firing' ? (alert.severity ?? alert.state) : alert.state}
    </span>{' '}
    <Link to={toArea('/alerts', { alert: alert.id })}>
      <bdi>{shownText(alert.ruleName)}</bdi>
    </Link>{' '}
    <bdi>{shownText(shownLabels(alert.labels))}</bdi> {shownValue(alert.value)}{' '}
    {alert.since === null ? null : <span class="soft">since {shownTime(Date.parse(alert.since))}</span>}
  </li>
);

export const AlertsPanel = ({ drawn, isFrozen }: PanelProps) => {
  const [query] = useState(() => new ApiQuery(alertsCall));
  const visual = drawn.visual as AlertsShown;
  const state = stateFilter(visual);
  useEffect(() => {
    if (!isFrozen && isPermitted(alertsCall)) query.run({ query: { state, limit: 1000 } });
    return () => query.cancel();
  }, [isFrozen, state, refreshes.value]);
  if (isFrozen) return nothing('Snapshots do not contain alerts.');
  if (!isPermitted(alertsCall)) return nothing('Your role or plan has no access to alerts.');
  const { answer, error } = query.state.value;
  if (answer === undefined) return error === undefined ? null : <Problem error={error} />;
  const found = chosenAlerts(answer.items, visual);
  if (found === undefined)
    return <p class="problem-text">Labels could not be read: {shownText(visual.labels ?? '')}</p>;
  if (visual.shows === 'count')
    return (
      <dl class="stats">
        <div class="stat">
          <dt>{found.length === 1 ? 'alert' : 'alerts'}</dt>
          <dd>{found.length}</dd>
        </div>
      </dl>
    );
  if (found.length === 0) return nothing('No matching alerts.');
  const shown = found.slice(0, visual.max ?? 20);
  return (
    <>
      <Problem error={error} />
      {grouped(shown, visual.groupBy ?? []).map(([name, alerts]) => (
        <div key={name}>
          {name === '' ? null : (
            <h3>
              <bdi>{shownText(name)}</bdi>
            </h3>
          )}
          <ul class="around">
            {alerts.map((alert) => (
              <Line key={alert.id} alert={alert} />
            ))}
          </ul>
        </div>
      ))}
      {found.length > shown.length ? <p class="soft">{found.length - shown.length} more.</p> : null}
    </>
  );
};

type DashboardsShown = Partial<Extract<Visual, { kind: 'dashboards' }>>;

/** Returns the URL of a dashboard, with range and variables if the panel preserves them. */
const wayTo = (id: string, { keepTime = false, keepVariables = false }: DashboardsShown): string => {
  const addressParams = new URLSearchParams();
  const names = [...new Set(new URLSearchParams(location.search).keys())];
  for (const name of names)
    if ((keepTime && (name === 'from' || name === 'to')) || (keepVariables && name.startsWith('var-')))
      for (const value of allInAddress(name)) addressParams.append(name, value);
  return `/dashboards/${encodeURIComponent(id)}${addressParams.size === 0 ? '' : `?${addressParams}`}`;
};

export const DashboardsPanel = ({ drawn, isFrozen }: PanelProps) => {
  const [query] = useState(() => new ApiQuery(listCall));
  const visual = drawn.visual as DashboardsShown;
  const { search = '', folder = '', tags = [], max: maxItems = 10, found = true } = visual;
  const [tag = ''] = tags;
  useEffect(() => {
    if (!isFrozen && found) query.run({ query: { search, folder, tag, sort: 'name', limit: 100 } });
    return () => query.cancel();
  }, [isFrozen, found, search, folder, tag, refreshes.value]);
  if (isFrozen) return nothing('Snapshots do not contain dashboard lists.');
  if (!found) return nothing('Starred and recently opened dashboards are not available.');
  const { answer, error } = query.state.value;
  if (answer === undefined) return error === undefined ? null : <Problem error={error} />;
  const items = answer.items.filter((item) => tags.every((one) => item.tags.includes(one)));
  if (items.length === 0) return nothing('No matching dashboards.');
  return (
    <ul class="links column">
      {items.slice(0, maxItems).map((item) => (
        <li key={item.id}>
          <Link to={wayTo(item.id, visual)}>
            <bdi>{shownText(item.name)}</bdi>
          </Link>{' '}
          <span class="soft">{shownText(item.folder)}</span>
        </li>
      ))}
    </ul>
  );
};
