/** Options for the targets of an escalation step: value `<kind> <id>`, and name */
import type { OptionGroups } from '../../editors/inputs.tsx';
import { useNames } from '../../frame/people.ts';
import { useQuery } from '../../frame/use-query.ts';
import { channelsCall } from '../alerts/channels/calls.ts';
import { schedulesCall } from './calls.ts';

interface NamedItem {
  readonly id: string;
  readonly name: string;
}

export const useTargetOptions = (): OptionGroups => {
  const schedules = useQuery(schedulesCall, { query: { limit: 1000 } }).response?.items ?? [];
  const channels = useQuery(channelsCall, { query: { limit: 1000 } }).response?.items ?? [];
  const people = Object.entries(useNames()).map(([id, name]) => ({ id, name }));
  const toOptions = (kind: string, items: readonly NamedItem[]) =>
    items.map(({ id, name }) => [`${kind} ${id}`, name] as const);
  return {
    'On-call responder at': toOptions('schedule', schedules),
    People: toOptions('person', people),
    Channels: toOptions('channel', channels),
  };
};
