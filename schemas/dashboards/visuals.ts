/** Visualization of a panel: one schema per kind, with the options of that kind. */
import { z } from 'zod';
import { Reducer } from './transformations.ts';

const textSchema = (maxLength: number) => z.string().max(maxLength);

const legend = z
  .strictObject({
    place: z.enum(['bottom', 'right', 'hidden']).default('bottom'),
    form: z.enum(['list', 'table']).default('list'),
    values: z.array(Reducer).max(32).default([]).describe('Values listed in the legend for each name'),
    sortBy: Reducer.nullable().default(null),
    descending: z.boolean().default(true),
    width: z.number().min(0).max(4096).nullable().default(null),
  })
  .prefault({});
const tooltip = z
  .strictObject({
    shows: z.enum(['one', 'all', 'none']).default('all'),
    sort: z.enum(['none', 'ascending', 'descending']).default('descending'),
    hidesZeros: z.boolean().default(false),
  })
  .prefault({});
/** How a series or column is reduced to the displayed values */
const reduceSchema = z
  .strictObject({
    reducer: Reducer.default('last-not-null'),
    everyRow: z.boolean().default(false).describe('Whether to show one value per row instead of one per field'),
    max: z.int().min(1).max(1000).nullable().default(null).describe('Maximum number of rows'),
    fields: textSchema(1024)
      .default('')
      .describe('RE2 regular expression for field names; empty for all numeric fields'),
  })
  .prefault({});
const orientation = z.enum(['auto', 'horizontal', 'vertical']).default('auto');
const stacking = z.enum(['none', 'normal', 'percent']).default('none');
const shareSchema = (defaultValue: number) => z.number().min(0).max(1).default(defaultValue);
const valueVisibility = z.enum(['auto', 'always', 'never']).default('auto');
const sizeSchema = z
  .number()
  .min(1)
  .max(1000)
  .nullable()
  .default(null)
  .describe('Size in pixels; `null` for automatic');
const sizeFields = { titleSize: sizeSchema, valueSize: sizeSchema };

const createVisualSchema = <Kind extends string, Shape extends z.ZodRawShape>(name: Kind, shape: Shape) =>
  z.strictObject({ kind: z.literal(name), ...shape });

const statVisuals = [
  createVisualSchema('stat', {
    reduce: reduceSchema,
    orientation,
    ...sizeFields,
    text: z.enum(['auto', 'value', 'name', 'value-and-name', 'none']).default('auto'),
    coloured: z.enum(['value', 'background', 'background-solid', 'none']).default('value'),
    graph: z.enum(['none', 'line', 'area']).default('area'),
    align: z.enum(['auto', 'center']).default('auto'),
    showsChange: z.boolean().default(false).describe('Whether to show the percentage change over the range'),
    wide: z.boolean().default(true),
  }),
  createVisualSchema('gauge', {
    reduce: reduceSchema,
    orientation,
    ...sizeFields,
    thresholdLabels: z.boolean().default(false),
    thresholdMarkers: z.boolean().default(true),
  }),
  createVisualSchema('bar-gauge', {
    reduce: reduceSchema,
    orientation,
    ...sizeFields,
    style: z.enum(['gradient', 'lcd', 'basic']).default('gradient'),
    unfilled: z.boolean().default(true),
    value: z.enum(['colour', 'text', 'hidden']).default('colour'),
    names: z.enum(['auto', 'top', 'left', 'hidden']).default('auto'),
    legend,
  }),
  createVisualSchema('pie', {
    reduce: reduceSchema,
    form: z.enum(['pie', 'ring']).default('pie'),
    labels: z
      .array(z.enum(['name', 'value', 'percent']))
      .max(3)
      .default([]),
    legendValues: z
      .array(z.enum(['value', 'percent']))
      .max(2)
      .default([]),
    sort: z.enum(['none', 'ascending', 'descending']).default('descending'),
    legend,
    tooltip,
  }),
] as const;

const timeVisuals = [
  createVisualSchema('time-series', {
    legend,
    tooltip,
    zones: z
      .array(textSchema(64))
      .max(4)
      .default([])
      .describe('Time zones of the axis; empty for that of the dashboard'),
    across: z.enum(['horizontal', 'vertical']).default('horizontal').describe('Direction of the time axis'),
  }),
  createVisualSchema('heatmap', {
    fromValues: z
      .boolean()
      .default(false)
      .describe('Whether buckets are computed from the values; otherwise each series is a bucket'),
    xBuckets: textSchema(64).default('').describe('Bucket width or bucket count'),
    yBuckets: textSchema(64).default(''),
    yScale: z.enum(['linear', 'log2', 'log10', 'symlog']).default('linear'),
    yUnit: textSchema(64).default(''),
    yDecimals: z.int().min(0).max(20).nullable().default(null),
    yMin: z.number().nullable().default(null),
    yMax: z.number().nullable().default(null),
    ySide: z.enum(['left', 'right', 'hidden']).default('left'),
    reversed: z.boolean().default(false),
    scale: textSchema(64).default('oranges').describe('Name of a color scale, or `opacity`'),
    colour: textSchema(64).default(''),
    colourScale: z.enum(['linear', 'exponential']).default('exponential'),
    exponent: z.number().min(0.01).max(10).default(0.5),
    steps: z.int().min(2).max(256).default(64),
    colourReversed: z.boolean().default(false),
    colourMin: z.number().nullable().default(null),
    colourMax: z.number().nullable().default(null),
    hidesBelow: z.number().nullable().default(null),
    hidesAbove: z.number().nullable().default(null),
    gap: z.number().min(0).max(20).default(1),
    valueShown: valueVisibility,
    cellUnit: textSchema(64).default(''),
    cellDecimals: z.int().min(0).max(20).nullable().default(null),
    bucketEnds: z.enum(['auto', 'upper', 'lower', 'middle']).default('auto'),
    exemplarColour: textSchema(64).default(''),
    legend: z.boolean().default(true),
    tooltip,
    histogramInTooltip: z.boolean().default(false),
  }),
  createVisualSchema('state-timeline', {
    merges: z.boolean().default(true).describe('Whether to merge consecutive equal states'),
    rowHeight: shareSchema(0.9),
    valueShown: valueVisibility,
    align: z.enum(['left', 'center', 'right']).default('left'),
    perPage: z.int().min(1).max(1000).nullable().default(null),
    legend,
    tooltip,
  }),
  createVisualSchema('status-history', {
    rowHeight: shareSchema(0.9),
    columnWidth: shareSchema(0.9),
    valueShown: valueVisibility,
    perPage: z.int().min(1).max(1000).nullable().default(null),
    legend,
    tooltip,
  }),
] as const;

const tableVisuals = [
  createVisualSchema('bars', {
    x: textSchema(512).default('').describe('Field of the x axis; empty for the first time or text field'),
    colourBy: textSchema(512).default(''),
    orientation,
    stacking,
    valueShown: valueVisibility,
    groupWidth: shareSchema(0.7),
    barWidth: shareSchema(0.97),
    barRadius: shareSchema(0),
    labelAngle: z.int().min(-90).max(90).default(0),
    labelLength: z.int().min(0).max(1000).nullable().default(null),
    labelSpacing: z.int().min(-1000).max(1000).default(0),
    wholeHeight: z.boolean().default(false).describe('Whether hovering above or below a bar also selects the bar'),
    ...sizeFields,
    legend,
    tooltip,
  }),
  createVisualSchema('table', {
    header: z.boolean().default(true),
    sortBy: z
      .array(z.strictObject({ field: textSchema(512), descending: z.boolean().default(false) }))
      .max(8)
      .default([]),
    footer: z
      .strictObject({
        reducers: z.array(Reducer).min(1).max(32),
        fields: z.array(textSchema(512)).max(100).default([]).describe('Fields; empty for all numeric fields'),
      })
      .nullable()
      .default(null),
    rowHeight: z.enum(['small', 'medium', 'large']).default('small'),
    paged: z.boolean().default(false),
    frozenColumns: z.int().min(0).max(20).default(0),
    showsTypes: z.boolean().default(false),
    frame: z.int().min(0).max(1000).default(0).describe('Index of the table'),
  }),
  createVisualSchema('histogram', {
    bucketSize: z.number().positive().nullable().default(null),
    bucketOffset: z.number().default(0),
    bucketCount: z.int().min(1).max(1000).nullable().default(null),
    combines: z.boolean().default(false).describe('Whether to combine all series into one'),
    stacking,
    legend,
    tooltip,
  }),
] as const;

const recordVisuals = [
  createVisualSchema('logs', {
    time: z.boolean().default(true).describe('Whether to show the time of each line'),
    labels: z.boolean().default(false),
    commonLabels: z.boolean().default(false),
    wraps: z.boolean().default(true),
    pretty: z.boolean().default(false).describe('Whether to format JSON'),
    details: z.boolean().default(true).describe('Whether lines can be expanded'),
    controls: z.boolean().default(false),
    order: z.enum(['newest', 'oldest']).default('newest'),
    duplicates: z
      .enum(['none', 'exact', 'numbers', 'signature'])
      .default('none')
      .describe('How to deduplicate consecutive lines'),
    fields: z.array(textSchema(512)).max(64).default([]),
  }),
  createVisualSchema('traces', { max: z.int().min(1).max(1000).default(100) }),
  createVisualSchema('node-graph', {
    nodeUnits: z
      .array(textSchema(64))
      .max(2)
      .default([])
      .describe('Units of the main and the secondary value of a node'),
    edgeUnits: z.array(textSchema(64)).max(2).default([]),
    arcs: z
      .array(z.strictObject({ field: textSchema(512), colour: textSchema(64) }))
      .max(16)
      .default([]),
    arrangement: z.enum(['layered', 'force', 'grid']).default('layered'),
    zoom: z.enum(['cooperative', 'greedy']).default('cooperative'),
  }),
] as const;

const otherVisuals = [
  createVisualSchema('text', {
    form: z.enum(['markdown', 'code']).default('markdown').describe('Format of the content; HTML is shown as text'),
    content: textSchema(65_536).default('').describe('Content; may contain variables'),
    language: textSchema(32).default('').describe('Programming language, for code'),
    lineNumbers: z.boolean().default(false),
  }),
  createVisualSchema('alerts', {
    shows: z.enum(['list', 'count']).default('list'),
    states: z
      .array(z.enum(['firing', 'pending', 'recovering', 'no-data', 'error', 'resolved']))
      .max(6)
      .default(['firing']),
    severities: z.array(textSchema(32)).max(8).default([]),
    rules: z.array(textSchema(128)).max(100).default([]).describe('IDs of alert rules; empty for all'),
    search: textSchema(1024).default('').describe('Search text for rule names; may contain variables'),
    labels: textSchema(4096).default('').describe('Matchers, such as {team="core"}; may contain variables'),
    groupBy: z.array(textSchema(256)).max(8).default([]),
    max: z.int().min(1).max(1000).default(20),
    order: z.enum(['severity', 'newest', 'oldest', 'name', 'name-descending']).default('severity'),
  }),
  createVisualSchema('dashboards', {
    favourites: z.boolean().default(false),
    recent: z.boolean().default(false),
    found: z.boolean().default(true).describe('Whether to include the results of search, folder and tags'),
    search: textSchema(256).default(''),
    folder: textSchema(512).default(''),
    tags: z.array(textSchema(64)).max(32).default([]),
    max: z.int().min(1).max(1000).default(10),
    headings: z.boolean().default(true),
    keepTime: z.boolean().default(false),
    keepVariables: z.boolean().default(false),
  }),
  createVisualSchema('placeholder', {
    sourceType: textSchema(256).describe('Original type of the panel or of its data source'),
    reason: textSchema(1024).default('').describe('Reason why the panel cannot be shown'),
    queries: z.array(textSchema(65_536)).max(100).default([]).describe('Original queries'),
  }),
] as const;

export const Visual = z.discriminatedUnion('kind', [
  ...statVisuals,
  ...timeVisuals,
  ...tableVisuals,
  ...recordVisuals,
  ...otherVisuals,
]);
