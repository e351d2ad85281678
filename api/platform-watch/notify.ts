/** How alerts of the platform itself are told. */
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import { toPlatformEvent } from '../../subjects/alerts/evaluation-record.ts';

export interface TransitionPublisher {
  /** Resolves when the transition is durable on the bus. */
  publish(transition: AlertTransition): Promise<void>;
  /** Resolves when the event is durable on the bus. */
  publishEvent(event: PlatformEvent): Promise<void>;
}

/** Tells a transition to the organization's routing, and to the event feed where people see it there. Resolves when both are durable. */
export const publishTransition = async (publisher: TransitionPublisher, transition: AlertTransition): Promise<void> => {
  const event = toPlatformEvent(transition);
  await Promise.all([publisher.publish(transition), event && publisher.publishEvent(event)]);
};
