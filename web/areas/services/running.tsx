/** What a service runs: versions, environments, runtimes, SDKs and instances */
import type { showService } from '../../../api/groups/services/show.ts';
import { callOf } from '../../client/call.ts';
import { Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { writtenRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const serviceCall = callOf<typeof showService>('GET', '/api/services/{name}');
/** Maximum number of displayed instances */
const maxInstances = 50;

const joinNonEmpty = (parts: readonly (string | undefined)[]): string => parts.filter((part) => part).join(' ');

export const ServiceInstances = ({ name }: { readonly name: string }) => {
  const { answer, error } = useQuery(serviceCall, {
    params: { name },
    query: { ...writtenRange.value, ...projectScope.value },
  });
  return (
    <section aria-label="Instances">
      <h3>Instances</h3>
      <Problem error={error} />
      {answer === undefined ? null : (
        <>
          <Fields
            values={{
              versions: answer.versions.map(({ version }) => version).join(', '),
              environments: answer.environments.join(', '),
              runtimes: answer.runtimes
                .map(({ language, name, version }) => joinNonEmpty([language, name, version]))
                .join(', '),
              SDKs: answer.sdks.map(({ name, version }) => joinNonEmpty([name, version])).join(', '),
            }}
          />
          <table class="figures texts">
            <TableHeader columns={['Instance', 'Version', 'Host', 'Last seen']} />
            <tbody>
              {answer.instances.slice(0, maxInstances).map(({ id, version, host, pod, lastSeen }) => (
                <tr key={id}>
                  <td>
                    <bdi>{shownText(id)}</bdi>
                  </td>
                  <td>{shownText(version)}</td>
                  <td>{shownText(host || pod)}</td>
                  <td>{shownMoment(lastSeen).slice(0, 19)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {answer.instances.length > maxInstances ? (
            <p class="soft">And {answer.instances.length - maxInstances} more.</p>
          ) : null}
        </>
      )}
    </section>
  );
};
