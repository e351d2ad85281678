/** Users, hosts, processes and addresses by risk, with the contributing signals */

import type { getEntity, listEntities } from '../../../api/groups/siem/entities.ts';
import { formatNumber } from '../../charts/values.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { SeverityBadge } from '../../frame/severity-badge.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';

const entityCall = declareCall<typeof getEntity>('GET', '/api/siem/entities/{type}/{value}');
type Entity = ResponseBody<typeof getEntity>;

const formatRisk = (score: number): string => (score < 10 ? score.toFixed(1) : formatNumber(score));

const EntityDetails = ({ entity }: { readonly entity: Entity }) => (
  <>
    <ul class="links">
      <li>
        <Link
          url={toArea('/detections', {
            entity: `${entity.type} ${entity.value}`,
            from: `now-${entity.days}d`,
            to: 'now',
          })}
        >
          All signals
        </Link>
      </li>
    </ul>
    <Fields
      values={{ risk: formatRisk(entity.score), signals: entity.signals, 'half-life': `${entity.halfLifeHours} hours` }}
    />
    <h3>Contributing signals</h3>
    <table class="figures texts">
      <TableHeader columns={['Signal', 'Severity', 'Time', 'Risk']} />
      <tbody>
        {entity.shares.map(({ signalId, ruleTitle, severity, time, share }) => (
          <tr key={signalId}>
            <td>
              <Link url={toArea('/detections', { open: signalId })}>
                <bdi>{renderText(ruleTitle)}</bdi>
              </Link>
            </td>
            <td>
              <SeverityBadge severity={severity} />
            </td>
            <td>{formatIsoMinute(time)}</td>
            <td class="number">{formatRisk(share)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
);

const EntityPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const separatorIndex = id.indexOf(' ');
  const params = { type: id.slice(0, separatorIndex), value: id.slice(separatorIndex + 1) };
  const { response, error } = useQuery(entityCall, { params, query: {} });
  return (
    <SidePanel label="Entity" title={id} onClose={onClose}>
      <ErrorMessage error={error} />
      {response === undefined ? null : <EntityDetails entity={response} />}
    </SidePanel>
  );
};

export const Entities = createListView({
  title: 'Entities',
  call: declareCall<typeof listEntities>('GET', '/api/siem/entities'),
  choices: [
    {
      name: 'type',
      label: 'Type',
      options: [['', 'all'], ...['user', 'host', 'process', 'address'].map((type) => [type, type] as const)],
    },
  ],
  emptyText: 'No entities with signals in this range.',
  toKey: ({ type, value }) => `${type} ${value}`,
  columns: {
    Entity: ({ type, value }) => `${type} ${value}`,
    Risk: ({ score }) => formatRisk(score),
    Signals: ({ signals }) => signals,
    'Top rule': ({ shares }) => shares[0]?.ruleTitle,
    'Last signal': ({ lastSignalAt }) => formatIsoMinute(lastSignalAt),
  },
  wideColumns: ['Top rule', 'Last signal'],
  numericColumns: ['Risk', 'Signals'],
  ItemPanel: EntityPanel,
});
