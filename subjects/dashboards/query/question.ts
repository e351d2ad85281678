/** What is asked of a whole dashboard, and what is answered. */
import { z } from 'zod';
import { Cost, Incompleteness, Result, TableColumn } from '../../../queries/result.ts';
import { DurationText, timeParameter } from '../../../queries/time-parameters.ts';
import { StableId } from '../../../schemas/dashboards/layout.ts';
import { ChosenValues } from '../../../schemas/dashboards/variables.ts';
import { DashboardFields } from '../document.ts';

export const DashboardQuestion = z.strictObject({
  from: timeParameter.optional().describe('ISO-8601, now-15m or epoch milliseconds; default: that of the dashboard'),
  to: timeParameter.optional().describe('As `from`, inclusive; default: that of the dashboard'),
  step: DurationText.optional().describe('Length of a step of series; without it a round one for `maxPoints`'),
  maxPoints: z.int().min(1).max(11_000).optional().describe('Most steps of a panel; without it some 60 to 150'),
  variables: ChosenValues.default({}).describe('What is chosen; of others what the dashboard chooses'),
  panels: z
    .array(StableId)
    .max(300)
    .optional()
    .describe('Only these, and the variables that they use; without it all. Empty: variables and annotations alone'),
  draft: DashboardFields.optional().describe('Asked instead of what the dashboard says, as while it is edited'),
  annotations: z.boolean().default(true).describe('Whether annotations are asked for as well'),
});
export type DashboardQuestion = z.output<typeof DashboardQuestion>;

const Fault = z.strictObject({
  code: z.string(),
  message: z.string(),
  path: z.string().describe('Of the panel: queries.A, formulas.share, transformations; empty for all of it'),
});
export type Fault = z.output<typeof Fault>;

const ShownTable = z.strictObject({
  query: z.string().describe('The query or formula of which it is; empty where it is of several'),
  name: z.string(),
  columns: z.array(z.strictObject({ ...TableColumn.shape, labels: z.record(z.string(), z.string()).optional() })),
  rows: z.array(z.array(z.unknown())).describe('One value for each column'),
});
export type ShownTable = z.output<typeof ShownTable>;

const results = z.record(z.string(), Result);

export const PanelItem = z.strictObject({
  panelId: z.string(),
  title: z.string().describe('With the values of its variables'),
  repeat: z
    .record(z.string(), z.string())
    .nullable()
    .describe('Of a panel that is there once for each value of a variable: which this one is for'),
  stepMs: z.int().describe('Of its series, unless a query asks for longer ones'),
  results: results.describe('By name of the query or formula; those that are hidden are left out'),
  earlier: results.describe('The same so much earlier as the panel compares with'),
  table: ShownTable.nullable().describe('What its transformations made; null where it has none'),
  tables: z.array(ShownTable).describe('All that they made, where there are several'),
  partial: z.array(Incompleteness).describe('What is left out of the panel itself'),
  error: Fault.nullable().describe('What failed first; what did not is there'),
});
export type PanelItem = z.output<typeof PanelItem>;

const Mark = z.strictObject({
  time: z.string(),
  until: z.string().nullable().describe('End of a stretch of time; null of a point in it'),
  title: z.string(),
  text: z.string(),
  tags: z.array(z.string()),
  link: z.string(),
});
export type Mark = z.output<typeof Mark>;

export const AnnotationItem = z.strictObject({
  name: z.string(),
  marks: z.array(Mark).describe('The newest first'),
  partial: z.array(Incompleteness),
  error: Fault.nullable(),
});
export type AnnotationItem = z.output<typeof AnnotationItem>;

const AnsweredVariable = z.strictObject({
  name: z.string(),
  options: z.array(z.strictObject({ value: z.string(), title: z.string() })).describe('What can be chosen'),
  selected: z.array(z.string()).describe('What is chosen: values, or $__all'),
  partial: z.array(Incompleteness),
  error: z
    .strictObject({
      code: z.string(),
      message: z.string(),
      path: z.string().optional().describe('Of the variable: pattern, names; without it of what it asks'),
    })
    .optional(),
});

const head = { from: z.string(), to: z.string(), variables: z.array(AnsweredVariable) };

export const DashboardAnswer = z.strictObject({
  ...head,
  items: z.array(PanelItem).describe('In the order of the panels'),
  annotations: z.array(AnnotationItem),
  cost: Cost.describe('Of all that was read; what several panels share is counted once'),
});
export type DashboardAnswer = z.output<typeof DashboardAnswer>;

/** One line where lines are asked for: first the head, then each panel and annotation when it is done, and last the cost. */
export type DashboardLine =
  | Pick<DashboardAnswer, 'from' | 'to' | 'variables'>
  | PanelItem
  | { readonly annotation: AnnotationItem }
  | Pick<DashboardAnswer, 'cost'>;
