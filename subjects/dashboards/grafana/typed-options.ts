/**
 * Panel options and field settings of Grafana's typed form, by panel type. Other options are stored in the hidden
 * variable.
 */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { toFieldsList } from './ledger.ts';
import { getAtPath, lookUp } from './lens.ts';

type Built = Record<string, unknown>;
type WordSet = ReadonlySet<string>;
const toWordSet = (text: string): WordSet => new Set(text.split(' '));

const tooltip = toWordSet('mode sort maxWidth maxHeight hideZeros');
const nestedOptions: Readonly<Record<string, WordSet>> = {
  legend: toWordSet('displayMode placement showLegend asTable isVisible sortBy sortDesc width calcs'),
  tooltip,
  reduceOptions: toWordSet('values limit calcs fields'),
  text: toWordSet('titleSize valueSize'),
  footer: toWordSet('show reducer fields enablePagination countRows'),
  code: toWordSet('language showLineNumbers showMiniMap'),
};
/** Options that differ for a panel type. */
const nestedOptionsByType: Readonly<Record<string, WordSet>> = {
  'piechart.legend': toWordSet('values displayMode placement showLegend asTable isVisible sortBy sortDesc width calcs'),
  'heatmap.legend': toWordSet('show'),
  'heatmap.tooltip': toWordSet('mode maxHeight maxWidth yHistogram showColorScale'),
};

const timelineOptions = 'showValue rowHeight legend tooltip timezone perPage';
const optionsByType: Readonly<Record<string, WordSet>> = {
  timeseries: toWordSet('timezone legend tooltip orientation'),
  barchart: toWordSet(
    'xField colorByField orientation barRadius xTickLabelRotation xTickLabelMaxLength xTickLabelSpacing stacking showValue barWidth groupWidth legend tooltip text fullHighlight',
  ),
  bargauge: toWordSet(
    'displayMode valueMode namePlacement showUnfilled sizing minVizWidth minVizHeight legend reduceOptions text maxVizHeight orientation',
  ),
  dashlist: toWordSet(
    'keepTime includeVars showStarred showRecentlyViewed showSearch showHeadings showFolderNames maxItems query tags folderId folderUID',
  ),
  gauge: toWordSet(
    'showThresholdLabels showThresholdMarkers sizing minVizWidth reduceOptions text minVizHeight orientation',
  ),
  heatmap: toWordSet(
    'calculate calculation color filterValues rowsFrame showValue cellGap cellRadius cellValues yAxis legend tooltip exemplars selectionMode',
  ),
  histogram: toWordSet('bucketCount bucketSize bucketOffset legend tooltip combine'),
  logs: toWordSet(
    'showLabels showCommonLabels showTime showLogContextToggle wrapLogMessage prettifyLogMessage enableLogDetails sortOrder dedupStrategy enableInfiniteScrolling displayedFields',
  ),
  nodeGraph: toWordSet('nodes edges zoomMode'),
  piechart: toWordSet('pieType displayLabels tooltip reduceOptions text legend orientation'),
  stat: toWordSet(
    'graphMode colorMode justifyMode textMode wideLayout showPercentChange reduceOptions text percentChangeColorMode orientation',
  ),
  'state-timeline': toWordSet(`${timelineOptions} mergeValues alignValue`),
  'status-history': toWordSet(`${timelineOptions} colWidth`),
  table: toWordSet('frameIndex showHeader showTypeIcons sortBy footer cellHeight'),
  text: toWordSet('mode code content'),
};

const axisSettings =
  'axisPlacement axisColorMode axisLabel axisWidth axisSoftMin axisSoftMax axisGridShow scaleDistribution axisCenteredZero axisBorderShow hideFrom';
const customSettings: Readonly<Record<string, WordSet>> = {
  timeseries: toWordSet(
    `${axisSettings} drawStyle gradientMode thresholdsStyle transform lineColor lineWidth lineInterpolation lineStyle fillColor fillOpacity showPoints pointSize pointColor barAlignment barWidthFactor stacking insertNulls spanNulls fillBelowTo pointSymbol barMaxWidth`,
  ),
  barchart: toWordSet(`${axisSettings} lineWidth fillOpacity gradientMode thresholdsStyle`),
  heatmap: toWordSet('scaleDistribution hideFrom'),
  histogram: toWordSet(`${axisSettings} lineWidth fillOpacity stacking gradientMode`),
  piechart: toWordSet('hideFrom'),
  'state-timeline': toWordSet(`${axisSettings} lineWidth fillOpacity`),
  'status-history': toWordSet(`${axisSettings} lineWidth fillOpacity`),
  table: toWordSet('width minWidth align displayMode cellOptions hidden inspect filterable hideHeader'),
};

/** Options of each cell type. */
const cellOptions: Readonly<Record<string, WordSet>> = {
  auto: toWordSet('type wrapText'),
  'color-text': toWordSet('type wrapText'),
  'color-background': toWordSet('type mode applyToRow wrapText'),
  gauge: toWordSet('type mode valueDisplayMode'),
  image: toWordSet('type alt title'),
  'json-view': toWordSet('type'),
  'data-links': toWordSet('type'),
  sparkline: toWordSet('type'),
};

const formats = toWordSet('time_series table heatmap');

/** Adds missing names and expressions of targets, and removes unknown formats. */
const normalizeTargets = (targets: unknown): void => {
  for (const [index, target] of toFieldsList(targets).entries()) {
    const built = target as Built;
    built['refId'] ??= `Q${index}`;
    if (getAtPath(built, ['datasource', 'type']) === 'prometheus') built['expr'] ??= '';
    if (built['format'] !== undefined && !formats.has(String(built['format']))) delete built['format'];
  }
};

const languages = toWordSet('json yaml xml typescript sql go markdown html plaintext');

const deleteOtherKeys = (holder: Built, allowedKeys: WordSet): void => {
  for (const key of Object.keys(holder)) if (!allowedKeys.has(key)) delete holder[key];
};

const cleanOptions = (type: string, panelOptions: Built, allowedKeys: WordSet): void => {
  deleteOtherKeys(panelOptions, allowedKeys);
  for (const [key, value] of Object.entries(panelOptions)) {
    const allowedParts = nestedOptionsByType[`${type}.${key}`] ?? lookUp(nestedOptions, key);
    if (isFields(value) && allowedParts !== undefined) deleteOtherKeys(value as Built, allowedParts);
  }
  const footer = panelOptions['footer'];
  if (isFields(footer)) panelOptions['footer'] = { show: false, reducer: [], ...footer };
  const code = panelOptions['code'] as Built | undefined;
  if (isFields(code) && !languages.has(String(code['language']))) delete code['language'];
};

/** Allowed values by setting. Older versions had others. */
const choices: Readonly<Record<string, WordSet>> = {
  axisColorMode: toWordSet('text series'),
};

const cleanCell = (settings: Built): void => {
  const cell = settings['cellOptions'];
  const allowedCellKeys = isFields(cell) ? lookUp(cellOptions, String(cell['type'])) : undefined;
  if (allowedCellKeys === undefined) delete settings['cellOptions'];
  else deleteOtherKeys(cell as Built, allowedCellKeys);
  if (isFields(cell) && cell['type'] === 'color-background' && cell['mode'] === 'lcd') delete (cell as Built)['mode'];
};

/** Converts texts that older versions of Grafana wrote as numbers. */
const convertTexts = (defaults: Built): void => {
  if (typeof defaults['noValue'] === 'number') defaults['noValue'] = String(defaults['noValue']);
  for (const mapping of toFieldsList(defaults['mappings'])) {
    const options = mapping['options'];
    const results = isFields(options) ? [options, options['result'], ...Object.values(options)].filter(isFields) : [];
    for (const result of results)
      if (typeof result['text'] === 'number') (result as Built)['text'] = String(result['text']);
  }
};

/** Converts a number that older versions of Grafana wrote as a text; another text is not a number and is removed. */
const convertNumber = (holder: Built, key: string): void => {
  const value = holder[key];
  if (typeof value !== 'string') return;
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number)) holder[key] = number;
  else delete holder[key];
};

const numericFields = ['min', 'max', 'decimals'];

/** Converts numbers of field settings and of the axis of a heatmap. */
const convertNumbers = (panel: Built): void => {
  for (const path of [
    ['fieldConfig', 'defaults'],
    ['options', 'yAxis'],
  ]) {
    const holder = getAtPath(panel, path);
    if (isFields(holder)) for (const key of numericFields) convertNumber(holder as Built, key);
  }
};

const hiddenParts = ['legend', 'tooltip', 'viz'];

/** Completes settings of which older versions of Grafana had other members. */
const completeSettings = (settings: Built): void => {
  const hideFrom = settings['hideFrom'];
  if (isFields(hideFrom))
    settings['hideFrom'] = Object.fromEntries(hiddenParts.map((part) => [part, hideFrom[part] === true]));
};

/** Removes the fields of a panel that the typed form lacks. */
export const removeUntyped = (panel: Built): void => {
  const typedDefaults = getAtPath(panel, ['fieldConfig', 'defaults']);
  if (isFields(typedDefaults)) convertTexts(typedDefaults as Built);
  convertNumbers(panel);
  for (const transformation of toFieldsList(panel['transformations']))
    if (!('options' in transformation)) (transformation as Built)['options'] = {};
  const type = String(panel['type']);
  const allowedOptions = lookUp(optionsByType, type);
  if (allowedOptions === undefined) return;
  normalizeTargets(panel['targets']);
  if (isFields(panel['options'])) cleanOptions(type, panel['options'] as Built, allowedOptions);
  const defaults = getAtPath(panel, ['fieldConfig', 'defaults']) as Built | undefined;
  const settings: Fields | undefined = isFields(defaults) ? (defaults['custom'] as Fields | undefined) : undefined;
  const allowedSettings = lookUp(customSettings, type);
  if (!isFields(settings) || allowedSettings === undefined || defaults === undefined) return;
  deleteOtherKeys(settings as Built, allowedSettings);
  completeSettings(settings as Built);
  for (const [key, allowed] of Object.entries(choices))
    if (!allowed.has(String(settings[key]))) delete (settings as Built)[key];
  if (type === 'table') cleanCell(settings as Built);
  if (Object.keys(settings).length === 0) delete defaults['custom'];
  else if (type === 'table') defaults['custom'] = { align: 'auto', inspect: false, ...settings };
};
