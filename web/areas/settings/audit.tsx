/** Side panel of an audit record: changed fields with old and new values */
import { useEffect, useState } from 'preact/hooks';
import type { getAuditRecord } from '../../../api/groups/audit/records.ts';
import { type Answered, callOf } from '../../client/call.ts';
import { ApiQuery } from '../../client/query.ts';
import { toArea } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { shownText, textOf } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

/** Locations in the page of changed resources, by type */
const places: Readonly<Record<string, string>> = {
  user: '/settings/people',
  'license-key': '/settings/keys',
  'service-account': '/settings/service-accounts',
};

const Changed = ({ of: { type, id, name } }: { readonly of: Answered<typeof getAuditRecord>['resource'] }) => {
  const place = places[type];
  return place === undefined ? null : (
    <li>
      <Link to={toArea(place, { open: id })}>
        View {type.replaceAll('-', ' ')} {shownText(name ?? id)}
      </Link>
    </li>
  );
};

export const OpenAuditRecord = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const [query] = useState(() => new ApiQuery(callOf<typeof getAuditRecord>('GET', '/api/audit/{id}')));
  useEffect(() => {
    query.run({ params: { id } });
    return () => query.cancel();
  }, [id]);
  const { answer, error } = query.state.value;
  return (
    <SidePanel label="Audit record" title={answer?.action ?? 'Audit record'} onClose={onClose}>
      <Problem error={error} />
      {answer === undefined ? null : (
        <>
          <Fields
            values={{
              time: shownMoment(answer.at),
              actor: answer.actor.name ?? answer.actor.id,
              source: answer.address,
              action: `${answer.resource.type} ${answer.resource.id}`,
              request: answer.requestId,
            }}
          />
          <ul class="links">
            <Changed of={answer.resource} />
            <li>
              <a href={`/api/evidence/proofs/${encodeURIComponent(id)}`} download={`proof-of-${answer.sequence}.json`}>
                Download the proof of inclusion
              </a>
            </li>
          </ul>
          <table class="figures texts">
            <TableHeader columns={['Field', 'Before', 'After']} />
            <tbody>
              {(answer.changes ?? []).map((change) => (
                <tr key={change.path}>
                  <td>{shownText(change.path)}</td>
                  <td>{shownText(textOf(change.before))}</td>
                  <td>{shownText(textOf(change.after))}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </SidePanel>
  );
};
