/** Operations of a service, the slowest first */

import { Skeleton } from '../../components/skeleton.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { endpointsCall } from './calls.ts';
import { formatErrors, formatQuantile, formatRequests } from './figures.ts';

export const Operations = ({ name }: { readonly name: string }) => {
  const { response, error } = useQuery(endpointsCall, {
    params: { name },
    query: { ...timeRange.value, ...projectScope.value, sort: '-p95', limit: 100 },
  });
  if (response === undefined) return error === undefined ? <Skeleton /> : <ErrorMessage error={error} />;
  if (response.items.length === 0) return <p class="soft">No operations in this range.</p>;
  return (
    <>
      <table class="figures of-requests">
        <TableHeader columns={['Name', 'Requests', 'Errors', 'p50', 'p95', 'p99']} />
        <tbody>
          {response.items.map(({ name: operation, kind, figures: metrics }) => (
            <tr key={`${kind} ${operation}`}>
              <td>
                <bdi>{renderText(operation)}</bdi>
              </td>
              <td>{formatRequests(metrics)}</td>
              <td class="text-error">{formatErrors(metrics)}</td>
              <td>{formatQuantile(metrics, 'p50')}</td>
              <td>{formatQuantile(metrics, 'p95')}</td>
              <td>{formatQuantile(metrics, 'p99')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {response.nextCursor ? <p class="soft">Only the slowest operations are shown.</p> : null}
    </>
  );
};
