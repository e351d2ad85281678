/** Settings of each kind of panel with their paths in Grafana, as far as a table can express them. */
import type { Panel } from '../document.ts';
import { scale } from './fields.ts';
import { type Codec, createListLens, flag, integer, type Lens, nameCodec, number, sameNames, text } from './lens.ts';
import { reducer, reducerTitle } from './reducers.ts';

/** Settings of a legend, except its position and form. */
export const legendLenses: readonly Lens[] = [
  ['options.legend.calcs', 'legend.values', createListLens(reducer, 32)],
  ['options.legend.sortBy', 'legend.sortBy', reducerTitle],
  ['options.legend.sortDesc', 'legend.descending', flag],
  ['options.legend.width', 'legend.width', number(0, 4096)],
];
const tooltipLenses: readonly Lens[] = [
  ['options.tooltip.mode', 'tooltip.shows', nameCodec({ single: 'one', multi: 'all', none: 'none' })],
  ['options.tooltip.sort', 'tooltip.sort', nameCodec({ none: 'none', asc: 'ascending', desc: 'descending' })],
  ['options.tooltip.hideZeros', 'tooltip.hidesZeros', flag],
];

/** A pattern of field names; empty for numeric fields. */
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
  ['options.reduceOptions.limit', 'reduce.max', integer(1, 1000)],
  ['options.reduceOptions.fields', 'reduce.fields', fieldPattern],
];
const orientation: Lens = ['options.orientation', 'orientation', sameNames('auto', 'horizontal', 'vertical')];
const textSizeLenses: readonly Lens[] = [
  ['options.text.titleSize', 'titleSize', number(1, 1000)],
  ['options.text.valueSize', 'valueSize', number(1, 1000)],
];
const valueVisibility: Lens = ['options.showValue', 'valueShown', sameNames('auto', 'always', 'never')];
const shareCodec = number(0, 1);
const perPage: Lens = ['options.perPage', 'perPage', integer(1, 1000)];
const createFlagLenses = (...pairs: readonly (readonly [string, string])[]): Lens[] =>
  pairs.map(([grafanaName, oiqName]) => [`options.${grafanaName}`, oiqName, flag]);

/** A kind with its Grafana type. */
export interface VisualForm {
  readonly type: string;
  readonly kind: Panel['visual']['kind'];
  readonly lenses: readonly Lens[];
}

const timeVisuals: readonly VisualForm[] = [
  {
    type: 'timeseries',
    kind: 'time-series',
    lenses: [
      ...legendLenses,
      ...tooltipLenses,
      ['options.timezone', 'zones', createListLens(text(64), 4)],
      ['options.orientation', 'across', sameNames('horizontal', 'vertical')],
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
      ['options.yAxis.axisPlacement', 'ySide', sameNames('left', 'right', 'hidden')],
      ['options.yAxis.reverse', 'reversed', flag],
      ['options.color.fill', 'colour', text(64)],
      ['options.color.scale', 'colourScale', sameNames('linear', 'exponential')],
      ['options.color.exponent', 'exponent', number(0.01, 10)],
      ['options.color.steps', 'steps', integer(2, 256)],
      ['options.color.reverse', 'colourReversed', flag],
      ['options.color.min', 'colourMin', number()],
      ['options.color.max', 'colourMax', number()],
      ['options.filterValues.le', 'hidesBelow', number()],
      ['options.filterValues.ge', 'hidesAbove', number()],
      ['options.cellGap', 'gap', number(0, 20)],
      valueVisibility,
      ['options.cellValues.unit', 'cellUnit', text(64)],
      ['options.cellValues.decimals', 'cellDecimals', integer(0, 20)],
      [
        'options.rowsFrame.layout',
        'bucketEnds',
        nameCodec({ auto: 'auto', le: 'upper', ge: 'lower', unknown: 'middle' }),
      ],
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
      ['options.rowHeight', 'rowHeight', shareCodec],
      valueVisibility,
      ['options.alignValue', 'align', sameNames('left', 'center', 'right')],
      perPage,
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
  {
    type: 'status-history',
    kind: 'status-history',
    lenses: [
      ['options.rowHeight', 'rowHeight', shareCodec],
      ['options.colWidth', 'columnWidth', shareCodec],
      valueVisibility,
      perPage,
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
];

const singleValueVisuals: readonly VisualForm[] = [
  {
    type: 'stat',
    kind: 'stat',
    lenses: [
      ...reduceLenses,
      orientation,
      ...textSizeLenses,
      [
        'options.textMode',
        'text',
        nameCodec({ auto: 'auto', value: 'value', name: 'name', value_and_name: 'value-and-name', none: 'none' }),
      ],
      [
        'options.colorMode',
        'coloured',
        nameCodec({ value: 'value', background: 'background', background_solid: 'background-solid', none: 'none' }),
      ],
      ['options.graphMode', 'graph', sameNames('none', 'line', 'area')],
      ['options.justifyMode', 'align', sameNames('auto', 'center')],
      ...createFlagLenses(['showPercentChange', 'showsChange'], ['wideLayout', 'wide']),
    ],
  },
  {
    type: 'gauge',
    kind: 'gauge',
    lenses: [
      ...reduceLenses,
      orientation,
      ...textSizeLenses,
      ...createFlagLenses(['showThresholdLabels', 'thresholdLabels'], ['showThresholdMarkers', 'thresholdMarkers']),
    ],
  },
  {
    type: 'bargauge',
    kind: 'bar-gauge',
    lenses: [
      ...reduceLenses,
      orientation,
      ...textSizeLenses,
      ['options.displayMode', 'style', sameNames('gradient', 'lcd', 'basic')],
      ['options.showUnfilled', 'unfilled', flag],
      ['options.valueMode', 'value', nameCodec({ color: 'colour', text: 'text', hidden: 'hidden' })],
      ['options.namePlacement', 'names', sameNames('auto', 'top', 'left', 'hidden')],
      ...legendLenses,
    ],
  },
  {
    type: 'piechart',
    kind: 'pie',
    lenses: [
      ...reduceLenses,
      ['options.pieType', 'form', nameCodec({ pie: 'pie', donut: 'ring' })],
      ['options.displayLabels', 'labels', createListLens(sameNames('name', 'value', 'percent'), 3)],
      ['options.legend.values', 'legendValues', createListLens(sameNames('value', 'percent'), 2)],
      ['options.sort', 'sort', nameCodec({ none: 'none', asc: 'ascending', desc: 'descending' })],
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
];

const tableVisuals: readonly VisualForm[] = [
  {
    type: 'barchart',
    kind: 'bars',
    lenses: [
      ['options.xField', 'x', text(512)],
      ['options.colorByField', 'colourBy', text(512)],
      orientation,
      ['options.stacking', 'stacking', sameNames('none', 'normal', 'percent')],
      valueVisibility,
      ['options.groupWidth', 'groupWidth', shareCodec],
      ['options.barWidth', 'barWidth', shareCodec],
      ['options.barRadius', 'barRadius', shareCodec],
      ['options.xTickLabelRotation', 'labelAngle', integer(-90, 90)],
      ['options.xTickLabelMaxLength', 'labelLength', integer(1, 1000)],
      ['options.xTickLabelSpacing', 'labelSpacing', integer(-1000, 1000)],
      ['options.fullHighlight', 'wholeHeight', flag],
      ...textSizeLenses,
      ...legendLenses,
      ...tooltipLenses,
    ],
  },
  {
    type: 'table',
    kind: 'table',
    lenses: [
      ['options.showHeader', 'header', flag],
      ['options.cellHeight', 'rowHeight', nameCodec({ sm: 'small', md: 'medium', lg: 'large' })],
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

const rejectEmpty = (codec: Codec): Codec => ({
  read: (value) => (value === '' || value === undefined ? undefined : codec.read(value)),
  write: codec.write,
});

const otherVisuals: readonly VisualForm[] = [
  {
    type: 'logs',
    kind: 'logs',
    lenses: [
      ...createFlagLenses(
        ['showTime', 'time'],
        ['showLabels', 'labels'],
        ['showCommonLabels', 'commonLabels'],
        ['wrapLogMessage', 'wraps'],
        ['prettifyLogMessage', 'pretty'],
        ['enableLogDetails', 'details'],
        ['showControls', 'controls'],
      ),
      ['options.sortOrder', 'order', nameCodec({ Descending: 'newest', Ascending: 'oldest' })],
      ['options.dedupStrategy', 'duplicates', sameNames('none', 'exact', 'numbers', 'signature')],
      ['options.displayedFields', 'fields', createListLens(text(512), 64)],
    ],
  },
  { type: 'traces', kind: 'traces', lenses: [] },
  {
    type: 'nodeGraph',
    kind: 'node-graph',
    lenses: [
      ['options.zoomMode', 'zoom', sameNames('cooperative', 'greedy')],
      ['options.layoutAlgorithm', 'arrangement', sameNames('layered', 'force', 'grid')],
    ],
  },
  {
    type: 'text',
    kind: 'text',
    lenses: [
      // HTML is shown as text; the mode is preserved.
      ['options.mode', 'form', sameNames('markdown', 'code')],
      ['options.content', 'content', text(65_536)],
      ['options.code.language', 'language', rejectEmpty(text(32))],
      ['options.code.showLineNumbers', 'lineNumbers', flag],
    ],
  },
  {
    type: 'alertlist',
    kind: 'alerts',
    lenses: [
      ['options.viewMode', 'shows', nameCodec({ list: 'list', stat: 'count' })],
      ['options.alertName', 'search', text()],
      ['options.alertInstanceLabelFilter', 'labels', text(4096)],
      ['options.groupBy', 'groupBy', createListLens(text(256), 8)],
      ['options.maxItems', 'max', integer(1, 1000)],
    ],
  },
  {
    type: 'dashlist',
    kind: 'dashboards',
    lenses: [
      ...createFlagLenses(
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
        createListLens({ read: (value) => rejectEmpty(text(64)).read(value), write: (value) => value }, 32),
      ],
      ['options.maxItems', 'max', integer(1, 1000)],
    ],
  },
];

const visualForms = [...timeVisuals, ...singleValueVisuals, ...tableVisuals, ...otherVisuals];
export const formByType: ReadonlyMap<string, VisualForm> = new Map(visualForms.map((form) => [form.type, form]));
export const formByKind: ReadonlyMap<string, VisualForm> = new Map(visualForms.map((form) => [form.kind, form]));
