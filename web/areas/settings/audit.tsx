/** Side panel of an audit record: changed fields with old and new values */
import { useEffect, useState } from 'preact/hooks';
import type { getAuditRecord } from '../../../api/groups/audit/records.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { toArea } from '../../frame/address.ts';
import { renderText, toText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

/** Settings pages of changed resources, by resource type */
const pagePaths: Readonly<Record<string, string>> = {
  user: '/settings/people',
  'license-key': '/settings/keys',
  'service-account': '/settings/service-accounts',
};

const ResourceLink = ({
  resource: { type, id, name },
}: {
  readonly resource: ResponseBody<typeof getAuditRecord>['resource'];
}) => {
  const path = pagePaths[type];
  return path === undefined ? null : (
    <li>
      <Link url={toArea(path, { open: id })}>
        View {type.replaceAll('-', ' ')} {renderText(name ?? id)}
      </Link>
    </li>
  );
};

export const AuditRecordPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const [query] = useState(() => new ApiQuery(declareCall<typeof getAuditRecord>('GET', '/api/audit/{id}')));
  useEffect(() => {
    query.run({ params: { id } });
    return () => query.cancel();
  }, [id]);
  const { response, error } = query.state.value;
  return (
    <SidePanel label="Audit record" title={response?.action ?? 'Audit record'} onClose={onClose}>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <Fields
            values={{
              time: formatIsoTime(response.at),
              actor: response.actor.name ?? response.actor.id,
              source: response.address,
              action: `${response.resource.type} ${response.resource.id}`,
              request: response.requestId,
            }}
          />
          <ul class="links">
            <ResourceLink resource={response.resource} />
            <li>
              <a
                href={`/api/evidence/proofs/${encodeURIComponent(id)}`}
                download={`proof-of-${response.sequence}.json`}
              >
                Download the proof of inclusion
              </a>
            </li>
          </ul>
          <table class="figures texts">
            <TableHeader columns={['Field', 'Before', 'After']} />
            <tbody>
              {(response.changes ?? []).map((change) => (
                <tr key={change.path}>
                  <td>{renderText(change.path)}</td>
                  <td>{renderText(toText(change.before))}</td>
                  <td>{renderText(toText(change.after))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </SidePanel>
  );
};
