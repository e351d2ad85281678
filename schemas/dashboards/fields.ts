/** How the fields of a panel's table are shown: for all of them, and otherwise for those that an override names. */
import { z } from 'zod';
import { Link } from './links.ts';

const text = (maxLength: number) => z.string().max(maxLength);

/** A name of the palette, a hex value, or `rgb(…)`. The page knows the names; an unknown one is the default colour. */
export const Colour = z
  .string()
  .regex(
    /^(?:#[0-9A-Fa-f]{3,8}|rgba?\([0-9., %]{1,40}\)|[a-z][a-z0-9-]{0,31})$/,
    'must be a name such as red or dark-blue, or such as #1f77b4',
  );

const finite = z.number();

const Thresholds = z.strictObject({
  mode: z.enum(['absolute', 'percent']).default('absolute').describe('percent: of the way from min to max'),
  steps: z
    .array(
      z.strictObject({
        value: finite.nullable().describe('From which value on it holds; null: below all others'),
        colour: Colour,
      }),
    )
    .max(32),
});

const shownAs = {
  text: text(1024).optional().describe('Instead of the value; without it the value stays'),
  colour: Colour.optional(),
  icon: text(64).optional(),
};

/** What stands for a value. The first that fits counts. */
const Mapping = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('value'), value: text(1024).describe('As text'), ...shownAs }),
  z.strictObject({
    kind: z.literal('range'),
    from: finite.nullable().describe('null: without a lower end'),
    to: finite.nullable(),
    ...shownAs,
  }),
  z.strictObject({ kind: z.literal('pattern'), pattern: text(1024).describe('RE2'), ...shownAs }),
  z.strictObject({
    kind: z.literal('special'),
    match: z.enum(['null', 'nan', 'null-or-nan', 'true', 'false', 'empty']),
    ...shownAs,
  }),
]);

const ColourMode = z.strictObject({
  mode: z
    .enum(['fixed', 'thresholds', 'palette', 'palette-by-name', 'shades', 'scale'])
    .describe('palette: another one for each field; shades: of the fixed one; scale: by value along `scale`'),
  fixed: Colour.optional(),
  scale: text(64).optional().describe('Name of a colour scale, such as green-yellow-red'),
  by: z.enum(['last', 'min', 'max']).optional().describe('Which value of a series gives its colour'),
});

/** How a field is drawn over time. */
const Drawing = z.strictObject({
  as: z.enum(['lines', 'bars', 'points']).optional(),
  interpolation: z.enum(['linear', 'smooth', 'step-before', 'step-after']).optional(),
  width: finite.min(0).max(20).optional().describe('Of lines, in pixels'),
  dashes: z.enum(['solid', 'dash', 'dot']).optional(),
  area: finite.min(0).max(100).optional().describe('Opacity of the area below, in percent'),
  gradient: z.enum(['none', 'opacity', 'hue', 'scale']).optional(),
  areaDownTo: text(512).optional().describe('Name of the field down to which the area goes'),
  points: z.enum(['auto', 'always', 'never']).optional(),
  pointSize: finite.min(1).max(40).optional(),
  joinGaps: z
    .union([z.boolean(), z.int().min(1)])
    .optional()
    .describe('Whether gaps are bridged; a number: those up to so many milliseconds'),
  stack: z.enum(['none', 'normal', 'percent']).optional(),
  stackGroup: text(64).optional(),
  below: z.boolean().optional().describe('Drawn downwards from zero'),
  thresholds: z.enum(['none', 'lines', 'dashed-lines', 'areas', 'lines-and-areas']).optional(),
});

const Axis = z.strictObject({
  side: z.enum(['auto', 'left', 'right', 'hidden']).optional(),
  label: text(256).optional(),
  scale: z.enum(['linear', 'log2', 'log10', 'symlog']).optional(),
  softMin: finite.optional().describe('The axis begins here, unless values lie beyond'),
  softMax: finite.optional(),
  width: finite.min(0).max(1000).optional(),
  grid: z.enum(['auto', 'on', 'off']).optional(),
  centredZero: z.boolean().optional(),
  border: z.boolean().optional(),
  coloured: z.boolean().optional().describe('In the colour of the series'),
});

/** How a field is shown in a table. */
const Cell = z.strictObject({
  as: z
    .enum(['auto', 'text', 'coloured-text', 'coloured-background', 'gauge', 'sparkline', 'json', 'image', 'links'])
    .optional(),
  style: z.enum(['basic', 'gradient', 'lcd']).optional().describe('Of gauges and backgrounds'),
  value: z.enum(['colour', 'text', 'hidden']).optional().describe('Of gauges: how the value is written beside'),
  wholeRow: z.boolean().optional().describe('The colour is that of the row'),
  align: z.enum(['auto', 'left', 'center', 'right']).optional(),
  width: finite.min(0).max(4096).optional(),
  minWidth: finite.min(0).max(4096).optional(),
  wraps: z.boolean().optional(),
  inspectable: z.boolean().optional().describe('Whether the whole value can be opened'),
});

/** All that can be said of how a field is shown. What is left out is as the panel's kind has it. */
export const FieldSettings = z.strictObject({
  name: text(512).optional().describe('Instead of its own; it may use variables'),
  description: text(1024).optional(),
  unit: text(64).optional().describe("UCUM, or one of the page's: By, ms, %, {request}/s; without it the query's"),
  decimals: z.int().min(0).max(20).optional(),
  min: finite.optional(),
  max: finite.optional(),
  eachItsLimits: z.boolean().optional().describe('Min and max are those of each field by itself'),
  thresholds: Thresholds.optional(),
  mappings: z.array(Mapping).max(256).optional(),
  colour: ColourMode.optional(),
  noValue: text(256).optional().describe('Shown where there is no value'),
  links: z.array(Link).max(32).optional(),
  hiddenIn: z
    .array(z.enum(['graph', 'legend', 'tooltip', 'table']))
    .max(4)
    .optional(),
  filterable: z.boolean().optional(),
  drawing: Drawing.optional(),
  axis: Axis.optional(),
  cell: Cell.optional(),
});

/** Which fields an override is for. */
const FieldMatch = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('name'), name: text(512).min(1) }),
  z.strictObject({ by: z.literal('pattern'), pattern: text(1024).min(1).describe('RE2, over the whole name') }),
  z.strictObject({ by: z.literal('query'), query: text(64).min(1).describe('Name of a query or formula') }),
  z.strictObject({ by: z.literal('type'), type: z.enum(['time', 'number', 'text', 'boolean', 'json']) }),
]);

/** What is different for some fields. Later ones win. */
export const FieldOverride = z.strictObject({ match: FieldMatch, settings: FieldSettings });
