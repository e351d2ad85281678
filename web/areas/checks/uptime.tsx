/** Uptime of a check and its locations, of each hour of the last day and each day of the last month */

import { StatTile } from '../../components/stat-tile.tsx';
import { renderText } from '../../frame/display-text.tsx';
import { displayTimeZone, formatDay, formatShortTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { type Check, type Uptime, uptimeCall } from './calls.ts';
import { formatMs, formatUptime, UptimeBars } from './check-format.tsx';

const uptimePeriods = { '1 day': 'day', '30 days': 'days30', '90 days': 'days90' } as const;

const hourMs = 3_600_000;

/** Uptime of each of the last 24 hours. */
export const HourlyUptime = ({ check: { name, uptime } }: { readonly check: Check }) => {
  if (uptime === null) return <span class="soft">no data</span>;
  const nowMs = Date.now();
  const slices = uptime.hours.map((share, index) => {
    const startMs = nowMs - (uptime.hours.length - index) * hourMs;
    return {
      uptime: share,
      text: `${formatShortTime(startMs)} to ${formatShortTime(startMs + hourMs)}: ${formatUptime(share)}`,
    };
  });
  const hoursWithOutage = uptime.hours.filter((share) => share !== null && share < 1).length;
  return (
    <UptimeBars
      label={`${name}: ${hoursWithOutage === 0 ? 'no outage' : `outages in ${hoursWithOutage} of the last 24 hours`}`}
      slices={slices}
    />
  );
};

const describeDay = (day: Uptime): string =>
  `${day.from.slice(0, 10)}: ${formatUptime(day.uptime)}${day.downMs === 0 ? '' : `, down for ${formatMs(day.downMs)}`}`;

/** Daily uptime of one location, the latest day last. */
const DailyUptime = ({ name, days }: { readonly name: string; readonly days: readonly Uptime[] }) => {
  const daysWithOutage = days.filter(({ downMs }) => downMs > 0);
  const daysWithData = days.filter(({ uptime }) => uptime !== null);
  const label =
    daysWithData.length === 0
      ? 'No data for the last 30 days'
      : `${daysWithOutage.length} of ${daysWithData.length} days with data had an outage${daysWithOutage.length === 0 ? '' : `: ${daysWithOutage.map(describeDay).join('; ')}`}`;
  return (
    <UptimeBars
      label={`${name}: ${label}`}
      slices={days.map((day) => ({ uptime: day.uptime, text: describeDay(day) }))}
    />
  );
};

/** `getLocationName` returns the name of a location by its id. */
export const Uptimes = ({
  check,
  getLocationName,
}: {
  readonly check: Check;
  readonly getLocationName: (id: string) => string;
}) => {
  const timeZone =
    displayTimeZone.value === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : displayTimeZone.value;
  const { response, error } = useQuery(uptimeCall, {
    params: { id: check.id },
    query: { from: 'now-30d', to: 'now', period: 'day', timeZone },
  });
  const uptimesByLocation = Map.groupBy(response?.items ?? [], ({ location }) => location);
  const firstDay = response?.items[0]?.from;
  return (
    <section aria-label="Uptime">
      <h3>Uptime</h3>
      <ErrorMessage error={error} />
      <div class="uptime-tiles">
        {Object.entries(uptimePeriods).map(([title, name]) => (
          <StatTile key={name} title={title} value={formatUptime(check.uptime?.[name])} />
        ))}
      </div>
      <dl class="uptime-locations">
        {[...uptimesByLocation].map(([location, days]) => {
          const name = location === null ? 'Overall' : getLocationName(location);
          return (
            <div key={location}>
              <dt>
                <bdi>{renderText(name)}</bdi>
              </dt>
              <dd>
                <DailyUptime name={name} days={days} />
              </dd>
            </div>
          );
        })}
      </dl>
      {firstDay === undefined ? null : (
        <p class="uptime-scale soft">
          <span>{formatDay(Date.parse(firstDay))}</span>
          <span>Today</span>
        </p>
      )}
    </section>
  );
};
