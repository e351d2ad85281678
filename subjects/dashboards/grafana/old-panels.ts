/** Converts panels of older Grafana versions to the current form. Marks are forwarded to the source. */
import { type Fields, isFields } from '../../../runtime/fields.ts';
import { type Ledger, toFieldsList } from './ledger.ts';
import { getAtPath, setAtPath } from './lens.ts';

/** An object that is built from a source, part by part. */
class PanelBuilder {
  readonly value: Record<string, unknown> = {};
  readonly #ledger: Ledger;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** Sets a value at a path and links it to a part of the source. */
  set(path: string, value: unknown, holder?: object, key = ''): void {
    if (value === undefined || value === null) return;
    const steps = path.split('.');
    if (getAtPath(this.value, steps) !== undefined) return;
    setAtPath(this.value, steps, value);
    const built = getAtPath(this.value, steps.slice(0, -1));
    if (holder !== undefined && typeof built === 'object' && built !== null)
      this.#ledger.alias(built, steps.at(-1) ?? '', [holder, key]);
  }
}

type Converter = (value: unknown) => unknown;
const keepValue: Converter = (value) => value;
const toOptionalNumber: Converter = (value) => {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)) ? Number(value) : undefined;
};
const multiplyBy =
  (factor: number, more = 0): Converter =>
  (value) =>
    typeof value === 'number' ? value * factor + more : undefined;

/** Old key, current path, and conversion of the value. */
type Rule = readonly [key: string, path: string, convert: Converter];

const applyRules = (built: PanelBuilder, rules: readonly Rule[], source: unknown): void => {
  if (!isFields(source)) return;
  for (const [key, path, convert] of rules)
    if (Object.hasOwn(source, key)) built.set(path, convert(source[key]), source, key);
};

const mapBoolean =
  (trueValue: unknown, falseValue?: unknown): Converter =>
  (value) =>
    value === true ? trueValue : value === false ? falseValue : undefined;

const createAxisRules = (custom: string): Rule[] => [
  ['format', 'unit', keepValue],
  ['min', 'min', toOptionalNumber],
  ['max', 'max', toOptionalNumber],
  ['decimals', 'decimals', toOptionalNumber],
  ['label', `${custom}axisLabel`, keepValue],
  [
    'logBase',
    `${custom}scaleDistribution`,
    (base) => (Number(base) > 1 ? { type: 'log', log: base } : { type: 'linear' }),
  ],
  ['show', `${custom}axisPlacement`, mapBoolean('auto', 'hidden')],
];

const drawingRules: readonly Rule[] = [
  ['linewidth', 'custom.lineWidth', keepValue],
  ['fill', 'custom.fillOpacity', multiplyBy(10)],
  ['pointradius', 'custom.pointSize', multiplyBy(2, 1)],
  ['steppedLine', 'custom.lineInterpolation', mapBoolean('stepAfter', 'linear')],
  ['nullPointMode', 'custom.spanNulls', (mode) => (mode === 'connected' ? true : mode === 'null' ? false : undefined)],
  ['dashes', 'custom.lineStyle.fill', mapBoolean('dash', 'solid')],
  ['points', 'custom.showPoints', mapBoolean('always', 'never')],
  ['transform', 'custom.transform', keepValue],
];

const convertStacking = (holder: Fields, built: PanelBuilder, prefix: string): void => {
  const { stack, percentage } = holder;
  if (percentage === true && stack === true)
    built.set(`${prefix}custom.stacking.mode`, 'percent', holder, 'percentage');
  if (typeof stack === 'boolean')
    built.set(`${prefix}custom.stacking.mode`, stack ? 'normal' : 'none', holder, 'stack');
};

/** Converts a series override of an old graph to properties of a current override. */
const convertOverride = (old: Fields, axis: unknown, ledger: Ledger): Fields | undefined => {
  const { alias } = old;
  if (typeof alias !== 'string' || alias === '') return undefined;
  const built = new PanelBuilder(ledger);
  applyRules(built, drawingRules, old);
  applyRules(built, [['bars', 'custom.drawStyle', mapBoolean('bars')]], old);
  applyRules(built, [['lines', 'custom.drawStyle', mapBoolean('line')]], old);
  convertStacking(old, built, '');
  if (typeof old['color'] === 'string') {
    built.set('color.fixedColor', old['color'], old, 'color');
    built.set('color.mode', 'fixed');
  }
  if (old['yaxis'] === 2) {
    applyRules(
      built,
      createAxisRules('custom.').filter(([key]) => key !== 'show'),
      axis,
    );
    built.set('custom.axisPlacement', 'right', old, 'yaxis');
  }
  const properties = Object.entries(built.value).flatMap(([id, value]) =>
    id === 'custom' && isFields(value)
      ? Object.keys(value).map((key) => createProperty(`custom.${key}`, value, key, ledger))
      : [createProperty(id, built.value, id, ledger)],
  );
  const isPattern = /^\/.*\/[a-z]*$/s.test(alias);
  const matcher: Record<string, unknown> = { id: isPattern ? 'byRegexp' : 'byName', options: alias };
  const override = { matcher, properties };
  // An override is converted as a unit, including its name.
  ledger.alias(override, 'matcher', [old, 'alias']);
  return override;
};

const createProperty = (id: string, holder: Fields, key: string, ledger: Ledger): Fields => {
  const property = { id, value: holder[key] };
  ledger.alias(property, 'value', [holder, key]);
  return property;
};

const legendValues = { min: 'min', max: 'max', avg: 'mean', current: 'lastNotNull', total: 'sum' } as const;

const convertLegend = (panel: Fields, built: PanelBuilder, ledger: Ledger): void => {
  const legend = panel['legend'];
  if (!isFields(legend)) return;
  const calcs: string[] = [];
  for (const [old, calculation] of Object.entries(legendValues)) {
    if (legend[old] === true && legend['values'] !== false) calcs.push(calculation);
    if (typeof legend[old] === 'boolean') ledger.carry(legend, old);
  }
  if (typeof legend['values'] === 'boolean') ledger.carry(legend, 'values');
  built.set('options.legend.calcs', calcs);
  built.set('options.legend.showLegend', legend['show'], legend, 'show');
  applyRules(
    built,
    [
      ['alignAsTable', 'options.legend.displayMode', mapBoolean('table', 'list')],
      ['rightSide', 'options.legend.placement', mapBoolean('right', 'bottom')],
      ['sideWidth', 'options.legend.width', keepValue],
      ['sortDesc', 'options.legend.sortDesc', keepValue],
    ],
    legend,
  );
  const sortTitle =
    typeof legend['sort'] === 'string'
      ? { min: 'Min', max: 'Max', avg: 'Mean', current: 'Last *', total: 'Total' }[legend['sort']]
      : undefined;
  built.set('options.legend.sortBy', sortTitle, legend, 'sort');
};

const convertGraph = (panel: Fields, built: PanelBuilder, ledger: Ledger): void => {
  const defaults = 'fieldConfig.defaults.';
  const prefixPaths = (rules: readonly Rule[]): Rule[] =>
    rules.map(([key, path, convert]) => [key, defaults + path, convert]);
  const [left, right] = toFieldsList(panel['yaxes']);
  built.set('type', 'timeseries', panel, 'type');
  applyRules(built, prefixPaths(createAxisRules('custom.')), left);
  if (panel['bars'] === true) built.set(`${defaults}custom.drawStyle`, 'bars', panel, 'bars');
  else if (panel['lines'] === false && panel['points'] === true)
    built.set(`${defaults}custom.drawStyle`, 'points', panel, 'lines');
  else if (panel['lines'] !== false) built.set(`${defaults}custom.drawStyle`, 'line', panel, 'lines');
  const gradient = panel['fillGradient'];
  if (typeof gradient === 'number' && gradient > 0) {
    built.set(`${defaults}custom.gradientMode`, 'opacity');
    built.set(`${defaults}custom.fillOpacity`, gradient * 10, panel, 'fillGradient');
  }
  applyRules(built, prefixPaths(drawingRules), panel);
  applyRules(built, prefixPaths([['decimals', 'decimals', toOptionalNumber]]), panel);
  convertStacking(panel, built, defaults);
  convertLegend(panel, built, ledger);
  const tooltip = panel['tooltip'];
  applyRules(
    built,
    [
      ['shared', 'options.tooltip.mode', mapBoolean('multi', 'single')],
      ['sort', 'options.tooltip.sort', (sort) => ['none', 'asc', 'desc'][Number(sort)]],
    ],
    tooltip,
  );
  const colours = panel['aliasColors'];
  const overrides = [
    ...(isFields(colours) ? Object.keys(colours) : []).map((name) =>
      createColourOverride(name, colours as Fields, ledger),
    ),
    ...toFieldsList(panel['seriesOverrides']).flatMap((old) => convertOverride(old, right, ledger) ?? []),
  ];
  if (overrides.length > 0) setAtPath(built.value, ['fieldConfig', 'overrides'], overrides);
};

const createColourOverride = (name: string, colours: Fields, ledger: Ledger): Fields => {
  const value = { mode: 'fixed', fixedColor: colours[name] };
  ledger.alias(value, 'fixedColor', [colours, name]);
  return { matcher: { id: 'byName', options: name }, properties: [{ id: 'color', value }] };
};

/** Converts thresholds, which are a text of numbers and a list of colors. */
const convertThresholds = (panel: Fields, ledger: Ledger): object[] | undefined => {
  const { thresholds, colors } = panel;
  if (typeof thresholds !== 'string' || thresholds === '' || !Array.isArray(colors)) return undefined;
  const values = thresholds.split(',').map((text) => (text.trim() === '' ? NaN : Number(text)));
  if (!values.every(Number.isFinite) || !colors.every((colour) => typeof colour === 'string')) return undefined;
  ledger.carry(panel, 'thresholds', 'colors');
  return colors
    .slice(0, values.length + 1)
    .map((color, index) => ({ value: index === 0 ? null : values[index - 1], color }));
};

const convertMappings = (panel: Fields, ledger: Ledger): object[] => {
  const result = (text: unknown) => ({ result: { text: String(text) } });
  const isRangeMapping = panel['mappingType'] === 2;
  const oldMappings = toFieldsList(panel[isRangeMapping ? 'rangeMaps' : 'valueMaps']);
  return oldMappings.map((mapping) => {
    const { value, text, from, to } = mapping;
    ledger.carry(mapping, 'value', 'text', 'from', 'to');
    ledger.markDefault(mapping, 'op');
    const isNull = value === 'null' || (from === 'null' && to === 'null');
    if (isNull) return { type: 'special', options: { match: 'null', ...result(text) } };
    return isRangeMapping
      ? {
          type: 'range',
          options: { from: toOptionalNumber(from) ?? null, to: toOptionalNumber(to) ?? null, ...result(text) },
        }
      : { type: 'value', options: { [String(value)]: { text: String(text) } } };
  });
};

const convertColours = (panel: Fields, built: PanelBuilder, ledger: Ledger): void => {
  const { colorBackground, colorValue } = panel;
  built.set('options.colorMode', colorBackground === true ? 'background' : colorValue === true ? 'value' : 'none');
  applyRules(built, [['show', 'options.graphMode', mapBoolean('area', 'none')]], panel['sparkline']);
  for (const key of ['colorBackground', 'colorValue']) if (typeof panel[key] === 'boolean') ledger.carry(panel, key);
};

const convertSinglestat = (panel: Fields, built: PanelBuilder, ledger: Ledger): void => {
  const defaults = 'fieldConfig.defaults.';
  const gauge = panel['gauge'];
  const isGauge = isFields(gauge) && gauge['show'] === true;
  built.set('type', isGauge ? 'gauge' : 'stat', panel, 'type');
  if (isFields(gauge)) ledger.carry(gauge, 'show');
  if (isGauge)
    applyRules(
      built,
      [
        ['minValue', `${defaults}min`, keepValue],
        ['maxValue', `${defaults}max`, keepValue],
        ['thresholdLabels', 'options.showThresholdLabels', keepValue],
        ['thresholdMarkers', 'options.showThresholdMarkers', keepValue],
      ],
      gauge,
    );
  applyRules(
    built,
    [
      ['format', `${defaults}unit`, keepValue],
      ['decimals', `${defaults}decimals`, keepValue],
      ['nullText', `${defaults}noValue`, keepValue],
      [
        'valueName',
        'options.reduceOptions.calcs',
        (name) => [{ avg: 'mean', current: 'lastNotNull', total: 'sum', delta: 'delta' }[String(name)] ?? name],
      ],
    ],
    panel,
  );
  if (!isGauge) convertColours(panel, built, ledger);
  const steps = convertThresholds(panel, ledger);
  if (steps !== undefined) built.set(`${defaults}thresholds`, { mode: 'absolute', steps });
  const mappings = convertMappings(panel, ledger);
  if (mappings.length > 0) {
    built.set(`${defaults}mappings`, mappings);
    ledger.carry(panel, 'mappingType');
  }
};

/** Converts a column style of an old table to an override. */
const convertStyle = (style: Fields, ledger: Ledger): Fields | undefined => {
  const { pattern, type } = style;
  if (typeof pattern !== 'string' || pattern === '') return undefined;
  const built = new PanelBuilder(ledger);
  applyRules(
    built,
    [
      ['alias', 'displayName', (name) => (name === '' ? undefined : name)],
      ['decimals', 'decimals', keepValue],
      ['align', 'custom.align', keepValue],
    ],
    style,
  );
  if (type === 'number') built.set('unit', style['unit'], style, 'unit');
  if (type === 'hidden') built.set('custom.hidden', true);
  if (style['link'] === true && typeof style['linkUrl'] === 'string') {
    const link = {
      title: style['linkTooltip'] ?? '',
      url: style['linkUrl'],
      targetBlank: style['linkTargetBlank'] === true,
    };
    for (const [key, old] of [
      ['title', 'linkTooltip'],
      ['url', 'linkUrl'],
      ['targetBlank', 'linkTargetBlank'],
    ] as const)
      ledger.alias(link, key, [style, old]);
    built.set('links', [link]);
    ledger.carry(style, 'link');
  }
  ledger.carry(style, 'type');
  const properties = Object.entries(built.value).flatMap(([id, value]) =>
    id === 'custom' && isFields(value)
      ? Object.keys(value).map((key) => createProperty(`custom.${key}`, value, key, ledger))
      : [createProperty(id, built.value, id, ledger)],
  );
  const matcher = { id: /^\/.*\/$/s.test(pattern) ? 'byRegexp' : 'byName', options: pattern };
  const override = { matcher, properties };
  ledger.alias(override, 'matcher', [style, 'pattern']);
  return override;
};

const convertTable = (panel: Fields, built: PanelBuilder, ledger: Ledger): void => {
  built.set('type', 'table', panel, 'type');
  const overrides = toFieldsList(panel['styles']).flatMap((style) => convertStyle(style, ledger) ?? []);
  if (overrides.length > 0) setAtPath(built.value, ['fieldConfig', 'overrides'], overrides);
  applyRules(built, [['showHeader', 'options.showHeader', keepValue]], panel);
};

const convertText = (panel: Fields, built: PanelBuilder): void =>
  applyRules(
    built,
    [
      ['content', 'options.content', keepValue],
      ['mode', 'options.mode', keepValue],
    ],
    panel,
  );

const convertDashlist = (panel: Fields, built: PanelBuilder): void =>
  applyRules(
    built,
    [
      ['query', 'options.query', keepValue],
      ['tags', 'options.tags', keepValue],
      ['limit', 'options.maxItems', keepValue],
      ['headings', 'options.showHeadings', keepValue],
      ['recent', 'options.showRecentlyViewed', keepValue],
      ['search', 'options.showSearch', keepValue],
      ['starred', 'options.showStarred', keepValue],
    ],
    panel,
  );

/** Converts gauge options of version 6. */
const convertFieldOptions = (panel: Fields, built: PanelBuilder): void => {
  const options = panel['options'] as Fields;
  const old = options['fieldOptions'];
  for (const [key, value] of Object.entries(options))
    if (key !== 'fieldOptions') built.set(`options.${key}`, value, options, key);
  if (!isFields(old)) return;
  for (const key of ['calcs', 'values', 'limit']) built.set(`options.reduceOptions.${key}`, old[key], old, key);
  built.set('fieldConfig.defaults', old['defaults'], old, 'defaults');
  built.set('fieldConfig.overrides', old['overrides'], old, 'overrides');
};

const findConverter = (panel: Fields) => {
  const { type, options } = panel;
  if (type === 'graph') return convertGraph;
  if (type === 'singlestat' || type === 'grafana-singlestat-panel') return convertSinglestat;
  if (type === 'table-old' || (type === 'table' && Array.isArray(panel['styles']) && !isFields(options)))
    return convertTable;
  if (isFields(options) && isFields(options['fieldOptions'])) return convertFieldOptions;
  if (type === 'text' && !isFields(options)) return convertText;
  return type === 'dashlist' && !isFields(options) ? convertDashlist : undefined;
};

/** Returns a panel in the current form: itself, or a converted one. */
export const toCurrentPanel = (panel: Fields, ledger: Ledger): Fields => {
  const converter = findConverter(panel);
  if (converter === undefined) return panel;
  const built = new PanelBuilder(ledger);
  converter(panel, built, ledger);
  for (const [key, value] of Object.entries(panel)) {
    if (Object.hasOwn(built.value, key)) {
      if (key === 'fieldConfig' && isFields(value)) mergeDefaults(value, built);
      continue;
    }
    setAtPath(built.value, [key], value);
    ledger.alias(built.value, key, [panel, key]);
  }
  return built.value;
};

/** Merges current settings of a partly converted panel. */
const mergeDefaults = (fieldConfig: Fields, built: PanelBuilder): void => {
  const defaults = fieldConfig['defaults'];
  if (isFields(defaults))
    for (const [key, value] of Object.entries(defaults)) built.set(`fieldConfig.defaults.${key}`, value, defaults, key);
  const overrides = fieldConfig['overrides'];
  if (Array.isArray(overrides) && overrides.length > 0)
    built.set('fieldConfig.overrides', overrides, fieldConfig, 'overrides');
};
