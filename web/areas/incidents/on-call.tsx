/** Current and upcoming on-call shifts, overrides, and rotations */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { addOverride, deleteOverride } from '../../../api/groups/incidents/overrides.ts';
import type { listShifts } from '../../../api/groups/incidents/shifts.ts';
import { Action } from '../../client/action.ts';
import { declareCall, toUrl } from '../../client/call.ts';
import { StatTile } from '../../components/stat-tile.tsx';
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { ActionForm } from '../../frame/action-form.tsx';
import { toArea } from '../../frame/address.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { formatNames, type NamesById, onCall, useNames } from '../../frame/people.ts';
import { explainDenial, isPermitted } from '../../frame/rights.ts';
import { session } from '../../frame/session.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refresh, refreshCount } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { schedulesCall } from './calls.ts';
import { createScheduleCall, type Schedule, ScheduleForm } from './schedule-form.tsx';
import { ShiftCalendar } from './shift-calendar.tsx';
import { findHandover, mergeShiftsAndGaps, type Shifts } from './shifts.ts';

const shiftsCall = declareCall<typeof listShifts>('GET', '/api/on-call/schedules/{id}/shifts');
const addOverrideCall = declareCall<typeof addOverride>('POST', '/api/on-call/schedules/{id}/overrides');
const endOverrideCall = declareCall<typeof deleteOverride>(
  'DELETE',
  '/api/on-call/schedules/{id}/overrides/{overrideId}',
);

const gapReasons: Readonly<Record<string, string>> = {
  'no-one': 'no one is assigned to the shift',
  unreachable: 'the assignees of the shift cannot be reached',
};
const explainGap = (reason: string | null): string => (reason === null ? '' : (gapReasons[reason] ?? reason));

const NoOneOnCall = ({ reason }: { readonly reason: string | null }) => (
  <span class="text-error">No one: {explainGap(reason)}</span>
);

/** Users who are on call in a schedule now. */
const CurrentOnCall = ({ id }: { readonly id: string }) => {
  const { response, error } = onCall.state.value;
  const scheduleOnCall = response?.items.find(({ scheduleId }) => scheduleId === id);
  if (response === undefined || scheduleOnCall === undefined) return <ErrorMessage error={error} />;
  return scheduleOnCall.userIds.length === 0 ? (
    <NoOneOnCall reason={scheduleOnCall.reason} />
  ) : (
    <b>{renderText(formatNames(scheduleOnCall.userIds, response.names))}</b>
  );
};

const overrideHours = [1, 4, 8, 12, 24, 72, 168];

const OverrideForm = ({ id, names }: { readonly id: string; readonly names: NamesById }) => {
  const [action] = useState(() => new Action(addOverrideCall));
  const currentUser = session.value?.user;
  if (!isPermitted(addOverrideCall))
    return <p class="soft">{explainDenial(addOverrideCall, 'Overriding the schedule')}</p>;
  const addOverrideFromNow = async (form: HTMLFormElement): Promise<void> => {
    const formData = new FormData(form);
    const from = new Date();
    const to = new Date(from.getTime() + Number(formData.get('hours')) * 3_600_000);
    const body = { from: from.toISOString(), to: to.toISOString(), userIds: [String(formData.get('who'))] };
    if ((await action.run({ params: { id }, body })) !== undefined) refresh();
  };
  return (
    <ActionForm action={action} label="Add override" onSubmit={addOverrideFromNow}>
      <label>
        User{' '}
        <select name="who">
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
        from now for{' '}
        <select name="hours">
          {overrideHours.map((hourCount) => (
            <option key={hourCount} value={hourCount}>
              {hourCount === 1 ? 'an hour' : `${hourCount} hours`}
            </option>
          ))}
        </select>
      </label>
    </ActionForm>
  );
};

const EndOverride = ({ id, overrideId }: { readonly id: string; readonly overrideId: string }) => {
  const [action] = useState(() => new Action(endOverrideCall));
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

/** Current and upcoming overrides, which users with permission can end. */
const Overrides = ({ id, shifts }: { readonly id: string; readonly shifts: Shifts }) => {
  const overrides = mergeShiftsAndGaps(shifts).flatMap((shift) =>
    shift.overrideId === null ? [] : [{ ...shift, overrideId: shift.overrideId }],
  );
  return overrides.length === 0 ? null : (
    <>
      <h3>Overrides</h3>
      <ul>
        {overrides.map(({ overrideId, from, to, userIds }) => (
          <li key={overrideId}>
            <b>{renderText(formatNames(userIds, shifts.names))}</b> from {formatIsoTime(from).slice(0, 16)} until{' '}
            {formatIsoTime(to).slice(0, 16)}{' '}
            {isPermitted(endOverrideCall) ? <EndOverride id={id} overrideId={overrideId} /> : null}
          </li>
        ))}
      </ul>
    </>
  );
};

/** Who is on call until when, and who takes over. */
const Handover = ({ shifts }: { readonly shifts: Shifts }) => {
  const { current, next } = findHandover(mergeShiftsAndGaps(shifts), Date.now());
  const formatPeople = (userIds: readonly string[]): ComponentChildren =>
    userIds.length === 0 ? 'No one' : renderText(formatNames(userIds, shifts.names));
  return (
    <div class="handover">
      {current === undefined ? null : (
        <StatTile
          title="On call now"
          value={formatPeople(current.userIds)}
          note={`until ${formatIsoTime(current.to).slice(0, 16)}`}
        />
      )}
      {next === undefined ? null : (
        <StatTile
          title="Next"
          value={formatPeople(next.userIds)}
          note={`from ${formatIsoTime(next.from).slice(0, 16)}`}
        />
      )}
    </div>
  );
};

const ShiftTable = ({ shifts }: { readonly shifts: Shifts }) => (
  <table class="figures texts">
    <TableHeader columns={['From', 'Until', 'User', 'Layer']} />
    <tbody>
      {mergeShiftsAndGaps(shifts).map(({ from, to, userIds, layer, overrideId, reason }) => (
        <tr key={from}>
          <td>{formatIsoTime(from).slice(0, 16)}</td>
          <td>{formatIsoTime(to).slice(0, 16)}</td>
          <td>
            {userIds.length === 0 ? <NoOneOnCall reason={reason} /> : renderText(formatNames(userIds, shifts.names))}
          </td>
          <td>{overrideId === null ? renderText(layer ?? '') : 'override'}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

/** On-call hours per user in the displayed days. */
const OnCallLoad = ({ shifts: { people, names } }: { readonly shifts: Shifts }) =>
  people.length === 0 ? null : (
    <>
      <h3>On-call load</h3>
      <table class="figures texts">
        <TableHeader columns={['User', 'Hours', 'At night', 'At weekends']} />
        <tbody>
          {people.map(({ userId, hours, nightHours, weekendHours }) => (
            <tr key={userId}>
              <td>
                <bdi>{renderText(names[userId] ?? userId)}</bdi>
              </td>
              {[hours, nightHours, weekendHours].map((hourCount, index) => (
                <td key={index}>{Math.round(hourCount)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );

const ScheduleDetails = ({ item: { id, description } }: { readonly item: Schedule }) => {
  const { response, error } = useQuery(shiftsCall, { params: { id }, query: { to: 'now+14d' } });
  const people = useNames();
  return (
    <>
      <p>{renderText(description ?? '')}</p>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <Handover shifts={response} />
          <OverrideForm id={id} names={people} />
          <Overrides id={id} shifts={response} />
          <h3>The next 14 days</h3>
          <ShiftCalendar shifts={mergeShiftsAndGaps(response)} names={response.names} />
          <details>
            <summary>Shifts as a table</summary>
            <ShiftTable shifts={response} />
          </details>
          <OnCallLoad shifts={response} />
          <p class="links">
            <Link url={toArea('/settings/contacts')}>Send me a test page</Link>
          </p>
          <a
            href={toUrl(shiftsCall, { params: { id }, query: { to: 'now+90d', format: 'ics' } })}
            download="on-call.ics"
          >
            Export the next 90 days as a calendar file
          </a>
        </>
      )}
    </>
  );
};

const resourceName = 'schedule';

const ScheduleList = createListView({
  title: 'On call',
  call: schedulesCall,
  search: 'Search by name',
  emptyText: 'No schedules yet.',
  toKey: ({ id }) => id,
  columns: {
    Schedule: ({ name }) => name,
    'On call now': ({ id }) => <CurrentOnCall id={id} />,
    'Time zone': ({ timeZone }) => timeZone,
    Description: ({ description }) => description,
  },
  Tools: createNewButton(resourceName, createScheduleCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/on-call/schedules/{id}',
    Form: ScheduleForm,
    Details: ScheduleDetails,
  }),
});

export const OnCall = () => {
  useEffect(() => {
    onCall.run({});
    return () => onCall.cancel();
  }, [refreshCount.value]);
  return <ScheduleList />;
};
