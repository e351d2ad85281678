/** Publishes alerts of the platform about itself. */
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import { toPlatformEvent } from '../../subjects/alerts/evaluation-record.ts';

export interface TransitionPublisher {
  /** Resolves when the transition is durable on the bus. */
  publish(transition: AlertTransition): Promise<void>;
  /** Resolves when the event is durable on the bus. */
  publishEvent(event: PlatformEvent): Promise<void>;
}

/**
 * Publishes a transition for the organization's routing, and for the event feed if it appears there. Resolves when both
 * are durable.
 */
export const publishTransition = async (publisher: TransitionPublisher, transition: AlertTransition): Promise<void> => {
  const event = toPlatformEvent(transition);
  await Promise.all([publisher.publish(transition), event && publisher.publishEvent(event)]);
};
