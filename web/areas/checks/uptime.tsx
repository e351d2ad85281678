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
const uptimeClass = ({ uptime }: Uptime): string => {
  if (uptime === null) return 'none';
  return uptime === 1 ? 'whole' : uptime >= 0.99 ? 'nearly' : 'broken';
};

const describeDay = (day: Uptime): string =>
  `${day.from.slice(0, 10)}: ${formatUptime(day.uptime)}${day.downMs === 0 ? '' : `, down for ${formatMs(day.downMs)}`}`;

/** Daily uptime of one location as a row of colored marks, the latest day last. */
const DailyUptime = ({ name, of }: { readonly name: string; readonly of: readonly Uptime[] }) => {
  const daysWithOutage = of.filter(({ downMs }) => downMs > 0);
  const daysWithData = of.filter(({ uptime }) => uptime !== null);
  const label =
    daysWithData.length === 0
      ? 'No data for the last 30 days'
      : `${daysWithOutage.length} of ${daysWithData.length} days with data had an outage${daysWithOutage.length === 0 ? '' : `: ${daysWithOutage.map(describeDay).join('; ')}`}`;
  return (
    <span class="days" role="img" aria-label={`${name}: ${label}`}>
      {of.map((day) => (
        <span key={day.from} class={uptimeClass(day)} title={describeDay(day)} />
      ))}
    </span>
  );
};

/** `locationName` returns the name of a location by its id. */
export const Uptimes = ({
  check,
  locationName,
}: {
  readonly check: Check;
  readonly locationName: (id: string) => string;
}) => {
  const timeZone =
    displayTimeZone.value === 'browser' ? Intl.DateTimeFormat().resolvedOptions().timeZone : displayTimeZone.value;
  const { response, error } = useQuery(uptimeCall, {
    params: { id: check.id },
    query: { from: 'now-30d', to: 'now', period: 'day', timeZone },
  });
  const byLocation = Map.groupBy(response?.items ?? [], ({ location }) => location);
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
            {[...byLocation].map(([location, of]) => {
              const name = location === null ? 'Overall' : locationName(location);
              return (
                <tr key={location}>
                  <td>
                    <bdi>{renderText(name)}</bdi>
                  </td>
                  <td>
                    <DailyUptime name={name} of={of} />
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
