/** State changes of checks, for the event feed */

import { type PlatformEvent, toEventTags } from '../../schemas/events.ts';
import type { SyntheticVerdict } from '../../schemas/synthetic-runs.ts';
import { createNoDataEvent } from '../empty-results/empty-results.ts';
import { createAlertLabels } from './downtimes.ts';
import type { IdentifiedCheck } from './read-checks.ts';
import type { StateChange } from './uptime.ts';

type State = StateChange['state'];

const severities = { up: 'info', degraded: 'warning', down: 'error', unknown: 'warning' } as const;

/** The first up state of a check is not an event; nor is the unknown state of a disabled check. */
const isReportable = (before: State, current: State, isEnabled: boolean): boolean => {
  if (current === 'unknown') return isEnabled && before !== 'unknown';
  return current !== 'up' || before !== 'unknown';
};

/** Returns the event of a state change; `undefined` if it is not reported, which includes planned downtimes. */
export const createStateEvent = (
  check: Pick<IdentifiedCheck, 'id' | 'name' | 'labels' | 'projectId' | 'enabled'>,
  {
    tenantId,
    atMs,
    before = 'unknown',
    verdict: { state, says: summary, isMaintenance },
  }: {
    readonly tenantId: string;
    readonly atMs: number;
    readonly before: State | undefined;
    readonly verdict: Pick<SyntheticVerdict, 'state' | 'says' | 'isMaintenance'>;
  },
): PlatformEvent | undefined => {
  if (isMaintenance || !isReportable(before, state, check.enabled)) return undefined;
  const labels = createAlertLabels(check);
  return {
    tenantId,
    projectId: check.projectId ?? '',
    kind: 'check',
    at: new Date(atMs).toISOString(),
    id: `${check.id}-${atMs}-${state}`,
    severity: severities[state],
    title: `${check.name.slice(0, 240)} is ${state}`,
    text: summary,
    service: (labels['service'] ?? '').slice(0, 512),
    environment: '',
    tags: toEventTags(labels),
    link: '',
    actor: { type: 'system', id: 'synthetics' },
    details: { checkId: check.id, from: before, to: state },
  };
};

/** Returns the event that a check has had no result so far. `reason` is that of its last run, which was not possible. */
export const createCheckNoDataEvent = (
  { id, name, projectId }: Pick<IdentifiedCheck, 'id' | 'name' | 'projectId'>,
  { reason, ...context }: { readonly tenantId: string; readonly atMs: number; readonly reason: string },
): PlatformEvent =>
  createNoDataEvent(
    {
      title: `No results of the check ${name}`,
      text: `No location has returned a result so far, so it cannot alert${reason === '' ? '. Check that a probe of its locations runs' : `: ${reason}`}.`,
      details: { checkId: id },
    },
    { ...context, projectId, version: '', actorId: 'synthetics' },
  );
