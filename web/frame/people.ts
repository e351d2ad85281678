/** Names of users: all for those who may edit on-call schedules, otherwise the users on call and oneself */
import { useEffect } from 'preact/hooks';
import type { getOnCall } from '../../api/groups/incidents/shifts.ts';
import { callOf } from '../client/call.ts';
import { ApiQuery } from '../client/query.ts';
import { isPermitted } from './rights.ts';
import { session } from './session.ts';
import { refreshes } from './time-range.ts';

const call = callOf<typeof getOnCall>('GET', '/api/on-call/now');
/** Users on call in all schedules, loaded once for all views */
export const onCall = new ApiQuery(call);
const people = new ApiQuery(call);
const scheduling = { method: 'POST', path: '/api/on-call/schedules' };

export type Names = Readonly<Record<string, string>>;

export const usePeople = (): Names => {
  useEffect(() => {
    people.run({ query: { names: isPermitted(scheduling) ? 'all' : 'on-call' } });
    return () => people.cancel();
  }, [refreshes.value]);
  const { user } = session.value ?? {};
  return {
    ...people.state.value.answer?.names,
    ...(user === undefined ? {} : { [user.id]: user.name }),
  };
};

export const named = (userIds: readonly string[], names: Names): string =>
  userIds.map((id) => names[id] ?? id).join(', ');
