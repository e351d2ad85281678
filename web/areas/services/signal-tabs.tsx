/** Tabs of a service with its latest logs, its slowest traces and its SLOs, each with a link to the whole list */
import { ChartGantt, Gauge, ScrollText } from 'lucide';
import type { ComponentChildren } from 'preact';
import type { sloResource } from '../../../api/groups/slos/slo.ts';
import type { ResourceView } from '../../client/call.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import type { IconShape } from '../../components/icon.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText, toText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { formatTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { isPermitted } from '../../frame/rights.ts';
import { toSeverityLevel } from '../../frame/severity.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { logsCall } from '../logs/calls.ts';
import { slosCall } from '../slos/calls.ts';
import { tracesCall } from '../traces/calls.ts';

/** Maximum number of rows of a tab */
const maxRows = 25;
/** Maximum number of shown characters of a log record */
const maxBodyLength = 300;

interface TabProps {
  readonly name: string;
}

const RelatedCard = ({
  title,
  note,
  link,
  columns,
  numericColumns = [],
  emptyText,
  rows,
  error,
}: {
  readonly title: string;
  readonly note?: string;
  readonly link: readonly [title: string, url: string, icon: IconShape];
  readonly columns: readonly string[];
  readonly numericColumns?: readonly string[];
  readonly emptyText: string;
  /** `undefined` while they load */
  readonly rows: readonly ComponentChildren[] | undefined;
  readonly error: Parameters<typeof ErrorMessage>[0]['error'];
}) => {
  const [linkTitle, url, icon] = link;
  return (
    <Card
      title={title}
      note={note}
      isFlush
      actions={
        <ButtonLink kind="quiet" icon={icon} url={url}>
          {linkTitle}
        </ButtonLink>
      }
    >
      <ErrorMessage error={error} />
      {rows === undefined ? (
        error === undefined && <Skeleton />
      ) : rows.length === 0 ? (
        <p class="soft card-text">{emptyText}</p>
      ) : (
        <table class="figures texts">
          <TableHeader columns={columns} numericColumns={numericColumns} />
          <tbody>{rows}</tbody>
        </table>
      )}
    </Card>
  );
};

export const LogsTab = ({ name }: TabProps) => {
  const search = toCondition('service', name);
  const { response, error } = useQuery(logsCall, {
    query: { ...timeRange.value, ...projectScope.value, search, limit: maxRows },
  });
  return (
    <RelatedCard
      title="Logs"
      note="latest first"
      link={['Open in logs', toArea('/logs', { search }), ScrollText]}
      columns={['Time', 'Level', 'Message']}
      emptyText="No logs of this service in this range."
      error={error}
      rows={response?.items.map((item) => {
        const { id, timestamp, severity, body } = item as Readonly<Record<string, unknown>>;
        const level = toText(severity);
        return (
          <tr key={toText(id)}>
            <td class="no-wrap">
              <Link url={toArea('/logs', { search, record: toText(id) })}>
                {formatTime(Date.parse(toText(timestamp)))}
              </Link>
            </td>
            <td class={`text-${toSeverityLevel(level)}`}>{renderText(level)}</td>
            <td>
              <bdi>{renderText(toText(body).slice(0, maxBodyLength))}</bdi>
            </td>
          </tr>
        );
      })}
    />
  );
};

export const TracesTab = ({ name }: TabProps) => {
  const search = toCondition('service', name);
  const { response, error } = useQuery(tracesCall, {
    query: { ...timeRange.value, ...projectScope.value, search, limit: maxRows },
  });
  return (
    <RelatedCard
      title="Traces"
      note="latest first"
      link={['Open in traces', toArea('/traces', { search }), ChartGantt]}
      columns={['Start', 'Operation', 'Duration', 'Spans', 'Errors']}
      numericColumns={['Duration', 'Spans', 'Errors']}
      emptyText="No traces of this service in this range."
      error={error}
      rows={response?.items.map(({ traceId, startTime, rootService, rootName, durationNs, spanCount, errorCount }) => (
        <tr key={traceId}>
          <td class="no-wrap">
            <Link url={toArea(`/traces/${traceId}`)}>{formatTime(Date.parse(startTime))}</Link>
          </td>
          <td>
            <bdi>{renderText(`${rootService}: ${rootName}`)}</bdi>
          </td>
          <td class="number">{formatDuration(durationNs)}</td>
          <td class="number">{spanCount}</td>
          <td class={errorCount === 0 ? 'number' : 'number text-error'}>{errorCount}</td>
        </tr>
      ))}
    />
  );
};

type Slo = ResourceView<typeof sloResource>;

/** Remaining error budget below which an SLO is at risk, in percent */
const riskPercent = 25;

const getSloState = (remaining: number | null): readonly [title: string, tone: Tone] => {
  if (remaining === null) return ['No data', 'neutral'];
  if (remaining < 0) return ['Breached', 'critical'];
  return remaining < riskPercent ? ['At risk', 'warning'] : ['Met', 'ok'];
};

const formatShare = (percent: number | null | undefined, decimals: number): string =>
  percent == null ? '–' : `${percent.toFixed(decimals)} %`;

const SloRow = ({ slo: { id, name, targetPct, status } }: { readonly slo: Slo }) => {
  const measured = status === null || status.hasNoData ? undefined : status;
  const remaining = measured?.budget.remainingPct ?? null;
  const [title, tone] = getSloState(remaining);
  return (
    <tr>
      <td>
        <Link url={toArea('/slos', { open: id })}>{renderText(name)}</Link>
      </td>
      <td>
        <Badge tone={tone}>{title}</Badge>
      </td>
      <td class="number">{targetPct} %</td>
      <td class="number">{formatShare(measured?.sli == null ? null : 100 * measured.sli, 3)}</td>
      <td class="number">{formatShare(remaining, 1)}</td>
    </tr>
  );
};

export const SlosTab = ({ name }: TabProps) => {
  const { response, error } = useQuery(slosCall, { query: { service: name, limit: maxRows } });
  return (
    <RelatedCard
      title="SLOs"
      link={['New SLO', toArea('/slos', { open: 'new' }), Gauge]}
      columns={['SLO', 'State', 'Target', 'SLI', 'Budget remaining']}
      numericColumns={['Target', 'SLI', 'Budget remaining']}
      emptyText="No SLO of this service yet. An SLO states how reliable it should be, and warns when the error budget is spent too fast."
      error={error}
      rows={response?.items.map((slo) => <SloRow key={slo.id} slo={slo} />)}
    />
  );
};

/** Returns whether the user may see a tab. */
export const isTabPermitted = (tab: string): boolean => {
  const calls = { logs: logsCall, traces: tracesCall, slos: slosCall };
  return Object.hasOwn(calls, tab) ? isPermitted(calls[tab as keyof typeof calls]) : true;
};
