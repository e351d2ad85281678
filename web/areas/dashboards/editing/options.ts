/**
 * Options of a panel in the editor, per visualization, as data: each has the path of its value in the panel, a label,
 * and the values that the API accepts. Only options that a panel draws are listed.
 */
import { type Choices, calculations } from '../calculations.ts';
import type { Panel, Visual } from '../calls.ts';

type Path = readonly [root: 'visual' | 'fields', ...names: string[]];

interface CommonOption {
  readonly path: Path;
  readonly label: string;
}

export type PanelOption =
  | (CommonOption & { readonly type: 'choice'; readonly choices: Choices })
  | (CommonOption & { readonly type: 'switch'; readonly isOnByDefault?: boolean })
  /** Any number of the choices */
  | (CommonOption & { readonly type: 'list'; readonly choices: Choices })
  | (CommonOption & { readonly type: 'number'; readonly placeholder?: string })
  | (CommonOption & { readonly type: 'text'; readonly placeholder?: string; readonly suggestions?: Choices });

export interface OptionGroup {
  readonly title: string;
  readonly options: readonly PanelOption[];
}

/** Kinds of visualizations that the editor offers; only an import creates placeholders */
export type EditableKind = Exclude<Visual['kind'], 'placeholder'>;

const choice = (label: string, path: Path, choices: Choices): PanelOption => ({ type: 'choice', label, path, choices });

const calculation = choice('Calculation', ['visual', 'reduce', 'reducer'], calculations);
const everyRow: PanelOption = {
  type: 'switch',
  label: 'One value per row of a table',
  path: ['visual', 'reduce', 'everyRow'],
};

const orientation = choice(
  'Orientation',
  ['visual', 'orientation'],
  [
    ['auto', 'Automatic'],
    ['horizontal', 'Horizontal'],
    ['vertical', 'Vertical'],
  ],
);

/** Texts on the slices of a pie chart */
const sliceTexts: Choices = [
  ['name', 'Name'],
  ['value', 'Value'],
  ['percent', 'Percent'],
];

/** Units with their titles, as UCUM writes them */
const units: Choices = [
  ['1', 'number'],
  ['%', 'percent'],
  ['ns', 'nanoseconds'],
  ['ms', 'milliseconds'],
  ['s', 'seconds'],
  ['By', 'bytes'],
  ['By/s', 'bytes per second'],
  ['bit/s', 'bits per second'],
  ['{request}', 'requests'],
  ['{request}/s', 'requests per second'],
  ['{error}', 'errors'],
  ['Cel', 'degrees Celsius'],
];

const valueGroup: OptionGroup = {
  title: 'Values',
  options: [
    {
      type: 'text',
      label: 'Unit',
      path: ['fields', 'unit'],
      placeholder: 'Unit of the query',
      suggestions: units,
    },
    { type: 'number', label: 'Decimals', path: ['fields', 'decimals'], placeholder: 'Automatic' },
    { type: 'number', label: 'Min', path: ['fields', 'min'], placeholder: 'Automatic' },
    { type: 'number', label: 'Max', path: ['fields', 'max'], placeholder: 'Automatic' },
    { type: 'text', label: 'Display name', path: ['fields', 'name'], placeholder: 'Name of the series' },
    { type: 'text', label: 'Text without a value', path: ['fields', 'noValue'], placeholder: '–' },
  ],
};

/** Colors of the palette, with their titles */
export const colors: Choices = [
  ['green', 'Green'],
  ['yellow', 'Yellow'],
  ['orange', 'Orange'],
  ['red', 'Red'],
  ['blue', 'Blue'],
  ['purple', 'Purple'],
  ['grey', 'Gray'],
];

const lineGroups: readonly OptionGroup[] = [
  {
    title: 'Graph',
    options: [
      choice(
        'Style',
        ['fields', 'drawing', 'as'],
        [
          ['lines', 'Lines'],
          ['bars', 'Bars'],
          ['points', 'Points'],
        ],
      ),
      choice(
        'Line interpolation',
        ['fields', 'drawing', 'interpolation'],
        [
          ['linear', 'Linear'],
          ['smooth', 'Smooth'],
          ['step-before', 'Step before'],
          ['step-after', 'Step after'],
        ],
      ),
      { type: 'number', label: 'Line width', path: ['fields', 'drawing', 'width'], placeholder: '1.5' },
      choice(
        'Line style',
        ['fields', 'drawing', 'dashes'],
        [
          ['solid', 'Solid'],
          ['dash', 'Dashed'],
          ['dot', 'Dotted'],
        ],
      ),
      { type: 'number', label: 'Fill opacity, %', path: ['fields', 'drawing', 'area'], placeholder: '0' },
      choice(
        'Points',
        ['fields', 'drawing', 'points'],
        [
          ['auto', 'Automatic'],
          ['always', 'Always'],
          ['never', 'Never'],
        ],
      ),
      { type: 'number', label: 'Point size', path: ['fields', 'drawing', 'pointSize'], placeholder: '4' },
      choice(
        'Gradient',
        ['fields', 'drawing', 'gradient'],
        [
          ['none', 'None'],
          ['opacity', 'Opacity'],
        ],
      ),
      { type: 'switch', label: 'Connect gaps', path: ['fields', 'drawing', 'joinGaps'] },
      { type: 'switch', label: 'Draw below zero', path: ['fields', 'drawing', 'below'] },
      choice(
        'Stacking',
        ['fields', 'drawing', 'stack'],
        [
          ['none', 'None'],
          ['normal', 'Normal'],
          ['percent', '100 %'],
        ],
      ),
    ],
  },
  {
    title: 'Axis',
    options: [
      choice(
        'Axis placement',
        ['fields', 'axis', 'side'],
        [
          ['auto', 'Automatic'],
          ['left', 'Left'],
          ['right', 'Right'],
          ['hidden', 'Hidden'],
        ],
      ),
      { type: 'text', label: 'Axis label', path: ['fields', 'axis', 'label'], placeholder: 'None' },
      choice(
        'Scale',
        ['fields', 'axis', 'scale'],
        [
          ['linear', 'Linear'],
          ['log10', 'Logarithmic, base 10'],
          ['log2', 'Logarithmic, base 2'],
          ['symlog', 'Symmetric logarithmic'],
        ],
      ),
      { type: 'number', label: 'Soft min', path: ['fields', 'axis', 'softMin'], placeholder: 'Automatic' },
      { type: 'number', label: 'Soft max', path: ['fields', 'axis', 'softMax'], placeholder: 'Automatic' },
      { type: 'number', label: 'Axis width', path: ['fields', 'axis', 'width'], placeholder: 'Automatic' },
      { type: 'switch', label: 'Color axis', path: ['fields', 'axis', 'coloured'] },
      { type: 'switch', label: 'Center zero', path: ['fields', 'axis', 'centredZero'] },
    ],
  },
  {
    title: 'Tooltip',
    options: [
      choice(
        'Tooltip mode',
        ['visual', 'tooltip', 'shows'],
        [
          ['all', 'All'],
          ['one', 'Single'],
          ['none', 'Hidden'],
        ],
      ),
      choice(
        'Order of values',
        ['visual', 'tooltip', 'sort'],
        [
          ['descending', 'Descending'],
          ['ascending', 'Ascending'],
          ['none', 'As queried'],
        ],
      ),
      { type: 'switch', label: 'Hide zeros', path: ['visual', 'tooltip', 'hidesZeros'] },
    ],
  },
  {
    title: 'Legend',
    options: [
      choice(
        'Legend placement',
        ['visual', 'legend', 'place'],
        [
          ['bottom', 'Bottom'],
          ['right', 'Right'],
          ['hidden', 'Hidden'],
        ],
      ),
      choice(
        'Legend mode',
        ['visual', 'legend', 'form'],
        [
          ['list', 'List'],
          ['table', 'Table'],
        ],
      ),
      choice('Sort by', ['visual', 'legend', 'sortBy'], [['', 'Order of the result'], ...calculations]),
      { type: 'switch', label: 'Descending', path: ['visual', 'legend', 'descending'], isOnByDefault: true },
      { type: 'list', label: 'Legend values', path: ['visual', 'legend', 'values'], choices: calculations },
    ],
  },
];

const statGroup: OptionGroup = {
  title: 'Stat',
  options: [
    calculation,
    everyRow,
    choice(
      'Text',
      ['visual', 'text'],
      [
        ['auto', 'Automatic'],
        ['value', 'Value'],
        ['name', 'Name'],
        ['value-and-name', 'Value and name'],
      ],
    ),
    choice(
      'Color',
      ['visual', 'coloured'],
      [
        ['value', 'Value'],
        ['background', 'Background'],
        ['none', 'None'],
      ],
    ),
    choice(
      'Sparkline',
      ['visual', 'graph'],
      [
        ['area', 'Shown'],
        ['none', 'Hidden'],
      ],
    ),
    { type: 'switch', label: 'Change in percent', path: ['visual', 'showsChange'] },
  ],
};

const cellGroup: OptionGroup = {
  title: 'Table',
  options: [
    { type: 'switch', label: 'Header', path: ['visual', 'header'], isOnByDefault: true },
    choice(
      'Cells',
      ['fields', 'cell', 'as'],
      [
        ['auto', 'Text'],
        ['coloured-text', 'Colored text'],
        ['coloured-background', 'Colored background'],
        ['gauge', 'Gauge'],
        ['sparkline', 'Sparkline'],
        ['json', 'JSON'],
        ['image', 'Image'],
      ],
    ),
    choice(
      'Alignment',
      ['fields', 'cell', 'align'],
      [
        ['auto', 'Automatic'],
        ['left', 'Left'],
        ['center', 'Center'],
        ['right', 'Right'],
      ],
    ),
    { type: 'switch', label: 'Wrap text', path: ['fields', 'cell', 'wraps'] },
    { type: 'switch', label: 'Color the whole row', path: ['fields', 'cell', 'wholeRow'] },
    choice(
      'Row height',
      ['visual', 'rowHeight'],
      [
        ['small', 'Small'],
        ['medium', 'Medium'],
        ['large', 'Large'],
      ],
    ),
    { type: 'switch', label: 'Pagination', path: ['visual', 'paged'] },
    { type: 'list', label: 'Footer', path: ['visual', 'footer', 'reducers'], choices: calculations },
  ],
};

const withValues = (...groups: readonly OptionGroup[]): readonly OptionGroup[] => [...groups, valueGroup];

/** Options of each visualization, besides those of all panels */
export const optionsByKind: Readonly<Record<EditableKind, readonly OptionGroup[]>> = {
  'time-series': [lineGroups[0], valueGroup, lineGroups[1], lineGroups[2], lineGroups[3]].filter(
    (group) => group !== undefined,
  ),
  stat: withValues(statGroup),
  gauge: withValues({
    title: 'Gauge',
    options: [
      calculation,
      everyRow,
      {
        type: 'switch',
        label: 'Threshold markers',
        path: ['visual', 'thresholdMarkers'],
        isOnByDefault: true,
      },
    ],
  }),
  'bar-gauge': withValues({
    title: 'Bar gauge',
    options: [
      calculation,
      everyRow,
      orientation,
      { type: 'switch', label: 'Unfilled area', path: ['visual', 'unfilled'], isOnByDefault: true },
      choice(
        'Names',
        ['visual', 'names'],
        [
          ['auto', 'Automatic'],
          ['top', 'Top'],
          ['left', 'Left'],
          ['hidden', 'Hidden'],
        ],
      ),
    ],
  }),
  pie: withValues({
    title: 'Pie chart',
    options: [
      calculation,
      everyRow,
      choice(
        'Shape',
        ['visual', 'form'],
        [
          ['pie', 'Pie'],
          ['ring', 'Donut'],
        ],
      ),
      choice(
        'Order of slices',
        ['visual', 'sort'],
        [
          ['descending', 'Descending'],
          ['ascending', 'Ascending'],
          ['none', 'As queried'],
        ],
      ),
      { type: 'list', label: 'Slice labels', path: ['visual', 'labels'], choices: sliceTexts },
      choice(
        'Legend placement',
        ['visual', 'legend', 'place'],
        [
          ['right', 'Right'],
          ['bottom', 'Bottom'],
          ['hidden', 'Hidden'],
        ],
      ),
    ],
  }),
  bars: withValues({
    title: 'Bar chart',
    options: [
      { type: 'text', label: 'X field', path: ['visual', 'x'], placeholder: 'First text field' },
      orientation,
      choice(
        'Stacking',
        ['visual', 'stacking'],
        [
          ['none', 'None'],
          ['normal', 'Normal'],
          ['percent', '100 %'],
        ],
      ),
      choice(
        'Values above bars',
        ['visual', 'valueShown'],
        [
          ['auto', 'Automatic'],
          ['always', 'Always'],
          ['never', 'Never'],
        ],
      ),
    ],
  }),
  heatmap: withValues({
    title: 'Heatmap',
    options: [
      { type: 'switch', label: 'Compute buckets from values', path: ['visual', 'fromValues'] },
      { type: 'text', label: 'Unit of buckets', path: ['visual', 'yUnit'], suggestions: units },
      { type: 'switch', label: 'Reverse axis', path: ['visual', 'reversed'] },
      { type: 'number', label: 'Hide counts below', path: ['visual', 'hidesBelow'], placeholder: 'None' },
    ],
  }),
  histogram: withValues({
    title: 'Histogram',
    options: [
      { type: 'number', label: 'Bucket size', path: ['visual', 'bucketSize'], placeholder: 'Automatic' },
      { type: 'number', label: 'Bucket count', path: ['visual', 'bucketCount'], placeholder: 'Automatic' },
    ],
  }),
  'state-timeline': withValues({
    title: 'State timeline',
    options: [{ type: 'switch', label: 'Merge equal states', path: ['visual', 'merges'], isOnByDefault: true }],
  }),
  'status-history': withValues(),
  table: withValues(cellGroup),
  logs: [
    {
      title: 'Logs',
      options: [
        choice(
          'Order',
          ['visual', 'order'],
          [
            ['newest', 'Newest first'],
            ['oldest', 'Oldest first'],
          ],
        ),
        choice(
          'Deduplication',
          ['visual', 'duplicates'],
          [
            ['none', 'None'],
            ['exact', 'Exact'],
            ['numbers', 'Numbers'],
            ['signature', 'Signature'],
          ],
        ),
        { type: 'switch', label: 'Time', path: ['visual', 'time'], isOnByDefault: true },
        { type: 'switch', label: 'Wrap lines', path: ['visual', 'wraps'], isOnByDefault: true },
        { type: 'switch', label: 'Format JSON', path: ['visual', 'pretty'] },
      ],
    },
  ],
  traces: [
    {
      title: 'Traces',
      options: [{ type: 'number', label: 'Maximum traces', path: ['visual', 'max'], placeholder: '100' }],
    },
  ],
  'node-graph': [],
  text: [],
  alerts: [],
  dashboards: [],
};

/** Visualizations whose values have colors by thresholds and texts by mappings */
export const hasValueRules = (kind: Visual['kind']): boolean =>
  kind !== 'placeholder' && optionsByKind[kind].includes(valueGroup);

type Values = Readonly<Record<string, unknown>>;

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the value at a path; `undefined` if it has its default. */
export const readOption = (panel: Pick<Panel, 'visual' | 'fields'>, path: Path): unknown =>
  path.reduce<unknown>((value, name) => (isValues(value) ? value[name] : undefined), panel);

/** Returns values with another one at a path. Without a value, the names that would be empty are removed. */
const writeValue = (values: Values, [name, ...rest]: readonly string[], value: unknown): Values => {
  if (name === undefined) return values;
  const { [name]: before, ...others } = values;
  const next = rest.length === 0 ? value : writeValue(isValues(before) ? before : {}, rest, value);
  const isEmpty = next === undefined || (isValues(next) && Object.keys(next).length === 0);
  return isEmpty ? others : { ...values, [name]: next };
};

/** Returns the part of a panel that changes with an option; `undefined` restores the default. */
export const writeOption = (
  panel: Pick<Panel, 'visual' | 'fields'>,
  [root, ...names]: Path,
  value: unknown,
): Partial<Panel> => ({ [root]: writeValue(panel[root] as unknown as Values, names, value) }) as Partial<Panel>;

/** Returns the visualization of another kind, with the settings that both kinds have. */
export const convertVisual = (visual: Visual, kind: EditableKind): Visual => {
  const shared = new Set(
    optionsByKind[kind].flatMap(({ options }) =>
      options.flatMap(({ path: [root, name = ''] }) => (root === 'visual' ? [name] : [])),
    ),
  );
  const retained = Object.entries(visual).filter(
    ([name]) => ['reduce', 'legend', 'tooltip'].includes(name) && shared.has(name),
  );
  return { ...Object.fromEntries(retained), kind } as unknown as Visual;
};
