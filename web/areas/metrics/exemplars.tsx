/** Exemplars of the displayed metric, with their traces */
import type { listExemplars } from '../../../api/groups/metrics/exemplars.ts';
import { formatQuantity } from '../../charts/values.ts';
import { declareCall } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const exemplarsCall = declareCall<typeof listExemplars>('GET', '/api/metrics/exemplars');

const formatLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .filter(([name]) => !name.startsWith('resource.'))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** Table of exemplars; renders nothing for a metric without exemplars, which is the usual case. */
export const Exemplars = ({ metric, unit }: { readonly metric: string; readonly unit: string }) => {
  const { response, error } = useQuery(exemplarsCall, {
    query: { metric, ...timeRange.value, ...projectScope.value, limit: 50 },
  });
  if (error !== undefined) return <ErrorMessage error={error} />;
  if (response === undefined || response.items.length === 0) return null;
  return (
    <details>
      <summary>
        {response.items.length === 1 ? 'One measurement' : `${response.items.length} measurements`} with a trace
        {response.nextCursor === null ? '' : ', and more'}
      </summary>
      <ScrollRegion class="numbers" label="Exemplars">
        <table class="figures texts">
          <TableHeader columns={['Time', 'Value', 'Trace', 'Series']} />
          <tbody>
            {response.items.map(({ timestamp, value, traceId, spanId, labels, seriesId }) => (
              <tr key={`${seriesId} ${timestamp} ${traceId}`}>
                <td>{formatIsoTime(timestamp).slice(0, 23)}</td>
                <td>{typeof value === 'number' ? formatQuantity(value, unit) : renderText(String(value))}</td>
                <td>
                  {traceId === null ? (
                    ''
                  ) : (
                    <Link url={toArea(`/traces/${traceId}`, spanId === null ? {} : { span: spanId })}>
                      {traceId.slice(0, 8)}
                    </Link>
                  )}
                </td>
                <td>{renderText(formatLabels(labels))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </details>
  );
};
