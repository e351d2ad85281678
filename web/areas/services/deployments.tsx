/** Deployments of a service in the selected time range, with their verdicts */
import type { listServiceDeployments } from '../../../api/groups/services/judged-deployments.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { Problem } from '../../frame/freshness.tsx';
import { later } from '../../frame/lazy-load.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { TableHeader } from '../../lists/table-header.tsx';
import { formatErrors, formatQuantile } from './figures.ts';

const RecordDeployment = later(async () => (await import('./record-deployment.tsx')).RecordDeployment);

const call = callOf<typeof listServiceDeployments>('GET', '/api/services/{name}/deployments');
type Deployment = Answered<typeof listServiceDeployments>['items'][number];
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
      ).map(([name, hour]) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          {'figures' in hour ? (
            <>
              <td>{hour.figures.requests}</td>
              <td class="text-error">{formatErrors(hour.figures)}</td>
              <td>{formatQuantile(hour.figures, 'p50')}</td>
              <td>{formatQuantile(hour.figures, 'p95')}</td>
            </>
          ) : (
            <td colSpan={4}>no data: {shownText(hour.reason)}</td>
          )}
        </tr>
      ))}
    </tbody>
  </table>
);

export const Deployments = ({ name }: { readonly name: string }) => {
  const { answer, error } = useQuery(call, {
    params: { name },
    query: { ...writtenRange.value, ...projectScope.value },
  });
  return (
    <section aria-label="Deployments">
      <h3>Deployments</h3>
      <Problem error={error} />
      {answer?.items.length === 0 ? <p class="soft">No deployments in this range.</p> : null}
      {answer?.items.map((deployment) => (
        <details key={deployment.id}>
          <summary>
            {shownMoment(deployment.time).slice(0, 19)} <bdi>{shownText(formatVersions(deployment))}</bdi>:{' '}
            <b class={verdictClasses[deployment.verdict] ?? ''}>{deployment.verdict}</b>
          </summary>
          <p>{shownText(deployment.reason)}</p>
          <p>{shownText(deployment.description, { lines: true })}</p>
          <BeforeAfterTable {...deployment} />
        </details>
      ))}
      {answer?.nextCursor == null ? null : <p class="soft">Earlier deployments in this range are not shown.</p>}
      <RecordDeployment service={name} />
    </section>
  );
};
