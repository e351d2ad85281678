/** Field display settings, for all fields and in overrides, in both directions. */
import type { z } from 'zod';
import { type Fields, isFields } from '../../../runtime/fields.ts';
import type { FieldOverride, FieldSettings } from '../../../schemas/dashboards/fields.ts';
import { Colour } from '../../../schemas/dashboards/fields.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import {
  type Codec,
  flag,
  getAtPath,
  integer,
  type Lens,
  lookUp,
  nameCodec,
  number,
  readLenses,
  sameNames,
  setAtPath,
  text,
  writeLenses,
} from './lens.ts';
import { readLinks, writeLinks } from './links.ts';
import { readMappings, writeMappings } from './mappings.ts';
import { unit } from './units.ts';

type Settings = z.output<typeof FieldSettings>;
type Override = z.output<typeof FieldOverride>;

export const colour: Codec = {
  read: (value) => (Colour.safeParse(value).success ? value : undefined),
  write: (value) => value,
};

/** Color scales in Grafana's typed form. */
const typedScales = ['GrYlRd', 'RdYlGr', 'BlYlRd', 'YlRd', 'BlPu', 'YlBl', 'blues', 'reds', 'greens', 'purples'];
const scales = [...typedScales, 'viridis', 'magma', 'plasma', 'inferno', 'cividis'];
const colourModes = nameCodec({
  fixed: 'fixed',
  thresholds: 'thresholds',
  'palette-classic': 'palette',
  'palette-classic-by-name': 'palette-by-name',
  shades: 'shades',
});

/** Reads `custom.scaleDistribution` as the name of a scale. */
const readScale = (value: unknown): string | undefined => {
  if (!isFields(value)) return undefined;
  if (value['type'] === 'linear') return 'linear';
  if (value['type'] === 'symlog') return 'symlog';
  const base = value['log'] ?? 2;
  return value['type'] === 'log' && (base === 2 || base === 10) ? `log${base}` : undefined;
};
export const writeScale = (value: unknown): Fields | undefined => {
  if (value === 'linear' || value === 'symlog') return { type: value };
  return typeof value === 'string' ? { type: 'log', log: Number(value.slice(3)) } : undefined;
};
export const scale: Codec = { read: readScale, write: writeScale };

/** Returns a codec that reads an empty text as undefined. */
const withoutEmpty = (codec: Codec): Codec => ({
  read: (value) => (value === '' ? undefined : codec.read(value)),
  write: codec.write,
});

const settingLenses: readonly Lens[] = [
  ['displayName', 'name', withoutEmpty(text(512))],
  ['description', 'description', withoutEmpty(text())],
  ['unit', 'unit', unit],
  ['decimals', 'decimals', integer(0, 20)],
  ['min', 'min', number()],
  ['max', 'max', number()],
  ['fieldMinMax', 'eachItsLimits', flag],
  ['noValue', 'noValue', withoutEmpty(text(256))],
  ['filterable', 'filterable', flag],
  ['custom.filterable', 'filterable', flag],
  ['custom.drawStyle', 'drawing.as', nameCodec({ line: 'lines', bars: 'bars', points: 'points' })],
  [
    'custom.lineInterpolation',
    'drawing.interpolation',
    nameCodec({ linear: 'linear', smooth: 'smooth', stepBefore: 'step-before', stepAfter: 'step-after' }),
  ],
  ['custom.lineWidth', 'drawing.width', number(0, 20)],
  ['custom.lineStyle.fill', 'drawing.dashes', sameNames('solid', 'dash', 'dot')],
  ['custom.fillOpacity', 'drawing.area', number(0, 100)],
  [
    'custom.gradientMode',
    'drawing.gradient',
    nameCodec({ none: 'none', opacity: 'opacity', hue: 'hue', scheme: 'scale' }),
  ],
  ['custom.fillBelowTo', 'drawing.areaDownTo', withoutEmpty(text(512))],
  ['custom.showPoints', 'drawing.points', sameNames('auto', 'always', 'never')],
  ['custom.pointSize', 'drawing.pointSize', number(1, 40)],
  [
    'custom.spanNulls',
    'drawing.joinGaps',
    {
      read: (value) =>
        typeof value === 'boolean' || (Number.isInteger(value) && (value as number) > 0) ? value : undefined,
      write: (value) => value,
    },
  ],
  ['custom.stacking.mode', 'drawing.stack', sameNames('none', 'normal', 'percent')],
  ['custom.stacking.group', 'drawing.stackGroup', text(64)],
  [
    'custom.transform',
    'drawing.below',
    {
      read: (value) => (value === 'negative-Y' ? true : undefined),
      write: (value) => (value === true ? 'negative-Y' : undefined),
    },
  ],
  [
    'custom.thresholdsStyle.mode',
    'drawing.thresholds',
    nameCodec({ off: 'none', line: 'lines', dashed: 'dashed-lines', area: 'areas', 'line+area': 'lines-and-areas' }),
  ],
  ['custom.axisPlacement', 'axis.side', sameNames('auto', 'left', 'right', 'hidden')],
  ['custom.axisLabel', 'axis.label', text(256)],
  ['custom.scaleDistribution', 'axis.scale', scale],
  ['custom.axisSoftMin', 'axis.softMin', number()],
  ['custom.axisSoftMax', 'axis.softMax', number()],
  ['custom.axisWidth', 'axis.width', number(0, 1000)],
  [
    'custom.axisGridShow',
    'axis.grid',
    {
      read: (value) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : undefined),
      write: (value) => (value === 'auto' ? undefined : value === 'on'),
    },
  ],
  ['custom.axisCenteredZero', 'axis.centredZero', flag],
  ['custom.axisBorderShow', 'axis.border', flag],
  [
    'custom.axisColorMode',
    'axis.coloured',
    {
      read: (value) => (value === 'series' ? true : value === 'text' ? false : undefined),
      write: (value) => (value === true ? 'series' : 'text'),
    },
  ],
  [
    'custom.cellOptions.type',
    'cell.as',
    nameCodec({
      auto: 'auto',
      'color-text': 'coloured-text',
      'color-background': 'coloured-background',
      gauge: 'gauge',
      sparkline: 'sparkline',
      'json-view': 'json',
      image: 'image',
      'data-links': 'links',
    }),
  ],
  ['custom.cellOptions.mode', 'cell.style', sameNames('basic', 'gradient', 'lcd')],
  ['custom.cellOptions.valueDisplayMode', 'cell.value', nameCodec({ color: 'colour', text: 'text', hidden: 'hidden' })],
  ['custom.cellOptions.applyToRow', 'cell.wholeRow', flag],
  ['custom.cellOptions.wrapText', 'cell.wraps', flag],
  ['custom.wrapText', 'cell.wraps', flag],
  ['custom.align', 'cell.align', sameNames('auto', 'left', 'center', 'right')],
  ['custom.width', 'cell.width', number(0, 4096)],
  ['custom.minWidth', 'cell.minWidth', number(0, 4096)],
  ['custom.inspect', 'cell.inspectable', flag],
];

/** Modes of table cells in versions before 10. */
const legacyCellModes: Readonly<Record<string, { readonly as: string; readonly style?: string }>> = {
  auto: { as: 'auto' },
  'color-text': { as: 'coloured-text' },
  'color-background': { as: 'coloured-background', style: 'gradient' },
  'color-background-solid': { as: 'coloured-background', style: 'basic' },
  'gradient-gauge': { as: 'gauge', style: 'gradient' },
  'lcd-gauge': { as: 'gauge', style: 'lcd' },
  basic: { as: 'gauge', style: 'basic' },
  'json-view': { as: 'json' },
  image: { as: 'image' },
};

const thresholdModes = nameCodec({ absolute: 'absolute', percentage: 'percent' });

/** Reads a threshold step. The first step has no lower bound, regardless of its value. */
const readStep = (step: unknown, index: number, ledger: Ledger): object | undefined => {
  if (!isFields(step)) return undefined;
  const stepValue = step['value'] ?? null;
  const shade = colour.read(step['color']);
  if (shade === undefined || (stepValue !== null && !Number.isFinite(stepValue))) return undefined;
  ledger.carry(step, 'value', 'color');
  return { value: index === 0 ? null : stepValue, colour: shade };
};

const readThresholds = (value: unknown, ledger: Ledger): object | undefined => {
  const holder = getAtPath(value, ['thresholds']);
  if (!isFields(holder)) return undefined;
  const { steps, mode } = holder;
  if (!Array.isArray(steps) || steps.length > 32) return undefined;
  const thresholdMode = thresholdModes.read(mode);
  ledger.carry(holder, ...(thresholdMode === undefined ? [] : ['mode']), ...(steps.length === 0 ? ['steps'] : []));
  return {
    mode: thresholdMode ?? 'absolute',
    steps: steps.flatMap((step, index) => readStep(step, index, ledger) ?? []),
  };
};

const hidingTargets = { viz: 'graph', legend: 'legend', tooltip: 'tooltip' } as const;

const readHidden = (custom: unknown, ledger: Ledger): string[] => {
  if (!isFields(custom)) return [];
  const hidden: string[] = [];
  const hideFrom = custom['hideFrom'];
  if (isFields(hideFrom))
    for (const [grafanaKey, oiqKey] of Object.entries(hidingTargets)) {
      if (typeof hideFrom[grafanaKey] !== 'boolean') continue;
      if (hideFrom[grafanaKey]) hidden.push(oiqKey);
      ledger.carry(hideFrom, grafanaKey);
    }
  if (typeof custom['hidden'] === 'boolean') {
    if (custom['hidden']) hidden.push('table');
    ledger.carry(custom, 'hidden');
  }
  return hidden;
};

const colourLenses: readonly Lens[] = [
  ['fixedColor', 'fixed', colour],
  ['seriesBy', 'by', sameNames('last', 'min', 'max')],
];

const readColour = (source: unknown, ledger: Ledger): Fields | undefined => {
  const holder = getAtPath(source, ['color']);
  if (!isFields(holder)) return undefined;
  const mode = holder['mode'];
  const [, name] = typeof mode === 'string' ? (/^continuous-(\w+)$/.exec(mode) ?? []) : [];
  const read = name !== undefined && scales.includes(name) ? { mode: 'scale', scale: name } : undefined;
  const colourMode = colourModes.read(mode);
  if (read === undefined && colourMode === undefined) return undefined;
  ledger.carry(holder, 'mode');
  return { ...(read ?? { mode: colourMode }), ...readLenses(colourLenses, holder, ledger) };
};

/** Converts field settings from Grafana's form. */
export const readSettings = (source: unknown, ledger: Ledger): Settings => {
  const settings = readLenses(settingLenses, source, ledger);
  const colourSetting = readColour(source, ledger);
  const thresholds = readThresholds(source, ledger);
  const custom = getAtPath(source, ['custom']);
  const legacyMode = isFields(custom) ? lookUp(legacyCellModes, String(custom['displayMode'])) : undefined;
  if (legacyMode !== undefined) {
    ledger.carry(custom as object, 'displayMode');
    for (const [key, value] of Object.entries(legacyMode)) setAtPath(settings, ['cell', key], value);
  }
  const mappings = readMappings(getAtPath(source, ['mappings']), ledger);
  const links = readLinks(getAtPath(source, ['links']), ledger);
  const hidden = readHidden(custom, ledger);
  return {
    ...settings,
    ...(thresholds !== undefined && { thresholds }),
    ...(colourSetting !== undefined && { colour: colourSetting }),
    ...(mappings.length > 0 && { mappings }),
    ...(links.length > 0 && { links }),
    ...(hidden.length > 0 && { hiddenIn: hidden }),
  } as Settings;
};

/** Settings that are written elsewhere, or that Grafana's typed form lacks and the hidden variable stores. */
const unwrittenKeys = new Set(['filterable', 'custom.wrapText', 'fieldMinMax']);

/** Converts field settings for Grafana. */
export const writeSettings = (settings: Settings): Record<string, unknown> => {
  const written = writeLenses(
    settingLenses.filter(([grafanaKey]) => !unwrittenKeys.has(grafanaKey)),
    settings,
  );
  const { colour: shade, thresholds, mappings, links, hiddenIn } = settings;
  if (shade !== undefined && (shade.mode !== 'scale' || typedScales.includes(shade.scale ?? ''))) {
    const mode = shade.mode === 'scale' ? `continuous-${shade.scale}` : colourModes.write(shade.mode);
    written['color'] = { mode, ...writeLenses(colourLenses, shade) };
  }
  if (thresholds !== undefined)
    written['thresholds'] = {
      mode: thresholdModes.write(thresholds.mode),
      steps: thresholds.steps.map(({ value, colour: color }) => ({ value, color })),
    };
  if (mappings !== undefined) written['mappings'] = writeMappings(mappings);
  if (links !== undefined) written['links'] = writeLinks(links);
  if (hiddenIn?.includes('table')) setAtPath(written, ['custom', 'hidden'], true);
  if (hiddenIn?.some((visualization) => visualization !== 'table'))
    for (const [grafanaKey, oiqKey] of Object.entries(hidingTargets))
      setAtPath(written, ['custom', 'hideFrom', grafanaKey], hiddenIn.includes(oiqKey));
  return written;
};

/** Converts Grafana's pattern between slashes, which matches anywhere, to RE2 that matches the entire name. */
const readPattern = (value: unknown): string | undefined => {
  const [, inner, flags] = typeof value === 'string' ? (/^\/(.*)\/([a-z]*)$/s.exec(value) ?? []) : [];
  if (inner === undefined) return typeof value === 'string' && value !== '' ? value : undefined;
  return flags === '' ? inner : flags === 'i' ? `(?i)${inner}` : undefined;
};
const writePattern = (pattern: string): string =>
  pattern.startsWith('(?i)') ? `/${pattern.slice(4)}/i` : `/${pattern}/`;

const typeNames = nameCodec({ time: 'time', number: 'number', string: 'text', boolean: 'boolean', other: 'json' });

const readMatcher = (matcher: Fields): object | undefined => {
  const { id, options } = matcher;
  const optionText = typeof options === 'string' && options !== '' ? options : undefined;
  if (optionText === undefined) return undefined;
  if (id === 'byName' && optionText.length <= 512) return { by: 'name', name: optionText };
  if (id === 'byFrameRefID' && optionText.length <= 64) return { by: 'query', query: optionText };
  if (id === 'byType' && typeNames.read(optionText) !== undefined)
    return { by: 'type', type: typeNames.read(optionText) };
  const pattern = id === 'byRegexp' && optionText.length <= 1000 ? readPattern(optionText) : undefined;
  return pattern === undefined || pattern === '' ? undefined : { by: 'pattern', pattern };
};

const writeMatch = (match: Override['match']): Fields => {
  if (match.by === 'name') return { id: 'byName', options: match.name };
  if (match.by === 'query') return { id: 'byFrameRefID', options: match.query };
  if (match.by === 'type') return { id: 'byType', options: typeNames.write(match.type) };
  return { id: 'byRegexp', options: writePattern(match.pattern) };
};

/** Joins the properties of an override into one settings object, whose parts map to the properties. */
const joinProperties = (properties: readonly Fields[], ledger: Ledger): Fields => {
  const settings: Record<string, unknown> = {};
  for (const property of properties) {
    const { id, value } = property;
    if (typeof id !== 'string' || !('value' in property)) continue;
    const path = id.split('.');
    if (getAtPath(settings, path) !== undefined) continue;
    setAtPath(settings, path, value);
    const holder = getAtPath(settings, path.slice(0, -1));
    if (isFields(holder)) ledger.alias(holder, path.at(-1) ?? '', [property, 'value']);
  }
  return settings;
};

const readOverride = (override: Fields, ledger: Ledger): object | undefined => {
  const match = isFields(override['matcher']) ? readMatcher(override['matcher']) : undefined;
  if (match === undefined) return undefined;
  const properties = toFieldsList(override['properties']);
  const settings = readSettings(joinProperties(properties, ledger), ledger);
  ledger.carry(override, 'matcher', ...(properties.length === 0 ? ['properties'] : []));
  for (const property of properties) if (isCarried(property, ledger)) ledger.carry(property, 'id');
  return { match, settings };
};
/** Returns whether part of a property's value was converted. */
const isCarried = (property: Fields, ledger: Ledger): boolean =>
  ledger.findMark(property, 'value') === 'carried' || hasCarriedMember(property['value'], ledger);
const hasCarriedMember = (value: unknown, ledger: Ledger): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.entries(value).some(
    ([key, member]) => ledger.findMark(value, key) === 'carried' || hasCarriedMember(member, ledger),
  );

export const readOverrides = (fieldConfig: unknown, ledger: Ledger): object[] => {
  if (!isFields(fieldConfig)) return [];
  return toFieldsList(fieldConfig['overrides'])
    .slice(0, 128)
    .flatMap((override) => readOverride(override, ledger) ?? []);
};

/** Splits settings into one property each, as in Grafana's overrides. */
const flattenSettings = (settings: Fields): Fields[] =>
  Object.entries(settings).flatMap(([id, value]) =>
    id === 'custom' && isFields(value)
      ? Object.entries(value).map(([key, inner]) => ({ id: `custom.${key}`, value: inner }))
      : [{ id, value }],
  );

export const writeOverrides = (overrides: readonly Override[]): Fields[] =>
  overrides.map(({ match, settings }) => ({
    matcher: writeMatch(match),
    properties: flattenSettings(writeSettings(settings)),
  }));
