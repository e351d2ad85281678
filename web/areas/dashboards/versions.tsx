/** Versions of a dashboard: author and time, differences as text, and restoring */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { ApiQuery } from '../../client/query.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { session } from '../../frame/session.ts';
import { SidePanel } from '../../lists/side-panel.tsx';
import { type Dashboard, getVersionCall, listVersionsCall, restoreVersionCall } from './calls.ts';
import { notifySaved } from './editing/draft.ts';

/** Returns a description of the author without the name, because only administrators can read the names of other users. */
const formatActor = (actor: { readonly id: string; readonly type: string } | null): string => {
  if (actor === null) return '';
  return actor.id === session.value?.user.id ? 'by you' : `by ${actor.type === 'user' ? 'another user' : actor.type}`;
};

const VersionDifferences = ({ dashboard, version }: { readonly dashboard: Dashboard; readonly version: string }) => {
  const [query] = useState(() => new ApiQuery(getVersionCall));
  const [restoreAction] = useState(() => new Action(restoreVersionCall));
  const { id } = dashboard;
  useEffect(() => {
    query.run({ params: { id, version } });
    return () => query.cancel();
  }, [id, version]);
  const restore = async (): Promise<void> => {
    const restoredDashboard = await restoreAction.run({
      params: { id, version },
      query: {},
      ifMatch: dashboard.version,
    });
    if (restoredDashboard === undefined) return;
    setParams({ version: '' });
    notifySaved();
  };
  const { response, error } = query.state.value;
  return (
    <>
      <h3>Since version {version}</h3>
      <ErrorMessage error={error ?? restoreAction.error.value} />
      {response === undefined ? null : (
        <ul>
          {response.differences.length === 0 ? <li class="soft">No changes since this version.</li> : null}
          {response.differences.map(({ path, what }) => (
            <li key={path}>{renderText(what)}</li>
          ))}
        </ul>
      )}
      {isPermitted(restoreVersionCall) && response !== undefined && response.differences.length > 0 ? (
        <button type="button" disabled={restoreAction.isRunning.value} onClick={() => void restore()}>
          Restore version {version}
        </button>
      ) : null}
    </>
  );
};

export const Versions = ({ dashboard }: { readonly dashboard: Dashboard }) => {
  const [query] = useState(() => new ApiQuery(listVersionsCall));
  useEffect(() => {
    query.run({ params: { id: dashboard.id } });
    return () => query.cancel();
  }, [dashboard.id]);
  const { response, error } = query.state.value;
  const selectedVersion = readParam('version');
  return (
    <SidePanel label="Versions" title="Versions" onClose={() => setParams({ show: '', version: '' })}>
      <ErrorMessage error={error} />
      <ul class="links column">
        {response?.items.map(({ version, at, actor }) => (
          <li key={version}>
            <button
              type="button"
              class="plain"
              aria-pressed={selectedVersion === String(version)}
              onClick={() => setParams({ version: String(version) })}
            >
              Version {version}
            </button>{' '}
            {formatIsoMinute(at)} <span class="soft">{formatActor(actor)}</span>
          </li>
        ))}
      </ul>
      {selectedVersion === '' ? (
        <p class="soft">Select a version to see the changes since then.</p>
      ) : (
        <VersionDifferences key={selectedVersion} dashboard={dashboard} version={selectedVersion} />
      )}
    </SidePanel>
  );
};
