/** Uptime of a check and its locations, and of each day of the last month */

import { ErrorMessage } from '../../frame/freshness.tsx';
import { renderText } from '../../frame/shown-text.tsx';
import { displayTimeZone } from '../../frame/shown-time.ts';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Check, type Uptime, uptimeCall } from './calls.ts';
import { formatMs, formatUptime } from './shown.tsx';

const uptimePeriods = { '1 day': 'day', '30 days': 'days30', '90 days': 'days90' } as const;

/** Returns the CSS class of a day's uptime. */
const getUptimeClass = ({ uptime }: Uptime): string => {
  if (uptime === null) return 'none';
  return uptime === 1 ? 'whole' : uptime >= 0.99 ? 'nearly' : 'broken';
};

const describeDay = (day: Uptime): string =>
  `${day.from.slice(0, 10)}: ${formatUptime(day.uptime)}${day.downMs === 0 ? '' : `, down for ${formatMs(day.downMs)}`}`;

/** Daily uptime of one location as a row of colored marks, the latest day last. */
const DailyUptime = ({ name, days }: { readonly name: string; readonly days: readonly Uptime[] }) => {
  const daysWithOutage = days.filter(({ downMs }) => downMs > 0);
  const daysWithData = days.filter(({ uptime }) => uptime !== null);
  const label =
    daysWithData.length === 0
      ? 'No data for the last 30 days'
      : `${daysWithOutage.length} of ${daysWithData.length} days with data had an outage${daysWithOutage.length === 0 ? '' : `: ${daysWithOutage.map(describeDay).join('; ')}`}`;
  return (
    <span class="days" role="img" aria-label={`${name}: ${label}`}>
      {days.map((day) => (
        <span key={day.from} class={getUptimeClass(day)} title={describeDay(day)} />
      ))}
    </span>
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
  return (
    <>
      <h3>Uptime</h3>
      <ErrorMessage error={error} />
      <table class="figures">
        <TableHeader columns={Object.keys(uptimePeriods)} />
        <tbody>
          <tr>
            {Object.values(uptimePeriods).map((name) => (
              <td key={name}>{formatUptime(check.uptime?.[name])}</td>
            ))}
          </tr>
        </tbody>
      </table>
      <ScrollRegion class="numbers" label="Last 30 days">
        <table class="figures texts">
          <TableHeader columns={['Location', 'Last 30 days']} />
          <tbody>
            {[...uptimesByLocation].map(([location, days]) => {
              const name = location === null ? 'Overall' : getLocationName(location);
              return (
                <tr key={location}>
                  <td>
                    <bdi>{renderText(name)}</bdi>
                  </td>
                  <td>
                    <DailyUptime name={name} days={days} />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollRegion>
    </>
  );
};
