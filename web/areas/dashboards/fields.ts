/** Fields of a panel's results, each with its settings */
import type { Result } from '../../../queries/result.ts';
import { reduceValues, toNumberOrUndefined } from '../../charts/reduce.ts';
import { formatQuantity } from '../../charts/values.ts';
import { toText } from '../../frame/shown-text.tsx';
import { formatTime } from '../../frame/shown-time.ts';
import type { Panel } from './calls.ts';
import { isMatch } from './patterns.ts';

export type Settings = Panel['fields'];
type Column = Result['columns'][number];

/** A table of a result */
export interface PanelTable {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
}

/** A displayed panel: of a dashboard or a snapshot */
export interface PanelData {
  readonly title: string;
  readonly visual: Readonly<Record<string, unknown>> & { readonly kind: string };
  readonly fields: Settings;
  readonly overrides: Panel['overrides'];
  /** Series name templates by query: `{{service}}` */
  readonly legends: Readonly<Record<string, string>>;
  readonly results: Readonly<Record<string, Pick<Result, 'form' | 'series' | 'columns' | 'rows' | 'stepMs'>>>;
  readonly earlier: PanelData['results'];
  /** Tables produced by transformations */
  readonly tables: readonly PanelTable[];
}

/** A series or a column */
export interface Field {
  readonly key: string;
  readonly name: string;
  readonly query: string;
  readonly type: Column['type'];
  readonly unit: string;
  readonly values: readonly unknown[];
  /** For a series: time of each value, in epoch milliseconds */
  readonly times?: readonly number[];
  /** For an anomaly query: the role of the values (observed, expected, or a bound) and the series they belong to */
  readonly band?: { readonly part: string; readonly of: string };
  readonly settings: Settings;
}

const matchesField = (
  match: Panel['overrides'][number]['match'],
  { name, query, type }: Pick<Field, 'name' | 'query' | 'type'>,
) => {
  if (match.by === 'name') return match.name === name;
  if (match.by === 'query') return match.query === query;
  if (match.by === 'pattern') return isMatch(match.pattern, name);
  return match.type === (type === 'duration' ? 'number' : type);
};

const settingsFor = ({ fields, overrides }: PanelData, field: Pick<Field, 'name' | 'query' | 'type'>): Settings => {
  const matchingSettings = overrides.filter(({ match }) => matchesField(match, field)).map(({ settings }) => settings);
  return Object.assign({}, fields, ...matchingSettings) as Settings;
};

type FieldWithoutSettings = Omit<Field, 'settings'>;

const applySettings = (field: FieldWithoutSettings, drawn: PanelData): Field => {
  const settings = settingsFor(drawn, field);
  return { ...field, name: settings.name ?? field.name, unit: settings.unit ?? field.unit, settings };
};

/** Replaces placeholders such as `{{service}}` with the labels of a series. */
const fillLegend = (legend: string, labels: Readonly<Record<string, string>>): string =>
  legend.replace(/\{\{([^{}]{1,512})\}\}/g, (_, label: string) => labels[label.trim()] ?? '');

const nameOf = ({ name, labels }: Result['series'][number], legend: string): string => {
  if (legend !== '' && !legend.startsWith('__')) return fillLegend(legend, labels);
  const labelTexts = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return labelTexts.length === 0 ? name : `${name}{${labelTexts.join(', ')}}`;
};

/** Returns the band role of a series of an anomaly query, which is in its label `band`. */
const toBand = (query: string, { name, labels: { band: part, ...others } }: Result['series'][number]) =>
  part === undefined ? {} : { band: { part, of: JSON.stringify([query, name, others]) } };

type Points = Result['series'][number]['points'];
const hasTimes = (points: Points, times: readonly number[]): boolean =>
  points.length === times.length && points.every(([time], at) => time === times[at]);

const seriesFields = (drawn: PanelData, results: PanelData['results'], suffix: string): FieldWithoutSettings[] => {
  // Most series have the same times as the previous one, in which case they share the array.
  let times: readonly number[] = [];
  const sharedTimes = (points: Points): readonly number[] => {
    if (!hasTimes(points, times)) times = points.map(([time]) => time);
    return times;
  };
  return Object.entries(results).flatMap(([query, { series }]) =>
    series.map((one, at) => ({
      key: `${query} ${at}${suffix}`,
      name: `${nameOf(one, drawn.legends[query] ?? '')}${suffix}`,
      query,
      type: 'number' as const,
      unit: one.unit,
      values: one.points.map(([, value]) => value),
      times: sharedTimes(one.points),
      ...toBand(query, one),
    })),
  );
};

const columnFields = ({ columns, rows }: PanelTable, query: string): FieldWithoutSettings[] =>
  columns.map(({ name, type, unit }, at) => ({
    key: `${query} ${at} ${name}`,
    name,
    query,
    type,
    unit,
    values: rows.map((row) => row[at]),
  }));

/** Returns all tables of a panel: those of its transformations, or those of its queries. */
export const tablesOf = ({ tables, results }: PanelData): readonly (PanelTable & { readonly query: string })[] =>
  tables.length > 0
    ? tables.map((table) => ({ ...table, query: '' }))
    : Object.entries(results).flatMap(([query, result]) =>
        result.form === 'table' ? [{ query, columns: result.columns, rows: result.rows }] : [],
      );

/** Returns the fields of a panel: its series, and the columns of its tables. */
export const fieldsOf = (drawn: PanelData): readonly Field[] => {
  const columns = tablesOf(drawn).flatMap((table) => columnFields(table, table.query));
  const series = drawn.tables.length > 0 ? [] : seriesFields(drawn, drawn.results, '');
  const earlier = drawn.tables.length > 0 ? [] : seriesFields(drawn, drawn.earlier, ' (earlier)');
  return [...series, ...earlier, ...columns].map((field) => applySettings(field, drawn));
};

/** Returns the fields of one table of a panel. */
export const fieldsOfTable = (drawn: PanelData, table: PanelTable): readonly Field[] =>
  columnFields(table, '').map((field) => applySettings(field, drawn));

/** Returns the times of a field: its own, or those of the time column of its table. */
export const timesOf = (field: Field, all: readonly Field[]): readonly number[] =>
  field.times ??
  all
    .find(({ type, query }) => type === 'time' && query === field.query)
    ?.values.map((value) => (typeof value === 'number' ? value : Date.parse(String(value)))) ??
  [];

export const isNumeric = ({ type }: Field): boolean => type === 'number' || type === 'duration';

/** Returns the value mapping for a value. */
const findMapping = (value: unknown, { mappings = [] }: Settings) => {
  const number = toNumberOrUndefined(value);
  return mappings.find((mapping) => {
    if (mapping.kind === 'value') return toText(value) === mapping.value;
    if (mapping.kind === 'range')
      return (
        number !== undefined &&
        number >= (mapping.from ?? Number.NEGATIVE_INFINITY) &&
        number <= (mapping.to ?? Number.POSITIVE_INFINITY)
      );
    if (mapping.kind === 'pattern') return isMatch(mapping.pattern, toText(value));
    const isNull = value === null || value === undefined;
    const isNan = value === 'NaN';
    return {
      null: isNull,
      nan: isNan,
      'null-or-nan': isNull || isNan,
      true: value === true,
      false: value === false,
      empty: value === '',
    }[mapping.match];
  });
};

const decimalNumber = (value: number, decimals: number): string =>
  new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }).format(value);

/** Formats a value of a field. */
export const shownIn = (
  { type, unit, settings }: Pick<Field, 'type' | 'unit' | 'settings'>,
  value: unknown,
): string => {
  const mapped = findMapping(value, settings)?.text;
  if (mapped !== undefined) return mapped;
  if (value === null || value === undefined) return settings.noValue ?? '';
  const number = toNumberOrUndefined(value);
  if (type === 'time') return formatTime(typeof value === 'number' ? value : Date.parse(String(value)));
  if ((type !== 'number' && type !== 'duration') || number === undefined) return toText(value);
  const { decimals } = settings;
  const plainUnit = unit.replace(/[{}]/g, '');
  if (decimals !== undefined && !['ns', 'us', 'ms', 's', 'By'].includes(unit))
    return plainUnit === '' || plainUnit === '1'
      ? decimalNumber(number, decimals)
      : `${decimalNumber(number, decimals)} ${plainUnit}`;
  return formatQuantity(number, unit);
};

const tones: readonly (readonly [tone: string, pattern: RegExp])[] = [
  ['red', /red|crimson/],
  ['orange', /orange/],
  ['yellow', /yellow|gold/],
  ['green', /green/],
  ['blue', /blue|cyan/],
  ['purple', /purple|violet|pink/],
];

const toneOfHex = (text: string): string => {
  const digits = text.length < 6 ? [...text.slice(1, 4)].map((digit) => digit + digit) : text.slice(1).match(/../g);
  const [red = 0, green = 0, blue = 0] = (digits ?? []).map((pair) => Number.parseInt(pair, 16));
  const maxChannel = Math.max(red, green, blue);
  if (maxChannel - Math.min(red, green, blue) < 40) return 'grey';
  if (maxChannel === green) return red > 0.75 * green ? 'yellow' : 'green';
  if (maxChannel === blue) return red > 0.6 * blue ? 'purple' : 'blue';
  if (blue > 0.6 * red) return 'purple';
  return green > 0.7 * red ? 'yellow' : green > 0.35 * red ? 'orange' : 'red';
};

/** Maps dashboard colors to the nearest of a few that are readable in both themes. */
export const toneOf = (colour: string): string => {
  if (colour.startsWith('#')) return toneOfHex(colour);
  return tones.find(([, pattern]) => pattern.test(colour))?.[0] ?? 'grey';
};

/** Returns the color of a value: of its mapping, or of the threshold that it reached; `undefined` if there is none. */
export const toneIn = ({ settings }: Field, value: unknown): string | undefined => {
  const mapped = findMapping(value, settings)?.colour;
  if (mapped !== undefined) return toneOf(mapped);
  const { colour, thresholds, min = 0, max = 100 } = settings;
  if (colour?.mode === 'fixed' && colour.fixed !== undefined) return toneOf(colour.fixed);
  const number = toNumberOrUndefined(value);
  if (thresholds === undefined || number === undefined) return undefined;
  const at = thresholds.mode === 'percent' ? (100 * (number - min)) / (max - min || 1) : number;
  const reached = thresholds.steps.filter((step) => step.value === null || step.value <= at);
  const last = reached.reduce<(typeof reached)[number] | undefined>(
    (highest, step) =>
      highest === undefined || (step.value ?? Number.NEGATIVE_INFINITY) >= (highest.value ?? Number.NEGATIVE_INFINITY)
        ? step
        : highest,
    undefined,
  );
  return last === undefined ? undefined : toneOf(last.colour);
};

/** A single large value: of a series, a column or a row */
export interface SingleValue {
  readonly key: string;
  readonly name: string;
  readonly value: number | undefined;
  readonly field: Field;
}

interface Reduce {
  readonly reducer: string;
  readonly everyRow: boolean;
  readonly max: number | null;
  readonly fields: string;
}

/** Returns the values of a panel that displays few values. */
export const figuresOf = (drawn: PanelData): readonly SingleValue[] => {
  const {
    reducer = 'last-not-null',
    everyRow = false,
    max = null,
    fields: namePattern = '',
  } = (drawn.visual['reduce'] ?? {}) as Partial<Reduce>;
  const all = fieldsOf(drawn);
  const shown = all.filter((field) => isNumeric(field) && (namePattern === '' || isMatch(namePattern, field.name)));
  const figures = everyRow
    ? shown.flatMap((field) => {
        const names = all.find(
          ({ query, type, times }) => times === undefined && query === field.query && type === 'text',
        );
        return field.values.map(
          (value, row): SingleValue => ({
            key: `${field.key} ${row}`,
            value: toNumberOrUndefined(value),
            field,
            name: names === undefined ? field.name : toText(names.values[row]),
          }),
        );
      })
    : shown.map(
        (field): SingleValue => ({
          key: field.key,
          name: field.name,
          value: reduceValues(field.values, reducer),
          field,
        }),
      );
  return figures.slice(0, max ?? 100);
};
