/** Page of an on-call schedule: calendar by week or month with overrides, and the handover */
import { ChevronLeft, ChevronRight } from 'lucide';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { scheduleResource } from '../../../api/groups/incidents/schedules.ts';
import { declareReadCall } from '../../client/call.ts';
import { Button, ButtonGroup, IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { readParam, setParams, toArea } from '../../frame/address.ts';
import { toWallDay } from '../../frame/calendar.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { getTimeZoneName } from '../../frame/format-time.ts';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { useNames } from '../../frame/people.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import {
  addPeriods,
  type CalendarPeriod,
  dayMs,
  daysPerWeek,
  findDayBounds,
  formatDayParam,
  listPeriodDays,
  parseDayParam,
} from './calendar-days.ts';
import { shiftsCall } from './calls.ts';
import { HandoverReport, HandoverTiles } from './handover.tsx';
import { OverrideForm } from './overrides.tsx';
import type { Schedule } from './schedule-form.tsx';
import { ShiftCalendar, weekdayFormat } from './shift-calendar.tsx';
import { type Lane, ShiftLanes } from './shift-lanes.tsx';
import { ShiftTable } from './shift-table.tsx';
import { findHandover, mergeSamePeople, mergeShiftsAndGaps, type Shifts, selectShifts } from './shifts.ts';

const minuteMs = 60_000;

const scheduleCall = declareReadCall<typeof scheduleResource>('/api/on-call/schedules/{id}');

const dateFormat = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' });
const fullDateFormat = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeZone: 'UTC' });
const monthFormat = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** Days from the focused day, by key */
const daysByKey: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowRight: 1,
  ArrowUp: -daysPerWeek,
  ArrowDown: daysPerWeek,
};
const periodsByKey: Readonly<Record<string, number>> = { PageUp: -1, PageDown: 1 };

const readPeriod = (): CalendarPeriod => (readParam('period') === 'month' ? 'month' : 'week');
const readDay = (): number => parseDayParam(readParam('day')) ?? toWallDay(Date.now());
const selectDay = (day: number): void => setParams({ day: formatDayParam(day) }, { replace: true });

const toLanes = ({ items, gaps, layers = [] }: Shifts): readonly Lane[] => {
  const overrides = items.filter(({ overrideId }) => overrideId !== null);
  return [
    { title: 'On call', shifts: mergeSamePeople(mergeShiftsAndGaps({ items, gaps })) },
    ...(overrides.length === 0 ? [] : [{ title: 'Overrides', shifts: overrides }]),
    ...layers.map(({ name, items: shifts }) => ({ title: name, shifts })),
  ];
};

const PeriodControls = ({ days }: { readonly days: readonly number[] }) => {
  const period = readPeriod();
  const day = readDay();
  const movePeriod = (count: number): void => selectDay(addPeriods(period, day, count));
  const title =
    period === 'month' ? monthFormat.format(day) : dateFormat.formatRange(days[0] ?? day, days.at(-1) ?? day);
  return (
    <div class="toolbar">
      <ButtonGroup label="Period">
        {(['week', 'month'] as const).map((name) => (
          <Button key={name} aria-pressed={period === name} onClick={() => setParams({ period: name })}>
            {name === 'week' ? 'Week' : 'Month'}
          </Button>
        ))}
      </ButtonGroup>
      <ButtonGroup label="Dates">
        <IconButton label={`Previous ${period}`} icon={ChevronLeft} onClick={() => movePeriod(-1)} />
        <Button kind="quiet" onClick={() => setParams({ day: '' }, { replace: true })}>
          Today
        </Button>
        <IconButton label={`Next ${period}`} icon={ChevronRight} onClick={() => movePeriod(1)} />
      </ButtonGroup>
      <b aria-live="polite">{title}</b>
      <span class="soft">Times in {getTimeZoneName()}</span>
    </div>
  );
};

/** Calendar of a week or month. Arrow keys select another day, Page Up and Page Down another period. */
const PeriodCalendar = ({ shifts, days }: { readonly shifts: Shifts; readonly days: readonly number[] }) => {
  const calendar = useRef<HTMLDivElement>(null);
  const isMovedByKey = useRef(false);
  const period = readPeriod();
  const day = readDay();
  const today = toWallDay(Date.now());
  useEffect(() => {
    if (!isMovedByKey.current) return;
    isMovedByKey.current = false;
    for (const button of calendar.current?.querySelectorAll<HTMLElement>('[data-day][tabindex="0"]') ?? [])
      if (button.checkVisibility()) button.focus();
  }, [day]);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!(event.target instanceof Element) || event.target.closest('[data-day]') === null) return;
    const dayCount = daysByKey[event.key];
    const periodCount = periodsByKey[event.key];
    if (dayCount === undefined && periodCount === undefined) return;
    event.preventDefault();
    isMovedByKey.current = true;
    selectDay(dayCount === undefined ? addPeriods(period, day, periodCount ?? 0) : day + dayCount * dayMs);
  };
  const isOtherMonth = (shownDay: number): boolean =>
    period === 'month' && new Date(shownDay).getUTCMonth() !== new Date(day).getUTCMonth();
  const renderDay = (shownDay: number) => (
    <button
      type="button"
      class={[
        'calendar-day',
        ...(shownDay === today ? ['today'] : []),
        ...(isOtherMonth(shownDay) ? ['other-month'] : []),
      ].join(' ')}
      data-day={formatDayParam(shownDay)}
      tabIndex={shownDay === day ? 0 : -1}
      aria-pressed={shownDay === day}
      onClick={() => selectDay(shownDay)}
    >
      {weekdayFormat.format(shownDay)} {new Date(shownDay).getUTCDate()}
      <span class="sr-only">
        {' '}
        {monthFormat.format(shownDay)}
        {shownDay === today ? ', today' : ''}
      </span>
    </button>
  );
  const shared = { names: shifts.names, days, renderDay };
  const table = <ShiftCalendar shifts={mergeShiftsAndGaps(shifts)} {...shared} />;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the buttons of days
    <div ref={calendar} class={`period-calendar ${period}`} onKeyDown={onKeyDown}>
      {period === 'month' ? (
        table
      ) : (
        <>
          <div class="on-wide-screens">
            <ShiftLanes lanes={toLanes(shifts)} onSelectDay={selectDay} {...shared} />
          </div>
          <div class="on-phones">{table}</div>
        </>
      )}
    </div>
  );
};

/** Shifts of the selected day, and the form for an override in it. */
const SelectedDay = ({ schedule, shifts }: { readonly schedule: Schedule; readonly shifts: Shifts }) => {
  const people = useNames();
  const day = readDay();
  const bounds = findDayBounds(day);
  // Stays the same while the form is open.
  const currentMinuteMs = useMemo(() => Math.floor(Date.now() / minuteMs) * minuteMs, [day]);
  return (
    <Card title={fullDateFormat.format(day)}>
      <ShiftTable
        scheduleId={schedule.id}
        shifts={selectShifts(mergeShiftsAndGaps(shifts), bounds)}
        names={shifts.names}
      />
      {bounds.endMs <= currentMinuteMs ? null : (
        <>
          <h3>Override</h3>
          <OverrideForm
            id={schedule.id}
            names={people}
            fromMs={Math.max(bounds.startMs, currentMinuteMs)}
            untilMs={bounds.endMs}
          />
        </>
      )}
    </Card>
  );
};

const ScheduleCalendar = ({ schedule }: { readonly schedule: Schedule }) => {
  const { id } = schedule;
  const days = listPeriodDays(readPeriod(), readDay());
  const [firstDay = 0, lastDay = 0] = [days[0], days.at(-1)];
  const calendar = useQuery(shiftsCall, {
    params: { id },
    query: {
      from: new Date(findDayBounds(firstDay).startMs).toISOString(),
      to: new Date(findDayBounds(lastDay).endMs).toISOString(),
      perLayer: 'true',
    },
  });
  const current = useQuery(shiftsCall, { params: { id }, query: { from: 'now-31d', to: 'now+31d' } });
  const handover =
    current.response === undefined ? undefined : findHandover(mergeShiftsAndGaps(current.response), Date.now());
  const names = current.response?.names ?? {};
  return (
    <>
      {handover === undefined ? null : <HandoverTiles handover={handover} names={names} />}
      <ErrorMessage error={calendar.error ?? current.error} />
      <PeriodControls days={days} />
      {calendar.response === undefined ? (
        <Skeleton height={240} />
      ) : (
        <>
          <PeriodCalendar shifts={calendar.response} days={days} />
          <SelectedDay schedule={schedule} shifts={calendar.response} />
        </>
      )}
      {handover === undefined ? null : (
        <HandoverReport scheduleName={schedule.name} handover={handover} names={names} />
      )}
      <Freshness queryState={calendar} />
    </>
  );
};

export const SchedulePage = ({ id }: { readonly id: string }) => {
  const { response: schedule, error } = useQuery(scheduleCall, { params: { id } });
  if (schedule === undefined) return error === undefined ? <Skeleton height={240} /> : <ErrorMessage error={error} />;
  return (
    <ScrollRegion class="scrolled schedule-page" label="Schedule">
      <div class="page-head">
        <h2>{renderText(schedule.name)}</h2>
        <span class="soft">{schedule.timeZone}</span>
        <span class="grow" />
        <Link url={toArea('/incidents/on-call', { open: id })}>Details</Link>
        <Link url={toArea('/incidents/on-call')}>All schedules</Link>
      </div>
      <ScheduleCalendar schedule={schedule} />
    </ScrollRegion>
  );
};
