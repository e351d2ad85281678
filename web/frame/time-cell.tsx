/** Time in a cell of a list */
import { formatTime } from './format-time.ts';

/** Shows a time in epoch milliseconds. On phones the date is omitted if it is today, so that the time fits. */
export const TimeCell = ({ ms }: { readonly ms: number }) => {
  const time = formatTime(ms, { withDate: false });
  const date = formatTime(ms).slice(0, -time.length);
  const isToday = formatTime(Date.now()).startsWith(date);
  return (
    <time title={`${date}${time}`}>
      <span class={isToday ? 'date-of-today' : ''}>{date}</span>
      {time}
    </time>
  );
};
