/** Parses time expressions: "last hour", "yesterday between 2pm and 4pm", "since Monday", "on 3 March" */
import { getWallClock, type WallClock } from '../../runtime/wall-clock.ts';
import { dayMs, hourMs, minuteMs, numerals, parseNumber, units, unitToMs } from './quantities.ts';
import type { Word } from './words.ts';

/** A time expression of a question. Wall times are milliseconds as if the zone were UTC; ends are exclusive. */
export type TimePart =
  | { readonly is: 'last'; readonly ms: number }
  | { readonly is: 'days'; readonly from: number; readonly to: number }
  | { readonly is: 'clock'; readonly from: number; readonly to: number | undefined }
  | { readonly is: 'since'; readonly day: number | undefined; readonly clock: number }
  | { readonly is: 'moment' };

export interface Now {
  readonly nowMs: number;
  readonly timeZone: string;
}

const months = 'january february march april may june july august september october november december'.split(' ');
const weekdays = 'sunday monday tuesday wednesday thursday friday saturday'.split(' ');
const findNamed = (names: readonly string[], word: Word | undefined): number => {
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
  ...'weekend last past previous latest since after before until till between today yesterday midnight noon morning afternoon evening ago around half hourly daily weekly minutely interval intervals bucket buckets percentile percentiles quantile'.split(
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

  constructor(words: readonly Word[], { nowMs, timeZone }: Now) {
    this.#words = words;
    this.#clock = getWallClock(timeZone);
    this.#now = this.#clock.wallAt(nowMs);
    this.#today = Math.floor(this.#now / dayMs) * dayMs;
  }

  #lower(at: number): string {
    return this.#words[at]?.lower ?? '';
  }

  #isWord(at: number, ...words: string[]): boolean {
    return words.includes(this.#lower(at));
  }

  /** Returns the time expression that begins at a word. */
  parseAt(parseAt: number): WordMatch<TimePart> | undefined {
    const preposition = this.#isWord(parseAt, 'in', 'over', 'during', 'for', 'within', 'on', 'of', 'from') ? 1 : 0;
    const parseExpression = (from: number): WordMatch<TimePart> | undefined =>
      this.#since(from) ??
      this.#between(from) ??
      this.#parseRelative(from) ??
      this.#ago(from) ??
      this.#days(from) ??
      this.#partOfDay(from) ??
      this.#bounded(from);
    const found = parseExpression(parseAt);
    if (found !== undefined || preposition === 0) return found;
    const behind = this.#between(parseAt + 1) ?? this.#parseRelative(parseAt + 1) ?? this.#days(parseAt + 1);
    return behind === undefined ? undefined : { words: behind.words + 1, value: behind.value };
  }

  /** Parses `the last 15 minutes`, `past week`, `last 24h`; `last week` without an article is the calendar week. */
  #parseRelative(at: number): WordMatch<TimePart> | undefined {
    const article = this.#isWord(at, 'the', 'these', 'this') ? 1 : 0;
    const place = at + article;
    if (!this.#isWord(place, 'last', 'past', 'previous', 'latest')) return undefined;
    const number = parseNumber(this.#words[place + 1]);
    if (number === undefined) {
      const stem = this.#words[place + 1]?.stem ?? '';
      const ms = stem.length > 1 ? unitToMs(stem) : undefined;
      if (ms === undefined) return undefined;
      const calendar = article === 0 && !this.#isWord(place, 'past') && ms >= 7 * dayMs;
      return calendar ? this.#previousPeriod(place, stem) : { words: article + 2, value: { is: 'last', ms } };
    }
    const own = unitToMs(number.unit);
    if (own !== undefined) return { words: article + 2, value: { is: 'last', ms: number.value * own } };
    // "Half an hour", "a couple of hours".
    const joined = this.#isWord(place + 2, 'of', 'an', 'a') ? 1 : 0;
    const ms = number.unit === '' ? unitToMs(this.#words[place + 2 + joined]?.stem) : undefined;
    return ms === undefined ? undefined : { words: article + joined + 3, value: { is: 'last', ms: number.value * ms } };
  }

  /** Returns the previous week or month. */
  #previousPeriod(at: number, stem: string): WordMatch<TimePart> | undefined {
    const to = stem === 'month' ? this.#monthBegin() : this.#weekBegin();
    const from =
      stem === 'month' ? Date.UTC(new Date(to).getUTCFullYear(), new Date(to).getUTCMonth() - 1) : to - 7 * dayMs;
    if (stem !== 'month' && stem !== 'week') return undefined;
    return this.#lower(at) === '' ? undefined : { words: 2, value: { is: 'days', from, to } };
  }

  #weekBegin(): number {
    return this.#today - ((new Date(this.#today).getUTCDay() + 6) % 7) * dayMs;
  }

  #monthBegin(): number {
    const today = new Date(this.#today);
    return Date.UTC(today.getUTCFullYear(), today.getUTCMonth());
  }

  /** Parses full days: a date, a weekday, today, this week. */
  #days(at: number): WordMatch<TimePart> | undefined {
    const one = this.#day(at);
    if (one !== undefined) return { words: one.words, value: { is: 'days', from: one.value, to: one.value + dayMs } };
    const now = this.#now + 1;
    const periods: Readonly<Record<string, readonly [number, number]>> = {
      week: [this.#weekBegin(), now],
      month: [this.#monthBegin(), now],
      hour: [Math.floor(this.#now / hourMs) * hourMs, now],
      ...Object.fromEntries(
        Object.entries(partsOfDay).map(([part, [from, to]]) => [
          part,
          [this.#today + from * hourMs, this.#today + to * hourMs],
        ]),
      ),
    };
    const weekend = this.#weekend(at);
    if (weekend !== undefined) return weekend;
    const period =
      this.#isWord(at, 'this') && Object.hasOwn(periods, this.#lower(at + 1))
        ? periods[this.#lower(at + 1)]
        : undefined;
    return period && { words: 2, value: { is: 'days', from: period[0], to: period[1] } };
  }

  /** Returns the latest Saturday and Sunday; `last weekend` has ended. */
  #weekend(at: number): WordMatch<TimePart> | undefined {
    const article = this.#isWord(at, 'the') ? 1 : 0;
    const which = this.#isWord(at + article, 'last', 'past', 'this') ? 1 : 0;
    if (!this.#isWord(at + article + which, 'weekend')) return undefined;
    const saturday = this.#weekBegin() + 5 * dayMs;
    const isOver = saturday > this.#today || this.#isWord(at + article, 'last', 'past');
    const from = isOver ? saturday - 7 * dayMs : saturday;
    return { words: article + which + 1, value: { is: 'days', from, to: from + 2 * dayMs } };
  }

  /** Parses `yesterday morning`, `on Monday in the afternoon`: hours of the given day. */
  #partOfDay(at: number): WordMatch<TimePart> | undefined {
    const before = this.#isWord(at, 'in') && this.#isWord(at + 1, 'the') ? 2 : 0;
    const hours = partsOfDay[this.#lower(at + before)];
    const isBehindDay = this.#day(at - 1) !== undefined || before > 0;
    if (hours === undefined || !isBehindDay) return undefined;
    return { words: before + 1, value: { is: 'clock', from: hours[0] * hourMs, to: hours[1] * hourMs } };
  }

  /** Returns the wall time at which a day begins. */
  #day(at: number): WordMatch<number> | undefined {
    if (this.#isWord(at, 'today')) return { words: 1, value: this.#today };
    if (this.#isWord(at, 'yesterday')) return { words: 1, value: this.#today - dayMs };
    const before = this.#isWord(at, 'the') ? 1 : 0;
    if (
      this.#isWord(at + before, 'day') &&
      this.#isWord(at + before + 1, 'before') &&
      this.#isWord(at + before + 2, 'yesterday')
    )
      return { words: before + 3, value: this.#today - 2 * dayMs };
    return this.#weekday(at) ?? this.#date(at);
  }

  /** Returns the latest day with this name, including today; `last Monday` is before today. */
  #weekday(at: number): WordMatch<number> | undefined {
    const last = this.#isWord(at, 'last') ? 1 : 0;
    const weekday = findNamed(weekdays, this.#words[at + last]);
    if (weekday < 0) return undefined;
    const days = (new Date(this.#today).getUTCDay() - weekday + 7) % 7;
    return { words: last + 1, value: this.#today - (days === 0 && last === 1 ? 7 : days) * dayMs };
  }

  /** Parses `3 March`, `March 3rd, 2026`, `the 3rd of March`, `2026-03-03`. Without a year, the latest one. */
  #date(at: number): WordMatch<number> | undefined {
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(this.#lower(at)) ?? [];
    if (year !== undefined) return this.#dated(1, Number(year), Number(month) - 1, Number(day));
    const article = this.#isWord(at, 'the') ? 1 : 0;
    const dayFirst = parseDayOfMonth(this.#lower(at + article));
    const of = this.#isWord(at + article + 1, 'of') ? 1 : 0;
    const behind = findNamed(months, this.#words[at + article + 1 + of]);
    if (dayFirst !== undefined && behind >= 0) return this.#withYear(at, article + 2 + of, behind, dayFirst);
    const before = findNamed(months, this.#words[at]);
    const dayBehind = parseDayOfMonth(this.#lower(at + 1));
    return before >= 0 && dayBehind !== undefined ? this.#withYear(at, 2, before, dayBehind) : undefined;
  }

  #withYear(at: number, words: number, month: number, day: number): WordMatch<number> | undefined {
    const comma = this.#words[at + words]?.is === 'comma' ? 1 : 0;
    const [written] = /^(?:19|20)\d\d$/.exec(this.#lower(at + words + comma)) ?? [];
    if (written !== undefined) return this.#dated(words + comma + 1, Number(written), month, day);
    const year = new Date(this.#today).getUTCFullYear();
    return this.#dated(words, Date.UTC(year, month, day) > this.#today ? year - 1 : year, month, day);
  }

  #dated(words: number, year: number, month: number, day: number): WordMatch<number> | undefined {
    const value = Date.UTC(year, month, day);
    return new Date(value).getUTCMonth() === month && new Date(value).getUTCDate() === day
      ? { words, value }
      : undefined;
  }

  /** Parses `2pm`, `2 pm`, `14:00`, `noon` to milliseconds of the day. */
  #clockTime(at: number): WordMatch<number> | undefined {
    if (this.#isWord(at, 'midnight')) return { words: 1, value: 0 };
    if (this.#isWord(at, 'noon')) return { words: 1, value: 12 * hourMs };
    const [, hours, minutes = '0', half] = /^(\d{1,2})(?::(\d\d))?(am|pm)?$/.exec(this.#lower(at)) ?? [];
    if (hours === undefined || Number(minutes) > 59) return undefined;
    const meridiem = half === undefined && this.#isWord(at + 1, 'am', 'pm') ? this.#lower(at + 1) : undefined;
    const hour = this.#hour(at, Number(hours), half ?? meridiem);
    return hour === undefined
      ? undefined
      : { words: meridiem === undefined ? 1 : 2, value: hour * hourMs + Number(minutes) * minuteMs };
  }

  /** Returns an hour of the day: in 12-hour form with am or pm, in 24-hour form with minutes. */
  #hour(at: number, hours: number, half: string | undefined): number | undefined {
    if (half === undefined) return hours < 24 && this.#lower(at).includes(':') ? hours : undefined;
    return hours >= 1 && hours <= 12 ? (hours % 12) + (half === 'pm' ? 12 : 0) : undefined;
  }

  /** Parses `between 2pm and 4pm`, `from 14:00 to 15:30`, `from 9 to 17`, `between Monday and Wednesday`. */
  #between(at: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(at, 'between', 'from')) return undefined;
    const days = this.#dayPair(at);
    if (days !== undefined) return days;
    const isJoined = (place: number): boolean => this.#isWord(place, 'and', 'to', 'till', 'until', '-', '–');
    const first = this.#clockTime(at + 1) ?? this.#bareHour(at + 1, isJoined(at + 2));
    if (first === undefined || !isJoined(at + 1 + first.words)) return undefined;
    const place = at + 2 + first.words;
    // "Yesterday between 6 and 10": an adjacent day identifies bare numbers as hours.
    const isOfDay =
      this.#day(at - 1) !== undefined || this.#days(place + 1) !== undefined || this.#days(at - 2) !== undefined;
    const second = this.#clockTime(place) ?? this.#bareHour(place, isOfDay);
    if (second === undefined) return undefined;
    // In "between 2 and 4pm", both times are in the afternoon.
    const isBare = this.#clockTime(at + 1) === undefined;
    const moved =
      isBare && second.value >= 12 * hourMs && first.value < 12 * hourMs && first.value + 12 * hourMs < second.value;
    const from = moved ? first.value + 12 * hourMs : first.value;
    const to = second.value <= from ? second.value + dayMs : second.value;
    return { words: 2 + first.words + second.words, value: { is: 'clock', from, to } };
  }

  #bareHour(at: number, isJoined: boolean): WordMatch<number> | undefined {
    const [hours] = /^\d{1,2}$/.exec(this.#lower(at)) ?? [];
    return hours !== undefined && isJoined && Number(hours) < 24
      ? { words: 1, value: Number(hours) * hourMs }
      : undefined;
  }

  #dayPair(at: number): WordMatch<TimePart> | undefined {
    const first = this.#day(at + 1);
    if (first === undefined || !this.#isWord(at + 1 + first.words, 'and', 'to', 'till', 'until')) return undefined;
    const second = this.#day(at + 2 + first.words);
    if (second === undefined || second.value < first.value) return undefined;
    return {
      words: 2 + first.words + second.words,
      value: { is: 'days', from: first.value, to: second.value + dayMs },
    };
  }

  /** Parses `since Monday`, `since 9am`, `since yesterday at 5pm`, `since this morning`, `after 14:00`. */
  #since(at: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(at, 'since', 'after')) return undefined;
    const isMorning = this.#isWord(at + 1, 'this') && this.#isWord(at + 2, 'morning');
    const day = isMorning ? { words: 2, value: this.#today } : this.#day(at + 1);
    const behind = at + 1 + (day?.words ?? 0);
    const preposition = day !== undefined && this.#isWord(behind, 'at') ? 1 : 0;
    const hour = behind + preposition;
    const next = this.#words[hour + 1];
    // "Since 8" is an hour at the end of a phrase, or next to a day.
    const isHour = next === undefined || this.#day(hour + 1) !== undefined || this.#isWord(hour + 1, 'this');
    const clock = this.#clockTime(hour) ?? this.#bareHour(hour, isHour);
    if (day === undefined && clock === undefined) return undefined;
    const words = 1 + (day?.words ?? 0) + (clock === undefined ? 0 : preposition + clock.words);
    return { words, value: { is: 'since', day: day?.value, clock: clock?.value ?? 0 } };
  }

  /** Parses `before 9am` and `until noon` from the start of the day; `at 3pm` is not a range. */
  #bounded(at: number): WordMatch<TimePart> | undefined {
    if (!this.#isWord(at, 'before', 'until', 'till', 'at', 'around')) return undefined;
    const clock = this.#clockTime(at + 1);
    if (clock === undefined) return undefined;
    const value: TimePart = this.#isWord(at, 'at', 'around')
      ? { is: 'moment' }
      : { is: 'clock', from: 0, to: clock.value };
    return { words: 1 + clock.words, value };
  }

  /** Parses `2 days ago` as that day; a shorter period is a moment and not a range. */
  #ago(at: number): WordMatch<TimePart> | undefined {
    const number = parseNumber(this.#words[at]);
    const own = number === undefined ? undefined : unitToMs(number.unit);
    const ms = own ?? (number?.unit === '' ? unitToMs(this.#words[at + 1]?.stem) : undefined);
    const words = own === undefined ? 3 : 2;
    if (number === undefined || ms === undefined || !this.#isWord(at + words - 1, 'ago')) return undefined;
    if (ms !== dayMs) return { words, value: { is: 'moment' } };
    const from = this.#today - number.value * dayMs;
    return { words, value: { is: 'days', from, to: from + dayMs } };
  }
}

const partsOfDay: Readonly<Record<string, readonly [number, number]>> = {
  morning: [0, 12],
  afternoon: [12, 18],
  evening: [18, 24],
};

const parseDayOfMonth = (word: string): number | undefined => {
  const [, digits] = /^(\d{1,2})(?:st|nd|rd|th)?$/.exec(word) ?? [];
  return digits === undefined || Number(digits) < 1 || Number(digits) > 31 ? undefined : Number(digits);
};
