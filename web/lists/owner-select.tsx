/** Filters a list by assignee: oneself, or the user in a link */
import { change, inAddress } from '../frame/address.ts';
import { session } from '../frame/session.ts';
import { shownText } from '../frame/shown-text.tsx';

export const Whose = () => {
  const of = inAddress('assigneeId');
  const me = session.value?.user.id ?? '';
  return (
    <label>
      Whose{' '}
      <select value={of} onChange={({ currentTarget: { value } }) => change({ assigneeId: value })}>
        <option value="">everybody’s</option>
        <option value={me}>mine</option>
        {of === '' || of === me ? null : <option value={of}>of {shownText(of)}</option>}
      </select>
    </label>
  );
};
