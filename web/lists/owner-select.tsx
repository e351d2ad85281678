/** Filters a list by assignee: oneself, or the user in a link */
import { change, inAddress } from '../frame/address.ts';
import { session } from '../frame/session.ts';
import { shownText } from '../frame/shown-text.tsx';

export const Whose = () => {
  const of = inAddress('assigneeId');
  const me = session.value?.user.id ?? '';
  return (
    <label>
      Assignee{' '}
      <select value={of} onChange={({ currentTarget: { value } }) => change({ assigneeId: value })}>
        <option value="">Anyone</option>
        <option value={me}>Me</option>
        {of === '' || of === me ? null : <option value={of}>of {shownText(of)}</option>}
      </select>
    </label>
  );
};
