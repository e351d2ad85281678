/** What panels draw: the options of each type of Grafana, and those of each kind of ours. */
import { shortenedVisual } from '../as-code.ts';
import type { Panel } from '../document.ts';
import { scale } from './fields.ts';
import { type Fields, fieldsIn, isFields, type Ledger } from './ledger.ts';
import {
  at,
  type Codec,
  flag,
  integer,
  type Lens,
  listOf,
  names,
  number,
  put,
  readLenses,
  same,
  text,
  writeLenses,
} from './lens.ts';
import { reducer, reducerTitle } from './reducers.ts';

type Visual = Panel['visual'];

const legendLenses: readonly Lens[] = [
  ['options.legend.calcs', 'legend.values', listOf(reducer, 32)],
  ['options.legend.sortBy', 'legend.sortBy', reducerTitle],
  ['options.legend.sortDesc', 'legend.descending', flag],
  ['options.legend.width', 'legend.width', number(0, 4096)],
];
const tooltipLenses: readonly Lens[] = [
  ['options.tooltip.mode', 'tooltip.shows', names({ single: 'one', multi: 'all', none: 'none' })],
  ['options.tooltip.sort', 'tooltip.sort', names({ none: 'none', asc: 'ascending', desc: 'descending' })],
  ['options.tooltip.hideZeros', 'tooltip.hidesZeros', flag],
];

/** A pattern of names of fields; empty: those that are numbers. */
const fieldPattern: Codec = {
  read: (value) => {
    if (typeof value !== 'string' || value.length > 1000) return undefined;
    const [, pattern] = /^\/(.*)\/$/s.exec(value) ?? [];
    return pattern ?? (value === '' ? '' : undefined);
  },
  write: (value) => (value === '' ? '' : `/${String(value)}/`),
};
const reduceLenses: readonly Lens[] = [
  [
    'options.reduceOptions.calcs',
    'reduce.reducer',
    {
      read: (value) => (Array.isArray(value) && value.length === 1 ? reducer.read(value[0]) : undefined),
      write: (value) => [reducer.write(value)],
    },
  ],
  ['options.reduceOptions.values', 'reduce.everyRow', flag],
  ['options.reduceOptions.limit', 'reduce.most', integer(1, 1000)],
  ['options.reduceOptions.fields', 'reduce.fields', fieldPattern],
];
const orientation: Lens = ['options.orientation', 'orientation', same('auto', 'horizontal', 'vertical')];
const sizes: readonly Lens[] = [
  ['options.text.titleSize', 'titleSize', number(1, 1000)],
  ['options.text.valueSize', 'valueSize', number(1, 1000)],
];
const valueShown: Lens = ['options.showValue', 'valueShown', same('auto', 'always', 'never')];
const share = number(0, 1);
const perPage: Lens = ['options.perPage', 'perPage', integer(1, 1000)];
const flags = (...pairs: readonly (readonly [string, string])[]): Lens[] =>
  pairs.map(([theirs, ours]) => [`options.${theirs}`, ours, flag]);

/** A kind with its type in Grafana. */
interface Form {
  readonly type: string;
  readonly kind: Visual['kind'];
  readonly lenses: readonly Lens[];
}

const overTime: readonly Form[] = [
  {
    type: 'timeseries',
    kind: 'time-series',
    lenses: [
      ...legendLenses,
      ...tooltipLenses,
      ['options.timezone', 'zones', listOf(text(64), 4)],
      ['options.orientation', 'across', same('horizontal', 'vertical')],
    ],
  },
  {
    type: 'heatmap',
    kind: 'heatmap',
    lenses: [
      ['options.calculate', 'fromValues', flag],
      ['options.calculation.xBuckets.value', 'xBuckets', text(64)],
      ['options.calculation.yBuckets.value', 'yBuckets', text(64)],
      ['options.yAxis.scaleDistribution', 'yScale', scale],
      ['options.yAxis.unit', 'yUnit', text(64)],
      ['options.yAxis.decimals', 'yDecimals', integer(0, 20)],
      ['options.yAxis.min', 'yMin', number()],
      ['options.yAxis.max', 'yMax', number()],
      ['options.yAxis.axisPlacement', 'ySide', same('left', 'right', 'hidden')],
      ['options.yAxis.reverse', 'reversed', flag],
      ['options.color.fill', 'colour', text(64)],
      ['options.color.scale', 'colourScale', same('linear', 'exponential')],
      ['options.color.exponent', 'exponent', number(0.01, 10)],
      ['options.color.steps', 'steps', integer(2, 256)],
      ['options.color.reverse', 'colourReversed', flag],
      ['options.color.min', 'colourMin', number()],
      ['options.color.max', 'colourMax', number()],
      ['options.filterValues.le', 'hidesBelow', number()],
      ['options.filterValues.ge', 'hidesAbove', number()],
      ['options.cellGap', 'gap', number(0, 20)],
      valueShown,
      ['options.cellValues.unit', 'cellUnit', text(64)],
      ['options.cellValues.decimals', 'cellDecimals', integer(0, 20)],
      ['options.rowsFrame.layout', 'bucketEnds', names({ auto: 'auto', le: 'upper', ge: 'lower', unknown: 'middle' })],
      ['options.exemplars.color', 'exemplarColour', text(64)],
      ['options.legend.show', 'legend', flag],
      ...tooltipLenses,
      ['options.tooltip.yHistogram', 'histogramInTooltip', flag],
    ],
  },
  {
    type: 'state-timeline',
    kind: 'state-timeline',
    lenses: [
      ['options.mergeValues', 'merges', flag],
      ['options.rowHeight', 'rowHeight', share],
      valueShown,
      ['options.alignValue', 'align', same('left', 'center', 'right')],
      perPage,
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
  {
    type: 'status-history',
    kind: 'status-history',
    lenses: [
      ['options.rowHeight', 'rowHeight', share],
      ['options.colWidth', 'columnWidth', share],
      valueShown,
      perPage,
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
];

const figures: readonly Form[] = [
  {
    type: 'stat',
    kind: 'stat',
    lenses: [
      ...reduceLenses,
      orientation,
      ...sizes,
      [
        'options.textMode',
        'text',
        names({ auto: 'auto', value: 'value', name: 'name', value_and_name: 'value-and-name', none: 'none' }),
      ],
      [
        'options.colorMode',
        'coloured',
        names({ value: 'value', background: 'background', background_solid: 'background-solid', none: 'none' }),
      ],
      ['options.graphMode', 'graph', same('none', 'line', 'area')],
      ['options.justifyMode', 'align', same('auto', 'center')],
      ...flags(['showPercentChange', 'showsChange'], ['wideLayout', 'wide']),
    ],
  },
  {
    type: 'gauge',
    kind: 'gauge',
    lenses: [
      ...reduceLenses,
      orientation,
      ...sizes,
      ...flags(['showThresholdLabels', 'thresholdLabels'], ['showThresholdMarkers', 'thresholdMarkers']),
    ],
  },
  {
    type: 'bargauge',
    kind: 'bar-gauge',
    lenses: [
      ...reduceLenses,
      orientation,
      ...sizes,
      ['options.displayMode', 'style', same('gradient', 'lcd', 'basic')],
      ['options.showUnfilled', 'unfilled', flag],
      ['options.valueMode', 'value', names({ color: 'colour', text: 'text', hidden: 'hidden' })],
      ['options.namePlacement', 'names', same('auto', 'top', 'left', 'hidden')],
      ...legendLenses,
    ],
  },
  {
    type: 'piechart',
    kind: 'pie',
    lenses: [
      ...reduceLenses,
      ['options.pieType', 'form', names({ pie: 'pie', donut: 'ring' })],
      ['options.displayLabels', 'labels', listOf(same('name', 'value', 'percent'), 3)],
      ['options.legend.values', 'legendValues', listOf(same('value', 'percent'), 2)],
      ['options.sort', 'sort', names({ none: 'none', asc: 'ascending', desc: 'descending' })],
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
];

const tables: readonly Form[] = [
  {
    type: 'barchart',
    kind: 'bars',
    lenses: [
      ['options.xField', 'x', text(512)],
      ['options.colorByField', 'colourBy', text(512)],
      orientation,
      ['options.stacking', 'stacking', same('none', 'normal', 'percent')],
      valueShown,
      ['options.groupWidth', 'groupWidth', share],
      ['options.barWidth', 'barWidth', share],
      ['options.barRadius', 'barRadius', share],
      ['options.xTickLabelRotation', 'labelAngle', integer(-90, 90)],
      ['options.xTickLabelMaxLength', 'labelLength', integer(1, 1000)],
      ['options.xTickLabelSpacing', 'labelSpacing', integer(-1000, 1000)],
      ['options.fullHighlight', 'wholeHeight', flag],
      ...sizes,
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
  {
    type: 'table',
    kind: 'table',
    lenses: [
      ['options.showHeader', 'header', flag],
      ['options.cellHeight', 'rowHeight', names({ sm: 'small', md: 'medium', lg: 'large' })],
      ['options.footer.enablePagination', 'paged', flag],
      ['options.frozenColumns.left', 'frozenColumns', integer(0, 20)],
      ['options.showTypeIcons', 'showsTypes', flag],
      ['options.frameIndex', 'frame', integer(0, 1000)],
    ],
  },
  {
    type: 'histogram',
    kind: 'histogram',
    lenses: [
      ['options.bucketSize', 'bucketSize', number(Number.MIN_VALUE)],
      ['options.bucketOffset', 'bucketOffset', number()],
      ['options.bucketCount', 'bucketCount', integer(1, 1000)],
      ['options.combine', 'combines', flag],
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
];

const severalOr = (codec: Codec): Codec => ({
  read: (value) => (value === '' || value === undefined ? undefined : codec.read(value)),
  write: codec.write,
});

const others: readonly Form[] = [
  {
    type: 'logs',
    kind: 'logs',
    lenses: [
      ...flags(
        ['showTime', 'time'],
        ['showLabels', 'labels'],
        ['showCommonLabels', 'commonLabels'],
        ['wrapLogMessage', 'wraps'],
        ['prettifyLogMessage', 'pretty'],
        ['enableLogDetails', 'details'],
        ['showControls', 'controls'],
      ),
      ['options.sortOrder', 'order', names({ Descending: 'newest', Ascending: 'oldest' })],
      ['options.dedupStrategy', 'duplicates', same('none', 'exact', 'numbers', 'signature')],
      ['options.displayedFields', 'fields', listOf(text(512), 64)],
    ],
  },
  { type: 'traces', kind: 'traces', lenses: [] },
  {
    type: 'nodeGraph',
    kind: 'node-graph',
    lenses: [
      ['options.zoomMode', 'zoom', same('cooperative', 'greedy')],
      ['options.layoutAlgorithm', 'arrangement', same('layered', 'force', 'grid')],
    ],
  },
  {
    type: 'text',
    kind: 'text',
    lenses: [
      // HTML is text here: the word is kept.
      ['options.mode', 'form', same('markdown', 'code')],
      ['options.content', 'content', text(65_536)],
      ['options.code.language', 'language', severalOr(text(32))],
      ['options.code.showLineNumbers', 'lineNumbers', flag],
    ],
  },
  {
    type: 'alertlist',
    kind: 'alerts',
    lenses: [
      ['options.viewMode', 'shows', names({ list: 'list', stat: 'count' })],
      ['options.alertName', 'search', text()],
      ['options.alertInstanceLabelFilter', 'labels', text(4096)],
      ['options.groupBy', 'groupBy', listOf(text(256), 8)],
      ['options.maxItems', 'most', integer(1, 1000)],
    ],
  },
  {
    type: 'dashlist',
    kind: 'dashboards',
    lenses: [
      ...flags(
        ['showStarred', 'favourites'],
        ['showRecentlyViewed', 'recent'],
        ['showSearch', 'found'],
        ['showHeadings', 'headings'],
        ['keepTime', 'keepTime'],
        ['includeVars', 'keepVariables'],
      ),
      ['options.query', 'search', text(256)],
      [
        'options.tags',
        'tags',
        listOf({ read: (value) => severalOr(text(64)).read(value), write: (value) => value }, 32),
      ],
      ['options.maxItems', 'most', integer(1, 1000)],
    ],
  },
];

const all = [...overTime, ...figures, ...tables, ...others];
const byType = new Map(all.map((form) => [form.type, form]));
const byKind = new Map<string, Form>(all.map((form) => [form.kind, form]));

export const isKnownType = (type: unknown): boolean => byType.has(String(type));
/** Types whose panels ask nothing. */
export const asksNothing = (type: unknown): boolean => ['text', 'alertlist', 'dashlist'].includes(String(type));

const readLegend = (options: unknown, ledger: Ledger): Fields | undefined => {
  const legend = at(options, ['legend']);
  if (!isFields(legend)) return undefined;
  const { displayMode, placement, showLegend } = legend;
  const read: Record<string, unknown> = {};
  if (showLegend === false || displayMode === 'hidden') {
    read['place'] = 'hidden';
    ledger.carry(legend, showLegend === false ? 'showLegend' : 'displayMode');
    ledger.usual(legend, ...(showLegend === true ? ['showLegend'] : []));
  } else {
    if (showLegend === true) ledger.carry(legend, 'showLegend');
    if (placement === 'bottom' || placement === 'right') {
      read['place'] = placement;
      ledger.carry(legend, 'placement');
    }
  }
  if (displayMode === 'list' || displayMode === 'table') {
    read['form'] = displayMode;
    ledger.carry(legend, 'displayMode');
  }
  return read;
};

const alertStates = {
  firing: 'firing',
  pending: 'pending',
  recovering: 'recovering',
  noData: 'no-data',
  error: 'error',
  normal: 'resolved',
} as const;
const alertOrders = [undefined, 'name', 'name-descending', 'severity', 'newest', 'oldest'] as const;

/** What a table of settings cannot say, by kind. */
const readOthers = (kind: string, options: unknown, ledger: Ledger): Fields => {
  if (!isFields(options)) return {};
  if (kind === 'table') return readTable(options, ledger);
  if (kind === 'heatmap') return readHeatmap(options, ledger);
  if (kind === 'node-graph') return readGraph(options, ledger);
  // Grafana searches only where it is asked to, and lists favourites unless it is asked not to.
  if (kind === 'dashboards')
    return { found: options['showSearch'] === true, favourites: options['showStarred'] !== false };
  if (kind !== 'alerts') return {};
  const states = options['stateFilter'];
  const order = alertOrders[Number(options['sortOrder'])];
  if (order !== undefined) ledger.carry(options, 'sortOrder');
  if (isFields(states)) ledger.carry(states, ...Object.keys(alertStates));
  return {
    ...(isFields(states) && {
      states: Object.entries(alertStates).flatMap(([theirs, ours]) => (states[theirs] === true ? [ours] : [])),
    }),
    ...(order !== undefined && { order }),
  };
};

const readTable = (options: Fields, ledger: Ledger): Fields => {
  const sortBy = fieldsIn(options['sortBy'])
    .filter(({ displayName }) => typeof displayName === 'string' && displayName.length <= 512)
    .slice(0, 8)
    .map((sort) => {
      ledger.carry(sort, 'displayName', 'desc');
      return { field: sort['displayName'], descending: sort['desc'] === true };
    });
  const footer = options['footer'];
  const named = isFields(footer) ? listOf(reducer, 32).read(footer['reducer']) : undefined;
  if (!isFields(footer) || footer['show'] !== true || !Array.isArray(named) || named.length === 0) {
    if (isFields(footer) && footer['show'] === false) ledger.usual(footer, 'show');
    return { sortBy };
  }
  const shown = listOf(text(512), 100).read(footer['fields'] === '' ? [] : footer['fields']);
  ledger.carry(footer, 'show', 'reducer', ...(shown === undefined ? [] : ['fields']));
  return { sortBy, footer: { reducers: named, fields: shown ?? [] } };
};

const readHeatmap = (options: Fields, ledger: Ledger): Fields => {
  const shades = options['color'];
  if (!isFields(shades)) return {};
  const { mode, scheme } = shades;
  if (mode === 'opacity') {
    ledger.carry(shades, 'mode');
    return { scale: 'opacity' };
  }
  if (typeof scheme !== 'string' || scheme.length > 64) return {};
  ledger.carry(shades, 'scheme');
  if (mode === 'scheme') ledger.carry(shades, 'mode');
  return { scale: scheme === 'Oranges' ? 'oranges' : scheme };
};

const readGraph = ({ nodes, edges }: Fields, ledger: Ledger): Fields => {
  const units = (of: unknown): string[] => {
    if (!isFields(of)) return [];
    const { mainStatUnit = '', secondaryStatUnit = '' } = of;
    if (typeof mainStatUnit !== 'string' || typeof secondaryStatUnit !== 'string') return [];
    ledger.carry(of, 'mainStatUnit', 'secondaryStatUnit');
    return secondaryStatUnit === '' ? (mainStatUnit === '' ? [] : [mainStatUnit]) : [mainStatUnit, secondaryStatUnit];
  };
  const arcs = fieldsIn(at(nodes, ['arcs']))
    .slice(0, 16)
    .flatMap((arc) => {
      const { field, color } = arc;
      if (typeof field !== 'string' || typeof color !== 'string') return [];
      ledger.carry(arc, 'field', 'color');
      return [{ field, colour: color }];
    });
  return { nodeUnits: units(nodes), edgeUnits: units(edges), arcs };
};

/** What a panel of a known type draws. */
export const readVisual = (panel: Fields, ledger: Ledger): Fields => {
  const form = byType.get(String(panel['type']));
  if (form === undefined) return {};
  ledger.carry(panel, 'type');
  const read = readLenses(form.lenses, panel, ledger);
  const legend = form.lenses.includes(legendLenses[0] as Lens) ? readLegend(panel['options'], ledger) : undefined;
  return {
    kind: form.kind,
    ...read,
    ...(legend !== undefined && { legend: { ...(read['legend'] as object | undefined), ...legend } }),
    ...readOthers(form.kind, panel['options'], ledger),
  };
};

const writeLegend = ({ place, form }: { readonly place: string; readonly form: string }, written: Built): void => {
  put(written, ['options', 'legend', 'showLegend'], place !== 'hidden');
  if (form !== 'list') put(written, ['options', 'legend', 'displayMode'], form);
  if (place === 'right') put(written, ['options', 'legend', 'placement'], place);
};

const writeTable = ({ sortBy, footer }: Visual & { kind: 'table' }, written: Built): void => {
  if (sortBy.length > 0)
    put(
      written,
      ['options', 'sortBy'],
      sortBy.map(({ field, descending }) => ({ displayName: field, desc: descending })),
    );
  if (footer === null) return;
  put(written, ['options', 'footer', 'show'], true);
  put(
    written,
    ['options', 'footer', 'reducer'],
    footer.reducers.map((one) => reducer.write(one)),
  );
  if (footer.fields.length > 0) put(written, ['options', 'footer', 'fields'], footer.fields);
};

type Built = Record<string, unknown>;

const writeHeatmap = ({ scale: shades }: Visual & { kind: 'heatmap' }, written: Built): void => {
  put(written, ['options', 'color', 'mode'], shades === 'opacity' ? 'opacity' : 'scheme');
  if (shades !== 'opacity' && shades !== 'oranges') put(written, ['options', 'color', 'scheme'], shades);
};

const writeAlerts = (visual: Visual & { kind: 'alerts' }, written: Built): void => {
  const states = Object.entries(alertStates).map(([theirs, ours]) => [theirs, visual.states.includes(ours)] as const);
  put(written, ['options', 'stateFilter'], Object.fromEntries(states));
  put(written, ['options', 'sortOrder'], alertOrders.indexOf(visual.order));
};

const writeOthers = (visual: Visual, written: Built): void => {
  if ('legend' in visual && typeof visual.legend === 'object') writeLegend(visual.legend, written);
  if (visual.kind === 'table') writeTable(visual, written);
  if (visual.kind === 'heatmap') writeHeatmap(visual, written);
  if (visual.kind === 'node-graph') writeGraph(visual, written);
  if (visual.kind === 'alerts') writeAlerts(visual, written);
};

const writeGraph = (visual: Visual & { kind: 'node-graph' }, written: Record<string, unknown>): void => {
  for (const [of, units] of [
    ['nodes', visual.nodeUnits],
    ['edges', visual.edgeUnits],
  ] as const)
    for (const [index, key] of ['mainStatUnit', 'secondaryStatUnit'].entries())
      if (units[index] !== undefined) put(written, ['options', of, key], units[index]);
  if (visual.arcs.length > 0)
    put(
      written,
      ['options', 'nodes', 'arcs'],
      visual.arcs.map(({ field, colour: color }) => ({ field, color })),
    );
};

/** The type and options of a panel for Grafana; undefined where Grafana has no such panel. What is Grafana's default is left out. */
export const writeVisual = (visual: Visual): Fields | undefined => {
  const form = byKind.get(visual.kind);
  if (form === undefined) return undefined;
  const written = writeLenses(form.lenses, shortenedVisual(visual));
  writeOthers(visual, written);
  return { type: form.type, ...written };
};
