/** Exemplars of the displayed metric, with their traces */
import type { listExemplars } from '../../../api/groups/metrics/exemplars.ts';
import { shownValue } from '../../charts/values.ts';
import { callOf } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const exemplarsCall = callOf<typeof listExemplars>('GET', '/api/metrics/exemplars');

const formatLabels = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .filter(([name]) => !name.startsWith('resource.'))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');

/** Table of exemplars; renders nothing for a metric without exemplars, which is the usual case. */
export const Exemplars = ({ metric, unit }: { readonly metric: string; readonly unit: string }) => {
  const { answer, error } = useQuery(exemplarsCall, {
    query: { metric, ...writtenRange.value, ...projectScope.value, limit: 50 },
  });
  if (error !== undefined) return <Problem error={error} />;
  if (answer === undefined || answer.items.length === 0) return null;
  return (
    <details>
      <summary>
        {answer.items.length === 1 ? 'One measurement' : `${answer.items.length} measurements`} with a trace
        {answer.nextCursor === null ? '' : ', and more'}
      </summary>
      <Scrolled class="numbers" label="Exemplars">
        <table class="figures texts">
          <TableHeader columns={['Time', 'Value', 'Trace', 'Series']} />
          <tbody>
            {answer.items.map(({ timestamp, value, traceId, spanId, labels, seriesId }) => (
              <tr key={`${seriesId} ${timestamp} ${traceId}`}>
                <td>{shownMoment(timestamp).slice(0, 23)}</td>
                <td>{typeof value === 'number' ? shownValue(value, unit) : shownText(String(value))}</td>
                <td>
                  {traceId === null ? (
                    ''
                  ) : (
                    <Link to={toArea(`/traces/${traceId}`, spanId === null ? {} : { span: spanId })}>
                      {traceId.slice(0, 8)}
                    </Link>
                  )}
                </td>
                <td>{shownText(formatLabels(labels))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scrolled>
    </details>
  );
};
