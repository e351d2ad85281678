/** Current and upcoming on-call shifts, overrides, and rotations */
import { useEffect, useState } from 'preact/hooks';
import { toUrl } from '../../client/call.ts';
import { createItemPanel, createNewButton } from '../../editors/form-state.tsx';
import { readPathName, toArea } from '../../frame/address.ts';
import { toWallDay } from '../../frame/calendar.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoMinute } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { formatNames, onCall, useNames } from '../../frame/people.ts';
import { refreshCount } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { createListView } from '../../lists/declared-list.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { listDays } from './calendar-days.ts';
import { schedulesCall, shiftsCall } from './calls.ts';
import { HandoverTiles } from './handover.tsx';
import { EndOverride, OverrideForm } from './overrides.tsx';
import { createScheduleCall, type Schedule, ScheduleForm } from './schedule-form.tsx';
import { SchedulePage } from './schedule-page.tsx';
import { ShiftCalendar } from './shift-calendar.tsx';
import { OnCallPeople, ShiftTable } from './shift-table.tsx';
import { findHandover, mergeShiftsAndGaps, type Shifts } from './shifts.ts';

/** Users who are on call in a schedule now. */
const CurrentOnCall = ({ id }: { readonly id: string }) => {
  const { response, error } = onCall.state.value;
  const scheduleOnCall = response?.items.find(({ scheduleId }) => scheduleId === id);
  if (response === undefined || scheduleOnCall === undefined) return <ErrorMessage error={error} />;
  return <OnCallPeople userIds={scheduleOnCall.userIds} reason={scheduleOnCall.reason} names={response.names} />;
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
            <b>{renderText(formatNames(userIds, shifts.names))}</b> from {formatIsoMinute(from)} until{' '}
            {formatIsoMinute(to)} <EndOverride id={id} overrideId={overrideId} />
          </li>
        ))}
      </ul>
    </>
  );
};

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

/** Days of the calendar beside the list */
const shownDays = 14;
const minuteMs = 60_000;
/** Proposed length of an override */
const defaultOverrideMs = 60 * minuteMs;

const ScheduleDetails = ({ item: { id, description } }: { readonly item: Schedule }) => {
  const { response, error } = useQuery(shiftsCall, { params: { id }, query: { to: 'now+14d' } });
  const people = useNames();
  const [openedMs] = useState(() => Math.floor(Date.now() / minuteMs) * minuteMs);
  return (
    <>
      <p>{renderText(description ?? '')}</p>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <HandoverTiles handover={findHandover(mergeShiftsAndGaps(response), Date.now())} names={response.names} />
          <OverrideForm id={id} names={people} fromMs={openedMs} untilMs={openedMs + defaultOverrideMs} />
          <Overrides id={id} shifts={response} />
          <h3>The next 14 days</h3>
          <ShiftCalendar
            shifts={mergeShiftsAndGaps(response)}
            names={response.names}
            days={listDays(toWallDay(Date.now()), shownDays)}
          />
          <details>
            <summary>Shifts as a table</summary>
            <ShiftTable scheduleId={id} shifts={mergeShiftsAndGaps(response)} names={response.names} />
          </details>
          <OnCallLoad shifts={response} />
          <p class="links">
            <Link url={toArea(`/incidents/on-call/${id}`)}>Calendar and handover</Link>
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
  wideColumns: ['Time zone', 'Description'],
  Tools: createNewButton(resourceName, createScheduleCall),
  ItemPanel: createItemPanel({
    noun: resourceName,
    path: '/api/on-call/schedules/{id}',
    Form: ScheduleForm,
    Details: ScheduleDetails,
    toPageUrl: ({ id }) => toArea(`/incidents/on-call/${id}`),
  }),
});

export const OnCall = () => {
  useEffect(() => {
    onCall.run({});
    return () => onCall.cancel();
  }, [refreshCount.value]);
  const id = readPathName(2);
  return id === '' ? <ScheduleList /> : <SchedulePage key={id} id={id} />;
};
