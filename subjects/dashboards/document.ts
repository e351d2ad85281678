/** Schema of a dashboard, for the API, imports, exports, files and snapshots. */
import { z } from 'zod';
import { Query } from '../../queries/query.ts';
import { DurationText, TimeText } from '../../queries/time-parameters.ts';
import { Colour, FieldOverride, FieldSettings } from '../../schemas/dashboards/fields.ts';
import { Imported } from '../../schemas/dashboards/import-result.ts';
import { PanelPosition, PanelRepeat, Section, StableId } from '../../schemas/dashboards/layout.ts';
import { DashboardLink, Link } from '../../schemas/dashboards/links.ts';
import { Transformation } from '../../schemas/dashboards/transformations.ts';
import { Variable } from '../../schemas/dashboards/variables.ts';
import { Visual } from '../../schemas/dashboards/visuals.ts';
import { feedKinds } from '../events/events.ts';
import { findProblems } from './problems.ts';

const createTextSchema = (maxLength: number) => z.string().max(maxLength);

/** Names by which formulas and overrides reference queries. */
const QueryName = z
  .string()
  .regex(/^[A-Za-z_]\w{0,63}$/, 'must consist of letters, digits and _, and must not begin with a digit');

const StepText = z.union([DurationText, z.string().regex(/^\$(?:\w{1,64}|\{\w{1,64}\})$/)]);

const displayFields = {
  hidden: z.boolean().default(false).describe('Whether the query is used only by formulas and transformations'),
  legend: createTextSchema(1024)
    .default('')
    .describe('Name of the series, such as {{service}}; empty, or __auto as in Grafana, for their labels'),
};

/** A query of a panel: its own, or a saved query. */
const PanelQuery = z
  .strictObject({
    name: QueryName,
    query: Query.optional(),
    savedQueryId: createTextSchema(128).min(1).optional().describe('Saved query, instead of `query`'),
    answers: z
      .enum(['series', 'table'])
      .default('series')
      .describe('Form of the result; table: one value for the entire range, or records'),
    minStep: StepText.optional().describe(
      'Minimum step, a duration or a variable; also the sample interval, which determines $__rate_interval',
    ),
    stepFactor: z.int().min(2).max(1000).optional().describe('Factor by which the step is multiplied'),
    exemplars: z.boolean().default(false),
    ...displayFields,
  })
  .refine(({ query, savedQueryId }) => (query === undefined) !== (savedQueryId === undefined), {
    path: ['query'],
    message: 'a panel’s query must have either query or savedQueryId',
  });

const Formula = z.strictObject({
  name: QueryName,
  expression: createTextSchema(1024).min(1).describe('Expression over query names, such as 100 * A / B'),
  ...displayFields,
});

const maxQueries = 26;

/** A panel: its queries, the transformations of the results, and the visualization. */
export const Panel = z.strictObject({
  id: StableId,
  title: createTextSchema(512).default('').describe('Title; may contain variables'),
  description: createTextSchema(8192).default('').describe('Description in Markdown'),
  place: PanelPosition.prefault({}),
  visual: Visual,
  queries: z.array(PanelQuery).max(maxQueries).default([]),
  formulas: z.array(Formula).max(maxQueries).default([]),
  transformations: z.array(Transformation).max(64).default([]),
  fields: FieldSettings.default({}),
  overrides: z.array(FieldOverride).max(128).default([]).describe('Overrides; later ones take precedence'),
  time: z
    .strictObject({
      range: z
        .union([DurationText, TimeText.refine((text) => text.startsWith('now'), 'must begin with now')])
        .optional()
        .describe('Duration up to the end of the range, instead of the entire range; or a start relative to it: now/d'),
      shift: DurationText.optional().describe('Duration by which the range is shifted to the past'),
      compareWith: DurationText.optional().describe('Offset to an earlier range, which is shown for comparison'),
      isHidden: z.boolean().default(false).describe('Whether the panel hides its own time range'),
    })
    .prefault({}),
  maxDataPoints: z.int().min(1).max(11_000).optional().describe('Maximum number of steps'),
  minStep: StepText.optional().describe(
    'Minimum step of the queries, a duration or a variable; independent of the sample interval',
  ),
  repeat: PanelRepeat.nullable().default(null),
  links: z.array(Link).max(32).default([]),
  transparent: z.boolean().default(false),
  imported: Imported.optional(),
});
export type Panel = z.output<typeof Panel>;

const templateText = createTextSchema(1024).default('');

const AnnotationSource = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('events').describe('Events of the event feed'),
    kinds: z.array(z.enum(feedKinds)).max(feedKinds.length).default([]).describe('Kinds of events; empty for all'),
    service: createTextSchema(512).default('').describe('Service; may contain variables'),
    projectId: createTextSchema(128).default(''),
  }),
  z.strictObject({
    kind: z.literal('records').describe('Log records or spans'),
    signal: z.enum(['logs', 'traces']),
    search: createTextSchema(4096).default(''),
    projectId: createTextSchema(128).default(''),
    title: templateText.describe('Title, which may contain fields such as {{service}}; empty for the body or name'),
    tags: z.array(createTextSchema(512)).max(16).default([]).describe('Fields whose values become tags'),
  }),
  z.strictObject({
    kind: z.literal('promql').describe('PromQL expression; marks times with a value other than 0'),
    expression: createTextSchema(16_384).min(1),
    step: DurationText.optional(),
    title: templateText.describe('Title, which may contain labels such as {{job}}'),
    text: templateText,
    tags: templateText.describe('Labels whose values become tags, comma-separated'),
    valueIsTime: z.boolean().default(false).describe('Whether the value is the time, in milliseconds since 1970'),
  }),
]);

/** Marks on the time axis. */
const Annotation = z.strictObject({
  name: createTextSchema(256).min(1),
  enabled: z.boolean().default(true),
  hidden: z.boolean().default(false).describe('Whether users cannot toggle it'),
  colour: Colour.default('blue'),
  source: AnnotationSource,
  panels: z
    .strictObject({ mode: z.enum(['only', 'except']), ids: z.array(StableId).max(300) })
    .nullable()
    .default(null)
    .describe('Panels that show it; `null` for all'),
  imported: Imported.optional(),
});

const isTimeZone = (zone: string): boolean => {
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
    refresh: DurationText.nullable().default(null).describe('Refresh interval; `null` for never'),
    zone: createTextSchema(64)
      .refine((zone) => zone === 'browser' || isTimeZone(zone), 'must be browser, UTC or a name such as Europe/Berlin')
      .default('browser'),
    weekStart: z.enum(['browser', 'monday', 'saturday', 'sunday']).default('browser'),
    pickerHidden: z.boolean().default(false),
  })
  .prefault({});

/** A path of names, such as `Platform/Kafka`. */
const Folder = z
  .string()
  .max(512)
  // Generators of examples do not support \p{Cc}.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names must not contain them
  .regex(/^(?:[^/\0-\x1f\x7f-\x9f]+(?:\/[^/\0-\x1f\x7f-\x9f]+)*)?$/u, 'must be names separated by /, or empty')
  .refine((path) => path.split('/').every((name) => name.trim() === name), 'names must not begin or end with a space')
  .refine((path) => path.split('/').length <= 8, 'must have at most 8 levels');

type CheckedDocument = Parameters<typeof findProblems>[0];

/** Reports problems across the parts of a document. */
const checkDocument = (document: CheckedDocument, context: z.core.$RefinementCtx): void => {
  for (const { path, message } of findProblems(document))
    context.addIssue({ code: 'custom', path: [...path], message });
};

const maxPanels = 300;
export const maxVariables = 100;

/** Fields of a dashboard that callers write. */
export const DashboardFields = z
  .strictObject({
    name: createTextSchema(256).min(1),
    description: createTextSchema(8192).default('').describe('Description in Markdown'),
    folder: Folder.default('').describe('Folder path, with names separated by /; empty for none'),
    tags: z.array(createTextSchema(64).min(1)).max(32).default([]),
    visibility: z
      .enum(['private', 'organization'])
      .default('organization')
      .describe('Visibility; private: only the owner'),
    time,
    variables: z.array(Variable).max(maxVariables).default([]),
    sections: z.array(Section).max(100).default([]),
    panels: z.array(Panel).max(maxPanels).default([]),
    annotations: z.array(Annotation).max(50).default([]),
    links: z.array(DashboardLink).max(50).default([]),
    cursor: z
      .enum(['none', 'line', 'line-and-tooltip'])
      .default('none')
      .describe('Display of the pointer position of other panels'),
    imported: Imported.optional(),
  })
  .superRefine(checkDocument);
export type DashboardFields = z.output<typeof DashboardFields>;

/** The same schema, for panels that are already parsed. */
export const DashboardWithParsedPanels = z
  .strictObject({ ...DashboardFields.shape, panels: z.array(z.custom<Panel>()).max(maxPanels) })
  .superRefine(checkDocument);

/** Version of this schema. `parseStoredDashboard` converts documents of former versions. */
export const documentVersion = 2;
