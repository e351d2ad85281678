/**
 * Raises an alert for a failing channel, sent through other channels. The alert ends when the channel delivers again.
 */
import { topicMessage } from '../../runtime/topic-message.ts';
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { Message } from '../../schemas/ports/bus.ts';
import { ConflictError, type Documents, type Stored } from '../../schemas/ports/documents.ts';
import { type ChannelHealth, channelHealths } from '../../schemas/resources/notification-delivery.ts';
import { topics } from '../../schemas/topics.ts';
import { toPlatformEvent } from '../../subjects/alerts/evaluation-record.ts';
import { aboutChannel, channelReason, platformTransition } from '../../subjects/alerts/platform-alerts.ts';

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
const transitionOf = (
  { tenantId, channelId, channelName, nowMs, answer }: Outcome,
  failingSince: string,
  isOver: boolean,
): AlertTransition =>
  platformTransition(
    tenantId,
    aboutChannel(channelId, channelName, answer),
    { reason: channelReason(channelName, answer), startedAt: failingSince },
    isOver ? { atMs: nowMs, reason: 'delivery succeeded again' } : undefined,
  );

const nextOf = (before: ChannelHealth, { outcome, answer, nowMs }: Outcome): ChannelHealth => {
  const now = new Date(nowMs).toISOString();
  if (outcome === 'delivered') return { ...before, failures: 0, failingSince: null, lastDeliveredAt: now };
  const failures = before.failures + 1;
  const fails = outcome === 'failed' || failures >= failuresUntilAlert;
  return { ...before, failures, failingSince: before.failingSince ?? (fails ? now : null), lastError: answer };
};

const none: ChannelHealth = { failures: 0, failingSince: null, lastDeliveredAt: null, lastError: null };

/** Records the outcome of an attempt. Returns the alert messages if the channel began or ceased to fail. */
export const noteOutcome = async (documents: Pick<Documents, 'of'>, outcome: Outcome): Promise<Message[]> => {
  const healths = documents.of(outcome.tenantId).collection(channelHealths);
  for (;;) {
    const found = (await healths.find(outcome.channelId)) as (ChannelHealth & Stored) | undefined;
    const { failures, failingSince, lastDeliveredAt, lastError } = found ?? none;
    const before = { failures, failingSince, lastDeliveredAt, lastError };
    const after = nextOf(before, outcome);
    try {
      if (found === undefined) await healths.insert({ id: outcome.channelId, ...after });
      else await healths.replace(outcome.channelId, after, found.version);
    } catch (error) {
      if (error instanceof ConflictError) continue;
      throw error;
    }
    if ((before.failingSince === null) === (after.failingSince === null)) return [];
    const transition = transitionOf(
      outcome,
      before.failingSince ?? after.failingSince ?? '',
      after.failingSince === null,
    );
    const event = toPlatformEvent(transition);
    return [topicMessage(topics.alertTransitions, transition), ...(event ? [topicMessage(topics.events, event)] : [])];
  }
};
