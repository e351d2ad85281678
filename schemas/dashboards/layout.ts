/** Positions of panels: on a grid of 24 columns, in sections. */
import { z } from 'zod';
import { VariableName } from './variables.ts';

/** Columns of the grid. */
const gridColumns = 24;

/** IDs of panels and sections. The author chooses them, and they stay the same for the life of the object. */
export const StableId = z
  .string()
  .regex(/^[A-Za-z0-9][\w-]{0,63}$/, 'must be letters, digits, _ and -, at most 64, and begin with a letter or digit');

/** Repeats a panel or section for each selected value of a variable. */
const repeatFields = {
  variable: VariableName,
  max: z.int().min(1).max(100).default(100).describe('Maximum number of repetitions'),
};

const SectionRepeat = z.strictObject(repeatFields);
export const PanelRepeat = z.strictObject({
  ...repeatFields,
  direction: z.enum(['across', 'down']).default('across'),
  perRow: z.int().min(1).max(gridColumns).default(4).describe('Maximum number per row, for horizontal repetition'),
});

/** Sections are shown in list order, below the panels without a section. */
export const Section = z.strictObject({
  id: StableId,
  title: z.string().max(512).default('').describe('Title; may contain variables'),
  kind: z.enum(['row', 'tab']).default('row').describe('Consecutive tabs form one set, which shows one tab at a time'),
  within: StableId.nullable().default(null).describe('Parent section'),
  folded: z.boolean().default(false).describe('Whether a row is collapsed when the dashboard is opened'),
  repeat: SectionRepeat.nullable().default(null),
});

/** Position of a panel in its section. */
export const PanelPosition = z
  .strictObject({
    section: StableId.nullable().default(null).describe('Section ID; `null` places the panel above all sections'),
    x: z
      .int()
      .min(0)
      .max(gridColumns - 1)
      .default(0),
    y: z.int().min(0).max(100_000).default(0),
    width: z.int().min(1).max(gridColumns).default(12),
    height: z.int().min(1).max(1000).default(8),
  })
  .refine(({ x, width }) => x + width <= gridColumns, {
    path: ['width'],
    message: `must end within the ${gridColumns} columns of the grid`,
  });
