/** Snapshots of a dashboard: created, displayed once as a link, listed and revoked */
import { useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { refresh, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { SidePanel } from '../../lists/side-panel.tsx';
import { createSnapshotCall, type Dashboard, revokeSnapshotCall, snapshotsCall } from './calls.ts';
import { listPanelLabels } from './panel-labels.ts';

interface SnapshotsProps {
  readonly dashboard: Dashboard;
  readonly variables: Readonly<Record<string, string[]>>;
}

const CreateSnapshotForm = ({ dashboard, variables }: SnapshotsProps) => {
  const [action] = useState(() => new Action(createSnapshotCall));
  const [link, setLink] = useState('');
  const panelLabels = listPanelLabels(dashboard.panels);
  const createSnapshot = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const otherLabels = String(formData.get('labels'))
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== '');
    const labels = [...new Set([...formData.getAll('label').map(String), ...otherLabels])];
    const createdSnapshot = await action.run({
      params: { id: dashboard.id },
      body: {
        ...timeRange.peek(),
        variables,
        labels,
        bodies: formData.get('bodies') === 'on',
        expiresInDays: Number(formData.get('days')),
      },
    });
    if (createdSnapshot === undefined) return;
    // The token follows `#`, so that browsers do not send it to the server and it does not appear in logs.
    setLink(`${location.origin}/snapshot#${createdSnapshot.token}`);
    refresh();
  };
  return (
    <>
      <ActionForm action={action} label="Create snapshot" onSubmit={createSnapshot}>
        <label>
          Expires after (days) <input name="days" type="number" min={1} max={90} defaultValue="7" required={true} />
        </label>
        {panelLabels.length === 0 ? null : (
          <fieldset>
            <legend>Keep labels</legend>
            {panelLabels.map((label) => (
              <label key={label} class="choice">
                <input type="checkbox" name="label" value={label} defaultChecked={true} /> {renderText(label)}
              </label>
            ))}
          </fieldset>
        )}
        <label>
          Further labels <input name="labels" placeholder="service, zone" autocomplete="off" spellcheck={false} />
        </label>
        <label>
          <input type="checkbox" name="bodies" /> Include log bodies
        </label>
      </ActionForm>
      {link === '' ? (
        <p class="soft">
          Anyone with the link can view this data. Queries, ids and all labels not listed above are removed.
        </p>
      ) : (
        <p role="status">
          Copy this link now. It is shown only once: <a href={link}>{link}</a>{' '}
          <CopyButton text={link} label="Copy link" />
        </p>
      )}
    </>
  );
};

const RevokeButton = ({ id, name }: { readonly id: string; readonly name: string }) => {
  const [action] = useState(() => new Action(revokeSnapshotCall));
  const revoke = async (): Promise<void> => {
    if ((await action.run({ params: { id } })) !== undefined) refresh();
  };
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void revoke()}>
        Revoke<span class="sr-only"> {name}</span>
      </button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};

export const Snapshots = (props: SnapshotsProps) => {
  const { id } = props.dashboard;
  const { response, error } = useQuery(snapshotsCall, { params: { id } });
  return (
    <SidePanel label="Snapshots" title="Snapshots" onClose={() => setParams({ show: '' })}>
      {isPermitted(createSnapshotCall) ? (
        <CreateSnapshotForm {...props} />
      ) : (
        <p class="soft">{explainDenial(createSnapshotCall, 'Creating snapshots')}</p>
      )}
      <ErrorMessage error={error} />
      {response?.items.length === 0 ? <p class="soft">No snapshots yet.</p> : null}
      <ul class="links column">
        {response?.items.map((snapshot) => (
          <li key={snapshot.id}>
            <bdi>{renderText(snapshot.name)}</bdi> until {formatIsoMinute(snapshot.expiresAt)}, opened{' '}
            {snapshot.opened === 1 ? 'once' : `${snapshot.opened} times`}{' '}
            {isPermitted(revokeSnapshotCall) ? <RevokeButton id={snapshot.id} name={snapshot.name} /> : null}
          </li>
        ))}
      </ul>
    </SidePanel>
  );
};
