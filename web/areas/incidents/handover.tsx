/** Handover of a schedule: who is on call until when, who takes over, and what the next person must know */

import type { ComponentChildren } from 'preact';
import type { listAlerts } from '../../../api/groups/alerts/alerts.ts';
import { declareCall } from '../../client/call.ts';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { StatTile } from '../../components/stat-tile.tsx';
import { formatRuleName } from '../../frame/action-titles.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { formatNames, type NamesById } from '../../frame/people.ts';
import { isPermitted } from '../../frame/rights.ts';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Incident, incidentsCall, pagesCall } from './calls.ts';
import type { findHandover, ShiftOrGap } from './shifts.ts';

const alertsCall = declareCall<typeof listAlerts>('GET', '/api/alerts');

/** Maximum number of rows of a table */
const maxRows = 20;

const formatPeople = ({ userIds }: ShiftOrGap, names: NamesById): string =>
  userIds.length === 0 ? 'No one' : formatNames(userIds, names);

/** Who is on call until when, and who takes over. */
export const HandoverTiles = ({
  handover: { current, next },
  names,
}: {
  readonly handover: ReturnType<typeof findHandover>;
  readonly names: NamesById;
}) => (
  <div class="handover">
    {current === undefined ? null : (
      <StatTile
        title="On call now"
        value={renderText(formatPeople(current, names))}
        note={`${next === undefined ? 'no handover before' : 'until'} ${formatIsoMinute(current.to)}`}
      />
    )}
    {next === undefined ? null : (
      <StatTile
        title="Next"
        value={renderText(formatPeople(next, names))}
        note={`from ${formatIsoMinute(next.from)}`}
      />
    )}
  </div>
);

const IncidentRows = ({ incidents }: { readonly incidents: readonly Incident[] }) => (
  <table class="figures texts">
    <TableHeader columns={['Incident', 'Status', 'Severity', 'Opened']} />
    <tbody>
      {incidents.map(({ id, title, status, severity, openedAt }) => (
        <tr key={id}>
          <td>
            <Link url={toArea('/incidents', { incident: id })}>{renderText(title)}</Link>
          </td>
          <td>{status}</td>
          <td>
            <SeverityBadge severity={severity} />
          </td>
          <td>{formatIsoMinute(openedAt)}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const formatCount = (items: readonly unknown[]): string =>
  items.length < maxRows ? String(items.length) : `${maxRows}+`;

interface SummaryInput {
  readonly scheduleName: string;
  readonly current: ShiftOrGap;
  readonly next: ShiftOrGap | undefined;
  readonly names: NamesById;
  readonly openIncidents: readonly Pick<Incident, 'title' | 'status' | 'openedAt'>[];
  readonly firingAlerts: readonly { readonly ruleName: string; readonly reason: string }[];
}

/** Returns the handover as Markdown, for a chat or a document. */
export const formatHandover = ({
  scheduleName,
  current,
  next,
  names,
  openIncidents,
  firingAlerts,
}: SummaryInput): string => {
  const listLines = (title: string, lines: readonly string[]): string[] => [
    '',
    `${title}: ${lines.length === 0 ? 'none' : lines.length}`,
    ...lines.map((line) => `- ${line}`),
  ];
  return [
    `Handover of ${scheduleName}`,
    `From: ${formatPeople(current, names)}, on call since ${formatIsoMinute(current.from)}`,
    ...(next === undefined ? [] : [`To: ${formatPeople(next, names)}, from ${formatIsoMinute(next.from)}`]),
    ...listLines(
      'Open incidents',
      openIncidents.map(({ title, status, openedAt }) => `${title} (${status} since ${formatIsoMinute(openedAt)})`),
    ),
    ...listLines(
      'Firing alerts',
      firingAlerts.map(({ ruleName, reason }) => `${formatRuleName(ruleName)}: ${reason}`),
    ),
  ].join('\n');
};

const FiringAlerts = ({ scheduleName, current, next, names, openIncidents }: Omit<SummaryInput, 'firingAlerts'>) => {
  const { response, error } = useQuery(alertsCall, { query: { state: 'firing', limit: maxRows } });
  const firingAlerts = response?.items ?? [];
  return (
    <>
      <h3>Firing alerts ({formatCount(firingAlerts)})</h3>
      <ErrorMessage error={error} />
      {firingAlerts.length === 0 ? (
        <p class="soft">No alerts are firing.</p>
      ) : (
        <table class="figures texts">
          <TableHeader columns={['Alert', 'Severity', 'Reason', 'Firing since']} />
          <tbody>
            {firingAlerts.map(({ id, ruleName, severity, reason, since }) => (
              <tr key={id}>
                <td>
                  <Link url={toArea('/alerts', { alert: id })}>{renderText(formatRuleName(ruleName))}</Link>
                </td>
                <td>
                  <SeverityBadge severity={severity} />
                </td>
                <td>{renderText(reason)}</td>
                <td>{formatIsoMinute(since)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div class="act">
        <CopyButton
          label="Copy handover"
          text={formatHandover({ scheduleName, current, next, names, openIncidents, firingAlerts })}
        />
      </div>
    </>
  );
};

/** What the person who takes over must know: open incidents, firing alerts, and what happened in the shift. */
export const HandoverReport = ({
  scheduleName,
  handover: { current, next },
  names,
}: {
  readonly scheduleName: string;
  readonly handover: ReturnType<typeof findHandover>;
  readonly names: NamesById;
}) => {
  const shiftStart = current?.from ?? new Date().toISOString();
  const shiftIncidents = useQuery(incidentsCall, { query: { from: shiftStart, sort: '-openedAt', limit: maxRows } });
  const open = useQuery(incidentsCall, { query: { status: 'open', sort: '-openedAt', limit: maxRows } });
  const acknowledged = useQuery(incidentsCall, {
    query: { status: 'acknowledged', sort: '-openedAt', limit: maxRows },
  });
  const pages = useQuery(pagesCall, { query: { from: shiftStart, limit: 1 } });
  if (current === undefined) return null;
  const openIncidents = [...(open.response?.items ?? []), ...(acknowledged.response?.items ?? [])];
  const incidents = shiftIncidents.response?.items ?? [];
  const pageCount = pages.response?.total;
  const renderIncidents = (rows: readonly Incident[], emptyText: string): ComponentChildren =>
    rows.length === 0 ? <p class="soft">{emptyText}</p> : <IncidentRows incidents={rows} />;
  return (
    <Card title="Handover" note={`shift since ${formatIsoMinute(current.from)}`}>
      <ErrorMessage error={open.error ?? acknowledged.error ?? shiftIncidents.error ?? pages.error} />
      <h3>Open incidents ({formatCount(openIncidents)})</h3>
      {renderIncidents(openIncidents, 'No incidents are open.')}
      <h3>
        Opened in this shift ({formatCount(incidents)})
        {pageCount === undefined ? '' : `, ${pageCount} ${pageCount === 1 ? 'page' : 'pages'}`}
      </h3>
      {renderIncidents(incidents, 'No incidents were opened in this shift.')}
      {isPermitted(alertsCall) ? (
        <FiringAlerts
          scheduleName={scheduleName}
          current={current}
          next={next}
          names={names}
          openIncidents={openIncidents}
        />
      ) : null}
    </Card>
  );
};
