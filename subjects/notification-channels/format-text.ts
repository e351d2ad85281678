/** Formats times, durations and external text for messages */

const durationUnits = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** Returns the two largest parts of a duration: `3 h 5 min`, `12 min`, `40 s`. */
export const formatDuration = (ms: number): string => {
  let seconds = Math.max(0, Math.round(ms / 1000));
  const firstUnitIndex = durationUnits.findIndex(([, size]) => seconds >= size);
  if (firstUnitIndex < 0) return '0 s';
  const parts: string[] = [];
  // Seconds are not significant next to minutes.
  for (const [unit, size] of durationUnits.slice(firstUnitIndex, firstUnitIndex + (firstUnitIndex >= 2 ? 1 : 2))) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.join(' ');
};

/** Formats a time: `2026-11-24 03:50:50 UTC`, `2026-11-24 04:50:50 UTC+1`. */
export const formatTime = (ms: number, timeZone: string): string => {
  const twoDigits = '2-digit';
  const parts = new Intl.DateTimeFormat('en-GB', {
    year: 'numeric',
    month: twoDigits,
    day: twoDigits,
    hour: twoDigits,
    minute: twoDigits,
    second: twoDigits,
    hourCycle: 'h23',
    timeZone,
    timeZoneName: 'shortOffset',
  }).formatToParts(ms);
  const getPart = (type: Intl.DateTimeFormatPartTypes): string => parts.find((part) => part.type === type)?.value ?? '';
  const zone = getPart('timeZoneName')
    .replace('GMT', 'UTC')
    .replace(/^UTC\+0$/, 'UTC');
  return `${getPart('year')}-${getPart('month')}-${getPart('day')} ${getPart('hour')}:${getPart('minute')}:${getPart('second')} ${zone}`;
};

/** Returns a URL without characters that are special in Markdown. */
const encodeMarkdownInUrl = (text: string): string =>
  text.replaceAll(
    /[\\`*_~|<>[\](){}]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );

/**
 * Spaces within a line. A pattern that matches line breaks would rescan a run of empty lines from each of its lines.
 */
const indentPattern = String.raw`[^\S\n\r\u2028\u2029]*`;
const bulletPattern = new RegExp(`^(${indentPattern})([-+])`, 'gm');
const listNumberPattern = new RegExp(String.raw`^(${indentPattern}\d+)\.(?=\s|$)`, 'gm');

/** Escapes text so that Markdown in Teams and Discord displays it unchanged. URLs remain links. */
export const escapeMarkdown = (text: string): string =>
  /^https?:\/\/\S+$/.test(text)
    ? encodeMarkdownInUrl(text)
    : text
        .replaceAll(/[\\`*_~|<>[\](){}#&]/g, (character) => `\\${character}`)
        // List markers at the start of a line.
        .replaceAll(bulletPattern, '$1\\$2')
        .replaceAll(listNumberPattern, '$1\\.');
