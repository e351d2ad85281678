/** Fields of a panel's results, each with its settings */
import type { Result } from '../../../queries/result.ts';
import { nameByLegend } from '../../../queries/series-names.ts';
import { reduceSteps, toNumberOrUndefined } from '../../charts/reduce.ts';
import { formatQuantity } from '../../charts/values.ts';
import { toText } from '../../frame/display-text.tsx';
import { formatTime } from '../../frame/format-time.ts';
import type { Panel } from './calls.ts';
import { isMatch } from './patterns.ts';

export type Settings = Panel['fields'];
type Column = Result['columns'][number];

/** A table of a result, or of the transformations */
export interface PanelTable {
  /** Query of the table; empty for several */
  readonly query?: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
}

type PanelResult = Pick<Result, 'form' | 'series' | 'columns' | 'rows' | 'stepMs'> &
  // Snapshots have none.
  Partial<Pick<Result, 'partialSteps'>>;

/** A panel to display, from a dashboard or a snapshot */
export interface PanelData {
  readonly title: string;
  readonly visual: Readonly<Record<string, unknown>> & { readonly kind: string };
  readonly fields: Settings;
  readonly overrides: Panel['overrides'];
  /** Series name templates by query: `{{service}}` */
  readonly legends: Readonly<Record<string, string>>;
  readonly results: Readonly<Record<string, PanelResult>>;
  readonly earlier: PanelData['results'];
  /** Tables produced by transformations */
  readonly tables: readonly PanelTable[];
}

/** A series or a column */
export interface Field {
  readonly key: string;
  readonly name: string;
  readonly query: string;
  /** Position of its table, whose columns belong together; `undefined` for a series */
  readonly table?: number;
  readonly type: Column['type'];
  readonly unit: string;
  readonly values: readonly unknown[];
  /** For a series: time of each value, in epoch milliseconds */
  readonly times?: readonly number[];
  /** For a series: times of the values that cover a step only partly */
  readonly partialSteps?: readonly number[];
  /** For an anomaly query: the role of the values (observed, expected, or a bound) and the series they belong to */
  readonly band?: { readonly role: string; readonly of: string };
  /** Whether the values are of the earlier range with which the panel compares */
  readonly isEarlier?: boolean;
  /** Name of the same values in the later range */
  readonly laterName?: string;
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

const resolveSettings = ({ fields, overrides }: PanelData, field: Pick<Field, 'name' | 'query' | 'type'>): Settings => {
  const matchingSettings = overrides.filter(({ match }) => matchesField(match, field)).map(({ settings }) => settings);
  return Object.assign({}, fields, ...matchingSettings) as Settings;
};

type FieldWithoutSettings = Omit<Field, 'settings'>;

const applySettings = (field: FieldWithoutSettings, panel: PanelData): Field => {
  const settings = resolveSettings(panel, field);
  return { ...field, name: settings.name ?? field.name, unit: settings.unit ?? field.unit, settings };
};

/** Returns the band role of a series of an anomaly query, which is in its label `band`. */
const toBand = (query: string, { name, labels: { band: role, ...others } }: Result['series'][number]) =>
  role === undefined ? {} : { band: { role, of: JSON.stringify([query, name, others]) } };

type Points = Result['series'][number]['points'];
const hasTimes = (points: Points, times: readonly number[]): boolean =>
  points.length === times.length && points.every(([time], at) => time === times[at]);

const buildSeriesFields = (panel: PanelData, results: PanelData['results'], suffix: string): FieldWithoutSettings[] => {
  // Most series have the same times as the previous one, in which case they share the array.
  let times: readonly number[] = [];
  const shareTimes = (points: Points): readonly number[] => {
    if (!hasTimes(points, times)) times = points.map(([time]) => time);
    return times;
  };
  return Object.entries(results).flatMap(([query, { series: allSeries, partialSteps = [] }]) => {
    const names = nameByLegend(allSeries, panel.legends[query] ?? '');
    return allSeries.map((series, index) => ({
      key: `${query} ${index}${suffix}`,
      name: `${names[index] ?? ''}${suffix}`,
      query,
      type: 'number' as const,
      unit: series.unit,
      values: series.points.map(([, value]) => value),
      times: shareTimes(series.points),
      partialSteps,
      ...(suffix === '' ? {} : { isEarlier: true, laterName: names[index] ?? '' }),
      ...toBand(query, series),
    }));
  });
};

const buildColumnFields = ({ columns, rows, query = '' }: PanelTable, position: number): FieldWithoutSettings[] =>
  columns.map(({ name, type, unit }, columnIndex) => ({
    key: `${position} ${columnIndex} ${name}`,
    name,
    query,
    table: position,
    type,
    unit,
    values: rows.map((row) => row[columnIndex]),
  }));

/** Returns all tables of a panel: those of its transformations, or those of its queries. */
export const getTables = ({ tables, results }: PanelData): readonly (PanelTable & { readonly query: string })[] =>
  tables.length > 0
    ? tables.map((table) => ({ ...table, query: table.query ?? '' }))
    : Object.entries(results).flatMap(([query, result]) =>
        result.form === 'table' ? [{ query, columns: result.columns, rows: result.rows }] : [],
      );

/** Returns the fields of a panel: its series, and the columns of its tables. */
export const getFields = (panel: PanelData): readonly Field[] => {
  const columns = getTables(panel).flatMap(buildColumnFields);
  const series = panel.tables.length > 0 ? [] : buildSeriesFields(panel, panel.results, '');
  const earlier = panel.tables.length > 0 ? [] : buildSeriesFields(panel, panel.earlier, ' (earlier)');
  return [...series, ...earlier, ...columns].map((field) => applySettings(field, panel));
};

/** Returns the fields of one table of a panel. */
export const getTableFields = (panel: PanelData, table: PanelTable): readonly Field[] =>
  buildColumnFields(table, 0).map((field) => applySettings(field, panel));

/** Returns the times of a field: its own, or those of the time column of its table. */
export const getFieldTimes = (field: Field, allFields: readonly Field[]): readonly number[] =>
  field.times ??
  allFields
    .find(({ type, table }) => type === 'time' && table === field.table)
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

/** Formats a value of a field. */
export const formatFieldValue = (
  { type, unit, settings }: Pick<Field, 'type' | 'unit' | 'settings'>,
  value: unknown,
): string => {
  const mappedText = findMapping(value, settings)?.text;
  if (mappedText !== undefined) return mappedText;
  if (value === null || value === undefined) return settings.noValue ?? '';
  const number = toNumberOrUndefined(value);
  if (type === 'time') return formatTime(typeof value === 'number' ? value : Date.parse(String(value)));
  if ((type !== 'number' && type !== 'duration') || number === undefined) return toText(value);
  return formatQuantity(number, unit, settings.decimals);
};

const tones: readonly (readonly [tone: string, pattern: RegExp])[] = [
  ['red', /red|crimson/],
  ['orange', /orange/],
  ['yellow', /yellow|gold/],
  ['green', /green/],
  ['blue', /blue|cyan/],
  ['purple', /purple|violet|pink/],
];

const hexToTone = (text: string): string => {
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
export const colorToTone = (colour: string): string => {
  if (colour.startsWith('#')) return hexToTone(colour);
  return tones.find(([, pattern]) => pattern.test(colour))?.[0] ?? 'grey';
};

/** Colors of the scales, from the lowest to the highest value */
const scaleTones: Readonly<Record<string, readonly string[]>> = {
  GrYlRd: ['green', 'yellow', 'red'],
  RdYlGr: ['red', 'yellow', 'green'],
  BlYlRd: ['blue', 'yellow', 'red'],
  YlRd: ['yellow', 'red'],
  BlPu: ['blue', 'purple'],
  YlBl: ['yellow', 'blue'],
  blues: ['blue'],
  reds: ['red'],
  greens: ['green'],
  purples: ['purple'],
  viridis: ['purple', 'blue', 'green', 'yellow'],
  magma: ['purple', 'red', 'orange', 'yellow'],
  plasma: ['blue', 'purple', 'orange', 'yellow'],
  inferno: ['purple', 'red', 'orange', 'yellow'],
  cividis: ['blue', 'grey', 'yellow'],
};

/** Returns the color of a position from 0 to 1 on a scale. */
const getScaleTone = (scale: string, position: number): string => {
  const scaleColors = scaleTones[scale] ?? ['green', 'yellow', 'red'];
  const index = Math.min(scaleColors.length - 1, Math.floor(Math.max(0, position) * scaleColors.length));
  return scaleColors[index] ?? 'grey';
};

/** Returns the color of a value, from its mapping or the highest reached threshold; `undefined` without either. */
export const getValueTone = ({ settings }: Field, value: unknown): string | undefined => {
  const mappedColor = findMapping(value, settings)?.colour;
  if (mappedColor !== undefined) return colorToTone(mappedColor);
  const { colour, thresholds, min = 0, max = 100 } = settings;
  if (colour?.mode === 'fixed' && colour.fixed !== undefined) return colorToTone(colour.fixed);
  const number = toNumberOrUndefined(value);
  if (colour?.mode === 'scale' && number !== undefined)
    return getScaleTone(colour.scale ?? '', (number - min) / (max - min || 1));
  if (thresholds === undefined || number === undefined) return undefined;
  const position = thresholds.mode === 'percent' ? (100 * (number - min)) / (max - min || 1) : number;
  const reachedSteps = thresholds.steps.filter((step) => step.value === null || step.value <= position);
  const highestStep = reachedSteps.reduce<(typeof reachedSteps)[number] | undefined>(
    (highest, step) =>
      highest === undefined || (step.value ?? Number.NEGATIVE_INFINITY) >= (highest.value ?? Number.NEGATIVE_INFINITY)
        ? step
        : highest,
    undefined,
  );
  return highestStep === undefined ? undefined : colorToTone(highestStep.colour);
};

/** Returns the times of the steps that the range of a panel covers only partly. */
export const getPartialSteps = ({ results }: PanelData): readonly number[] => [
  ...new Set(Object.values(results).flatMap(({ partialSteps }) => partialSteps ?? [])),
];

/** A single large value: of a series, a column or a row */
export interface SingleValue {
  readonly key: string;
  readonly name: string;
  readonly value: number | undefined;
  readonly field: Field;
}

interface ReduceSettings {
  readonly reducer: string;
  readonly everyRow: boolean;
  readonly max: number | null;
  readonly fields: string;
}

/** Returns the values of a panel that displays single values. */
export const getSingleValues = (panel: PanelData): readonly SingleValue[] => {
  const {
    reducer = 'last-not-null',
    everyRow = false,
    max = null,
    fields: namePattern = '',
  } = (panel.visual['reduce'] ?? {}) as Partial<ReduceSettings>;
  const allFields = getFields(panel);
  const visibleFields = allFields.filter(
    (field) => isNumeric(field) && (namePattern === '' || isMatch(namePattern, field.name)),
  );
  const singleValues = everyRow
    ? visibleFields.flatMap((field) => {
        const labelField = allFields.find(
          ({ table, type, times }) => times === undefined && table === field.table && type === 'text',
        );
        return field.values.map(
          (value, row): SingleValue => ({
            key: `${field.key} ${row}`,
            value: toNumberOrUndefined(value),
            field,
            name: labelField === undefined ? field.name : toText(labelField.values[row]),
          }),
        );
      })
    : visibleFields.map(
        (field): SingleValue => ({
          key: field.key,
          name: field.name,
          value: reduceSteps(field, reducer),
          field,
        }),
      );
  return singleValues.slice(0, max ?? 100);
};
