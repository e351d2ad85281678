/** Request and response of a dashboard query. */
import { z } from 'zod';
import { Cost, Incompleteness, Result, TableColumn } from '../../../queries/result.ts';
import { DurationText, timeFormats, timeParameter } from '../../../queries/time-parameters.ts';
import { StableId } from '../../../schemas/dashboards/layout.ts';
import { ChosenValues } from '../../../schemas/dashboards/variables.ts';
import { DashboardFields } from '../document.ts';

export const DashboardQuery = z.strictObject({
  from: timeParameter.optional().describe(`Start: ${timeFormats}; by default that of the dashboard`),
  to: timeParameter.optional().describe('End, in the format of `from`, inclusive; by default that of the dashboard'),
  step: DurationText.optional().describe('Step of series; by default a round one for `maxPoints`'),
  maxPoints: z
    .int()
    .min(1)
    .max(11_000)
    .optional()
    .describe('Maximum number of steps of a panel; by default about 60 to 150'),
  variables: ChosenValues.default({}).describe('Selected values; other variables have the defaults of the dashboard'),
  panels: z
    .array(StableId)
    .max(300)
    .optional()
    .describe(
      'Panels to query, with the variables that they use; all by default. Empty: only variables and annotations',
    ),
  draft: DashboardFields.optional().describe(
    'Document to query instead of the stored dashboard, such as an edited one',
  ),
  annotations: z.boolean().default(true).describe('Whether to query annotations as well'),
});
export type DashboardQuery = z.output<typeof DashboardQuery>;

const QueryFault = z.strictObject({
  code: z.string(),
  message: z.string(),
  path: z
    .string()
    .describe('Path in the panel: queries.A, formulas.share, transformations; empty for the entire panel'),
});
export type QueryFault = z.output<typeof QueryFault>;

const PanelTable = z.strictObject({
  query: z.string().describe('Query or formula of the table; empty for several'),
  name: z.string(),
  columns: z.array(z.strictObject({ ...TableColumn.shape, labels: z.record(z.string(), z.string()).optional() })),
  rows: z.array(z.array(z.unknown())).describe('Rows, with one value for each column'),
});
export type PanelTable = z.output<typeof PanelTable>;

const resultsByName = z.record(z.string(), Result);

export const PanelItem = z.strictObject({
  panelId: z.string(),
  title: z.string().describe('Title, including the values of its variables'),
  repeat: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Values of the repeat variables for this panel, if it repeats'),
  stepMs: z.int().describe('Step of the series, unless a query has a longer one'),
  results: resultsByName.describe('Results by name of the query or formula, without hidden ones'),
  earlier: resultsByName.describe('Results of the earlier range for comparison'),
  table: PanelTable.nullable().describe('Table from the transformations; `null` without transformations'),
  tables: z.array(PanelTable).describe('All tables from the transformations, if there are several'),
  partial: z.array(Incompleteness).describe('Omissions in the panel itself'),
  error: QueryFault.nullable().describe('First error; other results are included'),
});
export type PanelItem = z.output<typeof PanelItem>;

const Mark = z.strictObject({
  time: z.string(),
  until: z.string().nullable().describe('End of the time range; `null` for a point in time'),
  title: z.string(),
  text: z.string(),
  tags: z.array(z.string()),
  link: z.string(),
});
export type Mark = z.output<typeof Mark>;

export const AnnotationItem = z.strictObject({
  name: z.string(),
  marks: z.array(Mark).describe('Marks, latest first'),
  partial: z.array(Incompleteness),
  error: QueryFault.nullable(),
});
export type AnnotationItem = z.output<typeof AnnotationItem>;

const VariableResponse = z.strictObject({
  name: z.string(),
  options: z.array(z.strictObject({ value: z.string(), title: z.string() })).describe('Available values'),
  selected: z.array(z.string()).describe('Selected values, or $__all'),
  partial: z.array(Incompleteness),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      path: z.string().optional().describe('Path in the variable: pattern, names; absent for its query'),
    })
    .optional(),
});

const headerFields = { from: z.string(), to: z.string(), variables: z.array(VariableResponse) };

export const DashboardResponse = z.strictObject({
  ...headerFields,
  items: z.array(PanelItem).describe('Panels, in order'),
  annotations: z.array(AnnotationItem),
  cost: Cost.describe('Cost of all reads; shared reads count once'),
});
export type DashboardResponse = z.output<typeof DashboardResponse>;

/**
 * A line of a streamed response: first the header, then each panel and annotation when it is complete, and finally the
 * cost.
 */
export type DashboardLine =
  | Pick<DashboardResponse, 'from' | 'to' | 'variables'>
  | PanelItem
  | { readonly annotation: AnnotationItem }
  | Pick<DashboardResponse, 'cost'>;
