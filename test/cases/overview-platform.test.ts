import test from 'ava';
import type { GroupStatus } from '../../schemas/ports/group-status.ts';
import { activePlatformAlert } from '../../subjects/alerts/platform-alerts.ts';
import { PlatformState, toPlatformState } from '../../subjects/overview/platform.ts';

const groupStatus = (group: string, problem?: string): GroupStatus => ({
  group,
  partitions: [],
  members: 1,
  problem,
  sinceMs: problem === undefined ? undefined : 60_000,
});

test('the overview names stalled groups, and does not report a healthy state before the first check', (t) => {
  const alert = { severity: 'error', reason: 'sinks.logs is behind', since: '2026-01-01T00:00:00.000Z' } as const;
  const shown = toPlatformState(
    [activePlatformAlert('records-late', { ...alert, startedAt: '2026-01-01T00:02:00.000Z' }, 0)],
    [groupStatus('sinks.logs', 'stands still'), groupStatus('sinks.traces')],
  );
  t.deepEqual(PlatformState.parse(shown), {
    alerts: [{ name: 'records-late', reason: 'sinks.logs is behind', since: '2026-01-01T00:00:00.000Z' }],
    groups: [{ name: 'sinks.logs', reason: 'stands still', since: '1970-01-01T00:01:00.000Z' }],
  });
  t.deepEqual(toPlatformState([], [groupStatus('sinks.logs')]), { alerts: [], groups: [] });
  t.like(toPlatformState([], []).groups, { value: null });
});
