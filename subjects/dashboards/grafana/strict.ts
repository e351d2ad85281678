/** Required and known fields of Grafana's typed form. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { getAtPath } from './lens.ts';
import { toSourceReference } from './sources.ts';

const legend = { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] };
const tooltip = { mode: 'single', sort: 'none' };
const singleValueOptions = {
  reduceOptions: { calcs: ['lastNotNull'], values: false, fields: '' },
  orientation: 'auto',
};
const timelineOptions = { rowHeight: 0.9, showValue: 'auto', legend, tooltip };

/** Required options of a panel, by type. */
export const requiredOptions: Readonly<Record<string, Fields>> = {
  timeseries: { legend, tooltip },
  stat: {
    graphMode: 'area',
    colorMode: 'value',
    justifyMode: 'auto',
    textMode: 'auto',
    wideLayout: true,
    showPercentChange: false,
    percentChangeColorMode: 'standard',
    ...singleValueOptions,
  },
  gauge: {
    showThresholdLabels: false,
    showThresholdMarkers: true,
    sizing: 'auto',
    minVizWidth: 75,
    minVizHeight: 75,
    ...singleValueOptions,
  },
  bargauge: {
    displayMode: 'gradient',
    valueMode: 'color',
    namePlacement: 'auto',
    showUnfilled: true,
    sizing: 'auto',
    minVizWidth: 8,
    minVizHeight: 16,
    maxVizHeight: 300,
    legend,
    ...singleValueOptions,
  },
  piechart: { pieType: 'pie', legend: { ...legend, values: [] }, tooltip, ...singleValueOptions },
  table: { frameIndex: 0, showHeader: true },
  heatmap: {
    color: { scheme: 'Oranges', fill: 'dark-orange', exponent: 0.5, steps: 64, reverse: false },
    showValue: 'auto',
    yAxis: {},
    legend: { show: true },
    tooltip: { mode: 'single' },
    exemplars: { color: 'rgba(255,0,255,0.7)' },
  },
  histogram: { legend, tooltip },
  'state-timeline': timelineOptions,
  'status-history': timelineOptions,
  barchart: {
    orientation: 'auto',
    xTickLabelRotation: 0,
    xTickLabelMaxLength: 0,
    stacking: 'none',
    showValue: 'auto',
    barWidth: 0.97,
    groupWidth: 0.7,
    fullHighlight: false,
    legend,
    tooltip,
  },
  logs: {
    showLabels: false,
    showCommonLabels: false,
    showTime: false,
    showLogContextToggle: false,
    wrapLogMessage: false,
    prettifyLogMessage: false,
    enableLogDetails: true,
    sortOrder: 'Descending',
    dedupStrategy: 'none',
  },
  text: { mode: 'markdown', content: '' },
  dashlist: {
    keepTime: false,
    includeVars: false,
    showStarred: false,
    showRecentlyViewed: false,
    showSearch: true,
    showHeadings: true,
    showFolderNames: true,
    maxItems: 10,
    query: '',
    tags: [],
  },
};

const toWordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const knownFields = {
  dashboard: toWordSet(
    'description editable graphTooltip time timepicker fiscalYearStartMonth liveNow weekStart refresh preload timezone',
  ),
  timepicker: toWordSet('hidden refresh_intervals nowDelay'),
  panel: toWordSet(
    'type targets title description links transformations interval timeFrom timeShift hideTimeOverride libraryPanel cacheTimeout queryCachingTTL options fieldConfig transparent maxDataPoints',
  ),
  target: toWordSet(
    'expr instant range exemplar editorMode format legendFormat intervalFactor refId hide queryType interval',
  ),
  field: toWordSet(
    'displayName displayNameFromDS description path writeable filterable unit decimals min max mappings thresholds color links noValue custom',
  ),
  variable: toWordSet(
    'type name label hide skipUrlSync description query datasource current multi allowCustomValue options refresh sort includeAll allValue regex auto auto_min auto_count',
  ),
  override: toWordSet('matcher properties'),
  annotation: toWordSet('name datasource enable hide iconColor filter target type builtIn expr'),
};

/** Fields of panels in the current classic form, including their position and server data. */
const panelKeys = new Set([
  ...knownFields.panel,
  ...['id', 'gridPos', 'datasource', 'pluginVersion', 'repeat', 'repeatDirection', 'maxPerRow', 'repeatPanelId'],
  ...['scopedVars', 'span', 'timeCompare', 'height'],
]);
export const isPanelKey = (key: string): boolean => panelKeys.has(key);

const hasOnlyKeys = (value: unknown, keys: ReadonlySet<string>): boolean =>
  isFields(value) && Object.keys(value).every((key) => keys.has(key));
const isReference = (value: unknown): boolean =>
  value === undefined || (isFields(value) && Object.keys(value).every((key) => key === 'type' || key === 'uid'));

const isOverride = (value: unknown): boolean =>
  hasOnlyKeys(value, knownFields.override) &&
  isFields(getAtPath(value, ['matcher'])) &&
  Array.isArray(getAtPath(value, ['properties']));

const isValidFieldConfig = (path: string, value: unknown): boolean => {
  const [, part, inner = '', step, rest] = path.split('.');
  if (part === 'overrides') return step === undefined && isOverride(value);
  if (!knownFields.field.has(inner) || inner === 'links') return false;
  return (
    inner !== 'thresholds' ||
    rest === undefined ||
    ['value', 'color'].includes(path.split('.').at(-1) ?? '') ||
    isFields(value)
  );
};

/** Returns whether every target has a data source of the typed form, or none. */
export const areTypedTargets = (targets: unknown): boolean =>
  Array.isArray(targets) && targets.every((target) => isReference(getAtPath(target, ['datasource'])));

const isValidPanelField = (path: string, value: unknown): boolean => {
  const [key = '', second, inner] = path.split('.');
  if (key === 'datasource') return second === undefined && isFields(value) && isReference(value);
  if (!knownFields.panel.has(key)) return false;
  if (key === 'targets') {
    if (inner !== undefined) return knownFields.target.has(inner);
    return Array.isArray(value) ? areTypedTargets(value) : isReference(getAtPath(value, ['datasource']));
  }
  if (key === 'fieldConfig') return isValidFieldConfig(path, value);
  return key !== 'links' && !(key === 'transformations' && inner === 'filter');
};

/** Returns the parts of a stored source value that are valid at their paths. */
export type SelectTyped = (path: string, value: unknown) => (readonly [path: string, value: unknown])[];

/** For a panel: the value, or those of its members that are valid. */
export const selectTypedPanelFields: SelectTyped = (path, value) => {
  const typed = path === 'datasource' ? toSourceReference(value) : value;
  if (isValidPanelField(path, typed)) return [[path, typed]];
  return isFields(value)
    ? Object.entries(value).flatMap(([key, member]) => selectTypedPanelFields(`${path}.${key}`, member))
    : [];
};

const requiredAnnotationFields = ['name', 'datasource', 'enable', 'iconColor'];

const isValidDashboardField = (path: string): boolean => {
  const [key = '', inner = ''] = path.split('.');
  return key === 'timepicker' ? knownFields.timepicker.has(inner) : knownFields.dashboard.has(key);
};

/** Returns the known fields of a variable or an annotation; undefined if it is not valid without the others. */
const selectKnownFields = (list: 'templating' | 'annotations', member: Fields): Fields | undefined => {
  const keys = listFields[list];
  const known: Fields = Object.fromEntries(Object.entries(member).filter(([name]) => keys.has(name)));
  const isComplete =
    list === 'templating'
      ? isVariableName(known['name']) && variableTypes.has(String(known['type']))
      : requiredAnnotationFields.every((name) => known[name] !== undefined);
  if (!isComplete || !isReference(known['datasource'])) return undefined;
  const { current } = known;
  const value = isFields(current) ? current['value'] : undefined;
  return isFields(current) && value !== undefined && current['text'] === undefined
    ? { ...known, current: { ...current, text: value } }
    : known;
};

const variableTypes = toWordSet('adhoc constant custom datasource groupby interval query snapshot system textbox');
const isVariableName = (name: unknown): boolean => typeof name === 'string' && name !== '';

const listFields = { templating: knownFields.variable, annotations: knownFields.annotation };

/** For the dashboard: the value; of a variable or an annotation its known fields. */
export const selectTypedDashboardFields: SelectTyped = (path, value) => {
  const [list = '', , , field] = path.split('.');
  if (list !== 'templating' && list !== 'annotations') return isValidDashboardField(path) ? [[path, value]] : [];
  if (field !== undefined) {
    const isKnown = listFields[list].has(field) && field !== 'options' && field !== 'datasource';
    return isKnown ? [[path, value]] : [];
  }
  const known = isFields(value) ? selectKnownFields(list, value) : undefined;
  return known === undefined ? [] : [[path, known]];
};
