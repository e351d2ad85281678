/** How alerts of the platform itself are told. */
import type { AlertTransition } from '../../schemas/alerts.ts';
import type { PlatformEvent } from '../../schemas/events.ts';
import { toldEvent } from '../../subjects/alerts/told.ts';

export interface Telling {
  /** Resolves when the transition is durable on the bus. */
  publish(transition: AlertTransition): Promise<void>;
  /** Resolves when the event is durable on the bus. */
  publishEvent(event: PlatformEvent): Promise<void>;
}

/** Tells a transition to the organization's routing, and to the event feed where people see it there. Resolves when both are durable. */
export const tellTransition = async (telling: Telling, transition: AlertTransition): Promise<void> => {
  const event = toldEvent(transition);
  await Promise.all([telling.publish(transition), event && telling.publishEvent(event)]);
};
