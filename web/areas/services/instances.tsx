/** Versions, environments, runtimes, SDKs and instances of a service */
import type { showService } from '../../../api/groups/services/show.ts';
import { declareCall } from '../../client/call.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { Fields } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const serviceCall = declareCall<typeof showService>('GET', '/api/services/{name}');
/** Maximum number of displayed instances */
const maxInstances = 50;

const joinNonEmpty = (parts: readonly (string | undefined)[]): string => parts.filter((part) => part).join(' ');

export const ServiceInstances = ({ name }: { readonly name: string }) => {
  const { response, error } = useQuery(serviceCall, {
    params: { name },
    query: { ...timeRange.value, ...projectScope.value },
  });
  return (
    <section aria-label="Instances">
      <h3>Instances</h3>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <Fields
            values={{
              versions: response.versions.map(({ version }) => version).join(', '),
              environments: response.environments.join(', '),
              runtimes: response.runtimes
                .map(({ language, name, version }) => joinNonEmpty([language, name, version]))
                .join(', '),
              SDKs: response.sdks.map(({ name, version }) => joinNonEmpty([name, version])).join(', '),
            }}
          />
          <table class="figures texts">
            <TableHeader columns={['Instance', 'Version', 'Host', 'Last seen']} />
            <tbody>
              {response.instances.slice(0, maxInstances).map(({ id, version, host, pod, lastSeen }) => (
                <tr key={id}>
                  <td>
                    <bdi>{renderText(id)}</bdi>
                  </td>
                  <td>{renderText(version)}</td>
                  <td>{renderText(host || pod)}</td>
                  <td>{formatIsoSecond(lastSeen)}</td>
                </tr>
              ))}
            </tbody>
          </table>
          {response.instances.length > maxInstances ? (
            <p class="soft">And {response.instances.length - maxInstances} more.</p>
          ) : null}
        </>
      )}
    </section>
  );
};
