/** Secrets in telemetry, and the panel of one secret */
import { toArea } from '../../frame/address.ts';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { type Secret, secretsCall, triageSecretCall } from './calls.ts';
import { describeState, stateFilter, TriageForm } from './triage.tsx';

const OwnKey = ({ ownKey }: Pick<Secret, 'ownKey'>) =>
  ownKey === null ? null : (
    <>
      <h3>Key of this platform</h3>
      <Fields
        values={{
          Kind: ownKey.kind,
          Name: ownKey.name,
          State: ownKey.isActive ? 'active: revoke it' : 'no longer works',
          'How to revoke': ownKey.revokeWith,
        }}
      />
      {ownKey.kind !== 'license-key' || ownKey.id === null ? null : (
        <p>
          <Link url={toArea('/settings/keys', { open: ownKey.id })}>Open the key</Link>
        </p>
      )}
    </>
  );

const SecretPanel = ({ item, onClose }: { readonly item: Secret | undefined; readonly onClose: () => void }) =>
  item === undefined ? (
    <SidePanel label="Secret" title="Not in this list" onClose={onClose}>
      <p class="soft">The secret has no occurrence in this range, or the filters exclude it.</p>
    </SidePanel>
  ) : (
    <SidePanel label="Secret" title={item.rule} onClose={onClose}>
      <p>{item.description}</p>
      <Fields
        values={{
          'Begins with': item.preview,
          Service: item.service,
          Field: item.field,
          Records: item.records,
          Occurrences: item.count,
          First: formatIsoSecond(item.firstTime),
          Last: formatIsoSecond(item.lastTime),
          Stored: item.isRedacted ? 'replaced before it was stored' : 'in the records',
          Fingerprint: item.fingerprint,
        }}
      />
      {item.lastRecord.recordId === '' ? null : (
        <p>
          <Link url={toArea('/logs', { record: item.lastRecord.recordId })}>Show the latest record</Link>
        </p>
      )}
      <OwnKey ownKey={item.ownKey} />
      <p class="soft">
        Revoke the secret where it was issued. To keep secrets out of storage, turn on “Replace secrets” in the{' '}
        <Link url={toArea('/settings/projects', item.projectId === '' ? {} : { open: item.projectId })}>
          settings of the project
        </Link>
        .
      </p>
      <TriageForm item={item} call={triageSecretCall} />
    </SidePanel>
  );

export const Secrets = createListView({
  title: 'Secrets',
  call: secretsCall,
  isOfProject: true,
  hasTimeRange: true,
  choices: [
    stateFilter,
    {
      name: 'key',
      label: 'Key',
      options: [
        ['', 'all'],
        ['active', 'to revoke'],
      ],
    },
  ],
  filters: ['service', 'rule', 'fingerprint'],
  emptyText: 'No secrets in logs and spans of this range.',
  toKey: ({ id }) => id,
  columns: {
    Rule: ({ rule }) => rule,
    State: (item) => describeState(item),
    Service: ({ service }) => service,
    Field: ({ field }) => field,
    'Begins with': ({ preview, isRedacted }) => (isRedacted ? 'replaced' : preview),
    'Key to revoke': ({ ownKey }) => (ownKey === null ? '' : ownKey.isActive ? ownKey.name || ownKey.kind : 'inactive'),
    Records: ({ records }) => records,
    Last: ({ lastTime }) => formatIsoSecond(lastTime),
  },
  numericColumns: ['Records'],
  wideColumns: ['Field', 'Begins with'],
  ItemPanel: SecretPanel,
});
