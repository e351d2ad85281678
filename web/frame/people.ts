/** Names of users. Users who may create on-call schedules get all names; others get their own and those on call. */
import { useEffect } from 'preact/hooks';
import type { getOnCall } from '../../api/groups/incidents/shifts.ts';
import { declareCall } from '../client/call.ts';
import { ApiQuery } from '../client/query.ts';
import { isPermitted } from './rights.ts';
import { session } from './session.ts';
import { refreshCount } from './time-range.ts';

const onCallCall = declareCall<typeof getOnCall>('GET', '/api/on-call/now');
/** Query for the users on call in all schedules, which all views share */
export const onCall = new ApiQuery(onCallCall);
const namesQuery = new ApiQuery(onCallCall);
const createScheduleCall = { method: 'POST', path: '/api/on-call/schedules' };

export type NamesById = Readonly<Record<string, string>>;

export const useNames = (): NamesById => {
  useEffect(() => {
    namesQuery.run({ query: { names: isPermitted(createScheduleCall) ? 'all' : 'on-call' } });
    return () => namesQuery.cancel();
  }, [refreshCount.value]);
  const { user } = session.value ?? {};
  return {
    ...namesQuery.state.value.response?.names,
    ...(user === undefined ? {} : { [user.id]: user.name }),
  };
};

export const formatNames = (userIds: readonly string[], names: NamesById): string =>
  userIds.map((id) => names[id] ?? id).join(', ');
