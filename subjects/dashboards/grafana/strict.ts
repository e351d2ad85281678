/** Required and known fields of Grafana's typed form. */
import { type Fields, isFields } from './ledger.ts';
import { at } from './lens.ts';

const legend = { displayMode: 'list', placement: 'bottom', showLegend: true, calcs: [] };
const tooltip = { mode: 'single', sort: 'none' };
const figure = { reduceOptions: { calcs: ['lastNotNull'], values: false, fields: '' }, orientation: 'auto' };
const lasting = { rowHeight: 0.9, showValue: 'auto', legend, tooltip };

/** Required options of a panel, by type. */
export const neededOptions: Readonly<Record<string, Fields>> = {
  timeseries: { legend, tooltip },
  stat: {
    graphMode: 'area',
    colorMode: 'value',
    justifyMode: 'auto',
    textMode: 'auto',
    wideLayout: true,
    showPercentChange: false,
    percentChangeColorMode: 'standard',
    ...figure,
  },
  gauge: {
    showThresholdLabels: false,
    showThresholdMarkers: true,
    sizing: 'auto',
    minVizWidth: 75,
    minVizHeight: 75,
    ...figure,
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
    ...figure,
  },
  piechart: { pieType: 'pie', legend: { ...legend, values: [] }, tooltip, ...figure },
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
  'state-timeline': lasting,
  'status-history': lasting,
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

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));
const known = {
  dashboard: words(
    'description editable graphTooltip time timepicker fiscalYearStartMonth liveNow weekStart refresh preload timezone',
  ),
  timepicker: words('hidden refresh_intervals nowDelay'),
  panel: words(
    'type targets title description links transformations interval timeFrom timeShift hideTimeOverride libraryPanel cacheTimeout queryCachingTTL options fieldConfig transparent maxDataPoints',
  ),
  target: words(
    'expr instant range exemplar editorMode format legendFormat intervalFactor refId hide queryType interval',
  ),
  field: words(
    'displayName displayNameFromDS description path writeable filterable unit decimals min max mappings thresholds color links noValue custom',
  ),
  variable: words(
    'type name label hide skipUrlSync description query datasource current multi allowCustomValue options refresh sort includeAll allValue regex auto auto_min auto_count',
  ),
  override: words('matcher properties'),
  annotation: words('name datasource enable hide iconColor filter target type builtIn expr'),
};

/** Fields of panels in the current classic form, including their position and server data */
const panelKeys = new Set([
  ...known.panel,
  ...['id', 'gridPos', 'datasource', 'pluginVersion', 'repeat', 'repeatDirection', 'maxPerRow', 'repeatPanelId'],
  ...['scopedVars', 'span', 'timeCompare', 'height'],
]);
export const isPanelKey = (key: string): boolean => panelKeys.has(key);

const allKnown = (value: unknown, keys: ReadonlySet<string>): boolean =>
  isFields(value) && Object.keys(value).every((key) => keys.has(key));
const isReference = (value: unknown): boolean =>
  value === undefined || (isFields(value) && Object.keys(value).every((key) => key === 'type' || key === 'uid'));

const isOverride = (value: unknown): boolean =>
  allKnown(value, known.override) && isFields(at(value, ['matcher'])) && Array.isArray(at(value, ['properties']));

const fitsFields = (path: string, value: unknown): boolean => {
  const [, part, inner = '', step, rest] = path.split('.');
  if (part === 'overrides') return step === undefined && isOverride(value);
  if (!known.field.has(inner) || inner === 'links') return false;
  return (
    inner !== 'thresholds' ||
    rest === undefined ||
    ['value', 'color'].includes(path.split('.').at(-1) ?? '') ||
    isFields(value)
  );
};

/** Returns whether a stored source value of a panel is valid at its path. */
export const fitsPanel = (path: string, value: unknown): boolean => {
  const [key = '', , inner] = path.split('.');
  if (!known.panel.has(key)) return false;
  if (key === 'targets')
    return inner === undefined
      ? Array.isArray(value)
        ? value.every((one) => isReference(at(one, ['datasource'])))
        : isReference(at(value, ['datasource']))
      : known.target.has(inner);
  if (key === 'fieldConfig') return fitsFields(path, value);
  return key !== 'links' && !(key === 'transformations' && inner === 'filter');
};

/** Returns whether a stored source value of the dashboard is valid at its path. */
export const fitsDashboard = (path: string, value: unknown): boolean => {
  const [key = '', inner = '', , last] = path.split('.');
  if (key === 'timepicker') return known.timepicker.has(inner);
  if (key !== 'templating' && key !== 'annotations') return known.dashboard.has(key);
  const keys = key === 'templating' ? known.variable : known.annotation;
  if (last !== undefined) return keys.has(last) && last !== 'options' && last !== 'datasource';
  if (!allKnown(value, keys) || !isReference(at(value, ['datasource']))) return false;
  return (
    key === 'templating' || ['name', 'datasource', 'enable', 'iconColor'].every((one) => at(value, [one]) !== undefined)
  );
};
