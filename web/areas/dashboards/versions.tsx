/** Versions of a dashboard: author and time, differences as text, and restoring */
import { useEffect, useState } from 'preact/hooks';
import { Action } from '../../client/action.ts';
import { ApiQuery } from '../../client/query.ts';
import { change, inAddress } from '../../frame/address.ts';
import { Problem } from '../../frame/freshness.tsx';
import { isPermitted } from '../../frame/rights.ts';
import { session } from '../../frame/session.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { SidePanel } from '../../lists/side-panel.tsx';
import { type Dashboard, restoreCall, versionCall, versionsCall } from './calls.ts';
import { notifySaved } from './editing/draft.ts';

/** Returns the author without a name, because only administrators can read the names of other users. */
const formatActor = (actor: { readonly id: string; readonly type: string } | null): string => {
  if (actor === null) return '';
  return actor.id === session.value?.user.id ? 'by you' : `by ${actor.type === 'user' ? 'another user' : actor.type}`;
};

const VersionDifferences = ({ dashboard, version }: { readonly dashboard: Dashboard; readonly version: string }) => {
  const [query] = useState(() => new ApiQuery(versionCall));
  const [restoreAction] = useState(() => new Action(restoreCall));
  const { id } = dashboard;
  useEffect(() => {
    query.run({ params: { id, version } });
    return () => query.cancel();
  }, [id, version]);
  const restore = async (): Promise<void> => {
    const restored = await restoreAction.run({ params: { id, version }, query: {}, ifMatch: dashboard.version });
    if (restored === undefined) return;
    change({ version: '' });
    notifySaved();
  };
  const { answer, error } = query.state.value;
  return (
    <>
      <h3>Since version {version}</h3>
      <Problem error={error ?? restoreAction.error.value} />
      {answer === undefined ? null : (
        <ul>
          {answer.differences.length === 0 ? <li class="soft">No changes since this version.</li> : null}
          {answer.differences.map(({ path, what }) => (
            <li key={path}>{shownText(what)}</li>
          ))}
        </ul>
      )}
      {isPermitted(restoreCall) && answer !== undefined && answer.differences.length > 0 ? (
        <button type="button" disabled={restoreAction.isRunning.value} onClick={() => void restore()}>
          Restore version {version}
        </button>
      ) : null}
    </>
  );
};

export const Versions = ({ dashboard }: { readonly dashboard: Dashboard }) => {
  const [query] = useState(() => new ApiQuery(versionsCall));
  useEffect(() => {
    query.run({ params: { id: dashboard.id } });
    return () => query.cancel();
  }, [dashboard.id]);
  const { answer, error } = query.state.value;
  const selectedVersion = inAddress('version');
  return (
    <SidePanel label="Versions" title="Versions" onClose={() => change({ show: '', version: '' })}>
      <Problem error={error} />
      <ul class="links column">
        {answer?.items.map(({ version, at, actor }) => (
          <li key={version}>
            <button
              type="button"
              class="plain"
              aria-pressed={selectedVersion === String(version)}
              onClick={() => change({ version: String(version) })}
            >
              Version {version}
            </button>{' '}
            {shownTime(Date.parse(at)).slice(0, 16)} <span class="soft">{formatActor(actor)}</span>
          </li>
        ))}
      </ul>
      {selectedVersion === '' ? (
        <p class="soft">Select a version to see what changed since.</p>
      ) : (
        <VersionDifferences key={selectedVersion} dashboard={dashboard} version={selectedVersion} />
      )}
    </SidePanel>
  );
};
