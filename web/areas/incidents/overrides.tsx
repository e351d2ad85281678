/** Overrides of a schedule: who takes over when, and their end */
import { useState } from 'preact/hooks';
import type { addOverride, deleteOverride } from '../../../api/groups/incidents/overrides.ts';
import { Action } from '../../client/action.ts';
import { declareCall } from '../../client/call.ts';
import { ActionForm } from '../../frame/action-form.tsx';
import { displayClock } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import type { NamesById } from '../../frame/people.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { session } from '../../frame/session.ts';
import { refresh } from '../../frame/time-range.ts';

const addOverrideCall = declareCall<typeof addOverride>('POST', '/api/on-call/schedules/{id}/overrides');
const endOverrideCall = declareCall<typeof deleteOverride>(
  'DELETE',
  '/api/on-call/schedules/{id}/overrides/{overrideId}',
);

/** Formats an instant for an input of local time. */
const toLocalTime = (ms: number): string => new Date(displayClock.getWallTime(ms)).toISOString().slice(0, 16);
const parseLocalTime = (text: string): string =>
  new Date(displayClock.getInstant(Date.parse(`${text}:00Z`))).toISOString();

/** Form for an override between two times, which are proposed. */
export const OverrideForm = ({
  id,
  names,
  fromMs,
  untilMs,
}: {
  readonly id: string;
  readonly names: NamesById;
  readonly fromMs: number;
  readonly untilMs: number;
}) => {
  const [action] = useState(() => new Action(addOverrideCall));
  const currentUser = session.value?.user;
  if (!isPermitted(addOverrideCall))
    return <p class="soft">{explainDenial(addOverrideCall, 'Overriding the schedule')}</p>;
  const addOverrideOf = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const body = {
      from: parseLocalTime(String(formData.get('from'))),
      to: parseLocalTime(String(formData.get('until'))),
      userIds: [String(formData.get('user'))],
    };
    if ((await action.run({ params: { id }, body })) !== undefined) refresh();
  };
  return (
    <ActionForm key={`${fromMs} ${untilMs}`} action={action} label="Add override" onSubmit={addOverrideOf}>
      <label>
        User{' '}
        <select name="user">
          {currentUser === undefined ? null : <option value={currentUser.id}>me</option>}
          {Object.entries(names)
            .filter(([user]) => user !== currentUser?.id)
            .map(([user, name]) => (
              <option key={user} value={user}>
                {name}
              </option>
            ))}
        </select>
      </label>
      <label>
        From <input type="datetime-local" name="from" required={true} defaultValue={toLocalTime(fromMs)} />
      </label>
      <label>
        Until <input type="datetime-local" name="until" required={true} defaultValue={toLocalTime(untilMs)} />
      </label>
    </ActionForm>
  );
};

/** Button that ends an override, for users with permission. */
export const EndOverride = ({ id, overrideId }: { readonly id: string; readonly overrideId: string }) => {
  const [action] = useState(() => new Action(endOverrideCall));
  if (!isPermitted(endOverrideCall)) return null;
  const endOverride = async (): Promise<void> => {
    if ((await action.run({ params: { id, overrideId } })) !== undefined) refresh();
  };
  return (
    <>
      <button type="button" class="plain" disabled={action.isRunning.value} onClick={() => void endOverride()}>
        End override
      </button>
      <ErrorMessage error={action.error.value} />
    </>
  );
};
