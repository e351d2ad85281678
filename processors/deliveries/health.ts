/** A channel that fails raises an alert, which is told through others; when it delivers again, the alert ends. */
import { AlertTransition } from '../../schemas/alerts.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { ConflictError, type Documents, type Stored } from '../../schemas/ports/documents.ts';
import { type ChannelHealth, channelHealths } from '../../schemas/resources/notification-delivery.ts';
import { topics } from '../../schemas/topics.ts';
import { failingChannelLabel } from '../notifications/told.ts';

/** Attempts in a row that fail before the alert is raised. One that fails for good raises it at once. */
const failuresUntilAlert = 3;

interface Outcome {
  readonly tenantId: string;
  readonly channelId: string;
  readonly channelName: string;
  readonly nowMs: number;
  /** `failed`: it will not be tried again. */
  readonly outcome: 'delivered' | 'retry' | 'failed';
  readonly answer: string;
}

const transitionOf = (
  { tenantId, channelId, channelName, nowMs, answer }: Outcome,
  failingSinceMs: number,
  isOver: boolean,
): Message => {
  const transition = AlertTransition.parse({
    ...{ tenantId, id: `notification-channel-${channelId}-${nowMs}`, alertId: `notification-channel-${channelId}` },
    ...{ ruleId: 'notification-channel', ruleVersion: 1, ruleName: 'Notification channel fails' },
    labels: {
      ...{ alertname: 'NotificationChannelFailing', severity: 'error', channel: channelName.slice(0, 256) },
      [failingChannelLabel]: channelId,
    },
    annotations: {
      summary: `The notification channel ${channelName} does not deliver`,
      description: answer.slice(0, 1000),
    },
    ...{ severity: 'error', from: isOver ? 'firing' : 'inactive', to: isOver ? 'inactive' : 'firing', atMs: nowMs },
    ...{ startedAtMs: failingSinceMs, value: null, ...(isOver && { endedAtMs: nowMs }) },
    reason: isOver ? 'it delivered again' : `its last attempts failed: ${answer.slice(0, 1000)}`,
  });
  return {
    topic: topics.alertTransitions.name,
    key: tenantId,
    value: Buffer.from(JSON.stringify([transition])),
    headers: { tenant: tenantId, records: '1' },
  };
};

const nextOf = (before: ChannelHealth, { outcome, answer, nowMs }: Outcome): ChannelHealth => {
  const now = new Date(nowMs).toISOString();
  if (outcome === 'delivered') return { ...before, failures: 0, failingSince: null, lastDeliveredAt: now };
  const failures = before.failures + 1;
  const fails = outcome === 'failed' || failures >= failuresUntilAlert;
  return { ...before, failures, failingSince: before.failingSince ?? (fails ? now : null), lastError: answer };
};

const none: ChannelHealth = { failures: 0, failingSince: null, lastDeliveredAt: null, lastError: null };

/** Notes what came of an attempt; answers the alert's transition where the channel began or ceased to fail. */
export const noteOutcome = async (documents: Pick<Documents, 'of'>, told: Outcome): Promise<Message | undefined> => {
  const healths = documents.of(told.tenantId).collection(channelHealths);
  for (;;) {
    const found = (await healths.find(told.channelId)) as (ChannelHealth & Stored) | undefined;
    const { failures, failingSince, lastDeliveredAt, lastError } = found ?? none;
    const before = { failures, failingSince, lastDeliveredAt, lastError };
    const after = nextOf(before, told);
    try {
      if (found === undefined) await healths.insert({ id: told.channelId, ...after });
      else await healths.replace(told.channelId, after, found.version);
    } catch (error) {
      if (error instanceof ConflictError) continue;
      throw error;
    }
    if ((before.failingSince === null) === (after.failingSince === null)) return undefined;
    const since = Date.parse(before.failingSince ?? after.failingSince ?? '');
    return transitionOf(told, since, after.failingSince === null);
  }
};
