/** Deployments of a service in the selected time range, with their verdicts */
import type { listServiceDeployments } from '../../../api/groups/services/list-deployments.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { lazyLoad } from '../../frame/lazy-load.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { formatErrors, formatQuantile } from './figures.ts';

const RecordDeployment = lazyLoad(async () => (await import('./record-deployment.tsx')).RecordDeployment);

const deploymentsCall = declareCall<typeof listServiceDeployments>('GET', '/api/services/{name}/deployments');
type Deployment = ResponseBody<typeof listServiceDeployments>['items'][number];
type HourMetrics = Deployment['before'];

const verdictClasses: Readonly<Record<string, string>> = { degradations: 'text-error', unknown: 'soft' };

const formatVersions = ({ version, previousVersion, isRollback }: Deployment): string =>
  [
    version === '' ? 'unnamed version' : version,
    previousVersion === null ? '' : `${isRollback === true ? 'rollback from' : 'after'} ${previousVersion}`,
  ].join(' ');

/** Requests, errors and latencies in the hour before and the hour after a deployment. */
const BeforeAfterTable = ({ before, after }: Deployment) => (
  <table class="figures">
    <TableHeader columns={['Hour', 'Requests', 'Errors', 'p50', 'p95']} />
    <tbody>
      {(
        [
          ['before', before],
          ['after', after],
        ] as const satisfies readonly (readonly [string, HourMetrics])[]
      ).map(([name, hourMetrics]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          {'figures' in hourMetrics ? (
            <>
              <td>{hourMetrics.figures.requests}</td>
              <td class="text-error">{formatErrors(hourMetrics.figures)}</td>
              <td>{formatQuantile(hourMetrics.figures, 'p50')}</td>
              <td>{formatQuantile(hourMetrics.figures, 'p95')}</td>
            </>
          ) : (
            <td colSpan={4}>no data: {renderText(hourMetrics.reason)}</td>
          )}
        </tr>
      ))}
    </tbody>
  </table>
);

export const Deployments = ({ name }: { readonly name: string }) => {
  const { response, error } = useQuery(deploymentsCall, {
    params: { name },
    query: { ...timeRange.value, ...projectScope.value },
  });
  return (
    <section aria-label="Deployments">
      <h3>Deployments</h3>
      <ErrorMessage error={error} />
      {response?.items.length === 0 ? <p class="soft">No deployments in this range.</p> : null}
      {response?.items.map((deployment) => (
        <details key={deployment.id}>
          <summary>
            {formatIsoSecond(deployment.time)} <bdi>{renderText(formatVersions(deployment))}</bdi>:{' '}
            <b class={verdictClasses[deployment.verdict] ?? ''}>{deployment.verdict}</b>
          </summary>
          <p>{renderText(deployment.reason)}</p>
          <p>{renderText(deployment.description, { lines: true })}</p>
          <BeforeAfterTable {...deployment} />
        </details>
      ))}
      {response?.nextCursor == null ? null : <p class="soft">Earlier deployments in this range are not shown.</p>}
      <RecordDeployment service={name} />
    </section>
  );
};
