/**
 * Panel options and field settings of Grafana's typed form, by panel type. Other options are stored in the hidden
 * variable.
 */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { toFieldsList } from './ledger.ts';
import { getAtPath, lookUp } from './lens.ts';

type Built = Record<string, unknown>;
type Words = ReadonlySet<string>;
const words = (text: string): Words => new Set(text.split(' '));

const tooltip = words('mode sort maxWidth maxHeight hideZeros');
const nestedOptions: Readonly<Record<string, Words>> = {
  legend: words('displayMode placement showLegend asTable isVisible sortBy sortDesc width calcs'),
  tooltip,
  reduceOptions: words('values limit calcs fields'),
  text: words('titleSize valueSize'),
  footer: words('show reducer fields enablePagination countRows'),
  code: words('language showLineNumbers showMiniMap'),
};
/** Options that are different for one type */
const nestedOptionsByType: Readonly<Record<string, Words>> = {
  'piechart.legend': words('values displayMode placement showLegend asTable isVisible sortBy sortDesc width calcs'),
  'heatmap.legend': words('show'),
  'heatmap.tooltip': words('mode maxHeight maxWidth yHistogram showColorScale'),
};

const timelineOptions = 'showValue rowHeight legend tooltip timezone perPage';
const options: Readonly<Record<string, Words>> = {
  timeseries: words('timezone legend tooltip orientation'),
  barchart: words(
    'xField colorByField orientation barRadius xTickLabelRotation xTickLabelMaxLength xTickLabelSpacing stacking showValue barWidth groupWidth legend tooltip text fullHighlight',
  ),
  bargauge: words(
    'displayMode valueMode namePlacement showUnfilled sizing minVizWidth minVizHeight legend reduceOptions text maxVizHeight orientation',
  ),
  dashlist: words(
    'keepTime includeVars showStarred showRecentlyViewed showSearch showHeadings showFolderNames maxItems query tags folderId folderUID',
  ),
  gauge: words(
    'showThresholdLabels showThresholdMarkers sizing minVizWidth reduceOptions text minVizHeight orientation',
  ),
  heatmap: words(
    'calculate calculation color filterValues rowsFrame showValue cellGap cellRadius cellValues yAxis legend tooltip exemplars selectionMode',
  ),
  histogram: words('bucketCount bucketSize bucketOffset legend tooltip combine'),
  logs: words(
    'showLabels showCommonLabels showTime showLogContextToggle wrapLogMessage prettifyLogMessage enableLogDetails sortOrder dedupStrategy enableInfiniteScrolling displayedFields',
  ),
  nodeGraph: words('nodes edges zoomMode'),
  piechart: words('pieType displayLabels tooltip reduceOptions text legend orientation'),
  stat: words(
    'graphMode colorMode justifyMode textMode wideLayout showPercentChange reduceOptions text percentChangeColorMode orientation',
  ),
  'state-timeline': words(`${timelineOptions} mergeValues alignValue`),
  'status-history': words(`${timelineOptions} colWidth`),
  table: words('frameIndex showHeader showTypeIcons sortBy footer cellHeight'),
  text: words('mode code content'),
};

const axis =
  'axisPlacement axisColorMode axisLabel axisWidth axisSoftMin axisSoftMax axisGridShow scaleDistribution axisCenteredZero axisBorderShow hideFrom';
const customSettings: Readonly<Record<string, Words>> = {
  timeseries: words(
    `${axis} drawStyle gradientMode thresholdsStyle transform lineColor lineWidth lineInterpolation lineStyle fillColor fillOpacity showPoints pointSize pointColor barAlignment barWidthFactor stacking insertNulls spanNulls fillBelowTo pointSymbol barMaxWidth`,
  ),
  barchart: words(`${axis} lineWidth fillOpacity gradientMode thresholdsStyle`),
  heatmap: words('scaleDistribution hideFrom'),
  histogram: words(`${axis} lineWidth fillOpacity stacking gradientMode`),
  piechart: words('hideFrom'),
  'state-timeline': words(`${axis} lineWidth fillOpacity`),
  'status-history': words(`${axis} lineWidth fillOpacity`),
  table: words('width minWidth align displayMode cellOptions hidden inspect filterable hideHeader'),
};

/** Options of each cell type */
const cellOptions: Readonly<Record<string, Words>> = {
  auto: words('type wrapText'),
  'color-text': words('type wrapText'),
  'color-background': words('type mode applyToRow wrapText'),
  gauge: words('type mode valueDisplayMode'),
  image: words('type alt title'),
  'json-view': words('type'),
  'data-links': words('type'),
  sparkline: words('type'),
};

const formats = words('time_series table heatmap');

/** Adds missing names and expressions of targets, and removes unknown formats. */
const normalizeTargets = (targets: unknown): void => {
  for (const [index, target] of toFieldsList(targets).entries()) {
    const built = target as Built;
    built['refId'] ??= `Q${index}`;
    if (getAtPath(built, ['datasource', 'type']) === 'prometheus') built['expr'] ??= '';
    if (built['format'] !== undefined && !formats.has(String(built['format']))) delete built['format'];
  }
};

const languages = words('json yaml xml typescript sql go markdown html plaintext');

const deleteOtherKeys = (holder: Built, known: Words): void => {
  for (const key of Object.keys(holder)) if (!known.has(key)) delete holder[key];
};

const cleanOptions = (type: string, panelOptions: Built, known: Words): void => {
  deleteOtherKeys(panelOptions, known);
  for (const [key, value] of Object.entries(panelOptions)) {
    const parts = nestedOptionsByType[`${type}.${key}`] ?? lookUp(nestedOptions, key);
    if (isFields(value) && parts !== undefined) deleteOtherKeys(value as Built, parts);
  }
  const footer = panelOptions['footer'];
  if (isFields(footer)) panelOptions['footer'] = { show: false, reducer: [], ...footer };
  const code = panelOptions['code'] as Built | undefined;
  if (isFields(code) && !languages.has(String(code['language']))) delete code['language'];
};

/** Allowed values by setting. Older versions had others. */
const choices: Readonly<Record<string, Words>> = {
  axisColorMode: words('text series'),
};

const cleanCell = (settings: Built): void => {
  const cell = settings['cellOptions'];
  const known = isFields(cell) ? lookUp(cellOptions, String(cell['type'])) : undefined;
  if (known === undefined) delete settings['cellOptions'];
  else deleteOtherKeys(cell as Built, known);
  if (isFields(cell) && cell['type'] === 'color-background' && cell['mode'] === 'lcd') delete (cell as Built)['mode'];
};

/** Removes the fields of a panel that the typed form lacks. */
export const removeUntyped = (panel: Built): void => {
  const type = String(panel['type']);
  const known = lookUp(options, type);
  if (known === undefined) return;
  normalizeTargets(panel['targets']);
  if (isFields(panel['options'])) cleanOptions(type, panel['options'] as Built, known);
  const defaults = getAtPath(panel, ['fieldConfig', 'defaults']) as Built | undefined;
  const settings: Fields | undefined = isFields(defaults) ? (defaults['custom'] as Fields | undefined) : undefined;
  const allowedSettings = lookUp(customSettings, type);
  if (!isFields(settings) || allowedSettings === undefined || defaults === undefined) return;
  deleteOtherKeys(settings as Built, allowedSettings);
  for (const [key, allowed] of Object.entries(choices))
    if (!allowed.has(String(settings[key]))) delete (settings as Built)[key];
  if (type === 'table') cleanCell(settings as Built);
  if (Object.keys(settings).length === 0) delete defaults['custom'];
  else if (type === 'table') defaults['custom'] = { align: 'auto', inspect: false, ...settings };
};
