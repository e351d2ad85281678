/** License keys: list with last use, creation, rotation and revocation */
import { useState } from 'preact/hooks';
import type { mintLicenseKey } from '../../../api/groups/license-keys/mint.ts';
import type { licenseKeyResource } from '../../../api/groups/license-keys/resource.ts';
import type { revokeLicenseKey } from '../../../api/groups/license-keys/revoke.ts';
import type { rotateLicenseKey } from '../../../api/groups/license-keys/rotate.ts';
import { Action } from '../../client/action.ts';
import { callOf, listOf, readingOf, type ViewOf } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownMoment } from '../../frame/shown-time.ts';
import { refresh } from '../../frame/time-range.ts';
import { listed } from '../../lists/declared-list.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { KeyForm } from './key-form.tsx';

type Key = ViewOf<typeof licenseKeyResource>;

/** A key, which is only displayed once. */
export const ShownKey = ({ secret }: { readonly secret: string }) =>
  secret === '' ? null : (
    <p role="status">
      The key is shown only once: <code>{secret}</code>
    </p>
  );

const mintCall = callOf<typeof mintLicenseKey>('POST', '/api/license-keys');
const rotateCall = callOf<typeof rotateLicenseKey>('POST', '/api/license-keys/{id}/rotate');

const Mint = () => {
  const [action] = useState(() => new Action(mintCall));
  const [secret, setSecret] = useState('');
  if (!isPermitted(mintCall)) return null;
  const run = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = { name: String(formData.get('name')), projectId: String(formData.get('projectId')) };
    const made = await action.run({ body });
    if (made === undefined) return;
    form.reset();
    setSecret(made.key);
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create key" onSubmit={run}>
        <label>
          Name <input name="name" required={true} maxLength={256} autocomplete="off" />
        </label>
        <label>
          Project <input name="projectId" required={true} maxLength={128} defaultValue="default" autocomplete="off" />
        </label>
      </ActionForm>
      <ShownKey secret={secret} />
    </>
  );
};

const Change = ({ of }: { readonly of: Key }) => {
  const [rotating] = useState(() => new Action(rotateCall));
  const [revoking] = useState(() => new Action(callOf<typeof revokeLicenseKey>('DELETE', '/api/license-keys/{id}')));
  const [secret, setSecret] = useState('');
  const { id, name, state } = of;
  if (!isPermitted(rotateCall) || state === 'revoked') return null;
  const rotate = async (): Promise<void> => {
    const made = await rotating.run({ params: { id }, body: {} } as never);
    if (made === undefined) return;
    setSecret(made.key);
    refresh();
  };
  const revoke = async (): Promise<void> => {
    if (!confirm(`Revoke the key “${name}”? Requests with this key are then refused.`)) return;
    if ((await revoking.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <div class="act">
      <button type="button" onClick={() => void rotate()}>
        Rotate
      </button>
      <button type="button" class="plain" onClick={() => void revoke()}>
        Revoke
      </button>
      <Problem error={rotating.error.value ?? revoking.error.value} />
      <ShownKey secret={secret} />
    </div>
  );
};

export const Keys = listed({
  title: 'Ingest keys',
  call: listOf<typeof licenseKeyResource>('/api/license-keys'),
  isOfProject: true,
  search: 'Search by name',
  nothing: 'No ingest keys yet.',
  keyOf: ({ id }) => id,
  one: { call: readingOf<typeof licenseKeyResource>('/api/license-keys/{id}'), label: 'Key' },
  Tools: Mint,
  columns: {
    Key: ({ name }) => name,
    Prefix: ({ prefix }) => <code>{shownText(prefix)}</code>,
    State: ({ state }) => <span class={state === 'active' ? '' : 'text-error'}>{state}</span>,
    Project: ({ projectId }) => projectId,
    Signals: ({ signals }) => signals?.join(', '),
    'Last used': ({ lastUsedAt }) => shownMoment(lastUsedAt).slice(0, 16),
  },
  Open: ({
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
          <Change of={item} />
          {item.state === 'revoked' ? null : <KeyForm key={`${item.version}`} of={item} />}
          <Fields
            values={{
              state: item.state,
              prefix: item.prefix,
              project: item.projectId,
              expires: shownMoment(item.expiresAt ?? null),
              networks: item.allowedCidrs?.join(', '),
              'requests per second': item.requestsPerSecond,
              'used from': item.addresses,
              'last rejected': item.lastRefusal,
              created: shownMoment(item.createdAt),
            }}
          />
          <h3>Rotated keys</h3>
          {item.previous.length === 0 ? <p class="soft">None.</p> : null}
          <ul>
            {item.previous.map(({ prefix, validUntil, isActive }) => (
              <li key={prefix}>
                <code>{shownText(prefix)}</code> {isActive ? `works until ${shownMoment(validUntil)}` : 'expired'}
              </li>
            ))}
          </ul>
        </>
      )}
    </SidePanel>
  ),
});
