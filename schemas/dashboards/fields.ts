/** How the fields of a panel's table are displayed: settings for all fields, and overrides for some. */
import { z } from 'zod';
import { Link } from './links.ts';

const text = (maxLength: number) => z.string().max(maxLength);

/**
 * A color of the palette by name, a hex value, or `rgb(…)`. The page resolves names, and shows an unknown name in the
 * default color.
 */
export const Colour = z
  .string()
  .regex(
    /^(?:#[0-9A-Fa-f]{3,8}|rgba?\([0-9., %]{1,40}\)|[a-z][a-z0-9-]{0,31})$/,
    'must be a name such as red or dark-blue, or a hex value such as #1f77b4',
  );

const finiteNumber = z.number();

const Thresholds = z.strictObject({
  mode: z
    .enum(['absolute', 'percent'])
    .default('absolute')
    .describe('`percent`: percentage of the range from min to max'),
  steps: z
    .array(
      z.strictObject({
        value: finiteNumber.nullable().describe('Lower bound of the threshold; `null` for below all others'),
        colour: Colour,
      }),
    )
    .max(32),
});

const mappingResultFields = {
  text: text(1024).optional().describe('Text shown instead of the value; without it the value is shown'),
  colour: Colour.optional(),
  icon: text(64).optional(),
};

/** Replaces a value with a text, color or icon. The first matching mapping applies. */
const Mapping = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('value'), value: text(1024).describe('Value, as text'), ...mappingResultFields }),
  z.strictObject({
    kind: z.literal('range'),
    from: finiteNumber.nullable().describe('Lower bound; `null` for none'),
    to: finiteNumber.nullable(),
    ...mappingResultFields,
  }),
  z.strictObject({
    kind: z.literal('pattern'),
    pattern: text(1024).describe('RE2 regular expression'),
    ...mappingResultFields,
  }),
  z.strictObject({
    kind: z.literal('special'),
    match: z.enum(['null', 'nan', 'null-or-nan', 'true', 'false', 'empty']),
    ...mappingResultFields,
  }),
]);

const ColourMode = z.strictObject({
  mode: z
    .enum(['fixed', 'thresholds', 'palette', 'palette-by-name', 'shades', 'scale'])
    .describe(
      '`palette`: a different color per field; `shades`: shades of the fixed color; `scale`: by value along `scale`',
    ),
  fixed: Colour.optional(),
  scale: text(64).optional().describe('Name of a color scale, such as green-yellow-red'),
  by: z.enum(['last', 'min', 'max']).optional().describe('Value of a series that determines its color'),
});

/** How a field is drawn over time */
const Drawing = z.strictObject({
  as: z.enum(['lines', 'bars', 'points']).optional(),
  interpolation: z.enum(['linear', 'smooth', 'step-before', 'step-after']).optional(),
  width: finiteNumber.min(0).max(20).optional().describe('Line width, in pixels'),
  dashes: z.enum(['solid', 'dash', 'dot']).optional(),
  area: finiteNumber.min(0).max(100).optional().describe('Opacity of the area below the line, in percent'),
  gradient: z.enum(['none', 'opacity', 'hue', 'scale']).optional(),
  areaDownTo: text(512).optional().describe('Name of the field that bounds the area below'),
  points: z.enum(['auto', 'always', 'never']).optional(),
  pointSize: finiteNumber.min(1).max(40).optional(),
  joinGaps: z
    .union([z.boolean(), z.int().min(1)])
    .optional()
    .describe('Whether lines span gaps; a number limits the gap in milliseconds'),
  stack: z.enum(['none', 'normal', 'percent']).optional(),
  stackGroup: text(64).optional(),
  below: z.boolean().optional().describe('Whether the field is drawn downwards from zero'),
  thresholds: z.enum(['none', 'lines', 'dashed-lines', 'areas', 'lines-and-areas']).optional(),
});

const Axis = z.strictObject({
  side: z.enum(['auto', 'left', 'right', 'hidden']).optional(),
  label: text(256).optional(),
  scale: z.enum(['linear', 'log2', 'log10', 'symlog']).optional(),
  softMin: finiteNumber.optional().describe('Lower end of the axis, unless values exceed it'),
  softMax: finiteNumber.optional(),
  width: finiteNumber.min(0).max(1000).optional(),
  grid: z.enum(['auto', 'on', 'off']).optional(),
  centredZero: z.boolean().optional(),
  border: z.boolean().optional(),
  coloured: z.boolean().optional().describe('Whether the axis has the color of the series'),
});

/** How a field is displayed in a table */
const Cell = z.strictObject({
  as: z
    .enum(['auto', 'text', 'coloured-text', 'coloured-background', 'gauge', 'sparkline', 'json', 'image', 'links'])
    .optional(),
  style: z.enum(['basic', 'gradient', 'lcd']).optional().describe('Style of gauges and backgrounds'),
  value: z.enum(['colour', 'text', 'hidden']).optional().describe('How gauges display the value'),
  wholeRow: z.boolean().optional().describe('Whether the color applies to the entire row'),
  align: z.enum(['auto', 'left', 'center', 'right']).optional(),
  width: finiteNumber.min(0).max(4096).optional(),
  minWidth: finiteNumber.min(0).max(4096).optional(),
  wraps: z.boolean().optional(),
  inspectable: z.boolean().optional().describe('Whether the complete value can be opened'),
});

/** Display settings of a field. Omitted settings have the default of the panel's kind. */
export const FieldSettings = z.strictObject({
  name: text(512).optional().describe('Display name, instead of the name of the field; may contain variables'),
  description: text(1024).optional(),
  unit: text(64)
    .optional()
    .describe("UCUM unit, or one of the page's units: By, ms, %, {request}/s; by default the unit of the query"),
  decimals: z.int().min(0).max(20).optional(),
  min: finiteNumber.optional(),
  max: finiteNumber.optional(),
  eachItsLimits: z.boolean().optional().describe('Whether min and max are determined for each field separately'),
  thresholds: Thresholds.optional(),
  mappings: z.array(Mapping).max(256).optional(),
  colour: ColourMode.optional(),
  noValue: text(256).optional().describe('Text shown if there is no value'),
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

/** Selects the fields of an override */
const FieldMatch = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('name'), name: text(512).min(1) }),
  z.strictObject({
    by: z.literal('pattern'),
    pattern: text(1024).min(1).describe('RE2 regular expression that matches the entire name'),
  }),
  z.strictObject({ by: z.literal('query'), query: text(64).min(1).describe('Name of a query or formula') }),
  z.strictObject({ by: z.literal('type'), type: z.enum(['time', 'number', 'text', 'boolean', 'json']) }),
]);

/** Settings that differ for some fields. Later overrides take precedence. */
export const FieldOverride = z.strictObject({ match: FieldMatch, settings: FieldSettings });
