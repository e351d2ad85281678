/** Merges an imported routing document with the current one. */
import type { AlertRouting } from '../../../schemas/resources/alert-routing.ts';
import type { ImportedRouting } from './alertmanager.ts';

type Receiver = AlertRouting['receivers'][number];

const hasTarget = ({ channelIds, escalationPolicyId }: Receiver): boolean =>
  channelIds.length > 0 || escalationPolicyId !== undefined;

const listNames = (items: readonly { readonly name: string }[]): string => items.map(({ name }) => name).join(', ');

/** Returns a note about items of the current document that the imported one does not contain. */
const findRemoved = (
  noun: string,
  current: readonly { readonly name: string }[],
  imported: readonly { readonly name: string }[],
): string[] => {
  const names = new Set(imported.map(({ name }) => name));
  const removed = current.filter(({ name }) => !names.has(name));
  return removed.length === 0
    ? []
    : [`${noun} ${listNames(removed)} of the current routing: not in the file, so saving the document removes them`];
};

/**
 * Returns the imported document with the channels and escalation policies that receivers of the same name have now, and
 * notes on what people have to add, and on what saving the document would remove.
 */
export const mergeRouting = (
  { routing, notes, integrations }: ImportedRouting,
  current: AlertRouting,
): Pick<ImportedRouting, 'routing' | 'notes'> => {
  const currentByName = new Map(current.receivers.map((receiver) => [receiver.name, receiver]));
  const receivers = routing.receivers.map((receiver): Receiver => {
    const { channelIds = [], escalationPolicyId } = currentByName.get(receiver.name) ?? {};
    return { ...receiver, channelIds, ...(escalationPolicyId !== undefined && { escalationPolicyId }) };
  });
  const receiverNotes = receivers.flatMap((receiver) => {
    const integration = integrations[receiver.name];
    if (hasTarget(receiver)) return [`receiver ${receiver.name} keeps its channels and escalation policy`];
    if (integration === undefined) return [];
    return [`receiver ${receiver.name} had ${integration}: create channels for them and name them in its channelIds`];
  });
  return {
    routing: { ...routing, receivers },
    notes: [
      ...receiverNotes,
      ...notes,
      ...findRemoved('receivers', current.receivers, receivers),
      ...findRemoved('time intervals', current.timeIntervals, routing.timeIntervals),
    ],
  };
};
