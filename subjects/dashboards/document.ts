/** What a dashboard says, as one declared type: the API, imports, exports, files of code and snapshots read and write it. */
import { z } from 'zod';
import { Query } from '../../queries/query.ts';
import { DurationText, TimeText } from '../../queries/time-parameters.ts';
import { Colour, FieldOverride, FieldSettings } from '../../schemas/dashboards/fields.ts';
import { Imported } from '../../schemas/dashboards/imported.ts';
import { PanelRepeat, Place, Section, StableId } from '../../schemas/dashboards/layout.ts';
import { DashboardLink, Link } from '../../schemas/dashboards/links.ts';
import { Transformation } from '../../schemas/dashboards/transformations.ts';
import { Variable } from '../../schemas/dashboards/variables.ts';
import { Visual } from '../../schemas/dashboards/visuals.ts';
import { feedKinds } from '../events/events.ts';
import { problemsOf } from './problems.ts';

const text = (maxLength: number) => z.string().max(maxLength);

/** Names that formulas and overrides call queries by. */
const QueryName = z.string().regex(/^[A-Za-z_]\w{0,63}$/, 'must be letters, digits and _, and not begin with a digit');

const StepText = z.union([DurationText, z.string().regex(/^\$(?:\w{1,64}|\{\w{1,64}\})$/)]);

const shown = {
  hidden: z.boolean().default(false).describe('Only for formulas and transformations'),
  legend: text(1024)
    .default('')
    .describe('Name of its series, such as {{service}}; empty, or __auto of Grafana: their labels'),
};

/** A question of a panel: one of its own, or a saved one. */
const PanelQuery = z
  .strictObject({
    name: QueryName,
    query: Query.optional(),
    savedQueryId: text(128).min(1).optional().describe('Instead of `query`'),
    answers: z.enum(['series', 'table']).default('series').describe('table: one value for the whole range, or records'),
    minStep: StepText.optional().describe(
      'Steps are not shorter than this, a duration or a variable; samples come so often, which tells $__rate_interval',
    ),
    stepFactor: z.int().min(2).max(1000).optional().describe('Steps are so many times as long as they would be'),
    exemplars: z.boolean().default(false),
    ...shown,
  })
  .refine(({ query, savedQueryId }) => (query === undefined) !== (savedQueryId === undefined), {
    path: ['query'],
    message: 'a panel’s query has either query or savedQueryId',
  });

const Formula = z.strictObject({
  name: QueryName,
  expression: text(1024).min(1).describe('Over names of queries, such as 100 * A / B'),
  ...shown,
});

const maxQueries = 26;

/** A panel: what it asks, what becomes of the answers, and how they are shown. */
export const Panel = z.strictObject({
  id: StableId,
  title: text(512).default('').describe('May use variables'),
  description: text(8192).default('').describe('Markdown'),
  place: Place.prefault({}),
  visual: Visual,
  queries: z.array(PanelQuery).max(maxQueries).default([]),
  formulas: z.array(Formula).max(maxQueries).default([]),
  transformations: z.array(Transformation).max(64).default([]),
  fields: FieldSettings.default({}),
  overrides: z.array(FieldOverride).max(128).default([]).describe('Later ones win'),
  time: z
    .strictObject({
      range: DurationText.optional().describe('So long up to the end of the range, instead of the whole of it'),
      shift: DurationText.optional().describe('So much earlier'),
      compareWith: DurationText.optional().describe('Beside it, the same so much earlier'),
      isHidden: z.boolean().default(false).describe('Whether the panel says nothing of it'),
    })
    .prefault({}),
  maxDataPoints: z.int().min(1).max(11_000).optional().describe('Steps are so long that there are no more of them'),
  minStep: StepText.optional().describe(
    'Steps of its queries are not shorter than this: a duration, or a variable. It says nothing of how often samples come',
  ),
  repeat: PanelRepeat.nullable().default(null),
  links: z.array(Link).max(32).default([]),
  transparent: z.boolean().default(false),
  imported: Imported.optional(),
});
export type Panel = z.output<typeof Panel>;

const template = text(1024).default('');

const AnnotationSource = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('events').describe('Of the event feed'),
    kinds: z.array(z.enum(feedKinds)).max(feedKinds.length).default([]).describe('Empty: all'),
    service: text(512).default('').describe('May use variables'),
    projectId: text(128).default(''),
  }),
  z.strictObject({
    kind: z.literal('records').describe('Log records or spans'),
    signal: z.enum(['logs', 'traces']),
    search: text(4096).default(''),
    projectId: text(128).default(''),
    title: template.describe('With fields, such as {{service}}; empty: the body or name'),
    tags: z.array(text(512)).max(16).default([]).describe('Fields whose values are tags'),
  }),
  z.strictObject({
    kind: z.literal('promql').describe('Where the expression has a value that is not 0'),
    expression: text(16_384).min(1),
    step: DurationText.optional(),
    title: template.describe('With labels, such as {{job}}'),
    text: template,
    tags: template.describe('Labels whose values are tags, with commas between'),
    valueIsTime: z.boolean().default(false).describe('The value is the time, in milliseconds since 1970'),
  }),
]);

/** What is marked on the axis of time. */
const Annotation = z.strictObject({
  name: text(256).min(1),
  enabled: z.boolean().default(true),
  hidden: z.boolean().default(false).describe('Whether people cannot switch it'),
  colour: Colour.default('blue'),
  source: AnnotationSource,
  panels: z
    .strictObject({ mode: z.enum(['only', 'except']), ids: z.array(StableId).max(300) })
    .nullable()
    .default(null)
    .describe('null: all panels'),
  imported: Imported.optional(),
});

const isZone = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }) !== undefined;
  } catch {
    return false;
  }
};

const time = z
  .strictObject({
    from: TimeText.default('now-1h'),
    to: TimeText.default('now'),
    refresh: DurationText.nullable().default(null).describe('How often it asks anew; null: never'),
    zone: text(64)
      .refine((zone) => zone === 'browser' || isZone(zone), 'must be browser, UTC or a name such as Europe/Berlin')
      .default('browser'),
    weekStart: z.enum(['browser', 'monday', 'saturday', 'sunday']).default('browser'),
    pickerHidden: z.boolean().default(false),
  })
  .prefault({});

/** A path of names, such as `Platform/Kafka`. */
const Folder = z
  .string()
  .max(512)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what a name must not have; \p{Cc} is not read by makers of examples.
  .regex(/^(?:[^/\0-\x1f\x7f-\x9f]+(?:\/[^/\0-\x1f\x7f-\x9f]+)*)?$/u, 'must be names with / between them, or empty')
  .refine((path) => path.split('/').every((name) => name.trim() === name), 'names must not begin or end with a space')
  .refine((path) => path.split('/').length <= 8, 'must be no deeper than 8 names');

type Checked = Parameters<typeof problemsOf>[0];

/** Names what is wrong beyond the form of parts. */
const checkWhole = (document: Checked, context: z.core.$RefinementCtx): void => {
  for (const { path, message } of problemsOf(document)) context.addIssue({ code: 'custom', path: [...path], message });
};

const maxPanels = 300;

/** What callers write of a dashboard. */
export const DashboardFields = z
  .strictObject({
    name: text(256).min(1),
    description: text(8192).default('').describe('Markdown'),
    folder: Folder.default('').describe('Names with / between them; empty: none'),
    tags: z.array(text(64).min(1)).max(32).default([]),
    visibility: z.enum(['private', 'organization']).default('organization').describe('private: only its owner sees it'),
    time,
    variables: z.array(Variable).max(50).default([]),
    sections: z.array(Section).max(100).default([]),
    panels: z.array(Panel).max(maxPanels).default([]),
    annotations: z.array(Annotation).max(50).default([]),
    links: z.array(DashboardLink).max(50).default([]),
    cursor: z
      .enum(['none', 'line', 'line-and-tooltip'])
      .default('none')
      .describe('What panels show of the pointer over another'),
    imported: Imported.optional(),
  })
  .superRefine(checkWhole);
export type DashboardFields = z.output<typeof DashboardFields>;

/** The same where each of its panels has been read already. */
export const DashboardOfPanels = z
  .strictObject({ ...DashboardFields.shape, panels: z.array(z.custom<Panel>()).max(maxPanels) })
  .superRefine(checkWhole);

/** Version of this declaration. What was saved by a former one is brought to it by `readDashboard`. */
export const documentVersion = 2;
