/** Panels that list traces, alerts and dashboards, with links. The code is loaded on first use. */
import { useEffect, useState } from 'preact/hooks';
import { ApiQuery } from '../../../client/query.ts';
import { readAllParams, toArea } from '../../../frame/address.ts';
import { renderText, toText } from '../../../frame/display-text.tsx';
import { formatDuration } from '../../../frame/durations.ts';
import { formatTime } from '../../../frame/format-time.ts';
import { ErrorMessage } from '../../../frame/freshness.tsx';
import { Link } from '../../../frame/link.tsx';
import { isPermitted } from '../../../frame/rights.ts';
import { toSeverityLevel } from '../../../frame/severity.ts';
import { refreshCount } from '../../../frame/time-range.ts';
import { ScrollRegion } from '../../../lists/scroll-region.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { formatLabels, formatValue } from '../../alerts/alert-format.ts';
import { type Alert, alertsCall } from '../../alerts/calls.ts';
import { listDashboardsCall, type Visual } from '../calls.ts';
import { getTables } from '../fields.ts';
import { type AlertListSettings, groupAlerts, selectAlerts, toStateFilter } from './alerts-shown.ts';
import type { PanelProps } from './panel-props.ts';
import { TablePanel } from './table.tsx';

const renderMessage = (message: string) => (
  <p class="soft" role="status">
    {message}
  </p>
);

/** Spans, each with a link to its trace. */
export const TracesPanel = (props: PanelProps) => {
  const { panel } = props;
  const maxSpans = (panel.visual['max'] as number | undefined) ?? 100;
  const spans = getTables(panel).flatMap(({ columns, rows }) => {
    const findColumnIndex = (...names: readonly string[]): number =>
      columns.findIndex(({ name }) => names.includes(name));
    const trace = findColumnIndex('traceId', 'trace_id');
    const [time, service, name] = [
      findColumnIndex('startTime', 'timestamp'),
      findColumnIndex('service'),
      findColumnIndex('name'),
    ];
    const [duration, status] = [findColumnIndex('durationNs', 'duration'), findColumnIndex('status')];
    return trace === -1
      ? []
      : rows.map((row) => ({
          trace: toText(row[trace]),
          time: row[time],
          service: toText(row[service] ?? ''),
          name: toText(row[name] ?? ''),
          duration: row[duration],
          failed: row[status] === 'error',
        }));
  });
  // A result without trace ids is displayed as a table.
  if (spans.length === 0) return <TablePanel {...props} />;
  return (
    <ScrollRegion class="panel-rows" label={`Traces of ${panel.title === '' ? 'the panel' : panel.title}`}>
      <table class="figures texts">
        <TableHeader columns={['Trace', 'Service', 'Duration', 'Status', 'Start']} />
        <tbody>
          {spans.slice(0, maxSpans).map(({ trace, time, service, name, duration, failed: hasFailed }, index) => (
            <tr key={`${index} ${trace}`}>
              <td>
                <Link url={toArea(`/traces/${encodeURIComponent(trace)}`)}>
                  <bdi>{renderText(name === '' ? trace : name)}</bdi>
                </Link>
              </td>
              <td>
                <bdi>{renderText(service)}</bdi>
              </td>
              <td class="number">{duration === undefined ? '' : formatDuration(String(duration))}</td>
              <td class={hasFailed ? 'text-error' : ''}>{hasFailed ? 'failed' : ''}</td>
              <td>{time === undefined ? '' : formatTime(Date.parse(String(time)))}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
};

const AlertItem = ({ alert }: { readonly alert: Alert }) => (
  <li>
    <span class={alert.state === 'firing' ? `text-${toSeverityLevel(alert.severity)}` : 'soft'}>
      {alert.state === 'firing' ? (alert.severity ?? alert.state) : alert.state}
    </span>{' '}
    <Link url={toArea('/alerts', { alert: alert.id })}>
      <bdi>{renderText(alert.ruleName)}</bdi>
    </Link>{' '}
    <bdi>{renderText(formatLabels(alert.labels))}</bdi> {formatValue(alert.value)}{' '}
    {alert.since === null ? null : <span class="soft">since {formatTime(Date.parse(alert.since))}</span>}
  </li>
);

export const AlertsPanel = ({ panel, isSnapshot }: PanelProps) => {
  const [query] = useState(() => new ApiQuery(alertsCall));
  const visual = panel.visual as AlertListSettings;
  const state = toStateFilter(visual);
  useEffect(() => {
    if (!isSnapshot && isPermitted(alertsCall)) query.run({ query: { state, limit: 1000 } });
    return () => query.cancel();
  }, [isSnapshot, state, refreshCount.value]);
  if (isSnapshot) return renderMessage('Snapshots do not contain alerts.');
  if (!isPermitted(alertsCall)) return renderMessage('Your role or plan has no access to alerts.');
  const { response, error } = query.state.value;
  if (response === undefined) return error === undefined ? null : <ErrorMessage error={error} />;
  const matchingAlerts = selectAlerts(response.items, visual);
  if (matchingAlerts === undefined)
    return <p class="problem-text">Labels could not be read: {renderText(visual.labels ?? '')}</p>;
  if (visual.shows === 'count')
    return (
      <dl class="stats">
        <div class="stat">
          <dt>{matchingAlerts.length === 1 ? 'alert' : 'alerts'}</dt>
          <dd>{matchingAlerts.length}</dd>
        </div>
      </dl>
    );
  if (matchingAlerts.length === 0) return renderMessage('No matching alerts.');
  const visibleAlerts = matchingAlerts.slice(0, visual.max ?? 20);
  return (
    <>
      <ErrorMessage error={error} />
      {groupAlerts(visibleAlerts, visual.groupBy ?? []).map(([name, alerts]) => (
        <div key={name}>
          {name === '' ? null : (
            <h3>
              <bdi>{renderText(name)}</bdi>
            </h3>
          )}
          <ul class="around">
            {alerts.map((alert) => (
              <AlertItem key={alert.id} alert={alert} />
            ))}
          </ul>
        </div>
      ))}
      {matchingAlerts.length > visibleAlerts.length ? (
        <p class="soft">{matchingAlerts.length - visibleAlerts.length} more.</p>
      ) : null}
    </>
  );
};

type DashboardListSettings = Partial<Extract<Visual, { kind: 'dashboards' }>>;

/** Returns the URL of a dashboard, with range and variables if the panel preserves them. */
const buildDashboardUrl = (id: string, { keepTime = false, keepVariables = false }: DashboardListSettings): string => {
  const addressParams = new URLSearchParams();
  const names = [...new Set(new URLSearchParams(location.search).keys())];
  for (const name of names)
    if ((keepTime && (name === 'from' || name === 'to')) || (keepVariables && name.startsWith('var-')))
      for (const value of readAllParams(name)) addressParams.append(name, value);
  return `/dashboards/${encodeURIComponent(id)}${addressParams.size === 0 ? '' : `?${addressParams}`}`;
};

export const DashboardsPanel = ({ panel, isSnapshot }: PanelProps) => {
  const [query] = useState(() => new ApiQuery(listDashboardsCall));
  const visual = panel.visual as DashboardListSettings;
  const { search = '', folder = '', tags = [], max: maxItems = 10, found: hasSearch = true } = visual;
  const [tag = ''] = tags;
  useEffect(() => {
    if (!isSnapshot && hasSearch) query.run({ query: { search, folder, tag, sort: 'name', limit: 100 } });
    return () => query.cancel();
  }, [isSnapshot, hasSearch, search, folder, tag, refreshCount.value]);
  if (isSnapshot) return renderMessage('Snapshots do not contain dashboard lists.');
  if (!hasSearch) return renderMessage('Starred and recently opened dashboards are not available.');
  const { response, error } = query.state.value;
  if (response === undefined) return error === undefined ? null : <ErrorMessage error={error} />;
  const items = response.items.filter((item) => tags.every((expectedTag) => item.tags.includes(expectedTag)));
  if (items.length === 0) return renderMessage('No matching dashboards.');
  return (
    <ul class="links column">
      {items.slice(0, maxItems).map((item) => (
        <li key={item.id}>
          <Link url={buildDashboardUrl(item.id, visual)}>
            <bdi>{renderText(item.name)}</bdi>
          </Link>{' '}
          <span class="soft">{renderText(item.folder)}</span>
        </li>
      ))}
    </ul>
  );
};
