/** Formats a time in a format such as `YYYY-MM-DD HH:mm:ss`. */

const months = 'January February March April May June July August September October November December'.split(' ');
const days = 'Sunday Monday Tuesday Wednesday Thursday Friday Saturday'.split(' ');

/** Tokens of a time format; text in brackets is literal. */
const tokenPattern = /\[[^[\]]{0,128}\]|YYYY|YY|MMMM|MMM|MM|M|DD|D|dddd|ddd|HH|H|hh|h|mm|m|ss|s|SSS|A|a|X|x|Z/g;

const padTwo = (number: number): string => String(number).padStart(2, '0');

/** Returns the time in a zone as a date whose UTC parts are the local ones. */
const toLocalTime = (ms: number, zone: string): { local: Date; offsetMinutes: number } => {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(ms);
  const readPart = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  const seconds = Date.UTC(
    readPart('year'),
    readPart('month') - 1,
    readPart('day'),
    readPart('hour'),
    readPart('minute'),
    readPart('second'),
  );
  const milliseconds = ((ms % 1000) + 1000) % 1000;
  return { local: new Date(seconds + milliseconds), offsetMinutes: Math.round((seconds + milliseconds - ms) / 60_000) };
};

const formatOffset = (minutes: number): string =>
  `${minutes < 0 ? '-' : '+'}${padTwo(Math.trunc(Math.abs(minutes) / 60))}:${padTwo(Math.abs(minutes) % 60)}`;

const formatParts = (ms: number, local: Date, offsetMinutes: number): Readonly<Record<string, string>> => {
  const year = String(local.getUTCFullYear()).padStart(4, '0');
  const month = local.getUTCMonth();
  const day = local.getUTCDate();
  const hour = local.getUTCHours();
  const dayPeriod = hour < 12 ? 'am' : 'pm';
  return {
    YYYY: year,
    YY: year.slice(-2),
    MMMM: months[month] as string,
    MMM: (months[month] as string).slice(0, 3),
    MM: padTwo(month + 1),
    M: String(month + 1),
    DD: padTwo(day),
    D: String(day),
    dddd: days[local.getUTCDay()] as string,
    ddd: (days[local.getUTCDay()] as string).slice(0, 3),
    HH: padTwo(hour),
    H: String(hour),
    hh: padTwo(hour % 12 || 12),
    h: String(hour % 12 || 12),
    mm: padTwo(local.getUTCMinutes()),
    m: String(local.getUTCMinutes()),
    ss: padTwo(local.getUTCSeconds()),
    s: String(local.getUTCSeconds()),
    SSS: String(local.getUTCMilliseconds()).padStart(3, '0'),
    A: dayPeriod.toUpperCase(),
    a: dayPeriod,
    X: String(Math.trunc(ms / 1000)),
    x: String(ms),
    Z: formatOffset(offsetMinutes),
  };
};

/** Returns whether times can be formatted in a zone. */
export const isValidTimeZone = (zone: string): boolean => {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: zone });
    return true;
  } catch {
    return false;
  }
};

/** Formats milliseconds: ISO 8601 without a format or with `iso`, seconds with `seconds`. Empty for an invalid time. */
export const formatTimeText = (ms: number, format = '', zone = 'UTC'): string => {
  if (!Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return '';
  if (format === '' || format === 'iso') return new Date(ms).toISOString();
  if (format === 'seconds') return String(Math.trunc(ms / 1000));
  const { local, offsetMinutes } = zone === 'UTC' ? { local: new Date(ms), offsetMinutes: 0 } : toLocalTime(ms, zone);
  const parts = formatParts(ms, local, offsetMinutes);
  return format.replaceAll(tokenPattern, (token) =>
    token.startsWith('[') ? token.slice(1, -1) : (parts[token] ?? token),
  );
};
