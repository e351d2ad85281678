/**
 * Raises an alert for a failing channel, sent through other channels. The alert ends when the channel delivers again.
 */
import type { AlertTransition } from '../../schemas/alerts.ts';
import { ConflictError, type Documents, type StoredMetadata } from '../../schemas/ports/documents.ts';
import { type ChannelHealth, channelHealths } from '../../schemas/resources/notification-delivery.ts';
import { createChannelAlertSubject, describeChannelFailure, platformTransition } from '../alerts/platform-alerts.ts';

/** Consecutive failed attempts before the alert is raised. A permanent failure raises it at once. */
const failuresUntilAlert = 3;

interface Outcome {
  readonly tenantId: string;
  readonly channelId: string;
  readonly channelName: string;
  readonly nowMs: number;
  /** `failed` means there is no further attempt. */
  readonly outcome: 'delivered' | 'retry' | 'failed';
  readonly answer: string;
}

/** Builds the transition of a channel's alert. */
const toTransition = (
  { tenantId, channelId, channelName, nowMs, answer }: Outcome,
  failingSince: string,
  isOver: boolean,
): AlertTransition =>
  platformTransition(
    tenantId,
    createChannelAlertSubject(channelId, channelName, answer),
    { reason: describeChannelFailure(channelName, answer), startedAt: failingSince },
    isOver ? { atMs: nowMs, reason: 'delivery succeeded again' } : undefined,
  );

const nextHealth = (previous: ChannelHealth, { outcome, answer, nowMs }: Outcome): ChannelHealth => {
  const now = new Date(nowMs).toISOString();
  if (outcome === 'delivered') return { ...previous, failures: 0, failingSince: null, lastDeliveredAt: now };
  const failures = previous.failures + 1;
  const isFailing = outcome === 'failed' || failures >= failuresUntilAlert;
  return { ...previous, failures, failingSince: previous.failingSince ?? (isFailing ? now : null), lastError: answer };
};

const initialHealth: ChannelHealth = { failures: 0, failingSince: null, lastDeliveredAt: null, lastError: null };

/** Records the outcome of an attempt. Returns the transition of the alert if the channel began or ceased to fail. */
export const recordOutcome = async (
  documents: Pick<Documents, 'forTenant'>,
  outcome: Outcome,
): Promise<AlertTransition | undefined> => {
  const healths = documents.forTenant(outcome.tenantId).collection(channelHealths);
  for (;;) {
    const stored = (await healths.find(outcome.channelId)) as (ChannelHealth & StoredMetadata) | undefined;
    const { failures, failingSince, lastDeliveredAt, lastError } = stored ?? initialHealth;
    const previous = { failures, failingSince, lastDeliveredAt, lastError };
    const after = nextHealth(previous, outcome);
    try {
      if (stored === undefined) await healths.insert({ id: outcome.channelId, ...after });
      else await healths.replace(outcome.channelId, after, stored.version);
    } catch (error) {
      if (error instanceof ConflictError) continue;
      throw error;
    }
    if ((previous.failingSince === null) === (after.failingSince === null)) return undefined;
    return toTransition(outcome, previous.failingSince ?? after.failingSince ?? '', after.failingSince === null);
  }
};
