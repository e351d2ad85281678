/** Parses time expressions: "last hour", "yesterday between 2pm and 4pm", "since Monday", "on 3 March" */
import { getWallClock, type WallClock } from '../../runtime/wall-clock.ts';
import { dayMs, hourMs, minuteMs, numerals, parseNumber, units, unitToMs } from './quantities.ts';
import type { Word } from './words.ts';

/**
 * A time expression of a question. Wall times are in milliseconds, as if the time zone were UTC; ends are exclusive.
 */
export type TimePart =
  /** `isBefore`: "the week before", which ends where the range of the question begins. */
  | { readonly is: 'last'; readonly ms: number; readonly isBefore?: true }
  | { readonly is: 'days'; readonly from: number; readonly to: number }
  | { readonly is: 'clock'; readonly from: number; readonly to: number | undefined }
  | { readonly is: 'since'; readonly day: number | undefined; readonly clock: number }
  /** `service`: the one that the expression names, as in "since the last deployment of cart" */
  | { readonly is: 'deployment'; readonly bound: 'since' | 'before'; readonly service: string | undefined }
  /** The period before another one, as in "compared with before" */
  | { readonly is: 'before' }
  /** Instants in epoch milliseconds */
  | { readonly is: 'instants'; readonly fromMs: number; readonly toMs: number }
  | { readonly is: 'moment' };

/** Returns whether a part is a period such as "the week before". */
export const isPeriodBefore = (part: TimePart): part is Extract<TimePart, { readonly is: 'last' }> =>
  part.is === 'last' && part.isBefore === true;

/** A deployment of the organization, which "since the last deployment" means */
export interface ServiceDeployment {
  readonly service: string;
  readonly version: string;
  readonly atMs: number;
}

export interface Now {
  readonly nowMs: number;
  readonly timeZone: string;
  /** Deployments, the newest first; absent if none were read */
  readonly deployments?: readonly ServiceDeployment[];
}

const months = 'january february march april may june july august september october november december'.split(' ');
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const findNameIndex = (names: readonly string[], word: Word | undefined): number => {
  const lower = word?.lower ?? '';
  return lower.length < 3
    ? -1
    : names.findIndex((name) => name === lower || (lower.length <= 4 && name.startsWith(lower)));
};

/** Words of time expressions, which are never typing errors of other words */
export const timeWords: readonly string[] = [
  ...units.keys(),
  ...numerals.keys(),
  ...months,
  ...weekdays,
  ...'deployment deploy release rollout weekend night overnight last past previous latest since after before until till between today yesterday midnight noon morning afternoon evening ago around half hourly daily weekly minutely interval intervals bucket buckets percentile percentiles quantile'.split(
    ' ',
  ),
];

/** A match at a position, and its number of words */
export interface WordMatch<Value> {
  readonly words: number;
  readonly value: Value;
}

/** Parses time expressions at positions of a question */
export class TimeReader {
  readonly #words: readonly Word[];
  readonly #clock: WallClock;
  readonly #now: number;
  readonly #today: number;
  readonly #deployments: readonly ServiceDeployment[];

  constructor(words: readonly Word[], { nowMs, timeZone, deployments = [] }: Now) {
    this.#words = words;
    this.#deployments = deployments;
    this.#clock = getWallClock(timeZone);
    this.#now = this.#clock.getWallTime(nowMs);
    this.#today = Math.floor(this.#now / dayMs) * dayMs;
  }

  #getLower(position: number): string {
    return this.#words[position]?.lower ?? '';
  }

  #isWord(at: number, ...words: string[]): boolean {
    return words.includes(this.#getLower(at));
  }

  /** Returns the time expression that begins at a word. */
  position(position: number): WordMatch<TimePart> | undefined {
    const preposition = this.#isWord(position, 'in', 'over', 'during', 'for', 'within', 'on', 'of', 'from') ? 1 : 0;
    const parseExpression = (from: number): WordMatch<TimePart> | undefined =>
      this.#parseDeployment(from) ??
      this.#parsePreviousPeriod(from) ??
      this.#parseSince(from) ??
      this.#parseBetween(from) ??
      this.#parseRelative(from) ??
      this.#parsePeriodBefore(from) ??
      this.#parseAgo(from) ??
      this.#parseDays(from) ??
      this.#parsePartOfDay(from) ??
      this.#parseBound(from);
    const found = parseExpression(position);
    if (found !== undefined || preposition === 0) return found;
    const match =
      this.#parseBetween(position + 1) ?? this.#parseRelative(position + 1) ?? this.#parseDays(position + 1);
    return match === undefined ? undefined : { words: match.words + 1, value: match.value };
  }

  /** Parses `the last 15 minutes`, `past week`, `last 24h`; `last week` without an article is the calendar week. */
  #parseRelative(position: number): WordMatch<TimePart> | undefined {
    const article = this.#isWord(position, 'the', 'these', 'this') ? 1 : 0;
    const wordIndex = position + article;
    if (!this.#isWord(wordIndex, 'last', 'past', 'previous', 'latest')) return undefined;
    const number = parseNumber(this.#words[wordIndex + 1]);
    if (number === undefined) {
      const stem = this.#words[wordIndex + 1]?.stem ?? '';
      const ms = stem.length > 1 ? unitToMs(stem) : undefined;
      if (ms === undefined) return undefined;
      const calendar = article === 0 && !this.#isWord(wordIndex, 'past') && ms >= 7 * dayMs;
      return calendar ? this.#previousPeriod(wordIndex, stem) : { words: article + 2, value: { is: 'last', ms } };
    }
    const unitMs = unitToMs(number.unit);
    if (unitMs !== undefined) return { words: article + 2, value: { is: 'last', ms: number.value * unitMs } };
    // "Half an hour", "a couple of hours".
    const joined = this.#isWord(wordIndex + 2, 'of', 'an', 'a') ? 1 : 0;
    const ms = number.unit === '' ? unitToMs(this.#words[wordIndex + 2 + joined]?.stem) : undefined;
    return ms === undefined ? undefined : { words: article + joined + 3, value: { is: 'last', ms: number.value * ms } };
  }

  /** Parses `the hour before` and `the 5 minutes before`, which precede the range of the question. */
  #parsePeriodBefore(position: number): WordMatch<TimePart> | undefined {
    const number = this.#isWord(position, 'the') ? parseNumber(this.#words[position + 1]) : undefined;
    const unitPosition = number?.unit === '' ? position + 2 : position + 1;
    const unitMs = this.#isWord(position, 'the') ? unitToMs(this.#words[unitPosition]?.stem) : undefined;
    const isLast = this.#isWord(unitPosition + 1, 'before') && this.#words[unitPosition + 2] === undefined;
    return unitMs !== undefined && isLast
      ? { words: unitPosition + 2 - position, value: { is: 'last', ms: unitMs * (number?.value ?? 1), isBefore: true } }
      : undefined;
  }

  /** Parses `since the last deployment`, `before the release of cart`, `after the deploy`. */
  #parseDeployment(position: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(position, 'since', 'after', 'before')) return undefined;
    let end = position + 1;
    while (this.#isWord(end, 'the', 'last', 'latest', 'newest', 'previous', 'recent', 'most', 'our', 'its')) end += 1;
    if (!deploymentWords.has(this.#getLower(end))) return undefined;
    end += 1;
    const bound = this.#isWord(position, 'before') ? 'before' : 'since';
    const named = this.#isWord(end, 'of', 'to', 'in', 'for') ? this.#parseDeployedService(end + 1) : undefined;
    return {
      words: end - position + (named === undefined ? 0 : 1 + named.words),
      value: { is: 'deployment', bound, service: named?.value },
    };
  }

  /** Returns the deployed service that words name: `route planner` for route-planner. */
  #parseDeployedService(position: number): WordMatch<string> | undefined {
    const start = this.#isWord(position, 'the') ? position + 1 : position;
    const services = [...new Set(this.#deployments.map(({ service }) => service))];
    for (let length = 4; length > 0; length--) {
      const words = this.#words.slice(start, start + length);
      if (words.length < length) continue;
      const text = words.map(({ lower }) => lower).join('-');
      const service = services.find((name) => {
        const lower = name.toLowerCase();
        return [lower, lower.slice(lower.lastIndexOf('/') + 1)].some((form) => form.replace(/[._]/g, '-') === text);
      });
      if (service !== undefined) return { words: start - position + length, value: service };
    }
    return undefined;
  }

  /** Parses the `before` of "compared with before". */
  #parsePreviousPeriod(position: number): WordMatch<TimePart> | undefined {
    const isLast = this.#words[position + 1] === undefined;
    return this.#isWord(position, 'before') && isLast ? { words: 1, value: { is: 'before' } } : undefined;
  }

  /** Returns the previous week or month. */
  #previousPeriod(position: number, stem: string): WordMatch<TimePart> | undefined {
    const to = stem === 'month' ? this.#getMonthStart() : this.#getWeekStart();
    const from =
      stem === 'month' ? Date.UTC(new Date(to).getUTCFullYear(), new Date(to).getUTCMonth() - 1) : to - 7 * dayMs;
    if (stem !== 'month' && stem !== 'week') return undefined;
    return this.#getLower(position) === '' ? undefined : { words: 2, value: { is: 'days', from, to } };
  }

  #getWeekStart(): number {
    return this.#today - ((new Date(this.#today).getUTCDay() + 6) % 7) * dayMs;
  }

  #getMonthStart(): number {
    const today = new Date(this.#today);
    return Date.UTC(today.getUTCFullYear(), today.getUTCMonth());
  }

  /** Parses full days: a date, a weekday, today, this week. */
  #parseDays(position: number): WordMatch<TimePart> | undefined {
    const day = this.#parseDay(position);
    if (day !== undefined) return { words: day.words, value: { is: 'days', from: day.value, to: day.value + dayMs } };
    const now = this.#now + 1;
    const periods: Readonly<Record<string, readonly [number, number]>> = {
      week: [this.#getWeekStart(), now],
      month: [this.#getMonthStart(), now],
      hour: [Math.floor(this.#now / hourMs) * hourMs, now],
      ...Object.fromEntries(
        Object.entries(partsOfDay).map(([part, [from, to]]) => [
          part,
          [this.#today + from * hourMs, this.#today + to * hourMs],
        ]),
      ),
    };
    const weekend = this.#parseWeekend(position) ?? this.#parseNight(position);
    if (weekend !== undefined) return weekend;
    const period =
      this.#isWord(position, 'this') && Object.hasOwn(periods, this.#getLower(position + 1))
        ? periods[this.#getLower(position + 1)]
        : undefined;
    return period && { words: 2, value: { is: 'days', from: period[0], to: period[1] } };
  }

  /** Returns the latest Saturday and Sunday; `last weekend` has ended. */
  #parseWeekend(position: number): WordMatch<TimePart> | undefined {
    const article = this.#isWord(position, 'the') ? 1 : 0;
    const qualifierCount = this.#isWord(position + article, 'last', 'past', 'this') ? 1 : 0;
    if (!this.#isWord(position + article + qualifierCount, 'weekend')) return undefined;
    const saturday = this.#getWeekStart() + 5 * dayMs;
    const isOver = saturday > this.#today || this.#isWord(position + article, 'last', 'past');
    const from = isOver ? saturday - 7 * dayMs : saturday;
    return { words: article + qualifierCount + 1, value: { is: 'days', from, to: from + 2 * dayMs } };
  }

  /** Parses `last night` and `overnight`: from 18:00 yesterday to 6:00 today. */
  #parseNight(position: number): WordMatch<TimePart> | undefined {
    const isLast = this.#isWord(position, 'last') && this.#isWord(position + 1, 'night');
    return isLast || this.#isWord(position, 'overnight')
      ? {
          words: isLast ? 2 : 1,
          value: { is: 'days', from: this.#today - 6 * hourMs, to: this.#today + 6 * hourMs },
        }
      : undefined;
  }

  /** Parses `yesterday morning`, `on Monday in the afternoon`: hours of the given day. */
  #parsePartOfDay(position: number): WordMatch<TimePart> | undefined {
    const before = this.#isWord(position, 'in') && this.#isWord(position + 1, 'the') ? 2 : 0;
    const hours = partsOfDay[this.#getLower(position + before)];
    const isBehindDay = this.#parseDay(position - 1) !== undefined || before > 0;
    if (hours === undefined || !isBehindDay) return undefined;
    return { words: before + 1, value: { is: 'clock', from: hours[0] * hourMs, to: hours[1] * hourMs } };
  }

  /** Returns the wall time at which a day begins. */
  #parseDay(position: number): WordMatch<number> | undefined {
    if (this.#isWord(position, 'today')) return { words: 1, value: this.#today };
    if (this.#isWord(position, 'yesterday')) return { words: 1, value: this.#today - dayMs };
    const articleCount = this.#isWord(position, 'the') ? 1 : 0;
    if (
      this.#isWord(position + articleCount, 'day') &&
      this.#isWord(position + articleCount + 1, 'before') &&
      this.#isWord(position + articleCount + 2, 'yesterday')
    )
      return { words: articleCount + 3, value: this.#today - 2 * dayMs };
    return this.#parseWeekday(position) ?? this.#parseDate(position);
  }

  /** Returns the latest day with this name, including today; `last Monday` is before today. */
  #parseWeekday(position: number): WordMatch<number> | undefined {
    const last = this.#isWord(position, 'last') ? 1 : 0;
    const weekday = findNameIndex(weekdays, this.#words[position + last]);
    if (weekday < 0) return undefined;
    const days = (new Date(this.#today).getUTCDay() - weekday + 7) % 7;
    return { words: last + 1, value: this.#today - (days === 0 && last === 1 ? 7 : days) * dayMs };
  }

  /** Parses `3 March`, `March 3rd, 2026`, `the 3rd of March`, `2026-03-03`. Without a year, the latest one. */
  #parseDate(position: number): WordMatch<number> | undefined {
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(this.#getLower(position)) ?? [];
    if (year !== undefined) return this.#createDate(1, Number(year), Number(month) - 1, Number(day));
    const article = this.#isWord(position, 'the') ? 1 : 0;
    const dayFirst = parseDayOfMonth(this.#getLower(position + article));
    const of = this.#isWord(position + article + 1, 'of') ? 1 : 0;
    const monthAfter = findNameIndex(months, this.#words[position + article + 1 + of]);
    if (dayFirst !== undefined && monthAfter >= 0)
      return this.#parseYear(position, article + 2 + of, monthAfter, dayFirst);
    const monthBefore = findNameIndex(months, this.#words[position]);
    const dayBehind = parseDayOfMonth(this.#getLower(position + 1));
    return monthBefore >= 0 && dayBehind !== undefined
      ? this.#parseYear(position, 2, monthBefore, dayBehind)
      : undefined;
  }

  #parseYear(position: number, words: number, month: number, day: number): WordMatch<number> | undefined {
    const comma = this.#words[position + words]?.is === 'comma' ? 1 : 0;
    const [writtenYear] = /^(?:19|20)\d\d$/.exec(this.#getLower(position + words + comma)) ?? [];
    if (writtenYear !== undefined) return this.#createDate(words + comma + 1, Number(writtenYear), month, day);
    const year = new Date(this.#today).getUTCFullYear();
    return this.#createDate(words, Date.UTC(year, month, day) > this.#today ? year - 1 : year, month, day);
  }

  #createDate(words: number, year: number, month: number, day: number): WordMatch<number> | undefined {
    const value = Date.UTC(year, month, day);
    return new Date(value).getUTCMonth() === month && new Date(value).getUTCDate() === day
      ? { words, value }
      : undefined;
  }

  /** Parses `2pm`, `2 pm`, `14:00`, `noon` to milliseconds of the day. */
  #parseClockTime(position: number): WordMatch<number> | undefined {
    if (this.#isWord(position, 'midnight')) return { words: 1, value: 0 };
    if (this.#isWord(position, 'noon')) return { words: 1, value: 12 * hourMs };
    const [, hours, minutes = '0', meridiemSuffix] =
      /^(\d{1,2})(?::(\d\d))?(am|pm)?$/.exec(this.#getLower(position)) ?? [];
    if (hours === undefined || Number(minutes) > 59) return undefined;
    const meridiem =
      meridiemSuffix === undefined && this.#isWord(position + 1, 'am', 'pm') ? this.#getLower(position + 1) : undefined;
    const hour = this.#toHourOfDay(position, Number(hours), meridiemSuffix ?? meridiem);
    return hour === undefined
      ? undefined
      : { words: meridiem === undefined ? 1 : 2, value: hour * hourMs + Number(minutes) * minuteMs };
  }

  /** Returns an hour of the day: in 12-hour form with am or pm, in 24-hour form with minutes. */
  #toHourOfDay(position: number, hours: number, meridiemSuffix: string | undefined): number | undefined {
    if (meridiemSuffix === undefined) return hours < 24 && this.#getLower(position).includes(':') ? hours : undefined;
    return hours >= 1 && hours <= 12 ? (hours % 12) + (meridiemSuffix === 'pm' ? 12 : 0) : undefined;
  }

  /** Parses `between 2pm and 4pm`, `from 14:00 to 15:30`, `from 9 to 17`, `between Monday and Wednesday`. */
  #parseBetween(position: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(position, 'between', 'from')) return undefined;
    const days = this.#parseDayPair(position);
    if (days !== undefined) return days;
    const isJoined = (wordIndex: number): boolean => this.#isWord(wordIndex, 'and', 'to', 'till', 'until', '-', '–');
    const first = this.#parseClockTime(position + 1) ?? this.#parseBareHour(position + 1, isJoined(position + 2));
    if (first === undefined || !isJoined(position + 1 + first.words)) return undefined;
    const place = position + 2 + first.words;
    // "Yesterday between 6 and 10": an adjacent day identifies bare numbers as hours.
    const isOfDay =
      this.#parseDay(position - 1) !== undefined ||
      this.#parseDays(place + 1) !== undefined ||
      this.#parseDays(position - 2) !== undefined;
    const second = this.#parseClockTime(place) ?? this.#parseBareHour(place, isOfDay);
    if (second === undefined) return undefined;
    // In "between 2 and 4pm", both times are in the afternoon.
    const isBare = this.#parseClockTime(position + 1) === undefined;
    const isAfternoon =
      isBare && second.value >= 12 * hourMs && first.value < 12 * hourMs && first.value + 12 * hourMs < second.value;
    const from = isAfternoon ? first.value + 12 * hourMs : first.value;
    const to = second.value <= from ? second.value + dayMs : second.value;
    return { words: 2 + first.words + second.words, value: { is: 'clock', from, to } };
  }

  #parseBareHour(position: number, isJoined: boolean): WordMatch<number> | undefined {
    const [hours] = /^\d{1,2}$/.exec(this.#getLower(position)) ?? [];
    return hours !== undefined && isJoined && Number(hours) < 24
      ? { words: 1, value: Number(hours) * hourMs }
      : undefined;
  }

  #parseDayPair(position: number): WordMatch<TimePart> | undefined {
    const first = this.#parseDay(position + 1);
    if (first === undefined || !this.#isWord(position + 1 + first.words, 'and', 'to', 'till', 'until'))
      return undefined;
    const second = this.#parseDay(position + 2 + first.words);
    if (second === undefined || second.value < first.value) return undefined;
    return {
      words: 2 + first.words + second.words,
      value: { is: 'days', from: first.value, to: second.value + dayMs },
    };
  }

  /** Parses `between 8 and 9` as hours, if the numbers are those of no field. */
  parseBareHours(position: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(position, 'between') || !this.#isWord(position + 2, 'and', 'to')) return undefined;
    const first = this.#parseBareHour(position + 1, true);
    const second = this.#parseBareHour(position + 3, true);
    if (first === undefined || second === undefined || second.value <= first.value) return undefined;
    return { words: 4, value: { is: 'clock', from: first.value, to: second.value } };
  }

  #parseThisMorning(position: number): WordMatch<number> | undefined {
    return this.#isWord(position, 'this') && this.#isWord(position + 1, 'morning')
      ? { words: 2, value: this.#today }
      : undefined;
  }

  /** Parses `since Monday`, `since 9am`, `since yesterday at 5pm`, `since this morning`, `after 14:00`. */
  #parseSince(position: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(position, 'since', 'after')) return undefined;
    const day = this.#parseThisMorning(position + 1) ?? this.#parseDay(position + 1);
    const hourIndex = position + 1 + (day?.words ?? 0);
    const preposition = this.#isWord(hourIndex, 'at') ? 1 : 0;
    const hour = hourIndex + preposition;
    const next = this.#words[hour + 1];
    // "Since 8" is an hour at the end of a phrase, or next to a day.
    const isHour = next === undefined || this.#parseDay(hour + 1) !== undefined || this.#isWord(hour + 1, 'this');
    const clock = this.#parseClockTime(hour) ?? this.#parseBareHour(hour, isHour);
    if (day === undefined && clock === undefined) return undefined;
    const words = 1 + (day?.words ?? 0) + (clock === undefined ? 0 : preposition + clock.words);
    // "Since 3 pm yesterday" lasts until now, and "after 3 pm yesterday" until the end of that day.
    const isDayAfter = day === undefined && this.#isWord(position, 'since');
    const dayAfter = isDayAfter ? this.#parseDay(position + words) : undefined;
    return {
      words: words + (dayAfter?.words ?? 0),
      value: { is: 'since', day: (day ?? dayAfter)?.value, clock: clock?.value ?? 0 },
    };
  }

  /**
   * Parses `before 9am` and `until noon` from the start of the day, `at 3am` as that hour and `at 14:30` as that
   * minute, and `around 3am` with half an hour, `around 14:30` with a quarter, on both sides.
   */
  #parseBound(position: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(position, 'before', 'until', 'till', 'at', 'around', 'about')) return undefined;
    const clock = this.#parseClockTime(position + 1);
    if (clock === undefined) return undefined;
    const { value: time, words } = clock;
    const isHour = time % hourMs === 0 && !this.#getLower(position + 1).includes(':');
    if (this.#isWord(position, 'before', 'until', 'till'))
      return { words: 1 + words, value: { is: 'clock', from: 0, to: time } };
    const [before, after] = this.#isWord(position, 'at')
      ? [0, isHour ? hourMs : minuteMs]
      : [isHour ? hourMs / 2 : hourMs / 4, isHour ? hourMs / 2 : hourMs / 4];
    return { words: 1 + words, value: { is: 'clock', from: Math.max(0, time - before), to: time + after } };
  }

  /** Parses `2 days ago` as that day. Other units denote a point in time, which is not a range. */
  #parseAgo(position: number): WordMatch<TimePart> | undefined {
    const number = parseNumber(this.#words[position]);
    const unitMs = number === undefined ? undefined : unitToMs(number.unit);
    const ms = unitMs ?? (number?.unit === '' ? unitToMs(this.#words[position + 1]?.stem) : undefined);
    const words = unitMs === undefined ? 3 : 2;
    if (number === undefined || ms === undefined || !this.#isWord(position + words - 1, 'ago')) return undefined;
    if (ms !== dayMs) return { words, value: { is: 'moment' } };
    const from = this.#today - number.value * dayMs;
    return { words, value: { is: 'days', from, to: from + dayMs } };
  }
}

const deploymentWords: ReadonlySet<string> = new Set(['deployment', 'deploy', 'release', 'rollout']);

const partsOfDay: Readonly<Record<string, readonly [number, number]>> = {
  morning: [0, 12],
  afternoon: [12, 18],
  evening: [18, 24],
};

const parseDayOfMonth = (word: string): number | undefined => {
  const [, digits] = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word) ?? [];
  return digits === undefined || Number(digits) < 1 || Number(digits) > 31 ? undefined : Number(digits);
};
