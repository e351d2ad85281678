/** License keys: list, creation, rotation and revocation */
import { useState } from 'preact/hooks';
import type { mintLicenseKey } from '../../../api/groups/license-keys/mint-key.ts';
import type { licenseKeyResource } from '../../../api/groups/license-keys/resource.ts';
import type { revokeLicenseKey } from '../../../api/groups/license-keys/revoke.ts';
import type { rotateLicenseKey } from '../../../api/groups/license-keys/rotate.ts';
import { Action } from '../../client/action.ts';
import { declareCall, declareListCall, declareReadCall, type ResourceView } from '../../client/call.ts';
import { Confirmation } from '../../components/confirmation.tsx';
import { parseLines } from '../../editors/lines.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { readParam } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute, formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { refresh } from '../../frame/time-range.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { KeyForm } from './key-form.tsx';

type Key = ResourceView<typeof licenseKeyResource>;

/** A new key, which is displayed only once */
export const OneTimeKey = ({ secret }: { readonly secret: string }) =>
  secret === '' ? null : (
    <p role="status">
      The key is shown only once: <code>{secret}</code>
    </p>
  );

const mintCall = declareCall<typeof mintLicenseKey>('POST', '/api/license-keys');
const rotateCall = declareCall<typeof rotateLicenseKey>('POST', '/api/license-keys/{id}/rotate');

const CreateKeyForm = () => {
  const [action] = useState(() => new Action(mintCall));
  const [secret, setSecret] = useState('');
  const [kind, setKind] = useState<'server' | 'browser'>(readParam('new') === 'browser' ? 'browser' : 'server');
  if (!isPermitted(mintCall)) return null;
  const createKey = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = {
      name: String(formData.get('name')),
      projectId: String(formData.get('projectId')),
      kind,
      ...(kind === 'browser' && {
        application: String(formData.get('application')),
        origins: parseLines(String(formData.get('origins'))),
      }),
    };
    const createdKey = await action.run({ body });
    if (createdKey === undefined) return;
    form.reset();
    setKind('server');
    setSecret(kind === 'server' ? createdKey.key : '');
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create key" onSubmit={createKey}>
        <label>
          Name <input name="name" required={true} maxLength={256} autocomplete="off" />
        </label>
        <label>
          Project <input name="projectId" required={true} maxLength={128} defaultValue="default" autocomplete="off" />
        </label>
        <label>
          Kind{' '}
          <select value={kind} onChange={({ currentTarget }) => setKind(currentTarget.value as typeof kind)}>
            <option value="server">Server (secret)</option>
            <option value="browser">Browser (public)</option>
          </select>
        </label>
        {kind === 'browser' ? (
          <>
            <label>
              Application <input name="application" required={true} maxLength={256} autocomplete="off" />
            </label>
            <label>
              Origins, one per line{' '}
              <textarea name="origins" required={true} rows={2} placeholder="https://shop.example.com" />
            </label>
          </>
        ) : null}
      </ActionForm>
      <OneTimeKey secret={secret} />
    </>
  );
};

const KeyActions = ({ licenseKey }: { readonly licenseKey: Key }) => {
  const [rotateAction] = useState(() => new Action(rotateCall));
  const [revokeAction] = useState(
    () => new Action(declareCall<typeof revokeLicenseKey>('DELETE', '/api/license-keys/{id}')),
  );
  const [secret, setSecret] = useState('');
  const { id, name, state } = licenseKey;
  if (!isPermitted(rotateCall) || state === 'revoked') return null;
  const rotate = async (): Promise<void> => {
    const rotatedKey = await rotateAction.run({ params: { id }, body: {} } as never);
    if (rotatedKey === undefined) return;
    setSecret(rotatedKey.key);
    refresh();
  };
  const revoke = async (): Promise<void> => {
    if ((await revokeAction.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <div class="act">
      <button type="button" onClick={() => void rotate()}>
        Rotate
      </button>
      <Confirmation
        label="Revoke"
        title={<>Revoke the key “{renderText(name)}”?</>}
        confirmLabel="Revoke key"
        onConfirm={revoke}
      >
        Requests with this key will be rejected.
      </Confirmation>
      <ErrorMessage error={rotateAction.error.value ?? revokeAction.error.value} />
      <OneTimeKey secret={secret} />
    </div>
  );
};

export const Keys = createListView({
  title: 'Ingest keys',
  call: declareListCall<typeof licenseKeyResource>('/api/license-keys'),
  isOfProject: true,
  search: 'Search by name',
  emptyText: 'No ingest keys yet.',
  toKey: ({ id }) => id,
  readItem: { call: declareReadCall<typeof licenseKeyResource>('/api/license-keys/{id}'), label: 'Key' },
  Tools: CreateKeyForm,
  columns: {
    Key: ({ name }) => name,
    Prefix: ({ prefix }) => <code>{renderText(prefix)}</code>,
    Kind: ({ kind }) => kind,
    State: ({ state }) => <span class={state === 'active' ? '' : 'text-error'}>{state}</span>,
    Project: ({ projectId }) => projectId,
    Signals: ({ signals }) => signals?.join(', '),
    'Last used': ({ lastUsedAt }) => formatIsoMinute(lastUsedAt),
  },
  ItemPanel: ({
    id,
    item,
    onClose,
  }: {
    readonly id: string;
    readonly item: Key | undefined;
    readonly onClose: () => void;
  }) => (
    <SidePanel label="Key" title={item?.name ?? id} onClose={onClose}>
      {item === undefined ? null : (
        <>
          <KeyActions licenseKey={item} />
          {item.state === 'revoked' ? null : <KeyForm key={`${item.version}`} licenseKey={item} />}
          <Fields
            values={{
              state: item.state,
              kind: item.kind,
              prefix: item.prefix,
              key: item.publicKey,
              application: item.application,
              origins: item.origins?.join(', '),
              project: item.projectId,
              expires: formatIsoTime(item.expiresAt ?? null),
              networks: item.allowedCidrs?.join(', '),
              'requests per second': item.requestsPerSecond,
              'used from': item.addresses,
              'last rejected': item.lastRefusal,
              created: formatIsoTime(item.createdAt),
            }}
          />
          <h3>Rotated keys</h3>
          {item.previous.length === 0 ? <p class="soft">None.</p> : null}
          <ul>
            {item.previous.map(({ prefix, validUntil, isActive }) => (
              <li key={prefix}>
                <code>{renderText(prefix)}</code> {isActive ? `works until ${formatIsoTime(validUntil)}` : 'expired'}
              </li>
            ))}
          </ul>
        </>
      )}
    </SidePanel>
  ),
});
